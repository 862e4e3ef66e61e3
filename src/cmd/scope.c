/*
 * lode scope: what kept a thread from being done earlier. For each symptom the
 * critical path, the wait graph or the thread's own events.
 *
 * Streams are loaded a few at a time, one a thread, and told one after the other
 * in the order of the catalogue, so that results do not depend on --jobs. JSON
 * leaves as it is made. For people symptoms with the same critical path are put
 * together (scope_groups.h), and the longest are kept, up to a number.
 */
#include "text/scope_text.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/units.h"
#include "cmd/area_options.h"
#include "cmd/output_ending.h"
#include "cmd/command.h"
#include "cmd/progress.h"
#include "cmd/results.h"
#include "text/scope_groups.h"
#include "result/scope_longest.h"
#include "cmd/signals.h"
#include "cmd/streams.h"
#include "page/page.h"
#include "scope/where.h"

#include <stdlib.h>
#include <string.h>

/* Symptoms, and lines of each, that are shown unless more are asked for. */
#define TOP   10
#define LINES 20
/* Symptoms in a page. */
#define PAGE_TOP 50

struct settings {
	struct lode_area_settings area; /* scope, symptoms, where, idle_rules, jobs */
	struct lode_option_list streams;
	uint64_t top;
	int all;
	int json;
	int page_data;
	const char *output;
};

#define FIELD(field) offsetof(struct settings, field)
#define AREA(field)  LODE_AREA_FIELD(FIELD(area), field)

static const struct lode_option options[] = {
	LODE_CHOICE("scope", 0, AREA(scope), "SCOPE", "what counts (default: critical-path)",
		    lode_scope_choice),
	LODE_LIST("symptom", 0, AREA(symptoms), "RULE",
		  "look for symptoms: 'thread NAME', 'wait > 200ms in FRAME', 'between A and B > 1s'"),
	LODE_LIST("where", 0, AREA(where), "KEY=VALUE",
		  "only streams with this attribute, host or name; VALUE may hold * and ?"),
	LODE_LIST("stream", 's', FIELD(streams), "NAME",
		  "only the streams of this name or id; may be given many times"),
	LODE_LIST("idle-rules", 0, AREA(idle_rules), "FILE",
		  "more rules for which wakers are interrupts; see lode-idle(5)"),
	LODE_NUMBER("top", 'n', FIELD(top), "N", "show so many symptoms or paths, the longest (text: 10)", 1, 0),
	LODE_FLAG("all", 'a', FIELD(all), "show all symptoms and all of each"),
	LODE_FLAG("json", 0, FIELD(json), "write all of it as JSON, one line a symptom"),
	LODE_FLAG("page-data", 0, FIELD(page_data), "write what the page shows as JSON: the longest symptoms"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_NUMBER("jobs", 'j', AREA(jobs), "N", "number of threads (default: one a processor)", 1, 1024),
	LODE_NO_MORE_OPTIONS,
};

/* A symptom as text, kept until it is known whether it is among the longest. */
struct shown {
	uint64_t length;
	uint64_t number; /* in the order of the catalogue */
	size_t group;    /* where symptoms are put together; else of no meaning */
	struct lode_buffer text;
};

/* One call of the command. */
struct telling {
	const struct lode_call *call;
	const struct settings *settings;
	struct lode_scope_options options;
	struct lode_output *output; /* JSON goes here */
	struct lode_scope_longest *page; /* not NULL: a page is made */
	struct shown *shown;	    /* for people */
	size_t shown_count;
	size_t shown_capacity;
	struct lode_scope_groups groups;
	uint64_t symptoms;
	uint64_t streams;     /* that `where` left */
	uint64_t without;     /* of them, without a symptom */
	uint64_t events_done; /* for progress */
	uint64_t events_total;
};

/* ---- for people ---- */

static size_t most_symptoms(const struct settings *settings)
{
	return settings->all ? SIZE_MAX : settings->top ? settings->top : TOP;
}

/* Longest first, then in the order of the catalogue. */
static int compare_shown(const void *left, const void *right)
{
	const struct shown *a = left, *b = right;

	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* The one that has to go first. */
static struct shown *shortest(const struct telling *telling)
{
	struct shown *last = telling->shown;

	for (size_t i = 1; i < telling->shown_count; i++)
		if (compare_shown(&telling->shown[i], last) > 0)
			last = &telling->shown[i];
	return last;
}

/* Only a path can be the same, and who wants to see all gets all. */
static int puts_together(const struct telling *telling)
{
	return telling->options.scope == LODE_SCOPE_CRITICAL_PATH && !telling->settings->all;
}

/* Of those that are put together the longest is shown. */
static struct shown *same_group(const struct telling *telling, const struct shown *candidate)
{
	for (size_t i = 0; puts_together(telling) && i < telling->shown_count; i++)
		if (telling->shown[i].group == candidate->group)
			return &telling->shown[i];
	return NULL;
}

/* A place for a symptom of this length; NULL with code 0 when it is not among the longest. */
static int place_for(struct telling *telling, const struct shown *candidate, struct shown **place)
{
	*place = same_group(telling, candidate);
	if (!*place && telling->shown_count < most_symptoms(telling->settings)) {
		if (lode_grow(&telling->shown, &telling->shown_capacity, telling->shown_count + 1,
			      sizeof(*telling->shown)) < 0)
			return LODE_SYSTEM;
		*place = &telling->shown[telling->shown_count++];
		**place = *candidate;
		return 0;
	}
	if (!*place)
		*place = shortest(telling);
	if (compare_shown(candidate, *place) > 0) {
		*place = NULL;
		return 0;
	}
	lode_buffer_release(&(*place)->text);
	**place = *candidate;
	return 0;
}

static int find_group(struct telling *telling, struct lode_scope_report *report, size_t i, size_t *group,
		      struct lode_error *error)
{
	struct lode_scope_profile profile;
	int code = lode_scope_report_find(report, i, error);

	if (code)
		return code;
	if (lode_scope_profile_make(&profile, report, &report->items[i]) < 0 ||
	    lode_scope_groups_add(&telling->groups, report, &report->items[i], &profile, telling->streams, group) < 0)
		return lode_fail_memory(error);
	return 0;
}

static int tell_symptom(struct telling *telling, struct lode_scope_report *report, size_t i,
			struct lode_error *error)
{
	const struct lode_symptom *symptom = &report->items[i].symptom;
	struct shown candidate = { .length = symptom->t1 - symptom->t0, .number = telling->symptoms + i };
	struct shown *place;
	int code = puts_together(telling) ? find_group(telling, report, i, &candidate.group, error) : 0;

	if (code)
		return code;
	if (place_for(telling, &candidate, &place) < 0)
		return lode_fail_memory(error);
	code = place ? lode_scope_report_find(report, i, error) : 0;
	if (place && !code) {
		lode_scope_text(report, &report->items[i], &telling->call->out.look,
				telling->settings->all ? 0 : LINES, &place->text);
		if (place->text.failed)
			code = lode_fail_memory(error);
	}
	lode_scope_report_forget(report, i);
	return code;
}

static void put_number_of_paths(const struct telling *telling, struct lode_buffer *buffer)
{
	char symptoms[LODE_UNITS_TEXT], paths[LODE_UNITS_TEXT], some[LODE_UNITS_TEXT];
	size_t count = telling->groups.count;

	if (telling->shown_count == telling->symptoms)
		return;
	lode_buffer_print(buffer, "%s symptoms with %s different path%s", lode_count_text(telling->symptoms, symptoms),
			  lode_count_text(count, paths), count == 1 ? "" : "s");
	if (telling->shown_count < count)
		lode_buffer_print(buffer, ", those of the %s longest", lode_count_text(telling->shown_count, some));
	lode_buffer_text(buffer, "; --all shows each symptom\n\n");
}

static int show(struct telling *telling, struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	char some[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT];
	int code = 0;

	qsort(telling->shown, telling->shown_count, sizeof(*telling->shown), compare_shown);
	if (puts_together(telling))
		put_number_of_paths(telling, &buffer);
	else if (telling->shown_count < telling->symptoms)
		lode_buffer_print(&buffer, "The %s longest of %s symptoms; --all shows all\n\n",
				  lode_count_text(telling->shown_count, some),
				  lode_count_text(telling->symptoms, all));
	for (size_t i = 0; i < telling->shown_count; i++) {
		lode_buffer_text(&buffer, i ? "\n" : "");
		if (puts_together(telling) && telling->groups.items[telling->shown[i].group].count > 1)
			lode_scope_group_text(&telling->groups.items[telling->shown[i].group], &buffer);
		lode_buffer_add(&buffer, telling->shown[i].text.bytes, telling->shown[i].text.size);
	}
	if (buffer.failed)
		code = lode_fail_memory(error);
	else if (telling->settings->output)
		lode_buffer_add(&telling->output->buffer, buffer.bytes, buffer.size);
	else
		code = lode_show(&telling->call->out, &buffer, error);
	lode_buffer_release(&buffer);
	return code;
}

/* ---- streams ---- */

/* Streams that are made ready at a time. */
struct batch {
	const struct telling *telling;
	const struct lode_corpus_entry **entries;
	struct lode_scope_report *reports;
	struct lode_error *errors;
	int *codes;
};

static void make_ready(void *context, size_t i)
{
	struct batch *batch = context;

	batch->codes[i] = lode_scope_report_make(&batch->reports[i], batch->entries[i],
						 &batch->telling->options, &batch->errors[i]);
}

static int tell_stream(struct telling *telling, struct lode_scope_report *report, struct lode_error *error)
{
	int code = 0;

	if (!report->wanted)
		return 0;
	telling->streams++;
	telling->without += !report->count;
	if (telling->page)
		code = lode_scope_longest_add(telling->page, report, error);
	else if (telling->settings->json)
		code = lode_scope_json(report, telling->output, error);
	else
		for (size_t i = 0; i < report->count && !code; i++)
			code = tell_symptom(telling, report, i, error);
	telling->symptoms += report->count;
	return code;
}

static int go_on(struct telling *telling, const struct lode_corpus_entry *entry,
		 const struct lode_progress *progress, struct lode_error *error)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		telling->events_done += entry->events[type];
	if (lode_progress_tell(progress, "looking at symptoms", "events", telling->events_done,
			       telling->events_total))
		return lode_fail(error, LODE_SYSTEM, "scope: was stopped");
	return 0;
}

static int tell_batch(struct telling *telling, struct batch *batch, size_t count,
		      const struct lode_progress *progress, struct lode_error *error)
{
	int code = 0;

	lode_parallel((unsigned)telling->settings->area.jobs, count, make_ready, batch);
	for (size_t i = 0; i < count; i++) {
		if (!code && batch->codes[i] < 0) {
			*error = batch->errors[i];
			code = batch->codes[i];
		}
		if (!code)
			code = tell_stream(telling, &batch->reports[i], error);
		if (!code)
			code = go_on(telling, batch->entries[i], progress, error);
		lode_scope_report_release(&batch->reports[i]);
	}
	return code;
}

static int tell_entries(struct telling *telling, const struct lode_corpus_entry **entries, size_t count,
			const struct lode_progress *progress, struct lode_error *error)
{
	unsigned jobs =
		telling->settings->area.jobs ? (unsigned)telling->settings->area.jobs : lode_processors();
	struct batch batch = {
		.telling = telling,
		.reports = lode_calloc(jobs, sizeof(*batch.reports)),
		.errors = lode_calloc(jobs, sizeof(*batch.errors)),
		.codes = lode_calloc(jobs, sizeof(*batch.codes)),
	};
	int code = batch.reports && batch.errors && batch.codes ? 0 : lode_fail_memory(error);

	for (size_t i = 0; i < count && !code; i += jobs) {
		batch.entries = entries + i;
		code = tell_batch(telling, &batch, count - i < jobs ? count - i : jobs, progress, error);
	}
	lode_free(batch.reports);
	lode_free(batch.errors);
	lode_free(batch.codes);
	return code;
}

static int tell_corpus(struct telling *telling, struct lode_corpus *corpus,
		       const struct lode_progress *progress, struct lode_error *error)
{
	const struct lode_corpus_entry **entries;
	struct lode_corpus_list list = { 0 };
	size_t count = 0;
	int code = lode_corpus_streams(corpus, &list, error);

	if (code < 0)
		return code;
	code = lode_streams_check(&telling->settings->streams, &list, lode_corpus_path(corpus), error);
	entries = code ? NULL : lode_calloc(list.count + 1, sizeof(*entries));
	if (!code && !entries)
		code = lode_fail_memory(error);
	for (size_t i = 0; i < list.count && !code; i++) {
		if (!lode_stream_asked_for(&telling->settings->streams, &list.items[i]))
			continue;
		entries[count++] = &list.items[i];
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			telling->events_total += list.items[i].events[type];
	}
	if (!code)
		code = tell_entries(telling, entries, count, progress, error);
	lode_free(entries);
	lode_corpus_list_release(&list);
	return code;
}

/* ---- the whole ---- */

/* A question that has no answer is not a result. */
static int check_found(const struct telling *telling, const char *path, struct lode_error *error)
{
	const struct lode_symptom_rules *rules = telling->options.rules;

	if (telling->symptoms)
		return 0;
	if (!telling->streams)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream is left to look at; 'lode info %s' shows what there is", path,
				 path);
	if (!rules->count)
		return lode_fail(error, LODE_USAGE,
				 "%s: its streams have no symptoms; say what was slow with --symptom "
				 "'thread NAME', 'wait > 200ms in FRAME' or 'between A and B > 1s'",
				 path);
	if (rules->items[0].type == LODE_SYMPTOM_THREAD)
		return lode_fail(error, LODE_USAGE,
				 "%s: no stream has a symptom '%s'; 'lode info --all %s' lists the threads",
				 path, rules->items[0].text, path);
	return lode_fail(error, LODE_USAGE,
			 "%s: no stream has a symptom '%s'; try a shorter time or other frames", path,
			 rules->items[0].text);
}

static int write_page(struct telling *telling, struct lode_corpus *corpus, struct lode_bar *bar,
		      struct lode_error *error)
{
	const struct settings *settings = telling->settings;
	struct lode_scope_longest page = { .most = settings->all ? SIZE_MAX : settings->top ? settings->top : PAGE_TOP };
	struct lode_buffer json = { 0 };
	int code = settings->page_data ? 0 : lode_page_is_there(error);

	telling->page = &page;
	if (!code)
		code = tell_corpus(telling, corpus, &bar->progress, error);
	lode_bar_wipe(bar);
	if (!code)
		code = check_found(telling, lode_corpus_path(corpus), error);
	if (!code) {
		lode_scope_longest_json(&page, &json);
		code = settings->page_data ? lode_results_write(telling->call, settings->output, &json, error)
					   : lode_results_page(telling->call, settings->output, telling->call->operands[0], &json, error);
	}
	lode_buffer_release(&json);
	lode_scope_longest_release(&page);
	return code;
}

static int write_all(struct telling *telling, struct lode_corpus *corpus, struct lode_bar *bar,
		     struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_open(&output, telling->settings->output, error);

	if (code < 0)
		return code;
	telling->output = &output;
	code = tell_corpus(telling, corpus, &bar->progress, error);
	lode_bar_wipe(bar);
	if (!code)
		code = check_found(telling, lode_corpus_path(corpus), error);
	if (!code && !telling->settings->json)
		code = show(telling, error);
	if (code < 0)
		lode_output_abandon(&output);
	else
		code = lode_output_finish(&output, error);
	return code;
}

static enum lode_scope chosen_scope(const char *name)
{
	for (int scope = LODE_SCOPE_ALL; name && scope < LODE_SCOPES; scope++)
		if (!strcmp(name, lode_scope_name((enum lode_scope)scope)))
			return (enum lode_scope)scope;
	return LODE_SCOPE_CRITICAL_PATH;
}

static int tell(struct telling *telling, struct lode_corpus *corpus, struct lode_error *error)
{
	const struct lode_area_settings *area = &telling->settings->area;
	struct lode_idle_rules *idle = NULL;
	struct lode_symptom_rules rules = { 0 };
	struct lode_bar bar;
	int code = lode_where_check(area->where.items, error);

	lode_bar_init(&bar, &telling->call->err, telling->call->quiet);
	if (!code)
		code = lode_symptom_rules_parse(&rules, area->symptoms.items, error);
	if (!code)
		code = lode_area_rules(corpus, area, &idle, error);
	telling->options = (struct lode_scope_options){
		.scope = chosen_scope(area->scope),
		.rules = &rules,
		.where = area->where.items,
		.idle = idle,
	};
	if (!code)
		code = telling->settings->page_data ||
				       (!telling->settings->json && lode_results_is_page(telling->settings->output))
			       ? write_page(telling, corpus, &bar, error)
			       : write_all(telling, corpus, &bar, error);
	lode_bar_wipe(&bar);
	lode_idle_rules_free(idle);
	lode_symptom_rules_release(&rules);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct telling telling = { .call = call, .settings = call->settings };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, call->operands[0], LODE_CORPUS_READ, error);

	if (code < 0)
		return code;
	if (telling.settings->output)
		lode_signals_hold(); /* a half-written file goes away again */
	code = tell(&telling, corpus, error);
	if (lode_signals_stop())
		code = LODE_STOPPED(lode_signals_stop());
	if (!code && telling.without && !call->quiet)
		lode_say(&call->err, LODE_YELLOW, "%llu of %llu streams have no symptom",
			 (unsigned long long)telling.without, (unsigned long long)telling.streams);
	for (size_t i = 0; i < telling.shown_count; i++)
		lode_buffer_release(&telling.shown[i].text);
	lode_free(telling.shown);
	lode_scope_groups_release(&telling.groups);
	lode_corpus_close(corpus);
	return code;
}

const struct lode_command lode_command_scope = {
	.name = "scope",
	.summary = "show what kept a thread from being done earlier",
	.usage = "[OPTIONS] CORPUS",
	.about = "For each symptom, a thread that was too slow from one moment to another: its critical "
		 "path,\n"
		 "what it ran and waited for, and what the threads that woke it were doing meanwhile; or all "
		 "of\n"
		 "the wait graph, or the thread's own events. Symptoms come with the streams or are looked "
		 "for.",
	.examples = "  lode scope corpus\n"
		    "  lode scope corpus --symptom 'thread ui' --stream laptop-17\n"
		    "  lode scope corpus --symptom 'wait > 200ms in app!lock' --scope graph\n"
		    "  lode scope --json corpus | jq -c '[.stream, .unknown_ns]'\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.ending = lode_ending_of_page,
	.run = run,
};
