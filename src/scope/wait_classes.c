/* Which waits count: see wait_classes.h. */
#include "scope/wait_classes.h"

#include <string.h>

enum lode_wait_class lode_wait_class(const struct lode_wait_classes *classes, const struct lode_events *waits,
				     size_t i)
{
	int on_path = classes->on_path && classes->on_path[i];
	enum lode_work_place place = classes->work ? lode_work_wait(classes->work, waits, i) : LODE_WORK_NEITHER;

	if (place == LODE_WORK_INSIDE)
		return LODE_WAIT_COUNTS;
	if (place == LODE_WORK_OUTSIDE && !on_path &&
	    !lode_idle_event(classes->idle, waits->stack[i], waits->waker_stack[i]))
		return LODE_WAIT_FOR_WORK;
	if (classes->work && (on_path ? lode_idle_threads_child(classes->threads, waits, i)
				      : lode_idle_threads_wait(classes->threads, waits, i)))
		return LODE_WAIT_IDLE;
	return lode_idle_event(classes->idle, waits->stack[i], waits->waker_stack[i]) ? LODE_WAIT_IDLE
										      : LODE_WAIT_COUNTS;
}

int lode_wait_classes_mark_paths(struct lode_wait_classes *classes, struct lode_scope_index *index, size_t waits,
				 const struct lode_symptom *symptoms, size_t count, struct lode_error *error)
{
	struct lode_parts parts = { 0 }, stepped = { 0 };
	uint64_t unknown;
	int code = 0;

	classes->on_path = lode_calloc(waits + 1, 1);
	if (!classes->on_path)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && i < count; i++) {
		parts.count = stepped.count = 0;
		code = lode_critical_path(index, &symptoms[i], &parts, &stepped, &unknown, error);
		for (size_t k = 0; !code && k < parts.count; k++)
			if (parts.items[k].type == LODE_WAIT)
				classes->on_path[parts.items[k].event] = 1;
		for (size_t k = 0; !code && k < stepped.count; k++)
			classes->on_path[stepped.items[k].event] = 1;
	}
	lode_parts_release(&parts);
	lode_parts_release(&stepped);
	return code;
}

/* The paths of all symptoms of the stream. */
static int mark_symptoms(struct lode_wait_classes *classes, const struct lode_stream *stream,
			 struct lode_error *error)
{
	struct lode_scope_index *index;
	int code = lode_scope_index_make(&index, stream, error);

	if (code)
		return code;
	lode_scope_index_interrupts(index, lode_idle_interrupts(classes->idle));
	code = lode_wait_classes_mark_paths(classes, index, stream->events[LODE_WAIT].count, stream->symptoms,
					    stream->symptom_count, error);
	lode_scope_index_free(index);
	return code;
}

int lode_wait_classes_begin(struct lode_wait_classes *classes, const struct lode_stream *stream,
			    const struct lode_idle_stacks *idle, struct lode_error *error)
{
	int code = lode_work_waits_make(&classes->work, stream, idle, error);

	classes->idle = idle;
	return code ? code : lode_idle_threads_make(&classes->threads, stream, idle, classes->work, error);
}

int lode_wait_classes_count(struct lode_wait_classes *classes, const struct lode_events *waits)
{
	int code = lode_work_waits_count(classes->work, waits);

	return code ? code : lode_idle_threads_count(classes->threads, waits);
}

int lode_wait_classes_need_runs(const struct lode_wait_classes *classes)
{
	return lode_work_waits_needs_runs(classes->work) || lode_idle_threads_needs_runs(classes->threads);
}

void lode_wait_classes_see_runs(struct lode_wait_classes *classes, const struct lode_events *runs)
{
	lode_work_waits_see_runs(classes->work, runs);
	lode_idle_threads_see_runs(classes->threads, runs);
}

int lode_wait_classes_settle(struct lode_wait_classes *classes)
{
	int code = lode_work_waits_settle(classes->work);

	if (!code)
		lode_idle_threads_settle(classes->threads);
	return code;
}

int lode_wait_classes_make(struct lode_wait_classes *classes, const struct lode_stream *stream,
			   const struct lode_idle_stacks *idle, int work, struct lode_error *error)
{
	int code;

	*classes = (struct lode_wait_classes){ .idle = idle };
	if (!work)
		return 0;
	code = lode_wait_classes_begin(classes, stream, idle, error);
	if (code)
		return code;
	lode_wait_classes_see_runs(classes, &stream->events[LODE_RUN]);
	if (lode_wait_classes_count(classes, &stream->events[LODE_WAIT]) < 0 ||
	    lode_wait_classes_settle(classes) < 0)
		return lode_fail_memory(error);
	return stream->symptom_count ? mark_symptoms(classes, stream, error) : 0;
}

void lode_wait_classes_release(struct lode_wait_classes *classes)
{
	lode_idle_threads_free(classes->threads);
	lode_work_waits_free(classes->work);
	lode_free(classes->on_path);
	memset(classes, 0, sizeof(*classes));
}
