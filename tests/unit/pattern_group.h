/* Writing a group of a pattern file by the parts that edit such files. */
#ifndef LODE_TESTS_PATTERN_GROUP_H
#define LODE_TESTS_PATTERN_GROUP_H

#include "mine/pattern_file.h"

/* Parsing reads the same back. */
static inline void write_group(const struct lode_pattern_group *group, const char *const *notes,
			       const struct lode_patterns *patterns, const struct lode_frames *frames,
			       struct lode_buffer *buffer)
{
	if (*group->type)
		lode_pattern_line_write(group->type, group->name, buffer);
	lode_pattern_line_write("bug", group->bug, buffer);
	lode_pattern_line_write("state", group->state, buffer);
	lode_pattern_line_write("since", group->since, buffer);
	lode_pattern_line_write("kind", group->kind, buffer);
	lode_pattern_line_write("made", group->made, buffer);
	for (size_t i = 0; i < group->note_count; i++)
		lode_pattern_line_write("note", notes[group->first_note + i], buffer);
	for (size_t i = 0; i < group->count; i++)
		lode_pattern_write(patterns, group->first + i, frames, buffer);
}

#endif
