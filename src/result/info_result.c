/*
 * Fills the result of lode info, and writes it as JSON: everything, nothing cut but timelines of threads. See
 * info_result.h.
 */
#include "result/info_result.h"

#include "base/memory.h"
#include "trace/script_modules.h"

/* Slices of the timelines, and threads that have one: the busiest. */
#define SLICES  60
#define THREADS 20

static const char *string(const struct lode_info *info, uint32_t id)
{
	return lode_strings_get(&info->dictionary.frames.strings, id);
}

static struct lode_info_thread_number number_of(const struct lode_info_thread *thread)
{
	return (struct lode_info_thread_number){ thread->pid != LODE_NO_PID, thread->pid, thread->tid };
}

static int write_attributes(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_info *info = self->from;

	lode_json_object(json);
	for (size_t i = 0; i < self->count; i++)
		lode_attribute_json(&info->attributes[self->first + i], &info->dictionary.frames.strings, json);
	lode_json_object_end(json);
	return 0;
}

static int make_thread(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_info *info = list->from;
	const struct lode_info_thread *thread = &info->threads[list->first + i];
	const struct lode_thread_totals *totals = &thread->totals;

	*(struct lode_info_result_thread *)item = (struct lode_info_result_thread){
		.number = number_of(thread),
		.name = string(info, thread->name),
		.events = lode_event_sums(thread->events),
		.cost_ns = lode_event_sums(thread->cost),
		.has_exact = (totals->waits | totals->preemptions | totals->waited_ns | totals->run_ns |
			      totals->queued_ns) != 0,
		.exact = *totals,
		.has_timeline = thread->line.run != NULL,
		.timeline = lode_timeline_fields_of(&thread->line),
	};
	return 1;
}

static int make_symptom(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_info *info = list->from;
	const struct lode_info_symptom *symptom = &info->symptoms[list->first + i];

	*(struct lode_info_result_symptom *)item = (struct lode_info_result_symptom){
		.number = number_of(&info->threads[symptom->thread]),
		.name = string(info, symptom->name),
		.t0 = symptom->t0,
		.t1 = symptom->t1,
	};
	return 1;
}

static int make_stream(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_info *info = list->from;
	const struct lode_info_stream *stream = &info->streams[i];

	*(struct lode_info_result_stream *)item = (struct lode_info_result_stream){
		.id = stream->id,
		.name = string(info, stream->name),
		.host = string(info, stream->host),
		.source = stream->source,
		.path = stream->path,
		.bytes = stream->file_size,
		.events = lode_event_sums(stream->events),
		.cost_ns = lode_event_sums(stream->cost),
		.first_t = stream->first_t,
		.last_t = stream->last_t,
		.added = stream->added,
		.stacks = stream->stacks,
		.attrs = { .write = write_attributes,
			   .from = info,
			   .first = stream->first_attribute,
			   .count = stream->attribute_count },
		.has_threads = !info->is_brief && !info->for_page,
		.threads = { stream->thread_count, info, stream->first_thread, make_thread },
		.symptoms = { stream->symptom_count, info, stream->first_symptom, make_symptom },
		.has_timeline = stream->line.run != NULL,
		.timeline = lode_timeline_fields_of(&stream->line),
	};
	return 1;
}

static int make_module(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_info *info = list->from;
	const struct lode_info_module *sums = &info->modules[i];
	const struct lode_module *module = &info->dictionary.frames.modules[sums->module];

	if (sums->module == 0 && !sums->events)
		return 0;
	*(struct lode_info_result_module *)item = (struct lode_info_result_module){
		.name = string(info, module->name),
		.kind = lode_kind_name((enum lode_kind)module->kind),
		.language = lode_code_language_name((enum lode_code_language)module->language),
		.path = string(info, module->path),
		.build_id = string(info, module->build_id),
		.run_events = sums->events,
		.run_ns = sums->cost,
	};
	return 1;
}

static int make_object(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_info *info = list->from;
	const struct lode_info_object *object = &info->objects[i];

	*(struct lode_info_result_object *)item = (struct lode_info_result_object){
		lode_strings_get(&info->dictionary.frames.strings, object->object), object->events, object->cost
	};
	return 1;
}

struct lode_info_result lode_info_result_of(const struct lode_info *info, const char *path)
{
	struct lode_info_totals totals = lode_info_sum_up(info);

	return (struct lode_info_result){
		.path = path,
		.kind = info->is_corpus ? "corpus" : "stream",
		.events = lode_event_sums(totals.events),
		.cost_ns = lode_event_sums(totals.cost),
		.bytes = totals.bytes,
		.threads = info->thread_count,
		.symptoms = info->symptom_count,
		.is_whole = !info->is_brief,
		.stacks = info->stacks,
		.stack_nodes = info->is_brief ? 0 : info->dictionary.tree.count - 1,
		.frames = info->dictionary.frames.count,
		.modules = { info->module_count, info, 0, make_module },
		.no_stack = { info->no_stack_events, info->no_stack_cost },
		.has_objects = !info->is_brief && info->object_count,
		.objects = { info->object_count, info, 0, make_object },
		.streams = { info->stream_count, info, 0, make_stream },
	};
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

	if (!code) {
		struct lode_info_result result = lode_info_result_of(info, path);

		lode_activity_result_make(&result.activity, info->activity, info->list);
		lode_fields_line(&lode_info_fields, &result, buffer);
	}
	return code;
}
