/*
 * The build-id is a note that the linker puts into the program or the shared library: a digest
 * of all that it linked. It is read from memory.
 */
#include "base/program_id.h"

#include "base/cursor.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

/* Appends the build-id among the notes of a segment. Returns whether there was one. */
static int add_build_id(struct lode_buffer *buffer, const void *notes, size_t size)
{
	struct lode_cursor cursor = lode_cursor(notes, size);

	while (lode_cursor_left(&cursor)) {
		uint32_t name_size = lode_cursor_u32(&cursor), id_size = lode_cursor_u32(&cursor);
		uint32_t type = lode_cursor_u32(&cursor);
		const char *name = lode_cursor_bytes(&cursor, padded(name_size));
		const void *id = lode_cursor_bytes(&cursor, padded(id_size));

		if (cursor.failed)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4)) {
			lode_buffer_add(buffer, id, id_size);
			return 1;
		}
	}
	return 0;
}

/* Whether this code is in the object: the program, or a library that is part of another program. */
static int holds_this_code(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)lode_program_id;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    here - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz)
			return 1;
	return 0;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!holds_this_code(info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_NOTE &&
		    add_build_id(context, (const char *)info->dlpi_addr + segment->p_vaddr, segment->p_memsz))
			break;
	}
	return 1;
}

void lode_program_id(struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, LODE_VERSION " ");
	dl_iterate_phdr(look_at_object, buffer);
}
