/*
 * What the similarity knows of words beyond alignment.h: Sub as a whole number,
 * and frames grouped by their words.
 *
 * Alignments are compared by cost, and ties between them are broken by a rule, so
 * costs must be exact: Sub is counted in units of 1/720720, the smallest number
 * that 1 to 16 divide. For two names with up to 16 words together that is the
 * formula itself; above, it is the formula rounded to the nearest unit.
 */
#ifndef LODE_MINE_WORD_GROUPS_H
#define LODE_MINE_WORD_GROUPS_H

#include "mine/alignment.h"

#define LODE_SUB_UNITS 720720u

/* Sub of two names by how many words they have in total and in common, in units. */
static inline uint32_t lode_sub_units(uint64_t words, uint64_t common)
{
	return words ? (uint32_t)(((words - 2 * common) * LODE_SUB_UNITS + words / 2) / words) : LODE_SUB_UNITS;
}

/*
 * A word group: frames whose names have the same words, and so the same Sub to
 * any other frame. A frame without words is alone in its group. Groups are
 * numbered from 0.
 */
struct lode_word_group {
	const uint32_t *words; /* ids, rising; a word that occurs twice in the name is here twice */
	uint32_t count;
};

size_t lode_words_group_count(const struct lode_words *words);
/* The group of a frame; LODE_NONE for a frame that is not known. */
uint32_t lode_words_group(const struct lode_words *words, uint32_t frame);
struct lode_word_group lode_words_of_group(const struct lode_words *words, uint32_t group);
/* Ids of words are below this. */
size_t lode_words_count(const struct lode_words *words);

/* As lode_call_counts_write and lode_call_counts_read. */
void lode_words_write(const struct lode_words *words, const uint32_t *frames, size_t frame_count,
		      struct lode_buffer *message);
struct lode_words *lode_words_read(struct lode_cursor *message);

/* Sub in units: 0 for the same frame. */
uint32_t lode_words_sub_units(const struct lode_words *words, uint32_t f1, uint32_t f2);

#endif
