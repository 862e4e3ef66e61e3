/* The blocks of a report: see report_blocks.h. */
#include "tasks/report_blocks.h"

#include "base/memory.h"
#include "tasks/mining.h"
#include "tasks/report_views.h"
#include "mine/signatures.h"
#include "page/page.h"
#include "page/profile_page.h"
#include "page/stream_page.h"
#include "result/info_report.h"
#include "scope/symptoms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_STREAMS 20
/* Events in the timelines of a page, at 8 to 20 bytes each: more are slow to open. */
#define MAX_EVENTS 4000000
/* A view of more bytes, before they are packed, is left out. */
#define MAX_VIEW_BYTES (16u << 20)

/* Into the page; or it is all there is to write. */
static void put_block(struct lode_report_making *making, const char *name, const struct lode_buffer *bytes)
{
	if (making->settings->block)
		lode_buffer_add(&making->page, bytes->bytes, bytes->size);
	else
		lode_page_block(&making->page, name, bytes->bytes, bytes->size);
	making->page.failed |= bytes->failed;
}

/* A block that is written by itself shares nothing. */
static struct lode_page_stacks *shared_stacks(struct lode_report_making *making)
{
	return making->settings->block ? NULL : &making->stacks;
}

/* Each part reads the streams again and has the same notes on them, which count once. */
static void begin_part(const struct lode_report_making *making, struct lode_work *part)
{
	part->call = making->work->call;
	part->progress = making->work->progress;
	lode_notes_init(&part->notes);
}

static void end_part(struct lode_report_making *making, struct lode_work *part)
{
	lode_notes_merge_repeated(&making->work->notes, &part->notes);
	lode_notes_release(&part->notes);
}

/* ---- clusters ---- */

/* `kind` NULL: findings alone. */
static int mine(struct lode_report_making *making, const char *kind, const char *block)
{
	struct lode_mine_settings settings = {
		.area = making->settings->area,
		.kind = kind,
		.only_findings = !kind,
	};
	struct lode_buffer json = { 0 };
	struct lode_work part;
	struct lode_mining mining;
	int code;

	begin_part(making, &part);
	code = lode_mining_open(&mining, &settings, making->call->operands, making->call->operand_count, &part,
				making->error);
	if (!code)
		code = lode_mining_run(&mining, &settings, 0, making->error);
	if (!code) {
		mining.report.for_page = 1;
		lode_mine_json(&mining.report, &json);
		put_block(making, block, &json);
	}
	lode_buffer_release(&json);
	lode_mining_release(&mining);
	end_part(making, &part);
	return code;
}

/* Findings are about all time of symptoms or threads. */
static int has_findings(const struct lode_area_settings *area)
{
	enum lode_scope scope = lode_scope_chosen(area->scope, LODE_SCOPE_AUTO);

	return !area->include_idle && scope != LODE_SCOPE_THREAD && scope != LODE_SCOPE_GRAPH;
}

/* Only kinds of events that there are. */
int lode_report_mine(struct lode_report_making *making, const struct lode_corpus_list *list)
{
	uint64_t events[LODE_EVENT_TYPES] = { 0 };
	int code = 0;

	for (size_t i = 0; i < list->count; i++)
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			events[type] += list->items[i].events[type];
	if ((events[LODE_WAIT] || events[LODE_RUN]) && has_findings(&making->settings->area))
		code = mine(making, NULL, "findings");
	if (!code && events[LODE_WAIT])
		code = mine(making, lode_event_type_name(LODE_WAIT), "mine");
	if (!code && events[LODE_RUN])
		code = mine(making, lode_event_type_name(LODE_RUN), "mine-run");
	return code;
}

/* ---- the profile ---- */

int lode_report_profile(struct lode_report_making *making, struct lode_source *source)
{
	struct lode_area_settings settings = making->settings->area;
	struct lode_area_reading reading;
	struct lode_idle_stacks *idle = NULL;
	struct lode_buffer columns = { 0 };
	struct lode_work part;
	int code;

	begin_part(making, &part);
	/* The profile shows everything; symptoms do not restrict it. */
	settings.scope = lode_scope_name(LODE_SCOPE_ALL);
	settings.symptoms = (struct lode_option_list){ 0 };
	code = lode_source_area(source, &settings, 0, &part, &reading, making->error);
	if (!code)
		code = lode_idle_stacks_make(&idle, source->rules, &reading.area.dictionary, making->error);
	if (!code)
		code = lode_profile_page(&reading.area, idle, shared_stacks(making), &columns, making->error);
	if (!code)
		put_block(making, "profile", &columns);
	lode_buffer_release(&columns);
	lode_idle_stacks_free(idle);
	lode_area_reading_release(&reading);
	end_part(making, &part);
	return code;
}

/* ---- what there is ---- */

/* What threads did; streams that cannot be read are left out. */
static int add_activity(struct lode_report_making *making, const struct lode_source *source,
			const struct lode_corpus_list *list, struct lode_activity *activity, struct lode_info *info)
{
	const struct lode_activity_options how = {
		.idle = source->rules,
		.where = making->settings->area.where.items,
		.progress = making->work->progress,
	};
	int code = lode_activity_collect(activity, list, &how, making->error);

	info->activity = activity;
	info->list = list;
	return code;
}

int lode_report_info(struct lode_report_making *making, const struct lode_source *source,
		     const struct lode_corpus_list *list)
{
	const struct lode_progress *progress = making->work->progress;
	struct lode_buffer json = { 0 };
	struct lode_activity activity = { 0 };
	struct lode_info info;
	int code = lode_info_of_streams(&info, list, NULL, 0, progress, making->error);

	info.for_page = 1;
	if (!code)
		code = add_activity(making, source, list, &activity, &info);
	if (!code)
		code = lode_info_json(&info, making->path, progress, &json, making->error);
	if (!code)
		put_block(making, "info", &json);
	lode_buffer_release(&json);
	lode_activity_release(&activity);
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

static int add_stream(struct lode_report_making *making, const struct lode_corpus_entry *entry,
		      const struct lode_scope_options *how)
{
	struct lode_scope_report report;
	struct lode_buffer columns = { 0 };
	char name[48];
	int code = lode_scope_report_make(&report, entry, how, making->error);

	if (!code && report.wanted)
		code = lode_stream_page(&report, shared_stacks(making), &columns, making->error);
	if (!code && report.wanted) {
		snprintf(name, sizeof(name), "stream/%s", entry->id);
		put_block(making, name, &columns);
	}
	lode_buffer_release(&columns);
	lode_scope_report_release(&report);
	return code;
}

/* The longest delays first, as many as are wanted and fit. */
static int add_slowest(struct lode_report_making *making, const struct lode_corpus_list *list,
		       const struct lode_scope_options *how)
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

		if (own > MAX_EVENTS - events) {
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

static int add_one(struct lode_report_making *making, const struct lode_corpus_list *list,
		   const struct lode_scope_options *how, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].id, id))
			return add_stream(making, &list->items[i], how);
	return lode_fail(making->error, LODE_USAGE, "%s: not a stream of %s; 'lode info' lists them", id,
			 making->path);
}

/* `id` NULL: those with the longest delays. */
int lode_report_streams(struct lode_report_making *making, struct lode_source *source,
			const struct lode_corpus_list *list, const char *id)
{
	struct lode_symptom_rules rules = { 0 };
	struct lode_scope_options how = {
		.scope = LODE_SCOPE_CRITICAL_PATH,
		.rules = &rules,
		.where = making->settings->area.where.items,
		.idle = source->rules,
		.all_streams = 1,
	};
	const char *const *symptoms;
	int code = lode_source_symptoms(source, &making->settings->area, &symptoms, making->error);

	if (!code)
		code = lode_symptom_rules_parse(&rules, symptoms, making->error);
	if (!code)
		code = id ? add_one(making, list, &how, id) : add_slowest(making, list, &how);
	lode_symptom_rules_release(&rules);
	return code;
}

int lode_report_stacks(struct lode_report_making *making, const struct lode_source *source)
{
	struct lode_buffer columns = { 0 };
	int code = lode_page_stacks_block(&making->stacks, source->rules, &columns, making->error);

	if (!code)
		put_block(making, "stacks", &columns);
	lode_buffer_release(&columns);
	return code;
}

/* ---- what other commands make ---- */

/* A view that is too large is left out. */
static int add_view(struct lode_report_making *making, const struct lode_report_view *view)
{
	struct lode_buffer json = { 0 };
	int code = lode_report_view_make(view, making->call, &making->settings->area, making->work->progress,
					 &json, making->error);

	if (!code && json.size > MAX_VIEW_BYTES)
		lode_notes_add(&making->work->notes, 1, "views too large for the page ('lode serve' shows them)",
			       NULL);
	else if (!code)
		put_block(making, view->block, &json);
	lode_buffer_release(&json);
	return code;
}

/* Those that have something to show: symptoms, signatures, events. */
int lode_report_views(struct lode_report_making *making, const struct lode_source *source,
		      const struct lode_corpus_list *list)
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
