/*
 * Marks: see mark_notes.h.
 *
 * A note is an owner, a type and a description; ours are of owner "stapsdt" and
 * type 3. Its description has three addresses (of the mark, of the section
 * .stapsdt.base when the file was linked, and of a counter) and three strings
 * (provider, name, arguments). All of it is checked, because the file is
 * untrusted.
 */
#include "symbols/mark_notes.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "symbols/elf.h"

#define NOTE_TYPE   3
#define MARKS_LIMIT 65536 /* of a file; what is beyond is not looked at */

struct reading {
	struct lode_marks *marks;
	struct lode_elf *elf;
	uint64_t base; /* where .stapsdt.base is; 0: nowhere */
};

/* The text up to its NUL; NULL when there is none. */
static const char *decode_text(struct lode_cursor *cursor, size_t *length)
{
	size_t left = lode_cursor_left(cursor);

	*length = left ? strnlen((const char *)cursor->next, left) : 0;
	if (*length == left)
		return NULL;
	return lode_cursor_bytes(cursor, *length + 1);
}

static int decode_mark(struct reading *reading, struct lode_cursor *body)
{
	uint64_t address = lode_cursor_u64(body), base = lode_cursor_u64(body);
	struct lode_marks *marks = reading->marks;
	struct lode_mark mark = { 0 };
	const char *provider, *name;
	size_t length;

	lode_cursor_u64(body);
	provider = decode_text(body, &length);
	name = provider ? decode_text(body, &length) : NULL;
	if (body->failed || !name || (strcmp(provider, "lode_begin") && strcmp(provider, "lode_end")))
		return 0;
	if (base && reading->base)
		address += reading->base - base;
	if (!lode_elf_offset_of(reading->elf, address, &mark.offset) || marks->count >= MARKS_LIMIT)
		return 0;
	mark.end = !strcmp(provider, "lode_end");
	mark.name = lode_arena_text(&marks->arena, name, length);
	if (!mark.name || LODE_PUSH(marks, mark) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int decode_notes(struct reading *reading, Elf_Data *data)
{
	size_t offset = 0, next, name, description;
	GElf_Nhdr note;
	int code = 0;

	while (!code && (next = gelf_getnote(data, offset, &note, &name, &description)) > 0) {
		const char *bytes = data->d_buf;
		struct lode_cursor body = lode_cursor(bytes + description, note.n_descsz);

		if (note.n_type == NOTE_TYPE && note.n_namesz == 8 && !memcmp(bytes + name, "stapsdt", 8))
			code = decode_mark(reading, &body);
		offset = next;
	}
	return code;
}

int lode_marks_read(struct lode_marks *marks, const char *path)
{
	struct reading reading = { .marks = marks };
	GElf_Shdr notes, base;
	struct lode_elf elf;
	Elf_Scn *section;
	Elf_Data *data;
	int code = 0;

	memset(marks, 0, sizeof(*marks));
	if (lode_elf_open(&elf, path))
		return 0;
	reading.elf = &elf;
	section = elf.header.e_ident[EI_CLASS] == ELFCLASS64 ? lode_elf_section(&elf, ".note.stapsdt", &notes)
							     : NULL;
	if (section && lode_elf_section(&elf, ".stapsdt.base", &base))
		reading.base = base.sh_addr;
	data = section && notes.sh_type == SHT_NOTE ? elf_getdata(section, NULL) : NULL;
	if (data && data->d_buf)
		code = decode_notes(&reading, data);
	lode_elf_close(&elf);
	if (code)
		lode_marks_release(marks);
	return code;
}

void lode_marks_release(struct lode_marks *marks)
{
	lode_free(marks->items);
	lode_arena_release(&marks->arena);
	memset(marks, 0, sizeof(*marks));
}
