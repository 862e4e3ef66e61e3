/*
 * A hunt from its options to its result: searches running processes, or a command, for bottlenecks.
 *
 * A meter is made for what is hunted: the live one here, those of other hosts through their agents,
 * all joined; the search asks it. The loop is the search's step, and the view after it. In all
 * cases (nothing left to examine, the time is up, the program has ended, a signal), the probes are
 * removed first, then the result is shown. A command that is still running then gets SIGTERM, as
 * with lode record, unless the hunt failed.
 */
#include "tasks/hunt/hunt.h"

#include "base/clock.h"
#include "base/memory.h"
#include "page/hunt_page.h"
#include "tasks/hunt/hunt_meters.h"
#include "tasks/hunt/hunt_results.h"
#include "tasks/show_notes.h"

struct hunt {
	const struct lode_call *call;
	const struct lode_hunt_settings *settings;
	struct lode_search_options options;
	struct lode_hunt_meters meters;
	struct lode_search *search;
	struct lode_hunt_results results;
	struct lode_hunt_view view;
	struct lode_shown_result shown;
	struct lode_notes notes;
	struct lode_child child;
	int has_child;
	uint64_t began;
	char *target;
};

/* ---- hunting ---- */

static void append_page(void *context, struct lode_buffer *json)
{
	lode_hunt_page_json(context, json);
}

static int open_page(struct hunt *hunt, struct lode_error *error)
{
	struct lode_host *host = hunt->call->host;

	hunt->shown = (struct lode_shown_result){ "hunt", hunt->target, (uint16_t)hunt->settings->port,
						  append_page, &hunt->results.report };
	return host->page->open(host, hunt->call, &hunt->shown, error);
}

static int update_page(struct hunt *hunt, int last, struct lode_error *error)
{
	struct lode_host *host = hunt->call->host;

	return hunt->shown.append ? host->page->update(host, last, error) : 0;
}

static int open_all(struct hunt *hunt, struct lode_error *error)
{
	struct lode_host *host = hunt->call->host;
	int code;

	/* First what may not be permitted: nothing is begun then. */
	code = lode_hunt_meters_open(&hunt->meters, hunt->call, hunt->options.cost, &hunt->notes, error);
	if (!code)
		code = lode_hunt_results_open(&hunt->results, error);
	if (!code && host->stopped(host))
		code = LODE_STOPPED(host->stopped(host));
	if (!code && hunt->call->operand_count) {
		code = lode_child_prepare(&hunt->child, host, hunt->call->operands, error);
		hunt->has_child = !code;
	}
	if (!code && hunt->results.corpus)
		code = lode_hunt_archive_create(&hunt->results.archive, hunt->meters.meter, error);
	/* After the command's process: what forks must not have threads. */
	if (!code && hunt->settings->serve)
		code = open_page(hunt, error);
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
	struct lode_host *host = hunt->call->host;
	int end = LODE_SEARCH_GOES_ON;

	while (end == LODE_SEARCH_GOES_ON) {
		int code;

		end = lode_search_step(hunt->search, error);
		code = lode_hunt_view_update(&hunt->view, error);
		if (!code)
			code = update_page(hunt, 0, error);
		if (end == LODE_SEARCH_GOES_ON && host->stopped(host))
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

	hunt->call->host->hold(hunt->call->host, LODE_STOP_AT_ONCE);
	if (!code)
		code = lode_hunt_results_show(&hunt->results, error);
	if (!code && !hunt->call->quiet)
		lode_notes_say(&hunt->notes, hunt->call);
	return !code && hunt->settings->exit_code && found_any(hunt) ? LODE_FOUND : code;
}

static int run_hunt(struct hunt *hunt, struct lode_error *error)
{
	struct lode_host *host = hunt->call->host;
	struct lode_error second;
	int code, end = LODE_SYSTEM;

	host->hold(host, LODE_STOP_SOON);
	code = open_all(hunt, error);
	host->hold(host, LODE_STOP_WHEN_DONE);
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
		code = update_page(hunt, 1, error);
	host->pause(host);
	if (hunt->has_child && hunt->child.released && !hunt->call->quiet)
		lode_child_say(&hunt->child, hunt->call);
	if (!code)
		code = finish(hunt, error);
	if (lode_is_done(code) && hunt->shown.append)
		host->page->stay(host, hunt->call);
	host->hold(host, LODE_STOP_AT_ONCE);
	return code;
}

static void release(struct hunt *hunt)
{
	if (hunt->shown.append)
		hunt->call->host->page->close(hunt->call->host);
	lode_hunt_view_release(&hunt->view);
	lode_search_destroy(hunt->search);
	lode_hunt_results_release(&hunt->results);
	lode_hunt_meters_close(&hunt->meters);
	lode_notes_release(&hunt->notes);
	lode_free(hunt->target);
}

/* What needs a program with a terminal: a library has no browser to show, and no standard output to measure through. */
static int check_host(const struct lode_call *call, struct lode_error *error)
{
	const struct lode_hunt_settings *settings = call->settings;

	if (settings->agent && call->host->collects)
		return lode_fail(error, LODE_USAGE, "hunt: '--agent' is for the program 'lode'");
	if (settings->serve && !call->host->page)
		return lode_fail(error, LODE_USAGE,
				 "hunt: '--serve' is for the program 'lode'; use '--output hunt.html'");
	return settings->serve ? call->host->page->check(error) : 0;
}

int lode_hunt_run(struct lode_call *call, struct lode_error *error)
{
	struct hunt hunt = { .call = call, .settings = call->settings };
	int code = lode_hunt_options_read(call, &hunt.options, error);

	if (!code)
		code = lode_hunt_results_init(&hunt.results, call, error);
	if (!code)
		code = check_host(call, error);
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
