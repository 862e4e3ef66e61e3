/*
 * Marks: the places in a program that begin and end what it calls by a name
 * (lode_mark.h), from the notes of its file.
 */
#ifndef LODE_SYMBOLS_MARK_NOTES_H
#define LODE_SYMBOLS_MARK_NOTES_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include "base/array.h"

struct lode_mark {
	const char *name;
	uint64_t offset; /* in the file */
	int end;         /* else it begins */
};

struct lode_marks {
	LODE_ARRAY(struct lode_mark); /* in the order of the file */
	struct lode_arena arena;
};

/*
 * Reads the marks of the ELF file at `path`; one without marks, or that is none,
 * has none. Returns 0 or LODE_SYSTEM, with nothing to release then.
 */
int lode_marks_read(struct lode_marks *marks, const char *path);
void lode_marks_release(struct lode_marks *marks);

#endif
