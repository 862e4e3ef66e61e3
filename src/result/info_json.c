/*
 * What is in a corpus, as JSON: everything, nothing cut but timelines of threads. See info_report.h.
 */
#include "base/json.h"
#include "base/memory.h"
#include "result/info_report.h"

/* Slices of the time lines, and threads that have one: the busiest. */
#define SLICES  60
#define THREADS 20

static const char *string(const struct lode_info *info, uint32_t id)
{
	return lode_strings_get(&info->dictionary.frames.strings, id);
}

static void write_sums(struct lode_json *json, const uint64_t *events, const uint64_t *cost)
{
	lode_json_key_object(json, "events");
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_json_key_u64(json, lode_event_type_name((enum lode_event_type)type), events[type]);
	lode_json_object_end(json);
	lode_json_key_object(json, "cost_ns");
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_json_key_u64(json, lode_event_type_name((enum lode_event_type)type), cost[type]);
	lode_json_object_end(json);
}

static void write_attributes(struct lode_json *json, const struct lode_info *info,
			     const struct lode_info_stream *stream)
{
	lode_json_key_object(json, "attrs");
	for (size_t i = 0; i < stream->attribute_count; i++)
		lode_attribute_json(&info->attributes[stream->first_attribute + i],
				    &info->dictionary.frames.strings, json);
	lode_json_object_end(json);
}

static void write_thread_number(struct lode_json *json, const struct lode_info_thread *thread)
{
	lode_json_key_u64_or_null(json, "pid", thread->pid != LODE_NO_PID, thread->pid);
	lode_json_key_u64(json, "tid", thread->tid);
}

/* What the kernel counted; nothing where it is not known. */
static void write_exact(struct lode_json *json, const struct lode_thread_totals *totals)
{
	if (!(totals->waits | totals->preemptions | totals->waited_ns | totals->run_ns | totals->queued_ns))
		return;
	lode_json_key_object(json, "exact");
	lode_json_key_u64(json, "waits", totals->waits);
	lode_json_key_u64(json, "preemptions", totals->preemptions);
	lode_json_key_u64(json, "waited_ns", totals->waited_ns);
	lode_json_key_u64(json, "run_ns", totals->run_ns);
	lode_json_key_u64(json, "queued_ns", totals->queued_ns);
	lode_json_object_end(json);
}

static void write_threads(struct lode_json *json, const struct lode_info *info,
			  const struct lode_info_stream *stream)
{
	lode_json_key_array(json, "threads");
	for (size_t i = 0; i < stream->thread_count; i++) {
		const struct lode_info_thread *thread = &info->threads[stream->first_thread + i];

		lode_json_object(json);
		write_thread_number(json, thread);
		lode_json_key_text(json, "name", string(info, thread->name));
		write_sums(json, thread->events, thread->cost);
		write_exact(json, &thread->totals);
		if (thread->line.run)
			lode_timeline_json(&thread->line, json);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void write_symptoms(struct lode_json *json, const struct lode_info *info,
			   const struct lode_info_stream *stream)
{
	lode_json_key_array(json, "symptoms");
	for (size_t i = 0; i < stream->symptom_count; i++) {
		const struct lode_info_symptom *symptom = &info->symptoms[stream->first_symptom + i];

		lode_json_object(json);
		write_thread_number(json, &info->threads[symptom->thread]);
		lode_json_key_text(json, "name", string(info, symptom->name));
		lode_json_key_u64(json, "t0", symptom->t0);
		lode_json_key_u64(json, "t1", symptom->t1);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void write_stream(struct lode_json *json, const struct lode_info *info,
			 const struct lode_info_stream *stream)
{
	lode_json_object(json);
	lode_json_key_text(json, "id", stream->id);
	lode_json_key_text(json, "name", string(info, stream->name));
	lode_json_key_text(json, "host", string(info, stream->host));
	lode_json_key_text(json, "source", stream->source);
	lode_json_key_text(json, "path", stream->path);
	lode_json_key_u64(json, "bytes", stream->file_size);
	write_sums(json, stream->events, stream->cost);
	lode_json_key_u64(json, "first_t", stream->first_t);
	lode_json_key_u64(json, "last_t", stream->last_t);
	if (stream->added)
		lode_json_key_u64(json, "added", stream->added);
	lode_json_key_u64(json, "stacks", stream->stacks);
	write_attributes(json, info, stream);
	if (!info->is_brief && !info->for_page)
		write_threads(json, info, stream);
	write_symptoms(json, info, stream);
	if (stream->line.run)
		lode_timeline_json(&stream->line, json);
	lode_json_object_end(json);
}

static void write_modules(struct lode_json *json, const struct lode_info *info)
{
	const struct lode_frames *frames = &info->dictionary.frames;

	lode_json_key_array(json, "modules");
	for (size_t i = 0; i < info->module_count; i++) {
		const struct lode_module *module = &frames->modules[info->modules[i].module];

		if (info->modules[i].module == 0 && !info->modules[i].events)
			continue;
		lode_json_object(json);
		lode_json_key_text(json, "name", string(info, module->name));
		lode_json_key_text(json, "kind", lode_kind_name((enum lode_kind)module->kind));
		lode_json_key_text(json, "path", string(info, module->path));
		lode_json_key_text(json, "build_id", string(info, module->build_id));
		lode_json_key_u64(json, "run_events", info->modules[i].events);
		lode_json_key_u64(json, "run_ns", info->modules[i].cost);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
}

static void write_no_stack(struct lode_json *json, const struct lode_info *info)
{
	lode_json_key_object(json, "no_stack");
	lode_json_key_u64(json, "run_events", info->no_stack_events);
	lode_json_key_u64(json, "run_ns", info->no_stack_cost);
	lode_json_object_end(json);
}

static void write_totals(struct lode_json *json, const struct lode_info *info)
{
	uint64_t events[LODE_EVENT_TYPES] = { 0 }, cost[LODE_EVENT_TYPES] = { 0 }, bytes = 0;

	for (size_t i = 0; i < info->stream_count; i++) {
		bytes += info->streams[i].file_size;
		for (int type = 0; type < LODE_EVENT_TYPES; type++) {
			events[type] += info->streams[i].events[type];
			cost[type] = lode_add_saturating(cost[type], info->streams[i].cost[type]);
		}
	}
	write_sums(json, events, cost);
	lode_json_key_u64(json, "bytes", bytes);
	lode_json_key_u64(json, "threads", info->thread_count);
	lode_json_key_u64(json, "symptoms", info->symptom_count);
	if (info->is_brief)
		return;
	lode_json_key_u64(json, "stacks", info->stacks);
	lode_json_key_u64(json, "stack_nodes", info->dictionary.tree.count - 1);
	lode_json_key_u64(json, "frames", info->dictionary.frames.count);
}

static int draw(struct lode_info *info, const struct lode_progress *progress, struct lode_error *error)
{
	size_t *busiest = lode_info_busiest(info);
	size_t threads = info->for_page ? 0 : info->thread_count < THREADS ? info->thread_count : THREADS;
	int code = busiest ? lode_info_picture(info, info->stream_count, busiest, threads, SLICES, progress, error)
			   : lode_fail_memory(error);

	lode_free(busiest);
	return code;
}

int lode_info_json(struct lode_info *info, const char *path, const struct lode_progress *progress,
		   struct lode_buffer *buffer, struct lode_error *error)
{
	int code = info->is_brief ? 0 : draw(info, progress, error);
	struct lode_json json = { .buffer = buffer };

	if (code)
		return code;
	lode_json_object(&json);
	lode_json_key_text(&json, "path", path);
	lode_json_key_text(&json, "kind", info->is_corpus ? "corpus" : "stream");
	write_totals(&json, info);
	if (!info->is_brief) {
		write_modules(&json, info);
		write_no_stack(&json, info);
	}
	lode_json_key_array(&json, "streams");
	for (size_t i = 0; i < info->stream_count; i++)
		write_stream(&json, info, &info->streams[i]);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
	return 0;
}
