/*
 * Names of the frames that occur in patterns, and for one of them all others that
 * have a word in common with it: what makes Sub of a whole set of patterns cheap.
 */
#ifndef LODE_MINE_SIMILAR_NAMES_H
#define LODE_MINE_SIMILAR_NAMES_H

#include "mine/miner.h"
#include "mine/word_groups.h"

/* A word group (word_groups.h), renumbered from 0; an unknown frame is a separate name, without words. */
struct lode_names {
	uint32_t *of;                   /* parallel to the patterns' frames: the name of each */
	struct lode_word_group *groups; /* by name: its words */
	size_t count;
	size_t capacity;
	size_t *starts; /* by word, one more than words: names with it in `having` */
	struct lode_name_with_word *having;
};

struct lode_name_with_word {
	uint32_t name;
	uint32_t times; /* the word occurs in it */
};

/* Returns 0 or LODE_SYSTEM. `words` must outlive it. Release in either case. */
int lode_names_make(struct lode_names *names, const struct lode_patterns *patterns, const struct lode_words *words);
void lode_names_release(struct lode_names *names);

struct lode_near_name {
	uint32_t name;
	uint32_t sub; /* in units, below LODE_SUB_UNITS */
};

/*
 * Writes the names that are nearer than 1 to `name`, itself among them, to `near`,
 * which has room for all, in no particular order; returns their number. `common`
 * has a number for each name, all 0, and is so again afterwards.
 */
size_t lode_names_near(const struct lode_names *names, uint32_t name, uint32_t *common,
		       struct lode_near_name *near);

#endif
