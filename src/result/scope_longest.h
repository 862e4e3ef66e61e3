/*
 * The longest symptoms and their scopes, gathered stream by stream as JSON for a page. All symptoms share one
 * table of stacks: `names` of frames, and `nodes`, three numbers each: how much its number is larger than that of the
 * node before it (from 0) and than its caller's (0: none), and its frame's place in `names`. Small numbers pack well.
 */
#ifndef LODE_RESULT_SCOPE_LONGEST_H
#define LODE_RESULT_SCOPE_LONGEST_H

#include "result/scope_report.h"

struct lode_scope_kept;

struct lode_scope_longest {
	size_t most; /* symptoms that are kept; to be set */
	struct lode_scope_kept *kept;
	size_t count;
	size_t capacity;
	uint64_t symptoms;             /* of all streams */
	struct lode_dictionary shared; /* of the streams that have a symptom here */
	int has_shared;
	const struct lode_idle_rules *idle;
};

/* Adds the symptoms of a stream that are among the longest so far. */
int lode_scope_longest_add(void *to, struct lode_scope_report *report, struct lode_error *error);
/* Appends the JSON of the page, the longest symptom first. */
void lode_scope_longest_json(struct lode_scope_longest *page, struct lode_buffer *buffer);
void lode_scope_longest_release(struct lode_scope_longest *page);

#endif
