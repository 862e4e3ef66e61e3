/* Traces of Chrome's format that Lode wrote: see chrome_lode.h. */
#include "import/json/chrome_lode.h"

#include <string.h>

/* The string for a text; 0 for none, LODE_NONE when memory has run out. */
static uint32_t string_of(struct lode_chrome_lode *own, struct lode_json_value text)
{
	const char *bytes = lode_json_string(text, &own->import->text);

	return bytes ? lode_strings_add(&own->import->dictionary.frames.strings, bytes, strlen(bytes)) : LODE_NONE;
}

/* ---- events ---- */

enum { WEIGHT_NS, CPU, DELAY, WAKER, WAKER_PID, WAKER_STACK, WEIGHT, OBJECT, HOLDER, HOLDER_PID, CONTEXT, ARGS };
static const char *const keys[ARGS] = { "weight_ns", "cpu",         "delay_ns", "waker",
					"waker_pid", "waker_stack", "weight",   "object",
					"holder",    "holder_pid",  "context" };

/* Waits and calls without a name are called by their innermost function. */
static void keep_name(struct lode_chrome_lode *own, struct lode_json_value name, struct lode_event *event)
{
	const struct lode_dictionary *dictionary = &own->import->dictionary;
	uint32_t string = string_of(own, name),
		 leaf = event->stack ? dictionary->tree.nodes[event->stack].frame : LODE_NONE;

	if (leaf == LODE_NONE || dictionary->frames.items[leaf].function != string)
		event->name = string;
}

/* Another thread, which is named by its tid and, where known, by its pid; LODE_NONE: it is not there. */
static int find_other(struct lode_chrome_lode *own, struct lode_json_value tid_value,
		      struct lode_json_value pid_value, uint32_t *thread)
{
	uint64_t tid = lode_json_u64_or(tid_value, UINT64_MAX), pid = lode_json_u64_or(pid_value, LODE_NO_PID);

	*thread = LODE_NONE;
	if (tid >= UINT32_MAX)
		return 0;
	*thread = lode_stream_thread(&own->import->stream, pid < LODE_NO_PID ? (uint32_t)pid : LODE_NO_PID,
				     (uint32_t)tid);
	return *thread == LODE_NONE ? lode_fail_memory(own->import->error) : 0;
}

static int keep_waker(struct lode_chrome_lode *own, const struct lode_json_value *args, struct lode_event *event)
{
	int code = find_other(own, args[WAKER], args[WAKER_PID], &event->waker);

	if (code < 0 || event->waker == LODE_NONE)
		return code;
	return lode_chrome_stacks_find(own->stacks, args[WAKER_STACK], &event->waker_stack);
}

static int keep_object(struct lode_chrome_lode *own, const struct lode_json_value *args, struct lode_event *event)
{
	if (lode_json_kind(args[OBJECT]) != LODE_JSON_TEXT)
		return 0;
	event->object = string_of(own, args[OBJECT]);
	return find_other(own, args[HOLDER], args[HOLDER_PID], &event->holder);
}

static int keep_context(struct lode_chrome_lode *own, struct lode_json_value context, struct lode_event *event)
{
	if (lode_json_kind(context) != LODE_JSON_TEXT)
		return 0;
	event->context = string_of(own, context);
	return event->context == LODE_NONE ? lode_fail_memory(own->import->error) : 0;
}

static int read_wait(struct lode_chrome_lode *own, const struct lode_chrome_own_event *from,
		     const struct lode_json_value *args, struct lode_event *event)
{
	uint64_t weight = lode_json_u64_or(args[WEIGHT], 1);
	int code;

	event->delay = lode_json_u64_or(args[DELAY], 0);
	event->weight = weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
	if (lode_json_ns(from->duration, 1e3, &event->cost) < 0)
		event->cost = 0;
	code = keep_waker(own, args, event);
	if (code == 0)
		code = keep_object(own, args, event);
	if (code == 0 && !lode_json_is_text(from->name, "wait"))
		keep_name(own, from->name, event);
	return code;
}

/* What the event is, by its category; LODE_EVENT_TYPES: none. */
static enum lode_event_type type_of(const struct lode_chrome_own_event *event)
{
	if (lode_json_is_text(event->category, "run") && !event->is_instant)
		return LODE_RUN;
	if (lode_json_is_text(event->category, "wait") && !event->is_instant)
		return LODE_WAIT;
	return lode_json_is_text(event->category, "call") ? LODE_CALL : LODE_EVENT_TYPES;
}

int lode_chrome_lode_read(struct lode_chrome_lode *own, const struct lode_chrome_own_event *from)
{
	enum lode_event_type type = type_of(from);
	struct lode_event event = { .t = from->t, .thread = from->thread, .waker = LODE_NONE };
	struct lode_json_value args[ARGS];
	uint64_t cpu;
	int code;

	if (lode_json_is_text(from->category, "delay"))
		return 1; /* the wait has it too */
	if (type == LODE_EVENT_TYPES)
		return 0;
	lode_json_get_all(from->args, keys, args, ARGS);
	cpu = lode_json_u64_or(args[CPU], LODE_NO_CPU);
	event.cpu = cpu < LODE_NO_CPU ? (uint16_t)cpu : LODE_NO_CPU;
	code = lode_chrome_stacks_find(own->stacks, from->sf, &event.stack);
	if (code == 0)
		code = keep_context(own, args[CONTEXT], &event);
	if (code < 0)
		return code;
	if (type == LODE_RUN)
		event.cost = lode_json_u64_or(args[WEIGHT_NS], 0);
	else if (type == LODE_WAIT)
		code = read_wait(own, from, args, &event);
	else if (!from->is_instant && lode_json_ns(from->duration, 1e3, &event.delay) < 0)
		event.delay = 0;
	if (type == LODE_CALL)
		event.name = string_of(own, from->name);
	if (code == 0 && lode_stream_add_event(&own->import->stream, type, &event) < 0)
		code = lode_fail_memory(own->import->error);
	return code < 0 ? code : 1;
}
