/*
 * What an id of the last mining means: a cluster, or one pattern. A unique
 * beginning of an id will do.
 */
#ifndef LODE_MINE_PATTERN_ID_H
#define LODE_MINE_PATTERN_ID_H

#include "mine/mine.h"
#include "mine/pattern_file.h"

struct lode_pattern_choice {
	const char *type;                       /* "cluster" or "pattern" */
	char id[LODE_ID];                       /* all of it; of a longer name its beginning */
	const struct lode_pattern_group *group; /* the one meant, or the one the pattern is in */
	size_t first;                           /* of its patterns in the file's */
	size_t count;
};

/*
 * Looks `wanted` up among the names of the file's groups and the ids of its
 * patterns; a group that is called just so comes first. `path` is for messages.
 * None, or more than one that begins so: LODE_USAGE and a sentence.
 */
int lode_pattern_choose(const struct lode_pattern_file *file, const struct lode_frames *frames, const char *path,
			const char *wanted, struct lode_pattern_choice *choice, struct lode_error *error);
/* Reads CORPUS/mined.txt; where there is none the sentence says to mine first. */
int lode_mined_file_read(struct lode_pattern_file *file, const char *corpus, struct lode_frames *frames,
			 struct lode_error *error);
/* Writes it: the clusters of a mining of events of one kind ("run", "wait"; NULL: of either). */
int lode_mined_file_write(const char *corpus, const struct lode_mined *mined, const char *kind,
			  const struct lode_frames *frames, struct lode_error *error);

#endif
