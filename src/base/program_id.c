/*
 * The build-id is a note that the linker puts into the program: a digest of all that
 * it linked. It is read from the program's own memory.
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

/* The first object is the program itself; the walk ends with it. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
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
	dl_iterate_phdr(look_at_program, buffer);
}
