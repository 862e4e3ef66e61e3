/*
 * What is in a corpus, for people: see info_text.h. From the whole to the parts:
 * totals, attributes, streams with their pictures, symptoms, processes, requests, threads, modules.
 *
 * A list is cut to what fits on a screen and then says how many are left out and
 * how to see them; nothing is left out silently.
 */
#include "base/units.h"
#include "base/memory.h"
#include "base/safe_text.h"
#include "base/sort_numbers.h"
#include "base/starts_with.h"
#include "text/activity_text.h"
#include "text/info_text.h"
#include "text/picture.h"
#include "text/grid.h"
#include "trace/control_groups.h"
#include "trace/script_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are cut, with a mark. */
#define NAME_LIMIT 40
/* Entries of lists that are shown. */
#define STREAMS 20
#define TOP     10

struct writer {
	const struct lode_info *info;
	const struct lode_info_style *style;
	struct lode_buffer *buffer;
};

/* The column that holds names of `width` too. */
static size_t widen(size_t column, const char *name)
{
	size_t width = lode_text_width(name);

	if (width > NAME_LIMIT)
		width = NAME_LIMIT;
	return width > column ? width : column;
}

static const char *string(const struct writer *writer, uint32_t id)
{
	return lode_strings_get(&writer->info->dictionary.frames.strings, id);
}

static size_t shown_of(const struct lode_info_style *style, size_t count, size_t usual)
{
	return style->all || count <= usual ? count : usual;
}

static size_t slices_of(const struct lode_look *look)
{
	size_t slices = look->width > 40 ? look->width - 30 : 10;

	return slices > 100 ? 100 : slices;
}

/* ---- headings ---- */

static void add_heading(struct writer *writer, const char *title)
{
	lode_buffer_print(writer->buffer, "\n%s%s%s", lode_style(writer->style->look, LODE_BOLD), title,
			  lode_style(writer->style->look, LODE_PLAIN));
}

/* Ends a heading: how many of a list are shown, if not all. */
static void add_shown(struct writer *writer, size_t shown, size_t count)
{
	char some[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT];

	if (shown < count)
		lode_buffer_print(writer->buffer, " (%s of %s; --all shows all)", lode_count_text(shown, some),
				  lode_count_text(count, all));
	lode_buffer_byte(writer->buffer, '\n');
}

/* ---- the whole ---- */

/* Distinct known hosts. */
static size_t count_hosts(struct writer *writer)
{
	const struct lode_info *info = writer->info;
	uint32_t *hosts = lode_calloc(info->stream_count + 1, sizeof(*hosts));
	size_t count = 0;

	if (!hosts) {
		writer->buffer->failed = 1;
		return 0;
	}
	for (size_t i = 0; i < info->stream_count; i++)
		hosts[i] = info->streams[i].host;
	lode_sort_u32(hosts, info->stream_count);
	for (size_t i = 0; i < info->stream_count; i++)
		count += hosts[i] && (!i || hosts[i] != hosts[i - 1]);
	lode_free(hosts);
	return count;
}

static void add_fact(struct writer *writer, uint64_t count, const char *one, const char *lead)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(writer->buffer, "%s%s %s%s", lead, lode_count_text(count, text), one, lode_plural(count));
}

static void add_size(struct writer *writer, const struct lode_info_totals *totals)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(writer->buffer, "; %s on disk", lode_bytes_text(totals->bytes, text));
	if (totals->all_events)
		lode_buffer_print(writer->buffer, ", %.1f bytes an event",
				  (double)totals->bytes / (double)totals->all_events);
	lode_buffer_byte(writer->buffer, '\n');
}

/* How many modules are of languages: ` (3 python, 1 java)`. */
static void add_languages(struct writer *writer)
{
	const struct lode_frames *frames = &writer->info->dictionary.frames;
	uint64_t counts[LODE_CODE_LANGUAGES] = { 0 };
	char count[LODE_UNITS_TEXT];
	unsigned shown = 0;

	for (size_t i = 1; i < frames->module_count; i++)
		counts[frames->modules[i].language]++;
	for (int i = LODE_CODE_NATIVE + 1; i < LODE_CODE_LANGUAGES; i++) {
		if (!counts[i])
			continue;
		lode_buffer_print(writer->buffer, "%s%s %s", shown++ ? ", " : " (",
				  lode_count_text(counts[i], count),
				  lode_code_language_name((enum lode_code_language)i));
	}
	if (shown)
		lode_buffer_text(writer->buffer, ")");
}

static void add_totals(struct writer *writer, const char *path)
{
	const struct lode_info *info = writer->info;
	struct lode_info_totals totals = lode_info_sum_up(info);
	size_t hosts = count_hosts(writer);
	char count[LODE_UNITS_TEXT], cost[LODE_UNITS_TEXT];

	lode_text_safe(writer->buffer, path);
	add_fact(writer, info->stream_count, "stream", ": ");
	if (hosts)
		add_fact(writer, hosts, "host", " of ");
	add_fact(writer, totals.all_events, "event", "; ");
	add_size(writer, &totals);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		if (!totals.events[type])
			continue;
		lode_buffer_print(writer->buffer, "  %-5s %14s", lode_event_type_name((enum lode_event_type)type),
				  lode_count_text(totals.events[type], count));
		if (type != LODE_CALL)
			lode_buffer_print(writer->buffer, "    %s", lode_duration_text(totals.cost[type], cost));
		else if (totals.preemptions)
			lode_buffer_print(writer->buffer, "    %s of them preemptions",
					  lode_count_text(totals.preemptions, cost));
		if (totals.represents[type] > totals.events[type])
			lode_buffer_print(writer->buffer, "    recorded for %s: not all were",
					  lode_count_text(totals.represents[type], count));
		lode_buffer_byte(writer->buffer, '\n');
	}
	add_fact(writer, info->thread_count, "thread", "  ");
	add_fact(writer, info->stacks, "distinct stack", ", ");
	add_fact(writer, info->dictionary.frames.count, "frame", ", ");
	add_fact(writer, info->dictionary.frames.module_count - 1, "module", ", ");
	add_languages(writer);
	add_fact(writer, info->symptom_count, "symptom", ", ");
	lode_buffer_byte(writer->buffer, '\n');
}

/* ---- attributes ---- */

/* Equal keys together, and in them equal values. */
static int compare_attributes(const void *left, const void *right)
{
	const struct lode_attribute *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return lode_compare_u32(&a->value, &b->value);
}

static void add_range(struct writer *writer, const struct lode_attribute *items, size_t count)
{
	uint32_t least = items[0].value, most = items[0].value;

	for (size_t i = 1; i < count; i++) {
		double value = strtod(string(writer, items[i].value), NULL);

		if (value < strtod(string(writer, least), NULL))
			least = items[i].value;
		if (value > strtod(string(writer, most), NULL))
			most = items[i].value;
	}
	lode_text_safe(writer->buffer, string(writer, least));
	if (most != least) {
		lode_buffer_text(writer->buffer, " to ");
		lode_text_safe(writer->buffer, string(writer, most));
	}
}

static void add_values(struct writer *writer, const struct lode_attribute *items, size_t count)
{
	size_t distinct = 0;
	size_t start = 0;

	for (size_t i = 1; i <= count; i++) {
		if (i < count && items[i].value == items[start].value)
			continue;
		if (shown_of(writer->style, distinct + 1, TOP) > distinct) {
			lode_buffer_text(writer->buffer, distinct ? ", " : "");
			lode_text_safe(writer->buffer, string(writer, items[start].value));
			if (i - start < count)
				lode_buffer_print(writer->buffer, " (%zu)", i - start);
		}
		distinct++;
		start = i;
	}
	if (shown_of(writer->style, distinct, TOP) < distinct)
		lode_buffer_print(writer->buffer, " and %zu more (--all shows all)", distinct - TOP);
}

/* All attributes of one key, a line. */
static void add_key(struct writer *writer, const struct lode_attribute *items, size_t count)
{
	const char *key = string(writer, items[0].key);
	int is_group = lode_starts_with(key, LODE_CGROUP);
	size_t numbers = 0;

	for (size_t i = 0; i < count; i++)
		numbers += items[i].type == LODE_ATTRIBUTE_NUMBER;
	lode_buffer_text(writer->buffer, "  ");
	lode_text_column(writer->buffer, is_group ? "cgroup" : key, 18);
	lode_buffer_byte(writer->buffer, ' ');
	if (is_group) /* its processes are of no interest here */
		lode_text_safe(writer->buffer, key + strlen(LODE_CGROUP));
	else if (numbers == count)
		add_range(writer, items, count);
	else
		add_values(writer, items, count);
	if (count < writer->info->stream_count)
		lode_buffer_print(writer->buffer, "  [%zu of %zu streams]", count, writer->info->stream_count);
	lode_buffer_byte(writer->buffer, '\n');
}

static void add_attributes(struct writer *writer)
{
	const struct lode_info *info = writer->info;
	struct lode_attribute *items;
	size_t start = 0;

	if (!info->attribute_count)
		return;
	items = lode_calloc(info->attribute_count, sizeof(*items));
	if (!items) {
		writer->buffer->failed = 1;
		return;
	}
	for (size_t i = 0; i < info->attribute_count; i++)
		items[i] = info->attributes[i];
	qsort(items, info->attribute_count, sizeof(*items), compare_attributes);
	add_heading(writer, "Attributes\n");
	for (size_t i = 1; i <= info->attribute_count; i++) {
		if (i < info->attribute_count && items[i].key == items[start].key)
			continue;
		add_key(writer, items + start, i - start);
		start = i;
	}
	lode_free(items);
}

/* ---- streams ---- */

static void add_picture(struct writer *writer, const char *label, const uint64_t *values,
			const struct lode_timeline *line)
{
	uint64_t peak = lode_picture_peak(values, line->count);

	if (!peak)
		return;
	lode_buffer_print(writer->buffer, "    %-4s %s", label,
			  lode_style(writer->style->look, *label == 'r' ? LODE_GREEN : LODE_BLUE));
	lode_picture_draw(writer->buffer, values, line->count, peak, writer->style->ascii);
	lode_buffer_print(writer->buffer, "%s peak %.3g threads\n", lode_style(writer->style->look, LODE_PLAIN),
			  (double)peak / (double)line->slice);
}

static const char *host_of(struct writer *writer, const struct lode_info_stream *stream)
{
	return stream->host ? string(writer, stream->host) : "-";
}

static void add_stream(struct writer *writer, struct lode_grid *grid, const struct lode_info_stream *stream)
{
	lode_grid_text(grid, string(writer, stream->name));
	lode_grid_text(grid, host_of(writer, stream));
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_grid_count(grid, stream->events[type]);
	lode_grid_duration(grid, stream->last_t - stream->first_t);
	lode_grid_bytes(grid, stream->file_size);
	lode_grid_end(grid);
	if (!stream->line.run)
		return;
	add_picture(writer, "run", stream->line.run, &stream->line);
	add_picture(writer, "wait", stream->line.wait, &stream->line);
}

static void add_streams(struct writer *writer)
{
	struct lode_grid_column columns[] = {
		{ "NAME", 2, 0 },   { "HOST", 1, 0 }, { "RUNS", 1, 11 }, { "WAITS", 1, 11 },
		{ "CALLS", 1, 11 }, { "SPAN", 1, 8 }, { "SIZE", 1, 8 },  { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = writer->buffer, .columns = columns };
	size_t count = writer->info->stream_count;
	size_t shown = shown_of(writer->style, count, STREAMS);
	size_t name = 4, host = 4;

	if (!count)
		return;
	for (size_t i = 0; i < shown; i++) {
		name = widen(name, string(writer, writer->info->streams[i].name));
		host = widen(host, host_of(writer, &writer->info->streams[i]));
	}
	columns[0].width = -(int)name;
	columns[1].width = -(int)host;
	add_heading(writer, "Streams");
	add_shown(writer, shown, count);
	lode_grid_titles(&grid);
	for (size_t i = 0; i < shown; i++)
		add_stream(writer, &grid, &writer->info->streams[i]);
}

/* ---- threads ---- */

/* A thread's picture is as high as its slice is long: full means always. */
static void add_thread_pictures(struct writer *writer, const struct lode_timeline *line)
{
	const struct lode_look *look = writer->style->look;
	const uint64_t *values[] = { line->run, line->wait };

	for (int i = 0; i < 2; i++) {
		if (!lode_picture_peak(values[i], line->count))
			continue;
		lode_buffer_print(writer->buffer, "    %s %s", i ? "wait" : "run ",
				  lode_style(look, i ? LODE_BLUE : LODE_GREEN));
		lode_picture_draw(writer->buffer, values[i], line->count, line->slice, writer->style->ascii);
		lode_buffer_print(writer->buffer, "%s\n", lode_style(look, LODE_PLAIN));
	}
}

static const char *thread_name(struct writer *writer, const struct lode_info_thread *thread)
{
	return thread->name ? string(writer, thread->name) : "-";
}

/* `exact`: with what the kernel counted. */
static void add_thread(struct writer *writer, struct lode_grid *grid, const struct lode_info_thread *thread,
		       int exact)
{
	char pid[LODE_UNITS_TEXT], tid[LODE_UNITS_TEXT];

	snprintf(pid, sizeof(pid), "%u", thread->pid);
	snprintf(tid, sizeof(tid), "%u", thread->tid);
	lode_grid_text(grid, thread_name(writer, thread));
	lode_grid_text(grid, thread->pid == LODE_NO_PID ? "-" : pid);
	lode_grid_text(grid, tid);
	lode_grid_duration(grid, thread->cost[LODE_RUN]);
	lode_grid_duration(grid, thread->cost[LODE_WAIT]);
	lode_grid_count(grid, thread->events[LODE_CALL]);
	if (exact) {
		lode_grid_duration(grid, thread->totals.run_ns);
		lode_grid_duration(grid, thread->totals.waited_ns);
		lode_grid_duration(grid, thread->totals.queued_ns);
		lode_grid_count(grid, thread->totals.waits);
	}
	if (writer->info->stream_count > 1)
		lode_grid_text(grid, string(writer, writer->info->streams[thread->stream].name));
	lode_grid_end(grid);
	if (thread->line.run)
		add_thread_pictures(writer, &thread->line);
}

/* Whether the kernel's own counts of some thread are there. */
static int has_totals(const struct lode_info *info)
{
	for (size_t i = 0; i < info->thread_count; i++)
		if (info->threads[i].totals.run_ns | info->threads[i].totals.waits)
			return 1;
	return 0;
}

static void add_threads(struct writer *writer, const size_t *busiest)
{
	struct lode_grid_column plain[] = {
		{ "NAME", 2, 0 },      { "PID", 1, 10 },   { "TID", 1, 10 },   { "RUN TIME", 1, 8 },
		{ "WAIT TIME", 1, 9 }, { "CALLS", 1, 11 }, { "STREAM", 2, 0 }, { NULL, 0, 0 },
	};
	struct lode_grid_column counted[] = {
		{ "NAME", 2, 0 },      { "PID", 1, 10 },       { "TID", 1, 10 },    { "RUN TIME", 1, 8 },
		{ "WAIT TIME", 1, 9 }, { "CALLS", 1, 11 },     { "ALL RUN", 2, 8 }, { "ALL WAITED", 1, 10 },
		{ "QUEUED", 1, 8 },    { "ALL WAITS", 1, 11 }, { "STREAM", 2, 0 },  { NULL, 0, 0 },
	};
	int exact = has_totals(writer->info);
	struct lode_grid_column *columns = exact ? counted : plain;
	struct lode_grid grid = { .buffer = writer->buffer, .columns = columns };
	size_t count = writer->info->thread_count;
	size_t shown = shown_of(writer->style, count, TOP);
	size_t name = 4;

	if (!count)
		return;
	for (size_t i = 0; i < shown; i++)
		name = widen(name, thread_name(writer, &writer->info->threads[busiest[i]]));
	columns[0].width = -(int)name;
	if (writer->info->stream_count <= 1)
		columns[exact ? 10 : 6].title = NULL;
	add_heading(writer, "Threads, busiest first");
	add_shown(writer, shown, count);
	lode_grid_titles(&grid);
	for (size_t i = 0; i < shown; i++)
		add_thread(writer, &grid, &writer->info->threads[busiest[i]], exact);
}

/* ---- processes and requests ---- */

static void add_activity(struct writer *writer)
{
	const struct lode_activity *activity = writer->info->activity;
	size_t shown;

	if (!activity)
		return;
	/* Where only samples are, everything runs. */
	if (activity->states.count && lode_info_sum_up(writer->info).events[LODE_WAIT]) {
		shown = shown_of(writer->style, activity->states.count, TOP);
		add_heading(writer, "Processes, busiest first: time of their threads, and shares of it");
		add_shown(writer, shown, activity->states.count);
		lode_states_text(&activity->states, shown, writer->buffer);
	}
	if (activity->loops.count) {
		shown = shown_of(writer->style, activity->loops.count, TOP);
		add_heading(writer, "Requests: what threads do between two waits of their outer loops");
		add_shown(writer, shown, activity->loops.count);
		lode_requests_text(&activity->loops, shown, writer->buffer);
	}
}

/* ---- symptoms ---- */

static void add_symptom(struct writer *writer, const struct lode_info_symptom *symptom)
{
	const struct lode_info_thread *thread = &writer->info->threads[symptom->thread];
	char length[LODE_UNITS_TEXT];

	lode_buffer_print(writer->buffer, "  %8s thread %u", lode_duration_text(symptom->t1 - symptom->t0, length),
			  thread->tid);
	if (writer->info->stream_count > 1) {
		lode_buffer_text(writer->buffer, " of ");
		lode_text_safe(writer->buffer, string(writer, writer->info->streams[thread->stream].name));
	}
	if (symptom->name) {
		lode_buffer_text(writer->buffer, ": ");
		lode_text_safe(writer->buffer, string(writer, symptom->name));
	}
	lode_buffer_byte(writer->buffer, '\n');
}

static void add_symptoms(struct writer *writer)
{
	size_t count = writer->info->symptom_count;
	size_t shown = shown_of(writer->style, count, TOP);

	if (!count)
		return;
	add_heading(writer, "Symptoms");
	add_shown(writer, shown, count);
	for (size_t i = 0; i < shown; i++)
		add_symptom(writer, &writer->info->symptoms[i]);
}

/* ---- objects ---- */

static void add_objects(struct writer *writer)
{
	const struct lode_info *info = writer->info;
	size_t shown = shown_of(writer->style, info->object_count, TOP);

	if (!shown)
		return;
	add_heading(writer, "Waited for, longest first");
	add_shown(writer, shown, info->object_count);
	lode_buffer_text(writer->buffer, "      TIME       WAITS  OBJECT\n");
	for (size_t i = 0; i < shown; i++) {
		char time[LODE_UNITS_TEXT], count[LODE_UNITS_TEXT];

		lode_buffer_print(writer->buffer, "  %8s %11s  ", lode_duration_text(info->objects[i].cost, time),
				  lode_count_text(info->objects[i].events, count));
		lode_text_safe(writer->buffer, string(writer, info->objects[i].object));
		lode_buffer_byte(writer->buffer, '\n');
	}
}

/* ---- modules ---- */

static void add_module(struct writer *writer, const char *name, size_t width, uint64_t cost, uint64_t total)
{
	size_t length = total ? (size_t)((double)cost / (double)total * 20 + 0.5) : 0;
	char text[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];
	static const uint64_t full[20] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	lode_buffer_text(writer->buffer, "  ");
	lode_text_column(writer->buffer, name, width);
	lode_buffer_print(writer->buffer, " %8s %6s", lode_duration_text(cost, text),
			  lode_share_text(cost, total, share));
	if (length && writer->style->pictures) {
		lode_buffer_print(writer->buffer, " %s", lode_style(writer->style->look, LODE_GREEN));
		lode_picture_draw(writer->buffer, full, length, 1, writer->style->ascii);
		lode_buffer_text(writer->buffer, lode_style(writer->style->look, LODE_PLAIN));
	}
	lode_buffer_byte(writer->buffer, '\n');
}

static const char *module_name(struct writer *writer, size_t i)
{
	const struct lode_frames *frames = &writer->info->dictionary.frames;
	uint32_t name = frames->modules[writer->info->modules[i].module].name;

	return name ? string(writer, name) : "(unknown module)";
}

static void add_modules(struct writer *writer)
{
	const struct lode_info *info = writer->info;
	uint64_t total = info->no_stack_cost;
	size_t count = 0, width = 16, shown;

	for (; count < info->module_count && info->modules[count].events; count++)
		total = lode_add_saturating(total, info->modules[count].cost);
	if (!count && !info->no_stack_events)
		return;
	shown = shown_of(writer->style, count, TOP);
	for (size_t i = 0; i < shown; i++)
		width = widen(width, module_name(writer, i));
	add_heading(writer, "Modules by time run in them");
	add_shown(writer, shown, count);
	for (size_t i = 0; i < shown; i++)
		add_module(writer, module_name(writer, i), width, info->modules[i].cost, total);
	if (info->no_stack_events)
		add_module(writer, "(no stack)", width, info->no_stack_cost, total);
}

int lode_info_text(struct lode_info *info, const char *path, const struct lode_info_style *style,
		   const struct lode_progress *progress, struct lode_buffer *buffer, struct lode_error *error)
{
	struct writer writer = { info, style, buffer };
	size_t *busiest = lode_info_busiest(info);
	int code = busiest ? 0 : lode_fail_memory(error);

	if (!code && style->pictures)
		code = lode_info_picture(info, shown_of(style, info->stream_count, STREAMS), busiest,
					 shown_of(style, info->thread_count, TOP), slices_of(style->look),
					 progress, error);
	if (!code) {
		add_totals(&writer, path);
		add_attributes(&writer);
		add_streams(&writer);
		add_symptoms(&writer);
		add_activity(&writer);
		add_threads(&writer, busiest);
		add_objects(&writer);
		add_modules(&writer);
	}
	lode_free(busiest);
	return code;
}
