/*
 * Search: see search.h. Each step waits for the next look, takes the samples, looks
 * at all running experiments, refines those that turned true (refine.c), and starts
 * what fits (experiment_queue.c). Here is what a look leads to.
 */
#include "hunt/search/search_internal.h"

#include <string.h>

/* So many true experiments are refined again at each look, in turn; another host is asked a few questions for
 * each. */
#define REFINED_AT_ONCE 8
/* With nothing left to examine, the search waits this long for new samples or threads, in time that the program can use. */
#define QUIESCENT_NS 1.5e9

/* ---- samples ---- */

static int count_sample(struct lode_search *search, const struct lode_meter_sample *sample)
{
	uint32_t module = LODE_NONE;

	if (sample->depth &&
	    lode_program_module(search->meter->program, sample->functions[sample->depth - 1], &module) < 0)
		return LODE_SYSTEM;
	lode_search_clip(search, sample, module);
	if (module != LODE_NONE && lode_counts_add_module(&search->counts, sample, module) < 0)
		return LODE_SYSTEM;
	return lode_counts_add(&search->counts, sample);
}

static int handle_sample(void *context, const struct lode_meter_sample *sample)
{
	struct lode_search *search = context;

	for (size_t i = 1; i < sample->depth; i++)
		if (lode_program_add_call(search->meter->program, sample->functions[i - 1], sample->functions[i]) <
		    0)
			return LODE_SYSTEM;
	if (search->on_sample && search->on_sample(search->sample_context, sample) < 0)
		return LODE_SYSTEM;
	return count_sample(search, sample);
}

static int handle_samples(struct lode_search *search, struct lode_error *error)
{
	struct lode_meter *meter = search->meter;

	error->text[0] = '\0';
	search->counts.look++;
	if (meter->operations->samples(meter, handle_sample, search, error) >= 0)
		return 0;
	return error->text[0] ? LODE_SYSTEM : lode_fail_memory(error);
}

/* ---- all of it ---- */

/* New samples may show new deep starters; one experiment of a place, the one of all its code, looks for them.
 */
static int start_deep_again(struct lode_search *search, uint32_t id)
{
	if (search->options.starters_by_the_paper || get(search, id)->focus.function != LODE_NONE)
		return 0;
	return lode_search_start_deep(search, id);
}

/* What the latest samples show: new deep starters, and that what was false is so no longer. */
static int follow_samples(struct lode_search *search)
{
	for (uint32_t id = 0; id < LODE_SMALL_IO; id++) /* those of the whole program are the first */
		if (get(search, id)->state == LODE_EXPERIMENT_TRUE && start_deep_again(search, id) < 0)
			return LODE_SYSTEM;
	return lode_search_recheck(search);
}

/* Threads, processes, objects and calls that came up since may refine what is true. */
static int refine_again(struct lode_search *search, struct lode_error *error)
{
	size_t left = REFINED_AT_ONCE;

	if (follow_samples(search) < 0)
		return lode_fail_memory(error);
	for (; left && search->next_refined < search->history.count; search->next_refined++) {
		uint32_t id = search->next_refined;

		if (get(search, id)->state != LODE_EXPERIMENT_TRUE)
			continue;
		if (lode_search_refine(search, id) < 0 || start_deep_again(search, id) < 0)
			return lode_fail_memory(error);
		left--;
	}
	if (search->next_refined >= search->history.count) {
		search->next_refined = 0;
		search->refined_since = search->round_began;
		search->round_began = now(search);
	}
	return 0;
}

static int add_roots(struct lode_search *search)
{
	struct lode_focus whole = lode_focus_whole();

	for (int hypothesis = 0; hypothesis < LODE_HYPOTHESES; hypothesis++) {
		if (hypothesis == LODE_SMALL_IO ||
		    (hypothesis == LODE_READY_WAITING && search->options.paper_hypotheses))
			continue;
		if (lode_search_want(search, (enum lode_hypothesis)hypothesis, &whole, LODE_NONE,
				     LODE_ORIGIN_CALL_GRAPH, LODE_PRIORITY_LOW) == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_search_create(struct lode_search **result, struct lode_meter *meter,
		       const struct lode_search_options *options,
		       void (*changed)(void *context, uint32_t experiment), void *context, struct lode_error *error)
{
	struct lode_search *search;
	int code = lode_search_options_check(options, error);

	*result = NULL;
	if (code < 0)
		return code;
	search = lode_calloc(1, sizeof(*search));
	if (!search)
		return lode_fail_memory(error);
	search->meter = meter;
	search->options = *options;
	search->counts.all_kinds = options->starters_by_the_paper;
	search->changed = changed;
	search->usable_share = search->usable_rate = 1;
	search->context = context;
	lode_history_init(&search->history);
	code = lode_focus_names_init(&search->names) < 0 ? lode_fail_memory(error) : 0;
	search->began = search->round_began = search->changed_at = now(search);
	*result = search; /* from here on `changed` may look at it */
	if (!code)
		code = add_roots(search) < 0 ? lode_fail_memory(error) : lode_search_start_pending(search, error);
	if (code < 0) {
		lode_search_destroy(search);
		*result = NULL;
	}
	return code;
}

void lode_search_on_sample(struct lode_search *search,
			   int (*each)(void *context, const struct lode_meter_sample *sample), void *context)
{
	search->on_sample = each;
	search->sample_context = context;
}

void lode_search_destroy(struct lode_search *search)
{
	if (!search)
		return;
	lode_history_release(&search->history);
	lode_counts_release(&search->counts);
	lode_search_release_recent(search);
	lode_focus_names_release(&search->names);
	for (int p = 0; p < LODE_PRIORITIES; p++)
		lode_free(search->queue.pending[p].items);
	lode_free(search->running.active.items);
	lode_free(search->running.batch.items);
	lode_free(search->running.batch_hypotheses);
	lode_free(search->running.batch_foci);
	lode_free(search->found.numbers.items);
	lode_free(search->found.objects);
	lode_free(search->queue.queued);
	lode_free(search);
}

/* Whether nothing is left that could be examined, and nothing came up for some time. */
static int is_exhausted(const struct lode_search *search)
{
	return !lode_search_is_any_open(search) && lode_search_first_affordable(search) < 0 &&
	       (double)(now(search) - search->changed_at) * search->usable_share >= QUIESCENT_NS &&
	       search->refined_since >= search->changed_at;
}

static uint64_t next_look(const struct lode_search *search)
{
	uint64_t next = now(search) + search->options.test.interval;
	uint64_t end = search->began + search->options.time;

	return search->options.time && end < next ? end : next;
}

int lode_search_step(struct lode_search *search, struct lode_error *error)
{
	int ended = search->meter->operations->wait(search->meter, next_look(search), error);
	int code = ended < 0 ? ended : handle_samples(search, error);

	if (!code)
		code = lode_search_read_all(search, error);
	if (code < 0)
		return code;
	if (ended)
		return LODE_SEARCH_PROGRAM_ENDED;
	if (lode_search_store_recent(search) < 0)
		return lode_fail_memory(error);
	code = lode_search_stop_costly(search, error);
	if (!code)
		code = refine_again(search, error);
	if (!code)
		code = lode_search_start_pending(search, error);
	if (code < 0)
		return code;
	if (search->options.time && now(search) - search->began >= search->options.time)
		return LODE_SEARCH_TIME_UP;
	return !search->options.watch_on && is_exhausted(search) ? LODE_SEARCH_EXHAUSTED : LODE_SEARCH_GOES_ON;
}

static const char *end_sentence(enum lode_search_end end)
{
	switch (end) {
	case LODE_SEARCH_PROGRAM_ENDED:
		return "the program ended first";
	case LODE_SEARCH_TIME_UP:
		return "the time was up";
	case LODE_SEARCH_STOPPED:
		return "the hunt was stopped";
	default:
		return NULL;
	}
}

int lode_search_finish(struct lode_search *search, enum lode_search_end end, struct lode_error *error)
{
	int code;

	search->end = end;
	search->ended_at = now(search);
	for (uint32_t id = 0; id < search->history.count; id++) {
		const struct lode_experiment *experiment = get(search, id);

		if (experiment->state == LODE_EXPERIMENT_RUNNING ||
		    (experiment->state == LODE_EXPERIMENT_NEVER_RUN && !experiment->why))
			lode_history_say(&search->history, id, end_sentence(end));
	}
	while (search->running.active.count)
		if (lode_search_retire(search, search->running.active.items[search->running.active.count - 1]) < 0)
			return lode_fail_memory(error);
	code = lode_search_stop_retired(search, error);
	return code;
}

const struct lode_history *lode_search_history(const struct lode_search *search)
{
	return &search->history;
}

const struct lode_counts *lode_search_counts(const struct lode_search *search)
{
	return &search->counts;
}

const struct lode_search_options *lode_search_options(const struct lode_search *search)
{
	return &search->options;
}

struct lode_meter *lode_search_meter(const struct lode_search *search)
{
	return search->meter;
}

const char *lode_search_name(const struct lode_search *search, const struct lode_focus *focus,
			     enum lode_focus_axis axis)
{
	const char *name;

	if (axis == LODE_AXIS_CODE)
		return lode_program_function(search->meter->program, focus->function)->name;
	name = lode_focus_names_find(&search->names, axis, lode_focus_on(focus, axis));
	return name ? name : "?";
}

uint64_t lode_search_began(const struct lode_search *search)
{
	return search->began;
}

uint64_t lode_search_lasted(const struct lode_search *search)
{
	return (search->end ? search->ended_at : now(search)) - search->began;
}

double lode_search_cost(const struct lode_search *search)
{
	return search->running.committed;
}

double lode_search_highest_cost(const struct lode_search *search)
{
	return search->running.highest;
}

enum lode_search_end lode_search_ended(const struct lode_search *search)
{
	return search->end;
}
