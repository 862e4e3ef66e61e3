/*
 * Latencies of a corpus: see latency.h.
 */
#include "latency/latency.h"

#include "base/parallel.h"
#include "latency/latency_message.h"
#include "latency/partial.h"
#include "scope/where.h"
#include "store/corpus_deal.h"

#include <math.h>
#include <string.h>

struct collection {
	const struct lode_latency_options *options;
	const struct lode_corpus_list *list;  /* the streams of this process */
	const struct lode_progress *progress; /* NULL: another process has it */
	struct lode_latency_merge merge;
	uint64_t events_done;
	uint64_t events_total;
};

/* ---- merging ---- */

static int report_progress(struct collection *collection, const struct lode_corpus_entry *entry,
			   struct lode_error *error)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		collection->events_done += entry->events[type];
	if (!lode_progress_report(collection->progress, "inferring latencies", "events", collection->events_done,
				  collection->events_total))
		return 0;
	return lode_fail(error, LODE_SYSTEM, "stopped before all streams were read");
}

static int map(void *context, size_t i, void *result, struct lode_error *error)
{
	struct collection *collection = context;

	return lode_latency_partial_make_if_readable(result, collection->options, &collection->list->items[i],
						     error);
}

static int merge(void *context, size_t i, void *result, struct lode_error *error)
{
	struct collection *collection = context;
	const struct lode_latency_partial *partial = result;
	const struct lode_corpus_entry *entry = &collection->list->items[i];

	if (lode_latency_merge_stream(&collection->merge, partial, entry) < 0)
		return lode_fail_memory(error);
	return report_progress(collection, entry, error);
}

static void release(void *result)
{
	lode_latency_partial_release(result);
}

/* ---- the whole ---- */

static int check_found(const struct lode_latency *latency, const struct lode_latency_options *options,
		       const char *path, size_t streams, struct lode_error *error)
{
	if (!latency->stream_count && latency->unread.count)
		return lode_unread_streams_fail(&latency->unread, error);
	lode_notes_add(options->notes, latency->input.no_stack, "events without a stack, which have no latency",
		       NULL);
	lode_notes_add(options->notes, latency->input.idle, "events of the kernel's idle task were left out", NULL);
	lode_notes_add(options->notes, latency->placed,
		       "truncated stacks were attached at the only place where they fit", NULL);
	lode_notes_add(options->notes, latency->unplaced,
		       "truncated stacks fit in several places; intervals are wider for that", NULL);
	lode_notes_add(options->notes, latency->stream_count && !latency->input.events,
		       "corpora without any event that has a stack", path);
	if (latency->stream_count || !streams)
		return 0;
	return lode_fail(error, LODE_USAGE, "%s: no stream has '%s'; 'lode info %s' shows what there is", path,
			 options->where && options->where[0] ? options->where[0] : options->streams[0], path);
}

static int collect_streams(struct collection *collection, struct lode_error *error)
{
	const struct lode_corpus_list *list = collection->list;
	struct lode_in_order work = { sizeof(struct lode_latency_partial), map, merge, release, collection };

	for (size_t i = 0; i < list->count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			collection->events_total += list->items[i].events[type];
	return lode_parallel_in_order(collection->options->jobs, list->count, &work, error);
}

/* Of all processes the first finishes. */
static int collect(struct lode_corpus *corpus, const struct lode_latency_options *options,
		   const struct lode_corpus_list *list, const struct lode_job_rank *rank,
		   struct lode_latency *latency, struct lode_error *error)
{
	struct lode_corpus_list part = rank ? lode_corpus_part(list, rank) : *list;
	int helps = rank && rank->number;
	struct collection collection = {
		.options = options,
		.list = &part,
		.progress = helps ? NULL : options->progress,
	};
	int code = lode_latency_merge_init(&collection.merge) < 0 ? lode_fail_memory(error) : 0;

	collection.merge.sums_only = options->sums_only;
	if (!code)
		code = collect_streams(&collection, error);

	if (rank)
		code = lode_latency_merge_gather(&collection.merge, rank, code, error);
	if (!code && !helps && lode_latency_merge_finish(&collection.merge, latency) < 0)
		code = lode_fail_memory(error);
	lode_latency_merge_release(&collection.merge);
	return code || helps ? code : check_found(latency, options, lode_corpus_title(corpus), list->count, error);
}

int lode_latency_collect(struct lode_corpus *corpus, const struct lode_latency_options *options,
			 const struct lode_job_rank *rank, struct lode_latency *latency, struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	int code;

	memset(latency, 0, sizeof(*latency));
	code = lode_where_check_threads(options->where, error);
	if (!code)
		code = lode_corpus_streams(corpus, &list, error);
	if (!code)
		code = collect(corpus, options, &list, rank, latency, error);
	lode_corpus_list_release(&list);
	if (code)
		lode_latency_release(latency);
	return code;
}

/* ---- one process of several ---- */

struct keeping {
	const struct lode_latency_options *options;
	const struct lode_corpus_list *list;
};

static void keep_stream(void *context, size_t i)
{
	const struct keeping *keeping = context;
	struct lode_latency_partial partial = { 0 };
	struct lode_error error = { "" };

	lode_latency_partial_make(&partial, keeping->options, &keeping->list->items[i], &error);
	lode_latency_partial_release(&partial);
}

int lode_latency_keep(struct lode_corpus *corpus, const struct lode_latency_options *options,
		      const struct lode_job_rank *rank, struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(corpus, &list, error);

	if (!code &&
	    lode_corpus_deal(&list, rank, options->jobs, keep_stream, &(struct keeping){ options, &list }) < 0)
		code = lode_fail_memory(error);
	lode_corpus_list_release(&list);
	return code;
}

/* ---- what follows from it ---- */

#define NORMAL_95 1.959964

/*
 * Looks at a thread are like throws of dice: some of them meet a call. If calls are shorter
 * than the gaps between looks, each look draws again, and both the looks that meet it and
 * those that miss it, whichever are fewer, have a Poisson distribution. If calls are longer,
 * many looks in a row meet the same one, and only its ends are in doubt. The number of changes
 * into a context and out of it, halved, serves for both: it is the variance of the first, in
 * gaps, and more than that of the second. A count that is seen to be n comes from a Poisson
 * distribution whose mean is between these ends (Wilson and Hilferty).
 */
static double least_mean(double n)
{
	double root = 1 - 1 / (9 * n) - NORMAL_95 / (3 * sqrt(n));

	return root > 0 ? n * root * root * root : 0;
}

static double most_mean(double n)
{
	double root = 1 - 1 / (9 * (n + 1)) + NORMAL_95 / (3 * sqrt(n + 1));

	return (n + 1) * root * root * root;
}

static double changes_of(const struct lode_latency_node *node)
{
	return node->gap > 0 ? node->variance / (node->gap * node->gap) : 0;
}

uint64_t lode_latency_low(const struct lode_latency_node *node)
{
	double changes = changes_of(node), ran = (double)node->estimate - (double)node->waited;
	double below = NORMAL_95 * sqrt(node->variance), low;

	if (ran > 2 * changes * node->gap)
		below = fmax(below, (most_mean(changes) - changes) * node->gap); /* misses are fewer */
	else if (changes > 0)
		below = fmax(below, (changes - least_mean(changes)) * node->gap);
	low = (double)node->estimate - below;
	/* Waits are seen whole. */
	if (low > (double)node->waited)
		return (uint64_t)low;
	return node->waited < node->estimate ? node->waited : node->estimate;
}

uint64_t lode_latency_high(const struct lode_latency_node *node)
{
	double changes = changes_of(node);
	double above = fmax(NORMAL_95 * sqrt(node->variance), (most_mean(changes) - changes) * node->gap);
	double high = (double)node->estimate + above + (double)node->unsure;

	return high < 1.8e19 ? (uint64_t)high : UINT64_MAX;
}

uint64_t lode_latency_quantile(const struct lode_latency *latency, uint32_t node, double share)
{
	uint64_t quantile = lode_sketch_quantile(&latency->sketch, node, share);

	/* The middle of a step may be beyond the longest. */
	return quantile < latency->nodes[node].longest ? quantile : latency->nodes[node].longest;
}

const char *lode_latency_rule_name(size_t rule)
{
	static const char *const names[LODE_RULES] = { "estimate", "conservative", "aggressive" };

	return rule < LODE_RULES ? names[rule] : NULL;
}

static uint64_t sum_by(const struct lode_latency_node *node, enum lode_latency_rule rule)
{
	return rule == LODE_RULE_CONSERVATIVE ? node->conservative
	       : rule == LODE_RULE_AGGRESSIVE ? node->aggressive
					      : node->estimate;
}

double *lode_latency_own_means(const struct lode_latency *latency, enum lode_latency_rule rule)
{
	const struct lode_stack_tree *tree = &latency->dictionary.tree;
	double *means = lode_calloc(latency->node_count, sizeof(*means));

	for (size_t i = 1; means && i < latency->node_count; i++) {
		const struct lode_latency_node *node = &latency->nodes[i];
		double mean = node->count ? (double)sum_by(node, rule) / (double)node->count : 0;

		means[i] += mean;
		if (tree->nodes[i].parent)
			means[tree->nodes[i].parent] -= mean;
	}
	return means;
}

/* ---- every instance ---- */

static int leave_out(const struct lode_corpus_entry *entry, int code, const struct lode_error *why,
		     struct lode_unread_streams *unread, struct lode_error *error)
{
	const struct lode_unread_stream stream = { entry->id, entry->name, why->text, code };

	return lode_unread_streams_add(unread, &stream) < 0 ? lode_fail_memory(error) : 0;
}

static int give_stream(const struct lode_latency_options *options, const struct lode_corpus_entry *entry,
		       const struct lode_instance_taker *taker, struct lode_unread_streams *unread,
		       struct lode_error *error)
{
	struct lode_latency_partial partial = { 0 };
	struct lode_error own = { "" };
	int code = lode_latency_partial_load(&partial, options, entry, &own);

	if (code && !options->strict && lode_stream_is_unreadable(entry, code)) {
		lode_latency_partial_release(&partial);
		return leave_out(entry, code, &own, unread, error);
	}
	if (code)
		lode_fail(error, code, "%s", own.text);
	if (!code && partial.wanted)
		code = taker->stream(taker->context, &partial.stream);
	if (!code && partial.wanted)
		code = lode_instances_infer(&partial.stream, taker->instance, taker->context, NULL, error);
	lode_latency_partial_release(&partial);
	return code;
}

int lode_latency_instances(struct lode_corpus *corpus, const struct lode_latency_options *options,
			   const struct lode_instance_taker *taker, struct lode_error *error)
{
	struct lode_unread_streams unread = { 0 };
	struct lode_corpus_list list = { 0 };
	int code = lode_where_check_threads(options->where, error);

	if (!code)
		code = lode_corpus_streams(corpus, &list, error);
	for (size_t i = 0; !code && i < list.count; i++)
		code = give_stream(options, &list.items[i], taker, &unread, error);
	if (!code && unread.count && unread.count == list.count)
		code = lode_unread_streams_fail(&unread, error);
	else
		lode_unread_streams_note(&unread, options->notes);
	lode_unread_streams_release(&unread);
	lode_corpus_list_release(&list);
	return code;
}
