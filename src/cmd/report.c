/*
 * lode report: all views of a corpus in one page.
 */
#include "base/output.h"
#include "result/info_report.h"
#include "cmd/mine.h"
#include "cmd/output_ending.h"
#include "cmd/report_views.h"
#include "cmd/results.h"
#include "page/page.h"
#include "page/profile_page.h"
#include "mine/signatures.h"
#include "page/stream_page.h"
#include "scope/symptoms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_STREAMS 20
/* Events in the time lines of a page, at 8 to 20 bytes each: more are slow to open. */
#define MOST_EVENTS 4000000
/* A view of more bytes, before they are packed, is left out. */
#define MOST_VIEW_BYTES (16u << 20)
/* Slices of the streams' time lines. */
#define SLICES 60

struct settings {
	struct lode_area_settings area;
	uint64_t streams;
	const char *title;
	const char *block; /* only this one, as it is */
	const char *output;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_AREA_OPTIONS(FIELD(area)),
	LODE_NUMBER("streams", 0, FIELD(streams), "N", "put the time lines of so many streams into it (default 20)", 1, 100000),
	LODE_TEXT("title", 0, FIELD(title), "TEXT", "the page's title (default: the name of CORPUS)"),
	LODE_TEXT("block", 0, FIELD(block), "NAME", "write only this part of the data, for programs: profile, stream/ID"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "the page to write (default: report.html)"),
	LODE_NO_MORE_OPTIONS,
};

struct making {
	const struct lode_call *call;
	const struct settings *settings;
	const char *path;
	struct lode_work *work;
	struct lode_buffer page;
	size_t left_out;  /* streams without a time line: more than were asked for */
	size_t too_large; /* and those that do not fit */
	struct lode_error *error;
};

/* ---- clusters ---- */

/* Into the page; or it is all there is to write. */
static void put_block(struct making *making, const char *name, const struct lode_buffer *bytes)
{
	if (making->settings->block)
		lode_buffer_add(&making->page, bytes->bytes, bytes->size);
	else
		lode_page_block(&making->page, name, bytes->bytes, bytes->size);
	making->page.failed |= bytes->failed;
}

static int mine(struct making *making, enum lode_event_type kind, const char *block)
{
	struct lode_mine_settings settings = {
		.area = making->settings->area,
		.kind = lode_event_type_name(kind),
	};
	struct lode_buffer json = {0};
	struct lode_mining mining;
	int code = lode_mining_open(&mining, &settings, making->call->operands, making->call->operand_count, making->work,
				    making->error);

	if (!code)
		code = lode_mining_run(&mining, &settings, 0, making->error);
	if (!code) {
		mining.report.page = 1;
		lode_mine_json(&mining.report, &json);
		put_block(making, block, &json);
	}
	lode_buffer_release(&json);
	lode_mining_release(&mining);
	return code;
}

/* Only kinds of events that there are. */
static int mine_all(struct making *making, const struct lode_corpus_list *list)
{
	uint64_t events[LODE_EVENT_TYPES] = {0};
	int code = 0;

	for (size_t i = 0; i < list->count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			events[type] += list->items[i].events[type];
	if (events[LODE_WAIT])
		code = mine(making, LODE_WAIT, "mine");
	if (!code && events[LODE_RUN])
		code = mine(making, LODE_RUN, "mine-run");
	return code;
}

/* ---- the profile ---- */

static int add_profile(struct making *making, struct lode_source *source)
{
	struct lode_area_settings settings = making->settings->area;
	struct lode_area_reading reading;
	struct lode_idle_stacks *idle = NULL;
	struct lode_buffer columns = {0};
	int code;

	settings.scope = lode_scope_name(LODE_SCOPE_ALL);
	code = lode_source_area(source, &settings, 0, making->work, &reading, making->error);
	if (!code)
		code = lode_idle_stacks_make(&idle, source->rules, &reading.area.dictionary, making->error);
	if (!code)
		code = lode_profile_page(&reading.area, idle, !making->settings->block, &columns, making->error);
	if (!code)
		put_block(making, "profile", &columns);
	lode_buffer_release(&columns);
	lode_idle_stacks_free(idle);
	lode_area_reading_release(&reading);
	return code;
}

/* ---- what there is ---- */

static int add_info(struct making *making, const struct lode_corpus_list *list)
{
	struct lode_info_stream *streams = lode_calloc(list->count + 1, sizeof(*streams));
	const struct lode_progress *progress = &making->work->bar.progress;
	struct lode_buffer json = {0};
	struct lode_info info;
	int code;

	if (!streams)
		return lode_fail_memory(making->error);
	for (size_t i = 0; i < list->count; i++)
		streams[i] = lode_info_from_entry(&list->items[i]);
	code = lode_info_collect(&info, streams, list->count, progress, making->error);
	if (!code)
		code = lode_info_picture(&info, info.stream_count, NULL, 0, SLICES, progress, making->error);
	if (!code) {
		info.is_corpus = 1;
		info.for_page = 1;
		lode_info_json(&info, making->path, &json);
		put_block(making, "info", &json);
	}
	lode_buffer_release(&json);
	lode_info_release(&info);
	return code;
}

/* ---- streams ---- */

/* The longest delays first: what clusters point to is among them. */
static int compare_entries(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = *(const struct lode_corpus_entry *const *)left;
	const struct lode_corpus_entry *b = *(const struct lode_corpus_entry *const *)right;

	if (!a->symptoms != !b->symptoms)
		return a->symptoms ? -1 : 1;
	if (a->cost[LODE_WAIT] != b->cost[LODE_WAIT])
		return a->cost[LODE_WAIT] > b->cost[LODE_WAIT] ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int add_stream(struct making *making, const struct lode_corpus_entry *entry,
		      const struct lode_scope_options *how)
{
	struct lode_scope_report report;
	struct lode_buffer columns = {0};
	char name[48];
	int code = lode_scope_report_make(&report, entry, how, making->error);

	if (!code && report.wanted)
		code = lode_stream_page(&report, !making->settings->block, &columns, making->error);
	if (!code && report.wanted) {
		snprintf(name, sizeof(name), "stream/%s", entry->id);
		put_block(making, name, &columns);
	}
	lode_buffer_release(&columns);
	lode_scope_report_release(&report);
	return code;
}

/* The longest delays first, as many as are wanted and fit. */
static int add_slowest(struct making *making, const struct lode_corpus_list *list, const struct lode_scope_options *how)
{
	const struct lode_corpus_entry **entries = lode_calloc(list->count + 1, sizeof(*entries));
	uint64_t most = making->settings->streams ? making->settings->streams : DEFAULT_STREAMS;
	uint64_t events = 0, taken = 0;
	int code = 0;

	if (!entries)
		return lode_fail_memory(making->error);
	for (size_t i = 0; i < list->count; i++)
		entries[i] = &list->items[i];
	qsort(entries, list->count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < list->count && taken < most && !code; i++) {
		uint64_t own = entries[i]->events[LODE_RUN] + entries[i]->events[LODE_WAIT];

		if (own > MOST_EVENTS - events) {
			making->too_large++;
			continue;
		}
		code = add_stream(making, entries[i], how);
		events += own;
		taken++;
	}
	making->left_out = list->count - taken - making->too_large;
	lode_free(entries);
	return code;
}

static int add_one(struct making *making, const struct lode_corpus_list *list, const struct lode_scope_options *how,
		   const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].id, id))
			return add_stream(making, &list->items[i], how);
	return lode_fail(making->error, LODE_USAGE, "%s: is no stream of %s; 'lode info' lists them", id, making->path);
}

/* `id` NULL: those with the longest delays. */
static int add_streams(struct making *making, struct lode_source *source, const struct lode_corpus_list *list,
		       const char *id)
{
	struct lode_symptom_rules rules = {0};
	struct lode_scope_options how = {
		.scope = LODE_SCOPE_CRITICAL_PATH,
		.rules = &rules,
		.where = making->settings->area.where.items,
		.idle = source->rules,
		.all_streams = 1,
	};
	int code = lode_symptom_rules_parse(&rules, making->settings->area.symptoms.items, making->error);

	if (!code)
		code = id ? add_one(making, list, &how, id) : add_slowest(making, list, &how);
	lode_symptom_rules_release(&rules);
	return code;
}

/* ---- what other commands make ---- */

/* A view that is too large is left out. */
static int add_view(struct making *making, const struct lode_report_view *view)
{
	struct lode_buffer json = {0};
	int code = lode_report_view_make(view, making->path, &making->settings->area, &making->work->bar.progress, &json,
					 making->error);

	if (!code && json.size > MOST_VIEW_BYTES)
		lode_notes_add(&making->work->notes, 1, "view is too large for the page", "'lode serve' shows it");
	else if (!code)
		put_block(making, view->block, &json);
	lode_buffer_release(&json);
	return code;
}

/* Those that have something to show: symptoms, signatures, events. */
static int add_views(struct making *making, const struct lode_source *source, const struct lode_corpus_list *list)
{
	struct lode_signatures signatures;
	uint64_t symptoms = making->settings->area.symptoms.count, events = 0;
	int code = lode_signatures_load(source->corpus, &signatures, making->error);
	int has_signatures = !code && signatures.count;

	lode_signatures_release(&signatures);
	for (size_t i = 0; i < list->count; i++) {
		symptoms += list->items[i].symptoms;
		events += list->items[i].events[LODE_RUN] + list->items[i].events[LODE_WAIT];
	}
	if (!code && symptoms)
		code = add_view(making, &lode_report_symptoms);
	if (!code && events)
		code = add_view(making, &lode_report_latency);
	if (!code && has_signatures)
		code = add_view(making, &lode_report_coverage);
	return code;
}

/* ---- the whole ---- */

static int write_page(struct making *making)
{
	const char *output = making->settings->output;
	int code;

	if (!making->settings->block) {
		lode_page_end(&making->page);
		output = output ? output : "report.html";
	}
	lode_bar_wipe(&making->work->bar);
	code = lode_results_write(making->call, output, &making->page, making->error);
	if (!code && making->left_out)
		lode_notes_add(&making->work->notes, making->left_out, "stream has no time line in the page",
			       "'--streams N' takes more");
	if (!code && making->too_large)
		lode_notes_add(&making->work->notes, making->too_large, "stream has too many events for the page",
			       "'lode serve' shows its time line");
	return code;
}

static int make_block(struct making *making, struct lode_source *source, const struct lode_corpus_list *list)
{
	const char *name = making->settings->block;

	if (!strcmp(name, "profile"))
		return add_profile(making, source);
	if (!strncmp(name, "stream/", 7))
		return add_streams(making, source, list, name + 7);
	return lode_fail(making->error, LODE_USAGE, "%s: is no part of the data; name profile or stream/ID", name);
}

static int make_all(struct making *making, struct lode_source *source, const struct lode_corpus_list *list)
{
	int code;

	lode_page_begin(&making->page, making->settings->title ? making->settings->title : making->path);
	code = add_info(making, list);
	if (!code)
		code = mine_all(making, list);
	if (!code)
		code = add_profile(making, source);
	if (!code)
		code = add_views(making, source, list);
	return code ? code : add_streams(making, source, list, NULL);
}

static int make(struct making *making, struct lode_source *source)
{
	struct lode_corpus_list list = {0};
	int code = lode_corpus_streams(source->corpus, &list, making->error);

	if (!code)
		code = making->settings->block ? make_block(making, source, &list) : make_all(making, source, &list);
	if (!code)
		code = write_page(making);
	lode_corpus_list_release(&list);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct lode_work work;
	struct making making = {
		.call = call,
		.settings = call->settings,
		.path = call->operands[0],
		.work = &work,
		.error = error,
	};
	struct lode_source source;
	int code = making.settings->block ? 0 : lode_page_is_there(error);

	if (code)
		return code;
	lode_work_begin(&work, call, 1);
	code = lode_source_open(&source, call->operands, call->operand_count, &making.settings->area, error);
	if (!code)
		making.path = source.path;
	if (!code)
		code = make(&making, &source);
	code = lode_work_end(&work, call, code);
	lode_buffer_release(&making.page);
	lode_source_close(&source);
	return code;
}

const struct lode_command lode_command_report = {
	.name = "report",
	.summary = "write all views of a corpus into one page",
	.usage = "[OPTIONS] CORPUS... [-o FILE]",
	.about = "Writes an HTML page that opens in any browser, without a network: what is in\n"
		 "CORPUS, the clusters of costly call-stack patterns, flame graphs of running and\n"
		 "waiting, the longest symptoms, latencies of functions, coverage by signatures, and\n"
		 "the time lines of its slowest streams with their critical paths.",
	.examples = "  lode report corpus -o report.html\n"
		    "  lode report corpus --symptom 'wait > 200ms in app!lock' --streams 5\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.ending = lode_ending_of_page,
	.run = run,
};
