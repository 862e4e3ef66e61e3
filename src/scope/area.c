/*
 * The area of interest of a corpus: see area.h.
 *
 * Streams are mapped in parallel (area_stream.c), each over a dictionary of its own, and merged in
 * the catalogue's order, each waiting for its turn. So the numbers of frames and stacks, and
 * everything that follows, do not depend on the number of threads.
 *
 * Only one thread at a time can merge into the whole. Where there are many streams, a thread takes
 * several consecutive ones and merges them with each other first. Their stacks are mostly the same,
 * so what is left to merge in turn is a fraction (a seventh of it with 16 streams), and many
 * threads do not wait for it. This is a tenth more work, so it is not done with two threads, unless the
 * batches are cached: then the next run merges a few of them instead of all streams.
 *
 * Several processes each collect some consecutive streams and join them up a tree (area_message.h).
 *
 * Memory: the merged dictionary and rows, and for each thread one stream and one batch.
 */
#include "scope/area.h"

#include "base/parallel.h"
#include "base/sort_rows.h"
#include "base/spill.h"
#include "scope/area_batch.h"
#include "scope/kernel_names.h"
#include "store/corpus_deal.h"

#include <string.h>

/* Batches have 1 to LARGEST_BATCH streams, so that there are some MIN_BATCHES, enough for many threads. */
#define LARGEST_BATCH 16
#define MIN_BATCHES   64
/*
 * Where a few threads have many streams whose results are cached, batches are larger: they are cached, too (area_batch.h). Under a
 * limit of memory they are not, since a thread has a whole one.
 */
#define MIN_STREAMS      128
#define MIN_CACHED_BATCH 32
#define MAX_CACHED_BATCH 128
#define FEW_JOBS         4

struct collection {
	const struct lode_area_plan *plan;
	const struct lode_corpus_list *list;  /* the streams of this process, of all that the plan is for */
	const struct lode_progress *progress; /* NULL: another process has it */
	struct lode_area_merge merge;
	size_t *starts; /* by piece: its first stream; one more than pieces */
	size_t pieces;
	int single; /* a piece is one stream */
	uint64_t events_done;
	uint64_t events_total;
};

/* ---- pieces ---- */

struct piece {
	struct lode_area_partial partial; /* of one stream */
	struct lode_area_batch batch;     /* of several */
};

static int merge_one(const struct collection *collection, struct lode_area_merge *merge,
		     const struct lode_area_partial *partial, size_t stream)
{
	return lode_area_merge_stream(merge, partial, &collection->list->items[stream],
				      collection->plan->options->by_symptom);
}

static int map_piece(void *context, size_t i, void *result, struct lode_error *error)
{
	struct collection *collection = context;
	struct piece *piece = result;
	size_t first = collection->starts[i];

	if (collection->single)
		return lode_area_stream_if_readable(collection->plan, &collection->list->items[i], &piece->partial,
						    error);
	return lode_area_batch_make(&piece->batch, collection->plan, &collection->list->items[first],
				    collection->starts[i + 1] - first, error);
}

static int report_progress(struct collection *collection, size_t piece)
{
	for (size_t k = collection->starts[piece]; k < collection->starts[piece + 1]; k++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			collection->events_done += collection->list->items[k].events[type];
	return lode_progress_report(collection->progress, "reading the corpus", "events", collection->events_done,
				    collection->events_total);
}

static int merge_piece(void *context, size_t i, void *result, struct lode_error *error)
{
	struct collection *collection = context;
	const struct piece *piece = result;
	int code = collection->single ? merge_one(collection, &collection->merge, &piece->partial, i)
				      : lode_area_batch_join(&collection->merge, &piece->batch);

	if (code)
		return lode_fail_memory(error);
	if (report_progress(collection, i))
		return lode_fail(error, LODE_SYSTEM, "stopped before all streams were read");
	return 0;
}

static void release_piece(void *result)
{
	struct piece *piece = result;

	lode_area_partial_release(&piece->partial);
	lode_area_batch_release(&piece->batch);
}

/* ---- the whole ---- */

/* Rows are sorted by stream; those of one stack keep that order. */
static int sort_rows(struct lode_area_rows *rows, size_t nodes)
{
	_Static_assert(offsetof(struct lode_area_row, stack) == 0, "rows begin with what they are sorted by");
	size_t run = lode_sort_rows_run(sizeof(*rows->items));

	if (lode_sort_rows(&rows->items, rows->count, sizeof(*rows->items), nodes, run) < 0)
		return LODE_SYSTEM;
	rows->capacity = rows->count;
	return 0;
}

static int sort_all(struct lode_area *area)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		if (sort_rows(&area->rows[kind], area->dictionary.tree.count) < 0 ||
		    sort_rows(&area->idle[kind], area->dictionary.tree.count) < 0)
			return LODE_SYSTEM;
	return sort_rows(&area->work, area->dictionary.tree.count);
}

/* What was requested and is not there. */
static int check_found(const struct collection *collection, const char *corpus, struct lode_error *error)
{
	const struct lode_area_plan *plan = collection->plan;
	const struct lode_area_options *options = plan->options;

	if (!collection->list->count)
		return 0;
	if (!collection->merge.wanted && collection->merge.area.unread.count)
		return lode_unread_streams_fail(&collection->merge.area.unread, error);
	lode_unread_streams_note(&collection->merge.area.unread, options->notes);
	if (!collection->merge.wanted)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has '%s'; 'lode info %s' shows the attributes there are", corpus,
				 options->where[0], corpus);
	if (plan->scope == LODE_SCOPE_ALL)
		return 0;
	if (collection->merge.without == collection->merge.wanted && plan->rules.count)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has the symptom '%s'; 'lode info %s' shows the threads there are",
				 corpus, plan->rules.items[0].text, corpus);
	if (collection->merge.without == collection->merge.wanted)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has a symptom, and scope '%s' starts from one; give "
				 "'--symptom \"thread NAME\"', or use '--scope all'",
				 corpus, lode_scope_name(plan->scope));
	lode_notes_add(options->notes, collection->merge.repeated,
		       "symptoms of the same thread and time as others, counted once", NULL);
	lode_notes_add(options->notes, collection->merge.without,
		       "streams without a symptom add nothing to this scope", NULL);
	return 0;
}

/* Streams of a batch; 0: as many as are worth caching together. */
static size_t choose_batch(const struct lode_corpus_list *list, unsigned jobs)
{
	size_t batch = jobs > 2 ? list->count / MIN_BATCHES : 1;

	if (jobs <= FEW_JOBS && list->count >= MIN_STREAMS && list->items[0].cache && !lode_spill_counts().limit)
		return 0;
	if (batch > LARGEST_BATCH)
		return LARGEST_BATCH;
	return batch ? batch : 1;
}

/*
 * Whether a batch of `count` streams that is to be cached ends with this one. Its id decides, so that a stream that is
 * added or gone changes its own batch, and not where all batches after it begin.
 */
static int ends_batch(const struct lode_corpus_entry *last, size_t count)
{
	return count >= MAX_CACHED_BATCH ||
	       (count >= MIN_CACHED_BATCH && lode_digest_bytes(last->id, sizeof(last->id)) % MIN_CACHED_BATCH == 0);
}

static int plan_pieces(struct collection *collection, unsigned jobs)
{
	const struct lode_corpus_list *list = collection->list;
	size_t batch = choose_batch(list, jobs), count = 0;

	collection->starts = lode_calloc(list->count + 1, sizeof(*collection->starts));
	if (!collection->starts)
		return LODE_SYSTEM;
	for (size_t i = 0; i < list->count; i++) {
		count++;
		if (i + 1 == list->count || (batch ? count == batch : ends_batch(&list->items[i], count))) {
			collection->starts[++collection->pieces] = i + 1;
			count = 0;
		}
	}
	collection->single = batch == 1;
	return 0;
}

static int collect_pieces(struct collection *collection, struct lode_error *error)
{
	const struct lode_corpus_list *list = collection->list;
	unsigned jobs = collection->plan->options->jobs ? collection->plan->options->jobs : lode_processors();
	struct lode_in_order work = { sizeof(struct piece), map_piece, merge_piece, release_piece, collection };
	int code;

	for (size_t i = 0; i < list->count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			collection->events_total += list->items[i].events[type];
	code = plan_pieces(collection, jobs) < 0 ? lode_fail_memory(error) : 0;
	if (!code)
		code = lode_parallel_in_order(jobs, collection->pieces, &work, error);
	lode_free(collection->starts);
	return code;
}

/* Of all processes the first finishes. */
static int finish(struct collection *collection, const struct lode_corpus_list *list, struct lode_corpus *corpus,
		  struct lode_area *area, struct lode_error *error)
{
	collection->list = list;
	if (sort_all(area) < 0)
		return lode_fail_memory(error);
	lode_kernel_names_note(&area->dictionary.frames, collection->plan->options->notes);
	return check_found(collection, lode_corpus_title(corpus), error);
}

static int are_all(const struct lode_symptom_rules *rules, enum lode_symptom_rule_type type)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i].type != type)
			return 0;
	return rules->count > 0;
}

static int collect(struct lode_corpus *corpus, const struct lode_area_plan *plan,
		   const struct lode_corpus_list *list, const struct lode_job_rank *rank, struct lode_area *area,
		   struct lode_error *error)
{
	struct lode_corpus_list part = rank ? lode_corpus_part(list, rank) : *list;
	int helps = rank && rank->number;
	struct collection collection = {
		.plan = plan,
		.list = &part,
		.progress = helps ? NULL : plan->options->progress,
	};
	int code = lode_area_merge_init(&collection.merge) < 0 ? lode_fail_memory(error)
							       : collect_pieces(&collection, error);

	if (rank)
		code = lode_area_merge_gather(&collection.merge, rank, code, error);
	*area = collection.merge.area;
	area->scope = plan->scope;
	area->by_symptom = plan->options->by_symptom;
	area->by_rules = plan->rules.count > 0;
	area->requests = are_all(&plan->rules, LODE_SYMPTOM_REQUEST);
	area->gpus = are_all(&plan->rules, LODE_SYMPTOM_GPU);
	if (code)
		return code;
	if (!helps)
		return finish(&collection, list, corpus, area, error);
	lode_area_release(area);
	return 0;
}

int lode_area_collect(struct lode_corpus *corpus, const struct lode_area_options *options,
		      const struct lode_job_rank *rank, struct lode_area *area, struct lode_error *error)
{
	struct lode_area_plan plan = { 0 };
	struct lode_corpus_list list = { 0 };
	int code;

	memset(area, 0, sizeof(*area));
	code = lode_corpus_streams(corpus, &list, error);
	if (!code)
		code = lode_area_plan_make(&plan, options, &list, error);
	if (!code)
		code = collect(corpus, &plan, &list, rank, area, error);
	lode_area_plan_release(&plan);
	lode_corpus_list_release(&list);
	if (code)
		lode_area_release(area);
	return code;
}

/* ---- one process of several ---- */

struct keeping {
	const struct lode_area_plan *plan;
	const struct lode_corpus_list *list;
};

static void keep_stream(void *context, size_t i)
{
	const struct keeping *keeping = context;

	lode_area_stream_keep(keeping->plan, &keeping->list->items[i]);
}

int lode_area_keep(struct lode_corpus *corpus, const struct lode_area_options *options,
		   const struct lode_job_rank *rank, struct lode_error *error)
{
	struct lode_area_plan plan = { 0 };
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code)
		code = lode_area_plan_make(&plan, options, &list, error);
	if (!code &&
	    lode_corpus_deal(&list, rank, options->jobs, keep_stream, &(struct keeping){ &plan, &list }) < 0)
		code = lode_fail_memory(error);
	lode_area_plan_release(&plan);
	lode_corpus_list_release(&list);
	return code;
}

uint64_t lode_area_remove(struct lode_area *area, enum lode_event_type kind, const uint8_t *marked)
{
	struct lode_area_rows *rows = &area->rows[kind];
	uint64_t cost = 0;
	size_t left = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct lode_area_row *row = &rows->items[i];

		if (!marked[row->stack]) {
			rows->items[left++] = *row;
			continue;
		}
		cost = lode_add_saturating(cost, row->cost);
		rows->events -= row->events;
	}
	rows->count = left;
	rows->cost = 0;
	for (size_t i = 0; i < left; i++)
		rows->cost = lode_add_saturating(rows->cost, rows->items[i].cost);
	return cost;
}
