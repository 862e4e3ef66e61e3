/*
 * Alignment of two patterns (StackMine, section VI.A and Figure 3): the cheapest
 * series of matches (0), substitutions (Sub, by common words of the names) and
 * insertions or deletions (1). Of equally cheap ones, from the leaf end: match
 * before substitution before deletion before insertion.
 */
#ifndef LODE_MINE_ALIGNMENT_H
#define LODE_MINE_ALIGNMENT_H

#include "mine/call_counts.h"
#include "trace/frames.h"

/* Words of function names, and from them Sub of any two frames. */
struct lode_words;

/* NULL when memory has run out. Frames added later are not known. */
struct lode_words *lode_words_make(const struct lode_frames *frames);
void lode_words_free(struct lode_words *words);
/*
 * 1 - 2 * common / all, in [0, 1]; 0 for the same frame; 1 where neither has a
 * word. To the nearest 1/720720, which is exact for up to 16 words together.
 */
double lode_words_sub(const struct lode_words *words, uint32_t f1, uint32_t f2);

enum lode_alignment_step {
	LODE_MATCH,
	LODE_SUBSTITUTE,
	LODE_DELETE, /* only in the left one */
	LODE_INSERT, /* only in the right one */
};

struct lode_alignment {
	uint8_t *steps; /* enum lode_alignment_step, root first */
	size_t count;
	size_t capacity;
	double cost;
	void *work; /* the table, reused */
	size_t work_capacity;
};

/* Aligns; `alignment` is zeroed before its first use and reused. Returns 0 or LODE_SYSTEM. */
int lode_align(const struct lode_words *words, const uint32_t *left, uint32_t left_length, const uint32_t *right,
	       uint32_t right_length, struct lode_alignment *alignment);
void lode_alignment_release(struct lode_alignment *alignment);

/*
 * Sim (section VI.B) of an alignment: weight of the matches by weight of all, in
 * [0, 1]; 1 when both are equal. Where all weights are 0, it is 1 for equal
 * patterns and 0 for others.
 */
double lode_alignment_similarity(const struct lode_alignment *alignment, const struct lode_words *words,
				 const struct lode_call_counts *counts, const uint32_t *left,
				 const uint32_t *right);

#endif
