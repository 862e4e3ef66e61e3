/*
 * Why threads did not run: see wait_causes.h. Idle waits, and those for work, are called so unless the path of a symptom
 * goes through them, as everywhere (scope/wait_classes.h).
 */
#include "page/wait_causes.h"

#include "scope/wait_classes.h"

void lode_page_causes_release(struct lode_page_causes *causes)
{
	lode_free(causes->states);
	lode_free(causes->objects.strings);
	lode_free(causes->objects.places);
	lode_free(causes->contexts.strings);
	lode_free(causes->contexts.places);
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_free(causes->behind[type]);
}

int lode_page_causes_preempted(const struct lode_page_causes *causes, const struct lode_stream *stream, size_t i)
{
	const struct lode_events *calls = &stream->events[LODE_CALL];

	return calls->name[i] == causes->preemption && calls->delay[i];
}

/* ---- states ---- */

static void mark_parts(const struct lode_parts *parts, uint8_t *marks)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].type == LODE_WAIT)
			marks[parts->items[i].event] = 1;
}

/* Waits on paths are marked first; then each mark becomes a state. */
static void find_states(const struct lode_scope_report *report, const struct lode_wait_classes *classes,
			uint8_t *states)
{
	const struct lode_events *waits = &report->stream.events[LODE_WAIT];

	for (size_t i = 0; i < report->count; i++) {
		mark_parts(&report->items[i].parts, states);
		mark_parts(&report->items[i].stepped, states);
	}
	for (size_t i = 0; i < waits->count; i++) {
		enum lode_wait_class class = states[i] ? LODE_WAIT_COUNTS : lode_wait_class(classes, waits, i);

		states[i] = class == LODE_WAIT_IDLE       ? LODE_STATE_IDLE
			    : class == LODE_WAIT_FOR_WORK ? LODE_STATE_WORK
							  : lode_wait_kind(report->kinds, waits, i);
	}
}

static int make_states(struct lode_page_causes *causes, const struct lode_scope_report *report,
		       struct lode_error *error)
{
	struct lode_wait_classes classes;
	int code = lode_wait_classes_make(&classes, &report->stream, report->idle, 1, error);

	causes->states = lode_calloc(report->stream.events[LODE_WAIT].count + 1, sizeof(*causes->states));
	if (!code && !causes->states)
		code = lode_fail_memory(error);
	if (!code)
		find_states(report, &classes, causes->states);
	lode_wait_classes_release(&classes);
	return code;
}

/* ---- objects and contexts ---- */

/* Adds the texts of a column, NULL: there are none; `strings` of the dictionary. */
static int add_texts(struct lode_page_texts *texts, const uint32_t *column, size_t count, size_t strings,
		     struct lode_error *error)
{
	if (!column)
		return 0;
	if (!texts->places) {
		texts->places = lode_calloc(strings + 1, sizeof(*texts->places));
		texts->strings = lode_calloc(strings + 1, sizeof(*texts->strings));
	}
	if (!texts->places || !texts->strings)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		if (!column[i] || texts->places[column[i]])
			continue;
		texts->strings[texts->count++] = column[i];
		texts->places[column[i]] = (uint32_t)texts->count;
	}
	return 0;
}

static int make_texts(struct lode_page_causes *causes, const struct lode_scope_report *report,
		      struct lode_error *error)
{
	const struct lode_events *waits = &report->stream.events[LODE_WAIT];
	const struct lode_events *runs = &report->stream.events[LODE_RUN];
	size_t strings = report->dictionary.frames.strings.count;
	int code = add_texts(&causes->objects, waits->object, waits->count, strings, error);

	if (!code)
		code = add_texts(&causes->contexts, waits->context, waits->count, strings, error);
	return code ? code : add_texts(&causes->contexts, runs->context, runs->count, strings, error);
}

/* ---- who had the processor ---- */

/* The thread that had it for at least half of the time that this one was ready. */
static uint32_t behind(const struct lode_scope_report *report, enum lode_event_type type, uint32_t i)
{
	const struct lode_events *events = &report->stream.events[type];
	uint64_t start = type == LODE_WAIT ? lode_add_saturating(events->t[i], events->cost[i]) : events->t[i];
	struct lode_part part = { .t = start, .cost = events->delay[i], .event = i, .type = type };

	return events->delay[i] ? lode_scope_behind(report, &part) : LODE_NONE;
}

static int make_behind(struct lode_page_causes *causes, const struct lode_scope_report *report,
		       enum lode_event_type type, struct lode_error *error)
{
	size_t count = report->stream.events[type].count, known = 0;
	uint32_t *threads = lode_calloc(count + 1, sizeof(*threads));

	if (!threads)
		return lode_fail_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		threads[i] = type == LODE_CALL && !lode_page_causes_preempted(causes, &report->stream, i)
				     ? LODE_NONE
				     : behind(report, type, i);
		known += threads[i] != LODE_NONE;
	}
	if (known)
		causes->behind[type] = threads;
	else
		lode_free(threads);
	return 0;
}

int lode_page_causes_make(struct lode_page_causes *causes, const struct lode_scope_report *report,
			  struct lode_error *error)
{
	const struct lode_strings *strings = &report->dictionary.frames.strings;
	int code;

	causes->preemption = lode_strings_find(strings, LODE_PREEMPTION, sizeof(LODE_PREEMPTION) - 1);
	code = make_states(causes, report, error);
	if (!code)
		code = make_texts(causes, report, error);
	if (!code)
		code = make_behind(causes, report, LODE_WAIT, error);
	return code ? code : make_behind(causes, report, LODE_CALL, error);
}
