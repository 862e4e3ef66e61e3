/*
 * The rows of streams, attributes, threads, frames, stacks and symptoms: see list_table.h. They are read from the
 * catalogue and from the heads of streams.
 */
#include "query/list_table.h"
#include "scope/process_names.h"
#include "trace/script_modules.h"

#include <stdlib.h>
#include <string.h>

static void give_text(sqlite3_context *context, const char *text)
{
	sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

/* NULL where it is empty. */
static void give_name(sqlite3_context *context, const char *text)
{
	if (*text)
		give_text(context, text);
}

static void give_number(sqlite3_context *context, uint64_t number)
{
	sqlite3_result_int64(context, lode_query_number(number));
}

/* ---- streams ---- */

static int count_streams(struct lode_query_data *data, int64_t *count)
{
	*count = (int64_t)data->stream_count;
	return 0;
}

static void give_attribute(sqlite3_context *context, const struct lode_query_attribute *attribute)
{
	char *end;
	long long whole;

	if (attribute->type == LODE_ATTRIBUTE_BOOL) {
		sqlite3_result_int(context, !strcmp(attribute->value, "true"));
		return;
	}
	if (attribute->type != LODE_ATTRIBUTE_NUMBER || !lode_json_is_number(attribute->value)) {
		give_text(context, attribute->value);
		return;
	}
	whole = strtoll(attribute->value, &end, 10);
	if (!*end && whole < INT64_MAX && whole > INT64_MIN)
		sqlite3_result_int64(context, whole);
	else
		sqlite3_result_double(context, strtod(attribute->value, NULL));
}

static int compare_attributes(const void *a, const void *b)
{
	const struct lode_query_attribute *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void give_attribute_of(struct lode_query_data *data, sqlite3_context *context, int64_t stream,
			      const char *key)
{
	struct lode_query_attribute wanted = { .stream = (uint32_t)stream, .key = key };
	const struct lode_query_attribute *found =
		data->attributes.count ? bsearch(&wanted, data->attributes.items, data->attributes.count,
						 sizeof(wanted), compare_attributes)
				       : NULL;

	if (found)
		give_attribute(context, found);
}

static void give_stream(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	const struct lode_corpus_entry *entry = data->streams[row].entry;
	const uint64_t numbers[] = {
		entry->events[LODE_RUN], entry->events[LODE_WAIT], entry->events[LODE_CALL],
		entry->cost[LODE_RUN],   entry->cost[LODE_WAIT],   entry->first_t,
		entry->last_t,           entry->threads,           entry->stacks,
		entry->symptoms,         entry->file_size,         entry->added,
	};
	int first = 5, count = (int)(sizeof(numbers) / sizeof(numbers[0]));

	switch (column) {
	case 0:
		sqlite3_result_int64(context, row);
		break;
	case 1:
		give_text(context, entry->name);
		break;
	case 2:
		give_name(context, entry->host);
		break;
	case 3:
		give_text(context, entry->id);
		break;
	case 4:
		give_text(context, entry->source);
		break;
	default:
		if (column < first + count)
			give_number(context, numbers[column - first]);
		else
			give_attribute_of(data, context, row, data->attribute_keys.items[column - first - count]);
	}
}

const struct lode_query_list lode_query_streams_list = {
	.name = "streams", .key = 0, .count = count_streams, .give = give_stream, .rows = 1000
};

/* ---- attributes ---- */

static int count_attributes(struct lode_query_data *data, int64_t *count)
{
	int code = lode_query_load_attributes(data);

	*count = (int64_t)data->attributes.count;
	return code;
}

static void give_attributes(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	const struct lode_query_attribute *attribute = &data->attributes.items[row];

	if (column == 0)
		sqlite3_result_int64(context, attribute->stream);
	else if (column == 1)
		give_text(context, attribute->key);
	else
		give_attribute(context, attribute);
}

const struct lode_query_list lode_query_attributes_list = {
	.name = "attributes", .key = -1, .count = count_attributes, .give = give_attributes, .rows = 10000
};

/* ---- threads ---- */

static int count_threads(struct lode_query_data *data, int64_t *count)
{
	*count = data->thread_count;
	return 0;
}

static int ready_thread(struct lode_query_data *data, int64_t row)
{
	size_t number = lode_query_stream_of(data, row);
	struct lode_query_stream *stream = &data->streams[number];
	int code = lode_query_load(data, number, LODE_QUERY_THREADS);

	if (code)
		return code;
	if (stream->unread || row - stream->first_thread >= (int64_t)stream->head.thread_count)
		return 0;
	if (!stream->processes && !(stream->processes = lode_process_names(&stream->head)))
		return lode_query_no_memory(data);
	return 1;
}

static void give_totals(sqlite3_context *context, const struct lode_thread *thread, int i)
{
	const uint64_t totals[] = { thread->totals.waits, thread->totals.preemptions, thread->totals.waited_ns,
				    thread->totals.run_ns, thread->totals.queued_ns };

	if (lode_thread_has_totals(thread))
		give_number(context, totals[i]);
}

static void give_thread(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	size_t number = lode_query_stream_of(data, row);
	const struct lode_query_stream *stream = &data->streams[number];
	const struct lode_strings *strings = &data->dictionary.frames.strings;
	size_t local = (size_t)(row - stream->first_thread);
	const struct lode_thread *thread = &stream->head.threads[local];

	switch (column) {
	case 0:
		sqlite3_result_int64(context, row);
		break;
	case 1:
		sqlite3_result_int64(context, (int64_t)number);
		break;
	case 2:
		if (thread->pid != LODE_NO_PID)
			sqlite3_result_int64(context, thread->pid);
		break;
	case 3:
		sqlite3_result_int64(context, thread->tid);
		break;
	case 4:
		give_name(context, lode_strings_get(strings, thread->name));
		break;
	case 5:
		give_name(context, lode_strings_get(strings, stream->processes[local]));
		break;
	default:
		give_totals(context, thread, column - 6);
	}
}

const struct lode_query_list lode_query_threads_list = {
	.name = "threads", .key = 0, .count = count_threads, .ready = ready_thread, .give = give_thread, .rows = 10000
};

/* ---- frames and stacks ---- */

static int count_frames(struct lode_query_data *data, int64_t *count)
{
	int code = lode_query_load_all(data, LODE_QUERY_STACKS);

	*count = (int64_t)data->dictionary.frames.count;
	return code;
}

/* A number that a statement has got from a row is known by now. */
static int count_frames_for(struct lode_query_data *data, int64_t key, int64_t *count)
{
	*count = (int64_t)data->dictionary.frames.count;
	return key >= 0 && key < *count ? 0 : count_frames(data, count);
}

static void give_frame(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	const struct lode_frames *frames = &data->dictionary.frames;
	const struct lode_frame *frame = &frames->items[row];
	const struct lode_module *module = &frames->modules[frame->module];
	const char *text;

	switch (column) {
	case 0:
		sqlite3_result_int64(context, row);
		break;
	case 1:
		text = lode_query_frame_text(data, (uint32_t)row);
		if (text)
			give_text(context, text);
		else
			sqlite3_result_error_nomem(context);
		break;
	case 2:
		give_name(context, lode_strings_get(&frames->strings, module->name));
		break;
	case 3:
		give_text(context, lode_strings_get(&frames->strings, frame->function));
		break;
	case 4:
		give_text(context, lode_kind_name(module->kind));
		break;
	case 5:
		give_name(context, lode_strings_get(&frames->strings, module->path));
		break;
	default:
		give_name(context, lode_strings_get(&frames->strings, module->build_id));
	}
}

const struct lode_query_list lode_query_frames_list = { .name = "frames",
							.key = 0,
							.count = count_frames,
							.count_for = count_frames_for,
							.give = give_frame,
							.rows = 10000 };

static int count_stacks(struct lode_query_data *data, int64_t *count)
{
	int code = lode_query_load_all(data, LODE_QUERY_STACKS);

	*count = (int64_t)data->dictionary.tree.count;
	return code;
}

static int count_stacks_for(struct lode_query_data *data, int64_t key, int64_t *count)
{
	*count = (int64_t)data->dictionary.tree.count;
	return key >= 0 && key < *count ? 0 : count_stacks(data, count);
}

static int ready_stack(struct lode_query_data *data, int64_t row)
{
	(void)data;
	return row > 0; /* the empty stack has no frame */
}

static void give_stack(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	const struct lode_stack_tree *tree = &data->dictionary.tree;
	const int64_t values[] = { row, tree->nodes[row].parent, tree->nodes[row].frame };

	sqlite3_result_int64(context, column < 3 ? values[column] : lode_stack_tree_depth(tree, (uint32_t)row));
}

const struct lode_query_list lode_query_stacks_list = { .name = "stacks",
							.key = 0,
							.count = count_stacks,
							.count_for = count_stacks_for,
							.ready = ready_stack,
							.give = give_stack,
							.rows = 100000 };

/* ---- symptoms ---- */

static int count_symptoms(struct lode_query_data *data, int64_t *count)
{
	int code = 0;

	for (uint32_t i = 0; !data->has_symptoms && !code && i < data->stream_count; i++) {
		if (!data->streams[i].entry->symptoms)
			continue;
		code = lode_query_must_stop(data) ? LODE_USAGE : lode_query_load(data, i, LODE_QUERY_THREADS);
		for (uint32_t k = 0; !code && !data->streams[i].unread && k < data->streams[i].head.symptom_count;
		     k++)
			if (LODE_PUSH(&data->symptoms, (struct lode_query_symptom){ i, k }) < 0)
				code = lode_query_no_memory(data);
	}
	data->has_symptoms |= !code;
	*count = (int64_t)data->symptoms.count;
	return code;
}

static void give_symptom(struct lode_query_data *data, sqlite3_context *context, int64_t row, int column)
{
	const struct lode_query_symptom *place = &data->symptoms.items[row];
	const struct lode_query_stream *stream = &data->streams[place->stream];
	const struct lode_symptom *symptom = &stream->head.symptoms[place->number];

	switch (column) {
	case 0:
		sqlite3_result_int64(context, place->stream);
		break;
	case 1:
		give_name(context, lode_strings_get(&data->dictionary.frames.strings, symptom->name));
		break;
	case 2:
		sqlite3_result_int64(context, stream->first_thread + symptom->thread);
		break;
	case 3:
		sqlite3_result_int64(context, stream->head.threads[symptom->thread].tid);
		break;
	case 4:
		give_number(context, symptom->t0);
		break;
	case 5:
		give_number(context, symptom->t1);
		break;
	default:
		give_number(context, symptom->t1 > symptom->t0 ? symptom->t1 - symptom->t0 : 0);
	}
}

const struct lode_query_list lode_query_symptoms_list = {
	.name = "symptoms", .key = -1, .count = count_symptoms, .give = give_symptom, .rows = 1000
};
