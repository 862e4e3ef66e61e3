/*
 * What can be taken away in a replay (gain.h): clusters of a mining, or stacks with some frames in this order, as a user wrote them.
 */
#ifndef LODE_MINE_GAIN_TARGETS_H
#define LODE_MINE_GAIN_TARGETS_H

#include "mine/gain.h"
#include "mine/mine.h"
#include "mine/pattern_file.h"

/* The clusters of a mining, from the first on. */
struct lode_gain_clusters {
	const struct lode_mined *mined;
	const struct lode_frames *frames; /* of its patterns */
};

/* For struct lode_gain_request: `context` is a struct lode_gain_clusters. */
int lode_gain_mark_cluster(void *context, size_t i, const struct lode_dictionary *dictionary, uint8_t *marks);

/* A pattern that a user wrote, `GLOB;GLOB=50%`, or the id of a pattern or cluster of the last mining. */
struct lode_gain_pattern {
	char *text;   /* without the percentage */
	char **globs; /* in the order in which frames must fit; NULL: the patterns below */
	size_t glob_count;
	unsigned percent;
	struct lode_frames frames; /* with an id: its patterns, */
	struct lode_pattern_file file;
	size_t first; /* these of the file */
	size_t count;
	const char *kind; /* "run", "wait"; NULL: either */
	int has_frames;
};

/*
 * Reads it; `corpus`, the path of a corpus, has the last mining that ids refer to. What is none is LODE_USAGE and a sentence.
 * Release it in either case (zeroed before).
 */
int lode_gain_pattern_parse(struct lode_gain_pattern *pattern, const char *text, const char *corpus,
			    struct lode_error *error);
void lode_gain_pattern_release(struct lode_gain_pattern *pattern);
/* For struct lode_gain_request: `context` is a struct lode_gain_pattern, the only target. */
int lode_gain_mark_pattern(void *context, size_t i, const struct lode_dictionary *dictionary, uint8_t *marks);

#endif
