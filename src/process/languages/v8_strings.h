/* Strings and other objects of V8, in the memory of a process. What is read may be anything: the number of readings is limited. */
#ifndef LODE_PROCESS_LANGUAGES_V8_STRINGS_H
#define LODE_PROCESS_LANGUAGES_V8_STRINGS_H

#include "process/languages/v8_names.h"

struct lode_v8_reader {
	const struct lode_process_memory *memory;
	const struct lode_v8_process *process;
	unsigned readings; /* that are left */
};

static inline int lode_v8_is_object(uint64_t pointer)
{
	return (pointer & LODE_V8_TAG_MASK) == LODE_V8_TAG;
}

static inline int lode_v8_is_small(uint64_t word)
{
	return !(word & 0xffffffff);
}

/* The type of an object; -1 when it cannot be read. */
int32_t lode_v8_type(struct lode_v8_reader *reader, uint64_t object);
int lode_v8_is_string(const struct lode_v8_reader *reader, int32_t type);
/* The word at an offset of an object; 0 when it cannot be read. */
uint64_t lode_v8_field(struct lode_v8_reader *reader, uint64_t object, int32_t offset);
/* Where an object is now: elsewhere if the collector is just moving it. */
uint64_t lode_v8_moved(struct lode_v8_reader *reader, uint64_t object);
/* The object that the word at an offset of an object points to, where that is now. */
uint64_t lode_v8_object(struct lode_v8_reader *reader, uint64_t object, int32_t offset);
/* Appends a string, of which there may be much: the first `limit` characters. Returns 1, or 0 when it cannot be read. */
int lode_v8_add_string(struct lode_v8_reader *reader, uint64_t string, size_t limit, struct lode_buffer *buffer);
/* How many lines end in the first `characters` of a string; -1 when these cannot be read. */
int64_t lode_v8_count_lines(struct lode_v8_reader *reader, uint64_t string, size_t characters);

#endif
