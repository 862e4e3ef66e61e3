/*
 * Follows the hunted processes: reads the recorder and the events of the BPF programs,
 * adds processes that start and ends those that exit.
 */
#include "hunt/meter/live/live_internal.h"

#include "base/memory.h"
#include "base/proc_files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Nanoseconds between two checks of /proc, in case a message of a process's end was lost. */
#define ASK_EVERY 500000000u

/* Whether a process has ended or is a zombie, from /proc. */
static int has_ended(uint32_t pid)
{
	char text[512], *end;

	lode_proc_text(text, sizeof(text), "/proc/%u/stat", pid);
	end = strrchr(text, ')');
	return !end || end[1] != ' ' || end[2] == 'Z' || end[2] == 'X';
}

static void end_process(struct lode_live *live, uint32_t pid)
{
	lode_hunted_end(&live->target, pid);
	lode_probes_remove_process(live->probes, pid);
	lode_stops_forget(live->stops, pid);
}

static void ask_processes(struct lode_live *live)
{
	if (lode_now() - live->looked < ASK_EVERY)
		return;
	live->looked = lode_now();
	for (size_t i = 0; i < live->target.count; i++)
		if (!live->target.items[i].ended && has_ended(live->target.items[i].pid))
			end_process(live, live->target.items[i].pid);
}

int lode_live_add_process(struct lode_live *live, uint32_t pid, struct lode_error *error)
{
	int code = lode_hunted_add(&live->target, pid, error);

	if (!code)
		code = lode_probes_add_process(live->probes, pid, error);
	if (!code)
		code = lode_live_add_special(live, error);
	return code;
}

static int follow_event(struct lode_live *live, const struct lode_probes_event *event, struct lode_error *error)
{
	int code = 0;

	switch (event->type) {
	case LODE_MESSAGE_BORN:
		if (!lode_hunted_find(&live->target, event->pid) ||
		    lode_hunted_find(&live->target, event->pid)->ended)
			code = lode_live_add_process(live, event->pid, error);
		return code < 0 ? code : 0;
	case LODE_MESSAGE_EXECUTED:
		return lode_hunted_learn(&live->target, event->pid, error);
	case LODE_MESSAGE_DIED:
		if (event->last)
			end_process(live, event->pid);
		return 0;
	default:
		return 0;
	}
}

static int follow_events(struct lode_live *live, struct lode_error *error)
{
	uint64_t ignored;
	struct lode_probes_event *events;
	size_t count;
	int code = 0;

	while (read(live->event, &ignored, sizeof(ignored)) < 0 && errno == EINTR)
		;
	events = lode_probes_events(live->probes, &count);
	for (size_t i = 0; !code && i < count; i++)
		code = follow_event(live, &events[i], error);
	lode_free(events);
	return code;
}

int lode_live_read_recorder(struct lode_live *live, struct lode_error *error)
{
	struct lode_recorder_sink sink = lode_stack_samples_sink(&live->samples);

	if (lode_recorder_read(live->recorder, &sink) < 0 || live->target.failed)
		return lode_fail_memory(error);
	return 0;
}

/* Whether an experiment asks for this thread. */
static int is_asked(void *context, uint32_t tid)
{
	const struct lode_live *live = context;

	for (size_t i = 0; i < live->count; i++)
		if (live->experiments[i].running && live->experiments[i].focus.thread == tid)
			return 1;
	return 0;
}

int lode_live_follow(struct lode_live *live, struct lode_error *error)
{
	int code = lode_live_read_recorder(live, error);

	if (!code)
		code = follow_events(live, error);
	if (!code)
		code = lode_hunted_settle_roles(&live->target, error);
	if (!code)
		code = lode_hunted_learn_images(&live->target, error);
	if (!code)
		code = lode_live_add_special(live, error);
	if (!code && lode_hunted_reap(&live->target, is_asked, live) < 0)
		code = lode_fail_memory(error);
	ask_processes(live);
	lode_hunted_mark_idle(&live->target);
	lode_live_look_at_work(live);
	lode_stops_tidy(live->stops);
	return code;
}
