/* Editing the text file of signatures line by line. Private to the signatures. */
#ifndef LODE_MINE_SIGNATURE_TEXT_H
#define LODE_MINE_SIGNATURE_TEXT_H

#include "mine/pattern_file.h"

/*
 * All take a text and the position of a group in it (`start`, `end`), and append the
 * changed text to `result`, which fails like any buffer.
 */

/* The line `keyword value` in place of the one there is, or before the group's first pattern; without a
 * value, none. */
void lode_signature_text_set(const char *text, size_t size, const struct lode_pattern_group *group,
			     const char *keyword, const char *value, struct lode_buffer *result);
/* Without the lines that begin with `keyword`, before the group's first pattern. */
void lode_signature_text_drop(const char *text, size_t size, const struct lode_pattern_group *group,
			      const char *keyword, struct lode_buffer *result);
/* `lines` before the group's first pattern. */
void lode_signature_text_insert(const char *text, size_t size, const struct lode_pattern_group *group,
				const struct lode_buffer *lines, struct lode_buffer *result);
/* `lines` behind the group's last pattern. */
void lode_signature_text_extend(const char *text, size_t size, const struct lode_pattern_group *group,
				const struct lode_buffer *lines, struct lode_buffer *result);
/* All but the group. */
void lode_signature_text_cut(const char *text, size_t size, const struct lode_pattern_group *group,
			     struct lode_buffer *result);
/* `lines` as a new group at the end. */
void lode_signature_text_append(const char *text, size_t size, const struct lode_buffer *lines,
				struct lode_buffer *result);

#endif
