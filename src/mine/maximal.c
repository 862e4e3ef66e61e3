/*
 * Maximal patterns of a list.
 *
 * Patterns are looked at longest first, so that one that contains another was
 * accepted before it. For each frame there is a chain of the accepted patterns
 * that have it; what could contain a pattern is in the chains of all its
 * frames, so only the shortest of them is searched. A signature of 64 bits (one
 * bit per frame, by hash) refuses most of those before frames are compared.
 */
#include "mine/maximal.h"

#include <stdlib.h>
#include <string.h>

/* Some milliseconds. */
#define COMPARISONS_BETWEEN_WORDS (1u << 20)

/* One place in a chain: an accepted pattern that has the chain's frame. */
struct link {
	uint32_t pattern;
	uint32_t next; /* link, or LODE_NONE */
};

struct chains {
	uint32_t *head;  /* by frame: link, or LODE_NONE */
	uint32_t *count; /* by frame */
	size_t frames;
	struct link *links;
	size_t link_count;
	size_t link_capacity;
	uint64_t *signature; /* by accepted pattern */
	size_t compared;     /* patterns since the progress callback was asked last */
};

static uint64_t signature_of(const uint32_t *frames, uint32_t length)
{
	uint64_t signature = 0;

	for (uint32_t i = 0; i < length; i++)
		signature |= 1ull << (frames[i] * 0x9e3779b1u >> 26);
	return signature;
}

static int is_subsequence(const uint32_t *part, uint32_t part_length, const uint32_t *whole, uint32_t length)
{
	uint32_t met = 0;

	for (uint32_t i = 0; i < length && met < part_length && part_length - met <= length - i; i++)
		met += whole[i] == part[met];
	return met == part_length;
}

static int chains_init(struct chains *chains, const struct lode_patterns *patterns)
{
	memset(chains, 0, sizeof(*chains));
	for (size_t i = 0; i < patterns->frame_count; i++)
		if (patterns->frames[i] >= chains->frames)
			chains->frames = (size_t)patterns->frames[i] + 1;
	chains->head = lode_alloc(chains->frames * sizeof(*chains->head));
	chains->count = lode_calloc(chains->frames, sizeof(*chains->count));
	chains->signature = lode_calloc(patterns->count, sizeof(*chains->signature));
	if (!chains->head || !chains->count || !chains->signature)
		return LODE_SYSTEM;
	memset(chains->head, 0xff, chains->frames * sizeof(*chains->head));
	return 0;
}

static void chains_release(struct chains *chains)
{
	lode_free(chains->head);
	lode_free(chains->count);
	lode_free(chains->links);
	lode_free(chains->signature);
}

/* Enters accepted pattern `number` in the chains of its frames, once in each. */
static int chains_add(struct chains *chains, uint32_t number, const uint32_t *frames, uint32_t length)
{
	if (LODE_GROW(chains->links, chains->link_capacity, chains->link_count + length) < 0)
		return LODE_SYSTEM;
	chains->signature[number] = signature_of(frames, length);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t head = chains->head[frames[i]];

		if (head != LODE_NONE && chains->links[head].pattern == number)
			continue;
		chains->links[chains->link_count] = (struct link){ number, head };
		chains->head[frames[i]] = (uint32_t)chains->link_count++;
		chains->count[frames[i]]++;
	}
	return 0;
}

/* Whether one of the accepted patterns, which are the first of the list, contains this one. */
static int is_contained(struct chains *chains, const struct lode_patterns *patterns, const uint32_t *frames,
			uint32_t length)
{
	uint64_t signature = signature_of(frames, length);
	uint32_t rarest = frames[0];

	for (uint32_t i = 1; i < length; i++)
		if (chains->count[frames[i]] < chains->count[rarest])
			rarest = frames[i];
	for (uint32_t i = chains->head[rarest]; i != LODE_NONE; i = chains->links[i].next) {
		uint32_t number = chains->links[i].pattern;
		const struct lode_pattern *other = &patterns->items[number];

		chains->compared++;
		if (signature & ~chains->signature[number] || other->length <= length)
			continue;
		if (is_subsequence(frames, length, patterns->frames + other->first, other->length))
			return 1;
	}
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct lode_pattern *x = a, *y = b;

	return x->length > y->length ? -1 : x->length < y->length;
}

static int by_cost(const void *a, const void *b, void *context)
{
	const struct lode_pattern *x = a, *y = b;
	const uint32_t *frames = context;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	for (uint32_t i = 0; i < x->length; i++)
		if (frames[x->first + i] != frames[y->first + i])
			return frames[x->first + i] < frames[y->first + i] ? -1 : 1;
	return 0;
}

/* Copies the frames of the patterns that are left into the order of the patterns. */
static int put_frames_in_order(struct lode_patterns *patterns)
{
	size_t count = 0, capacity = 0;
	uint32_t *frames = NULL;

	for (size_t i = 0; i < patterns->count; i++)
		count += patterns->items[i].length;
	if (LODE_GROW(frames, capacity, count) < 0)
		return LODE_SYSTEM;
	count = 0;
	for (size_t i = 0; i < patterns->count; i++) {
		struct lode_pattern *pattern = &patterns->items[i];

		memcpy(frames + count, patterns->frames + pattern->first, pattern->length * sizeof(*frames));
		pattern->first = count;
		count += pattern->length;
	}
	lode_free(patterns->frames);
	patterns->frames = frames;
	patterns->frame_count = count;
	patterns->frame_capacity = capacity;
	return 0;
}

/* Comparisons between two calls of the progress callback, which may stop the work. */
static int is_time_to_stop(struct chains *chains, const struct lode_progress *progress, size_t done, size_t all)
{
	if (chains->compared < COMPARISONS_BETWEEN_WORDS)
		return 0;
	chains->compared = 0;
	return lode_progress_report(progress, "dropping contained patterns", "patterns", done, all);
}

static int keep_maximal(struct lode_patterns *patterns, uint32_t min_length, const struct lode_progress *progress,
			struct chains *chains)
{
	size_t kept = 0;
	int stopped = 0;

	qsort(patterns->items, patterns->count, sizeof(*patterns->items), longest_first);
	for (size_t i = 0; i < patterns->count; i++) {
		struct lode_pattern pattern = patterns->items[i];
		const uint32_t *frames = patterns->frames + pattern.first;

		if (pattern.length < min_length || !pattern.length)
			break;
		stopped = stopped || is_time_to_stop(chains, progress, i, patterns->count);
		if (!stopped) {
			if (is_contained(chains, patterns, frames, pattern.length))
				continue;
			if (chains_add(chains, (uint32_t)kept, frames, pattern.length) < 0)
				return LODE_SYSTEM;
		}
		patterns->items[kept++] = pattern;
	}
	patterns->count = kept;
	if (stopped && patterns->end == LODE_MINER_COMPLETE)
		patterns->end = LODE_MINER_INTERRUPTED;
	return 0;
}

int lode_patterns_keep_maximal(struct lode_patterns *patterns, uint32_t min_length,
			       const struct lode_progress *progress)
{
	struct chains chains;
	int code;

	if (!patterns->count)
		return 0;
	code = chains_init(&chains, patterns);
	if (!code)
		code = keep_maximal(patterns, min_length, progress, &chains);
	chains_release(&chains);
	if (code)
		return code;
	qsort_r(patterns->items, patterns->count, sizeof(*patterns->items), by_cost, patterns->frames);
	return put_frames_in_order(patterns);
}
