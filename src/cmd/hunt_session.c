/*
 * A hunt from its options to its result: searches running processes, or a command, for bottlenecks.
 *
 * A meter is made for what is hunted: the live one here, those of other hosts through their agents,
 * all joined; the search asks it. The loop is the search's step, and the view after it. In all
 * cases (nothing left to examine, the time is up, the program has ended, a signal), the probes are
 * removed first, then the result is shown. A command that is still running then gets SIGTERM, as
 * with lode record, unless the hunt failed.
 */
#include "cmd/hunt.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/hunt_live.h"
#include "cmd/hunt_meters.h"
#include "cmd/hunt_results.h"
#include "tasks/show_notes.h"
#include "cmd/signals.h"

struct hunt {
	const struct lode_call *call;
	const struct lode_hunt_settings *settings;
	struct lode_search_options options;
	struct lode_hunt_meters meters;
	struct lode_search *search;
	struct lode_hunt_results results;
	struct lode_hunt_view view;
	struct lode_hunt_live live;
	struct lode_notes notes;
	struct lode_child child;
	int has_child;
	uint64_t began;
	char *target;
};

/* ---- hunting ---- */

static int open_all(struct hunt *hunt, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = hunt->settings;
	int code;

	/* First what may not be permitted: nothing is begun then. */
	code = lode_hunt_meters_open(&hunt->meters, settings, hunt->options.cost, &hunt->notes, error);
	if (!code)
		code = lode_hunt_results_open(&hunt->results, error);
	if (!code && lode_signals_stop())
		code = LODE_STOPPED(lode_signals_stop());
	if (!code && hunt->call->operand_count) {
		code = lode_child_prepare(&hunt->child, hunt->call->host, hunt->call->operands, error);
		hunt->has_child = !code;
	}
	if (!code && hunt->results.corpus)
		code = lode_hunt_archive_create(&hunt->results.archive, hunt->meters.meter, error);
	/* After the command's process: what forks must not have threads. */
	if (!code && settings->serve)
		code = lode_hunt_live_open(&hunt->live, hunt->call, hunt->target, (uint16_t)settings->port, error);
	return code;
}

static void changed(void *context, uint32_t experiment)
{
	struct hunt *hunt = context;

	hunt->results.report.search = hunt->search;
	lode_hunt_view_changed(&hunt->view, experiment);
	lode_hunt_results_changed(&hunt->results, experiment);
}

/* The command begins when the meter is ready; its process is hunted from when it has become the command. */
static int release_child(struct hunt *hunt, struct lode_error *error)
{
	int code;

	if (!hunt->has_child)
		return 0;
	code = lode_child_release(&hunt->child, hunt->call->operands, error);
	return code ? code : lode_hunt_meters_add(&hunt->meters, hunt->child.pid, error);
}

static int begin(struct hunt *hunt, struct lode_error *error)
{
	int code;

	hunt->began = lode_now();
	code = release_child(hunt, error);

	if (!code)
		code = lode_search_create(&hunt->search, hunt->meters.meter, &hunt->options, changed, hunt, error);
	if (code)
		return code;
	hunt->results.report.search = hunt->search;
	if (hunt->results.archive)
		lode_search_on_sample(hunt->search, lode_hunt_archive_sample, hunt->results.archive);
	return 0;
}

/* Returns an enum lode_search_end or a negative code. */
static int pursue(struct hunt *hunt, struct lode_error *error)
{
	int end = LODE_SEARCH_GOES_ON;

	while (end == LODE_SEARCH_GOES_ON) {
		int code;

		end = lode_search_step(hunt->search, error);
		code = lode_hunt_view_update(&hunt->view, error);
		if (!code)
			code = lode_hunt_live_update(&hunt->live, &hunt->results.report, 0, error);
		if (end == LODE_SEARCH_GOES_ON && lode_signals_stop())
			end = LODE_SEARCH_STOPPED;
		if (end == LODE_SEARCH_GOES_ON && hunt->has_child && lode_child_has_ended(&hunt->child))
			end = LODE_SEARCH_PROGRAM_ENDED;
		if (end >= 0 && code < 0)
			end = code;
	}
	return end;
}

/* ---- the end ---- */

static int found_any(const struct hunt *hunt)
{
	const struct lode_history *history = lode_search_history(hunt->search);
	size_t i = 0;

	while (i < history->count && !history->experiments[i].found)
		i++;
	return i < history->count;
}

static int finish(struct hunt *hunt, struct lode_error *error)
{
	int code = lode_hunt_results_write(&hunt->results, error);

	lode_signals_release();
	if (!code)
		code = lode_hunt_results_show(&hunt->results, error);
	if (!code && !hunt->call->quiet)
		lode_notes_say(&hunt->notes, hunt->call);
	return !code && hunt->settings->exit_code && found_any(hunt) ? LODE_FOUND : code;
}

static int run_hunt(struct hunt *hunt, struct lode_error *error)
{
	struct lode_error second;
	int code, end = LODE_SYSTEM;

	lode_signals_hold();
	code = open_all(hunt, error);
	lode_signals_hold_for_good();
	if (!code)
		code = begin(hunt, error);
	if (!code)
		end = pursue(hunt, error);
	if (!code && end < 0)
		code = end;
	/* Also after a failure the probes are taken out one by one, though their descriptors would do it. */
	if (hunt->search &&
	    lode_search_finish(hunt->search, end > 0 ? (enum lode_search_end)end : LODE_SEARCH_STOPPED,
			       code ? &second : error) < 0 &&
	    !code)
		code = LODE_SYSTEM;
	if (!code)
		code = lode_hunt_meters_finish(&hunt->meters, &hunt->notes, error);
	if (hunt->has_child && code) /* a failure of the hunt is none of the command */
		lode_child_await(&hunt->child, hunt->settings->time ? hunt->began + hunt->settings->time : 0);
	if (hunt->has_child)
		lode_child_finish(&hunt->child);
	if (!code)
		code = lode_hunt_view_update(&hunt->view, error);
	if (!code)
		code = lode_hunt_live_update(&hunt->live, &hunt->results.report, 1, error);
	lode_hunt_view_wipe(&hunt->view);
	if (hunt->has_child && hunt->child.released && !hunt->call->quiet)
		lode_child_say(&hunt->child, hunt->call);
	if (!code)
		code = finish(hunt, error);
	if (!code || code == LODE_FOUND)
		lode_hunt_live_stay(&hunt->live, hunt->call);
	lode_signals_release();
	return code;
}

static void release(struct hunt *hunt)
{
	lode_hunt_live_close(&hunt->live);
	lode_hunt_view_release(&hunt->view);
	lode_search_destroy(hunt->search);
	lode_hunt_results_release(&hunt->results);
	lode_hunt_meters_close(&hunt->meters);
	lode_notes_release(&hunt->notes);
	lode_free(hunt->target);
}

int lode_hunt_run(struct lode_call *call, struct lode_error *error)
{
	struct hunt hunt = { .call = call, .settings = call->settings };
	int code = lode_hunt_options_read(call, &hunt.options, error);

	if (!code)
		code = lode_hunt_results_init(&hunt.results, call, error);
	if (!code && hunt.settings->serve)
		code = lode_hunt_live_check(error);
	if (code)
		return code;
	if (hunt.settings->agent)
		return lode_hunt_serve(call, error);
	hunt.target = lode_hunt_target(call);
	if (!hunt.target)
		return lode_fail_memory(error);
	hunt.results.report.target = hunt.target;
	lode_notes_init(&hunt.notes);
	lode_hunt_view_init(&hunt.view, call, &hunt.results.report, hunt.settings->json, hunt.settings->all);
	code = run_hunt(&hunt, error);
	release(&hunt);
	return code;
}
