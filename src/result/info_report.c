/*
 * What is in a corpus: reading it. See info_report.h.
 *
 * The first pass reads the head of every stream into one dictionary and, of the
 * events, the thread, the cost and the stack. Times are needed for pictures
 * only, and only of what will be shown: a second pass reads them for those
 * streams. Both passes see a block at a time.
 */
#include "result/info_report.h"

#include "scope/where.h"

#include <stdlib.h>
#include <string.h>

/* A stream that is open, and what it is filled into. */
struct reading {
	struct lode_info *info;
	struct lode_info_stream *target;
	struct lode_store *store;
	struct lode_stream stream; /* all but its events */
	struct lode_events events; /* one block, of threads that are wanted; their numbers are those among these */
	uint8_t *wanted;           /* by thread of the stream; NULL: all */
	uint32_t *numbers;         /* by thread of the stream: its number among those that are wanted */
	int left_out;              /* `where` does not want the stream */
	const struct lode_progress *progress;
};

/* Numbers the threads that are wanted. */
static int choose_threads(struct reading *reading)
{
	const struct lode_stream *stream = &reading->stream;
	const char *const *where = reading->info->where;
	uint32_t count = 0;

	reading->left_out = !lode_where_fits(stream, where);
	reading->target->thread_count = stream->thread_count;
	if (lode_where_members(stream, where, &reading->wanted) < 0)
		return LODE_SYSTEM;
	if (!reading->wanted)
		return 0;
	reading->numbers = lode_calloc(stream->thread_count + 1, sizeof(*reading->numbers));
	for (size_t i = 0; reading->numbers && i < stream->thread_count; i++)
		reading->numbers[i] = reading->wanted[i] ? count++ : LODE_NONE;
	reading->target->thread_count = count;
	return reading->numbers ? 0 : LODE_SYSTEM;
}

static int open_stream(struct reading *reading, struct lode_info *info, struct lode_info_stream *target,
		       const struct lode_progress *progress, struct lode_error *error)
{
	int code;

	memset(reading, 0, sizeof(*reading));
	reading->info = info;
	reading->target = target;
	reading->progress = progress;
	lode_stream_init(&reading->stream, &info->dictionary);
	code = lode_store_open(&reading->store, target->path, error);
	if (code < 0)
		return code;
	code = info->is_brief ? lode_store_brief_head(reading->store, &reading->stream, error)
			      : lode_store_head(reading->store, &reading->stream, error);
	return !code && choose_threads(reading) < 0 ? lode_fail_memory(error) : code;
}

static void close_stream(struct reading *reading)
{
	lode_events_release(&reading->events);
	lode_free(reading->wanted);
	lode_free(reading->numbers);
	lode_stream_release(&reading->stream);
	if (reading->store)
		lode_store_close(reading->store);
}

static int report_progress(struct reading *reading, uint64_t events, struct lode_error *error)
{
	struct lode_info *info = reading->info;

	info->events_read += events;
	if (lode_progress_report(reading->progress, "reading events", "events", info->events_read,
				 info->events_total))
		return lode_fail(error, LODE_SYSTEM, "stopped");
	return 0;
}

/* The reader of the file promises this; a wrong number would be written through. */
static int check_numbers(const struct reading *reading, struct lode_error *error)
{
	const struct lode_events *events = &reading->events;
	size_t nodes = reading->info->dictionary.tree.count;

	for (size_t i = 0; i < events->count; i++)
		if (events->thread[i] >= reading->stream.thread_count || events->stack[i] >= nodes)
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s: an event names a thread or a stack that is not there; run "
					 "'lode fsck' on it",
					 reading->target->path);
	return 0;
}

/* Of a block, the events of threads that are wanted. */
static void keep_wanted(struct reading *reading)
{
	struct lode_events *events = &reading->events;

	if (!reading->wanted)
		return;
	lode_events_keep_threads(events, reading->wanted);
	for (size_t i = 0; i < events->count; i++)
		events->thread[i] = reading->numbers[events->thread[i]];
}

/* Reads block after block, and hands each to `take`; calls, which have no cost, only if they are wanted. */
static int read_blocks(struct reading *reading, unsigned columns, int with_calls,
		       void (*take)(struct reading *reading, enum lode_event_type type), struct lode_error *error)
{
	int code = 0;
	size_t all;

	for (size_t i = 0; i < lode_store_blocks(reading->store) && !code; i++) {
		enum lode_event_type type = lode_store_block(reading->store, i)->type;

		if (type == LODE_CALL && !with_calls)
			continue;
		code = lode_store_events(reading->store, i, columns | (type == LODE_CALL ? LODE_NAME : LODE_COST),
					 &reading->events, error);
		if (!code)
			code = check_numbers(reading, error);
		if (code)
			break;
		all = reading->events.count;
		keep_wanted(reading);
		take(reading, type);
		code = report_progress(reading, all, error);
	}
	return code;
}

/* ---- first pass: heads and sums ---- */

static int add_threads(struct reading *reading)
{
	struct lode_info *info = reading->info;
	const struct lode_stream *stream = &reading->stream;
	size_t count = info->thread_count + reading->target->thread_count;

	if (LODE_GROW(info->threads, info->thread_capacity, count) < 0)
		return LODE_SYSTEM;
	reading->target->first_thread = info->thread_count;
	for (size_t i = 0; i < stream->thread_count; i++)
		if (!reading->wanted || reading->wanted[i])
			info->threads[info->thread_count++] = (struct lode_info_thread){
				.stream = (uint32_t)(reading->target - info->streams),
				.pid = stream->threads[i].pid,
				.tid = stream->threads[i].tid,
				.name = stream->threads[i].name,
				.totals = stream->threads[i].totals,
			};
	return 0;
}

static int add_symptoms(struct reading *reading)
{
	struct lode_info *info = reading->info;
	const struct lode_stream *stream = &reading->stream;
	size_t count = info->symptom_count + stream->symptom_count;

	if (LODE_GROW(info->symptoms, info->symptom_capacity, count) < 0)
		return LODE_SYSTEM;
	reading->target->first_symptom = info->symptom_count;
	for (size_t i = 0; i < stream->symptom_count; i++) {
		uint32_t thread = stream->symptoms[i].thread;

		if (reading->wanted && !reading->wanted[thread])
			continue;
		thread = reading->wanted ? reading->numbers[thread] : thread;
		info->symptoms[info->symptom_count++] = (struct lode_info_symptom){
			.thread = (uint32_t)(reading->target->first_thread + thread),
			.name = stream->symptoms[i].name,
			.t0 = stream->symptoms[i].t0,
			.t1 = stream->symptoms[i].t1,
		};
	}
	reading->target->symptom_count = info->symptom_count - reading->target->first_symptom;
	return 0;
}

static int add_attributes(struct reading *reading)
{
	struct lode_info *info = reading->info;
	const struct lode_stream *stream = &reading->stream;
	size_t count = info->attribute_count + stream->attribute_count;

	if (LODE_GROW(info->attributes, info->attribute_capacity, count) < 0)
		return LODE_SYSTEM;
	reading->target->first_attribute = info->attribute_count;
	reading->target->attribute_count = stream->attribute_count;
	for (size_t i = 0; i < stream->attribute_count; i++)
		info->attributes[info->attribute_count++] = stream->attributes[i];
	return 0;
}

static void add_span(struct reading *reading)
{
	struct lode_info_stream *target = reading->target;
	const struct lode_stream *stream = &reading->stream;
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < lode_store_blocks(reading->store); i++) {
		const struct lode_store_block *block = lode_store_block(reading->store, i);

		first = block->first_t < first ? block->first_t : first;
		last = block->last_t > last ? block->last_t : last;
	}
	for (size_t i = 0; i < stream->symptom_count; i++) {
		first = stream->symptoms[i].t0 < first ? stream->symptoms[i].t0 : first;
		last = stream->symptoms[i].t1 > last ? stream->symptoms[i].t1 : last;
	}
	target->first_t = first <= last ? first : 0;
	target->last_t = first <= last ? last : 0;
}

/* While streams are read there is an object for each string. */
static int follow_strings(struct lode_info *info)
{
	size_t strings = info->dictionary.frames.strings.count;
	struct lode_info_object *list = lode_realloc(info->objects, strings, sizeof(*list));

	if (!list)
		return LODE_SYSTEM;
	info->objects = list;
	for (; info->object_count < strings; info->object_count++)
		list[info->object_count] = (struct lode_info_object){ .object = (uint32_t)info->object_count };
	return 0;
}

/* The arrays over nodes and modules follow the dictionary, which grows with every head. */
static int follow_dictionary(struct lode_info *info)
{
	size_t nodes = info->dictionary.tree.count;
	size_t modules = info->dictionary.frames.module_count;
	uint32_t *seen = lode_realloc(info->seen, nodes, sizeof(*seen));
	struct lode_info_module *list;

	if (!seen)
		return LODE_SYSTEM;
	memset(seen + info->seen_count, 0, (nodes - info->seen_count) * sizeof(*seen));
	info->seen = seen;
	info->seen_count = nodes;
	list = lode_realloc(info->modules, modules, sizeof(*list));
	if (!list)
		return LODE_SYSTEM;
	info->modules = list;
	for (; info->module_count < modules; info->module_count++)
		list[info->module_count] = (struct lode_info_module){ .module = (uint32_t)info->module_count };
	return follow_strings(info);
}

static int read_head(struct reading *reading, struct lode_error *error)
{
	reading->target->name = reading->stream.name;
	reading->target->host = reading->stream.host;
	if (add_threads(reading) < 0 || add_symptoms(reading) < 0 || add_attributes(reading) < 0 ||
	    (!reading->info->is_brief && follow_dictionary(reading->info) < 0))
		return lode_fail_memory(error);
	add_span(reading);
	return 0;
}

static void count_stack(struct reading *reading, uint32_t node)
{
	struct lode_info *info = reading->info;
	uint32_t mark = (uint32_t)(reading->target - info->streams) + 1;

	if (!node || info->seen[node] == mark)
		return;
	reading->target->stacks++;
	info->stacks += !info->seen[node];
	info->seen[node] = mark;
}

static void count_module(struct lode_info *info, uint32_t node, uint64_t cost)
{
	struct lode_info_module *module;

	if (!node) {
		info->no_stack_events++;
		info->no_stack_cost = lode_add_saturating(info->no_stack_cost, cost);
		return;
	}
	module = &info->modules[info->dictionary.frames.items[info->dictionary.tree.nodes[node].frame].module];
	module->events++;
	module->cost = lode_add_saturating(module->cost, cost);
}

static void count_object(struct lode_info *info, uint32_t object, uint64_t cost)
{
	info->objects[object].events++;
	info->objects[object].cost = lode_add_saturating(info->objects[object].cost, cost);
}

static void count_preemptions(struct reading *reading)
{
	const struct lode_strings *strings = &reading->info->dictionary.frames.strings;
	uint32_t name = lode_strings_find(strings, LODE_PREEMPTION, sizeof(LODE_PREEMPTION) - 1);

	for (size_t i = 0; name != LODE_NONE && i < reading->events.count; i++)
		reading->target->preemptions += reading->events.name[i] == name;
}

static void sum_block(struct reading *reading, enum lode_event_type type)
{
	const struct lode_events *events = &reading->events;
	struct lode_info_thread *threads = reading->info->threads + reading->target->first_thread;
	uint64_t *total = &reading->target->cost[type];

	for (size_t i = 0; i < events->count; i++) {
		uint64_t cost = type == LODE_CALL ? 0 : lode_events_cost(events, i);
		struct lode_info_thread *thread = &threads[events->thread[i]];

		thread->events[type]++;
		reading->target->represents[type] += lode_events_weight(events, i);
		thread->cost[type] = lode_add_saturating(thread->cost[type], cost);
		*total = lode_add_saturating(*total, cost);
		count_stack(reading, events->stack[i]);
		if (type == LODE_RUN)
			count_module(reading->info, events->stack[i], cost);
		if (type == LODE_WAIT && lode_events_object(events, i))
			count_object(reading->info, events->object[i], cost);
	}
	reading->target->events[type] += events->count;
	if (type == LODE_CALL)
		count_preemptions(reading);
}

/* Returns 1 if `where` leaves the stream out. */
static int collect_stream(struct lode_info *info, size_t i, const struct lode_progress *progress,
			  struct lode_error *error)
{
	struct reading reading;
	int code = open_stream(&reading, info, &info->streams[i], progress, error);

	if (!code && reading.left_out)
		code = 1;
	if (!code)
		code = read_head(&reading, error);
	if (!code && !info->is_brief)
		code = read_blocks(&reading, LODE_THREAD | LODE_STACK | LODE_WEIGHT | LODE_OBJECT, 1, sum_block,
				   error);
	close_stream(&reading);
	return code;
}

/* Costliest first; those that never ran in the order of the dictionary. */
static int compare_modules(const void *left, const void *right)
{
	const struct lode_info_module *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

static int compare_objects(const void *left, const void *right)
{
	const struct lode_info_object *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* Only objects that were waited for stay. */
static void sort_objects(struct lode_info *info)
{
	size_t kept = 0;

	for (size_t i = 0; i < info->object_count; i++)
		if (info->objects[i].events)
			info->objects[kept++] = info->objects[i];
	info->object_count = kept;
	if (kept)
		qsort(info->objects, kept, sizeof(*info->objects), compare_objects);
}

/* The head of each stream, and its events unless `info` is brief. */
static int collect(struct lode_info *info, const struct lode_progress *progress, struct lode_error *error)
{
	int code = lode_dictionary_init(&info->dictionary) < 0 ? lode_fail_memory(error) : 0;
	size_t kept = 0;

	for (size_t i = 0; i < info->stream_count && code >= 0; i++) {
		info->streams[kept] = info->streams[i];
		code = collect_stream(info, kept, progress, error);
		kept += !code;
	}
	if (code >= 0) {
		code = 0;
		info->stream_count = kept;
	}
	if (info->module_count)
		qsort(info->modules, info->module_count, sizeof(*info->modules), compare_modules);
	sort_objects(info);
	return code;
}

static struct lode_info_stream from_entry(const struct lode_corpus_entry *entry)
{
	return (struct lode_info_stream){
		.path = entry->path,
		.id = entry->id,
		.source = entry->source,
		.file_size = entry->file_size,
		.added = entry->added,
	};
}

int lode_info_of_streams(struct lode_info *info, const struct lode_corpus_list *list, const char *const *where,
			 int brief, const struct lode_progress *progress, struct lode_error *error)
{
	*info = (struct lode_info){ .is_corpus = 1, .is_brief = brief, .where = where };
	info->streams = lode_calloc(list->count + 1, sizeof(*info->streams));
	if (!info->streams)
		return lode_fail_memory(error);
	info->stream_count = list->count;
	for (size_t i = 0; i < list->count; i++) {
		struct lode_info_stream *stream = &info->streams[i];
		const struct lode_corpus_entry *entry = &list->items[i];

		*stream = from_entry(entry);
		for (int type = 0; type < LODE_EVENT_TYPES; type++)
			info->events_total += brief ? 0 : entry->events[type];
		if (!brief)
			continue; /* the sums are counted */
		memcpy(stream->events, entry->events, sizeof(stream->events));
		memcpy(stream->cost, entry->cost, sizeof(stream->cost));
		stream->stacks = entry->stacks;
	}
	return collect(info, progress, error);
}

int lode_info_of_file(struct lode_info *info, const char *path, uint64_t size, const char *const *where,
		      const struct lode_progress *progress, struct lode_error *error)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t length = strlen(base);

	if (length > 5 && !strcmp(base + length - 5, ".lode"))
		length -= 5;
	*info = (struct lode_info){ .where = where,
				    .file_id = lode_strndup(base, length),
				    .streams = lode_calloc(1, sizeof(*info->streams)) };
	if (!info->file_id || !info->streams)
		return lode_fail_memory(error);
	info->stream_count = 1;
	*info->streams =
		(struct lode_info_stream){ .path = path, .id = info->file_id, .source = "", .file_size = size };
	return collect(info, progress, error);
}

void lode_info_release(struct lode_info *info)
{
	for (size_t i = 0; i < info->stream_count; i++)
		lode_timeline_release(&info->streams[i].line);
	for (size_t i = 0; i < info->thread_count; i++)
		lode_timeline_release(&info->threads[i].line);
	lode_free(info->file_id);
	lode_free(info->streams);
	lode_free(info->threads);
	lode_free(info->symptoms);
	lode_free(info->attributes);
	lode_free(info->modules);
	lode_free(info->objects);
	lode_free(info->seen);
	lode_dictionary_release(&info->dictionary);
	memset(info, 0, sizeof(*info));
}

/* ---- second pass: timelines ---- */

static int make_line(struct lode_timeline *line, const struct lode_info_stream *stream, size_t slices)
{
	return lode_timeline_init(line, stream->first_t, stream->last_t, slices);
}

static void draw_block(struct reading *reading, enum lode_event_type type)
{
	struct lode_info_thread *threads = reading->info->threads + reading->target->first_thread;
	const struct lode_events *events = &reading->events;

	for (size_t i = 0; i < events->count; i++) {
		struct lode_timeline *line = &threads[events->thread[i]].line;

		if (reading->target->line.run)
			lode_timeline_add(&reading->target->line, type == LODE_WAIT, events->t[i], events->cost[i]);
		if (line->run)
			lode_timeline_add(line, type == LODE_WAIT, events->t[i], events->cost[i]);
	}
}

static void finish_lines(struct lode_info *info, struct lode_info_stream *stream)
{
	if (stream->line.run)
		lode_timeline_finish(&stream->line);
	for (size_t i = 0; i < stream->thread_count; i++)
		if (info->threads[stream->first_thread + i].line.run)
			lode_timeline_finish(&info->threads[stream->first_thread + i].line);
}

static int picture_stream(struct lode_info *info, size_t i, const struct lode_progress *progress,
			  struct lode_error *error)
{
	struct reading reading;
	int code = open_stream(&reading, info, &info->streams[i], progress, error);

	if (!code)
		code = read_blocks(&reading, LODE_THREAD | LODE_STACK | LODE_T, 0, draw_block, error);
	if (!code)
		finish_lines(info, reading.target);
	close_stream(&reading);
	return code;
}

int lode_info_picture(struct lode_info *info, size_t streams, const size_t *threads, size_t thread_count,
		      size_t slices, const struct lode_progress *progress, struct lode_error *error)
{
	unsigned char *wanted = lode_calloc(info->stream_count + 1, 1);
	int code = wanted ? 0 : LODE_SYSTEM;

	for (size_t i = 0; i < streams && !code; i++) {
		wanted[i] = 1;
		code = make_line(&info->streams[i].line, &info->streams[i], slices);
	}
	for (size_t i = 0; i < thread_count && !code; i++) {
		struct lode_info_thread *thread = &info->threads[threads[i]];

		wanted[thread->stream] = 1;
		code = make_line(&thread->line, &info->streams[thread->stream], slices);
	}
	if (code)
		lode_fail_memory(error);
	info->events_read = 0;
	for (size_t i = 0; i < info->stream_count && !code; i++)
		if (wanted[i])
			code = picture_stream(info, i, progress, error);
	lode_free(wanted);
	return code;
}
