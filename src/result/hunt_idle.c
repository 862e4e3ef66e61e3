/*
 * Which bottlenecks of a hunt are threads that have nothing to do: see hunt_report.h.
 *
 * A hunt measures how long threads wait for others, not what for. One that did nothing else, and not for a lock that another
 * had, most likely waited for work: the background threads of a server. Such a wait says nothing, however
 * long it is.
 */
#include "result/hunt_report.h"

#include <string.h>

/* A thread that waited for less than this share of the time did something. */
#define IDLE_SHARE 0.98

/* Whether the function is one of those that wait for a lock: pthread_mutex_lock, __lll_lock_wait, ... */
static int waits_for_lock(const struct lode_search *search, uint32_t function)
{
	const struct lode_program *program = lode_search_meter(search)->program;
	const char *name, *at;

	if (function == LODE_NONE)
		return 0;
	name = lode_program_function(program, function)->name;
	at = strchr(name, '!');
	return strstr(at ? at : name, "lock") != NULL;
}

int lode_hunt_is_idle(const struct lode_search *search, uint32_t id)
{
	const struct lode_history *history = lode_search_history(search);
	const struct lode_experiment *experiment = &history->experiments[id];

	if (experiment->hypothesis != LODE_SYNC_WAITING || !lode_focus_has(&experiment->focus, LODE_AXIS_THREAD) ||
	    experiment->value < IDLE_SHARE)
		return 0;
	for (; id != LODE_NONE; id = history->experiments[id].parent)
		if (waits_for_lock(search, history->experiments[id].focus.function))
			return 0;
	return 1;
}
