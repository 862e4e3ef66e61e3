/*
 * Where signatures match: see signatures.h.
 *
 * A pattern is a subsequence of a stack when taking its frames greedily from the
 * root finds them all. The stack tree's parents come before their children, so
 * one pass in order of numbers knows for each node how many frames of the pattern
 * its stack has passed: those of its parent, and one more if its own frame is the
 * next. A pattern with a frame that the tree does not have at all is in no stack.
 * (The matcher needs the tree numbered first, which is worth it for an area with
 * the stacks of all streams, but not for one stream.)
 */
#include "base/parallel.h"
#include "mine/matching_stacks.h"
#include "mine/signatures.h"
#include "store/catalogue.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Streams that are matched, and then kept in one transaction. */
#define STREAMS_AT_ONCE 128

/* By frame of the signatures: the same frame in `frames`, or LODE_NONE. */
static uint32_t *map_frames(const struct lode_signatures *signatures, const struct lode_frames *frames)
{
	uint32_t *map = lode_calloc(signatures->frames.count + 1, sizeof(*map));

	for (uint32_t i = 0; map && i < signatures->frames.count; i++)
		map[i] = lode_frames_find(frames, lode_frames_module_name(&signatures->frames, i),
					  lode_frames_function(&signatures->frames, i));
	return map;
}

static int translate(const struct lode_signatures *signatures, size_t i, const uint32_t *map, uint32_t *sequence,
		     struct lode_patterns *patterns)
{
	const uint32_t *frames = lode_pattern_frames(&signatures->patterns, i);
	uint32_t length = signatures->patterns.items[i].length;

	for (uint32_t k = 0; k < length; k++) {
		sequence[k] = map[frames[k]];
		if (sequence[k] == LODE_NONE)
			return 0;
	}
	return lode_patterns_add(patterns, sequence, length, 0);
}

int lode_signatures_translate(const struct lode_signatures *signatures, const struct lode_frames *frames,
			      struct lode_patterns *patterns, size_t **starts)
{
	uint32_t *map = map_frames(signatures, frames);
	uint32_t *sequence = lode_calloc(LODE_STACK_DEPTH_LIMIT, sizeof(*sequence));
	int code;

	*starts = lode_calloc(signatures->count + 1, sizeof(**starts));
	code = map && sequence && *starts ? 0 : LODE_SYSTEM;
	for (size_t i = 0; !code && i < signatures->count; i++) {
		const struct lode_signature *signature = &signatures->items[i];

		for (size_t k = 0; !code && k < signature->count; k++)
			code = translate(signatures, signature->first + k, map, sequence, patterns);
		(*starts)[i + 1] = patterns->count;
	}
	lode_free(map);
	lode_free(sequence);
	return code;
}

int lode_signatures_mark(const struct lode_signatures *signatures, const struct lode_dictionary *dictionary,
			 enum lode_event_type kind, uint8_t *marks)
{
	struct lode_patterns patterns = { 0 };
	struct lode_matcher matcher = { 0 };
	size_t *starts;
	int code = lode_signatures_translate(signatures, &dictionary->frames, &patterns, &starts);

	if (!code)
		code = lode_matcher_init(&matcher, &dictionary->tree, dictionary->frames.count);
	for (size_t i = 0; !code && i < signatures->count; i++)
		if (signatures->items[i].kinds & 1u << kind)
			code = lode_matching_stacks_add(&matcher, &patterns, starts[i], starts[i + 1] - starts[i],
							marks);
	lode_matcher_release(&matcher);
	lode_patterns_release(&patterns);
	lode_free(starts);
	return code;
}

/* ---- one stream ---- */

/* What the events of a stream cost, by node. */
struct node_costs {
	uint64_t *cost[2];
	uint64_t *events[2];
};

static void costs_release(struct node_costs *costs)
{
	for (int kind = 0; kind < 2; kind++) {
		lode_free(costs->cost[kind]);
		lode_free(costs->events[kind]);
	}
}

static int costs_init(struct node_costs *costs, size_t nodes)
{
	int failed = 0;

	for (int kind = 0; kind < 2; kind++) {
		costs->cost[kind] = lode_calloc(nodes, sizeof(uint64_t));
		costs->events[kind] = lode_calloc(nodes, sizeof(uint64_t));
		failed |= !costs->cost[kind] || !costs->events[kind];
	}
	return failed ? LODE_SYSTEM : 0;
}

static void costs_add(struct node_costs *costs, int kind, const struct lode_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		uint32_t stack = events->stack[i];

		costs->cost[kind][stack] =
			lode_add_saturating(costs->cost[kind][stack], lode_events_cost(events, i));
		costs->events[kind][stack] += lode_events_weight(events, i);
	}
}

static struct lode_signature_match sum(const struct lode_signature *signature, const struct node_costs *costs,
				       const uint8_t *marks, size_t nodes)
{
	struct lode_signature_match match = { 0 };

	for (size_t node = 1; node < nodes; node++) {
		if (!marks[node])
			continue;
		for (int kind = 0; kind < 2; kind++) {
			if (!(signature->kinds & 1u << kind))
				continue;
			match.events += costs->events[kind][node];
			match.cost[kind] = lode_add_saturating(match.cost[kind], costs->cost[kind][node]);
		}
	}
	return match;
}

/* Marks the nodes whose stacks contain the pattern. */
static void mark(const struct lode_stack_tree *tree, const uint32_t *sequence, uint32_t length, uint32_t *passed,
		 uint8_t *marks)
{
	passed[0] = 0;
	for (size_t node = 1; node < tree->count; node++) {
		uint32_t at = passed[tree->nodes[node].parent];

		at += at < length && tree->nodes[node].frame == sequence[at];
		passed[node] = at;
		if (at == length)
			marks[node] = 1;
	}
}

/* What is needed to match the signatures with one stack tree. */
struct matching {
	const struct lode_signatures *signatures;
	const struct lode_stack_tree *tree;
	const struct node_costs *costs;
	struct lode_patterns patterns;
	size_t *starts;
	uint32_t *passed; /* by node: frames of the pattern that its stack has passed */
	uint8_t *marks;   /* by node */
};

static int match_one(struct matching *matching, size_t i, struct lode_signature_matches *matches)
{
	const struct lode_signature *signature = &matching->signatures->items[i];
	struct lode_signature_match match;

	if (matching->starts[i] == matching->starts[i + 1])
		return 0;
	memset(matching->marks, 0, matching->tree->count);
	for (size_t k = matching->starts[i]; k < matching->starts[i + 1]; k++)
		mark(matching->tree, lode_pattern_frames(&matching->patterns, k),
		     matching->patterns.items[k].length, matching->passed, matching->marks);
	match = sum(signature, matching->costs, matching->marks, matching->tree->count);
	if (!match.events)
		return 0;
	match.signature = signature->id;
	match.number = i;
	return LODE_APPEND(matches->items, matches->count, matches->capacity, match);
}

static int match_costs(const struct lode_signatures *signatures, const struct lode_dictionary *dictionary,
		       const struct node_costs *costs, struct lode_signature_matches *matches)
{
	struct matching matching = { .signatures = signatures, .tree = &dictionary->tree, .costs = costs };
	int code = lode_signatures_translate(signatures, &dictionary->frames, &matching.patterns, &matching.starts);

	matching.passed = lode_alloc(dictionary->tree.count * sizeof(*matching.passed));
	matching.marks = lode_alloc(dictionary->tree.count);
	if (!matching.passed || !matching.marks)
		code = LODE_SYSTEM;
	matches->count = 0;
	for (size_t i = 0; !code && i < signatures->count; i++)
		code = match_one(&matching, i, matches);
	lode_patterns_release(&matching.patterns);
	lode_free(matching.starts);
	lode_free(matching.passed);
	lode_free(matching.marks);
	return code;
}

int lode_signatures_match(const struct lode_signatures *signatures, const struct lode_stream *stream,
			  struct lode_signature_matches *matches, struct lode_error *error)
{
	struct node_costs costs = { 0 };
	int code;

	matches->count = 0;
	if (!signatures->count)
		return 0;
	code = costs_init(&costs, stream->dictionary->tree.count);
	for (int kind = 0; !code && kind < 2; kind++)
		costs_add(&costs, kind, &stream->events[kind]);
	if (!code)
		code = match_costs(signatures, stream->dictionary, &costs, matches);
	costs_release(&costs);
	return code ? lode_fail_memory(error) : 0;
}

void lode_signature_matches_release(struct lode_signature_matches *matches)
{
	lode_free(matches->items);
	memset(matches, 0, sizeof(*matches));
}

/* ---- a stored stream ---- */

static int read_costs(struct lode_store *store, struct node_costs *costs, struct lode_error *error)
{
	struct lode_events events = { 0 };
	int code = 0;

	for (size_t i = 0; !code && i < lode_store_blocks(store); i++) {
		const struct lode_store_block *block = lode_store_block(store, i);

		if (block->type != LODE_RUN && block->type != LODE_WAIT)
			continue;
		code = lode_store_events(store, i, LODE_COST | LODE_STACK | LODE_WEIGHT, &events, error);
		if (!code)
			costs_add(costs, (int)block->type, &events);
	}
	lode_events_release(&events);
	return code;
}

static int match_stored(const struct lode_signatures *signatures, struct lode_store *store,
			struct lode_dictionary *dictionary, struct lode_signature_matches *matches,
			struct lode_error *error)
{
	struct node_costs costs = { 0 };
	struct lode_stream stream;
	int code;

	lode_stream_init(&stream, dictionary);
	code = lode_store_head(store, &stream, error);
	if (!code && costs_init(&costs, dictionary->tree.count) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = read_costs(store, &costs, error);
	if (!code && match_costs(signatures, dictionary, &costs, matches) < 0)
		code = lode_fail_memory(error);
	costs_release(&costs);
	lode_stream_release(&stream);
	return code;
}

static int match_file(const struct lode_signatures *signatures, const char *path,
		      struct lode_signature_matches *matches, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_store *store;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	code = lode_store_open(&store, path, error);
	if (!code) {
		code = match_stored(signatures, store, &dictionary, matches, error);
		lode_store_close(store);
	}
	lode_dictionary_release(&dictionary);
	return code;
}

/* ---- many streams ---- */

struct batch_item {
	struct lode_signature_matches matches;
	struct lode_error error;
	int code;
};

struct batch {
	const struct lode_signatures *signatures;
	const struct lode_corpus_entry *entries;
	size_t count;
	struct batch_item *items;
};

static void match_item(void *context, size_t i)
{
	struct batch *batch = context;
	struct batch_item *item = &batch->items[i];

	item->code = match_file(batch->signatures, batch->entries[i].path, &item->matches, &item->error);
}

/* The first failure of a batch. */
static int batch_result(const struct batch *batch, struct lode_error *error)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->items[i].code)
			return lode_fail(error, batch->items[i].code, "%s", batch->items[i].error.text);
	return 0;
}

static int keep_batch(struct lode_catalogue *catalogue, const struct batch *batch, struct lode_error *error)
{
	int code = lode_catalogue_begin(catalogue, error);

	for (size_t i = 0; !code && i < batch->count; i++)
		code = lode_catalogue_put_matches(catalogue, batch->entries[i].id, batch->entries[i].path,
						  batch->signatures->newest, batch->items[i].matches.items,
						  batch->items[i].matches.count, error);
	if (!code)
		code = lode_catalogue_commit(catalogue, error);
	lode_catalogue_rollback(catalogue);
	return code;
}

/* Whether a stream was added after a time as text. */
static int is_newer(uint64_t added, const char *since)
{
	time_t seconds = (time_t)added;
	struct tm parts;
	char text[32];

	if (!gmtime_r(&seconds, &parts) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
		return 0;
	return strcmp(text, since) > 0;
}

/* Where the matches are not kept, the sums are made here. */
static void add_batch(struct lode_signatures *signatures, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		for (size_t k = 0; k < batch->items[i].matches.count; k++) {
			const struct lode_signature_match *match = &batch->items[i].matches.items[k];
			struct lode_signature *signature = &signatures->items[match->number];

			signature->streams++;
			signature->newer += is_newer(batch->entries[i].added, signature->since);
			signature->events = lode_add_saturating(signature->events, match->events);
			for (int kind = 0; kind < 2; kind++)
				signature->cost[kind] =
					lode_add_saturating(signature->cost[kind], match->cost[kind]);
		}
}

static int match_batch(struct lode_corpus *corpus, struct lode_signatures *signatures, struct batch *batch,
		       unsigned jobs, int keep, struct lode_error *error)
{
	int code;

	batch->items = lode_calloc(batch->count, sizeof(*batch->items));
	if (!batch->items)
		return lode_fail_memory(error);
	lode_parallel(jobs, batch->count, match_item, batch);
	code = batch_result(batch, error);
	if (!code && keep)
		code = keep_batch(lode_corpus_catalogue(corpus), batch, error);
	else if (!code)
		add_batch(signatures, batch);
	for (size_t i = 0; i < batch->count; i++)
		lode_signature_matches_release(&batch->items[i].matches);
	lode_free(batch->items);
	return code;
}

static int match_list(struct lode_corpus *corpus, struct lode_signatures *signatures,
		      const struct lode_corpus_list *list, unsigned jobs, int keep,
		      const struct lode_progress *progress, struct lode_error *error)
{
	int code = 0;

	for (size_t at = 0; !code && at < list->count; at += STREAMS_AT_ONCE) {
		size_t left = list->count - at;
		struct batch batch = {
			.signatures = signatures,
			.entries = list->items + at,
			.count = left < STREAMS_AT_ONCE ? left : STREAMS_AT_ONCE,
		};

		if (lode_progress_report(progress, "matching signatures", "streams", at, list->count))
			return lode_fail(error, LODE_SYSTEM, "%s: matching signatures was interrupted",
					 lode_corpus_path(corpus));
		code = match_batch(corpus, signatures, &batch, jobs, keep, error);
	}
	return code;
}

static void set_sums(struct lode_signature *signature, const struct lode_signature_row *row)
{
	signature->streams = row ? row->streams : 0;
	signature->newer = row ? row->newer : 0;
	signature->events = row ? row->events : 0;
	for (int kind = 0; kind < 2; kind++)
		signature->cost[kind] = row ? row->cost[kind] : 0;
}

static int compare_ids(const void *left, const void *right)
{
	const struct lode_signature_row *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* The sums as the catalogue has them now. */
static int reload_sums(struct lode_corpus *corpus, struct lode_signatures *signatures, struct lode_error *error)
{
	struct lode_signature_rows rows;
	int code = lode_catalogue_signatures(lode_corpus_catalogue(corpus), &rows, error);

	if (!code && rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), compare_ids);
	for (size_t i = 0; !code && rows.count && i < signatures->count; i++) {
		struct lode_signature_row wanted = { .id = signatures->items[i].id };

		set_sums(&signatures->items[i],
			 bsearch(&wanted, rows.items, rows.count, sizeof(wanted), compare_ids));
	}
	lode_signature_rows_release(&rows);
	return code;
}

int lode_signatures_refresh(struct lode_corpus *corpus, struct lode_signatures *signatures, unsigned jobs,
			    const struct lode_progress *progress, struct lode_error *error)
{
	int keep = signatures->kept && lode_catalogue_writable(lode_corpus_catalogue(corpus));
	struct lode_corpus_list list = { 0 };
	int code = 0;

	if (!signatures->count)
		return 0;
	if (signatures->kept) {
		code = lode_corpus_unmatched(corpus, &list, error);
		if (code || !list.count)
			return code;
	}
	if (!keep) { /* some streams are matched and some are not: the sums are computed from all again */
		lode_corpus_list_release(&list);
		for (size_t i = 0; i < signatures->count; i++)
			set_sums(&signatures->items[i], NULL);
		code = lode_corpus_streams(corpus, &list, error);
	}
	if (!code)
		code = match_list(corpus, signatures, &list, jobs, keep, progress, error);
	if (!code && keep)
		code = reload_sums(corpus, signatures, error);
	lode_corpus_list_release(&list);
	return code;
}
