/*
 * Who had the processor: while a thread was ready on a run queue, which others ran on the CPU that it then got.
 *
 * A wait or a preemption that says on which CPU (trace/events.h) says where its thread ran next: from its end, with the time
 * on the run queue, to the start of the thread's next wait or preemption. These intervals, by CPU, tell who had it.
 * It is known as far as these threads are recorded: of all where the whole machine is, of one program
 * only its own threads. Not for thinned recordings, where the next wait may be missing.
 */
#ifndef LODE_SCOPE_PROCESSORS_H
#define LODE_SCOPE_PROCESSORS_H

#include "scope/scope.h"

struct lode_processors;

/*
 * For a sorted stream, which must outlive it: waits with t, cost, delay, thread, cpu; calls with t, delay, thread, name,
 * cpu. Nothing is known where these columns are missing.
 */
int lode_processors_make(struct lode_processors **processors, const struct lode_stream *stream,
			 struct lode_error *error);
void lode_processors_free(struct lode_processors *processors);

/* How many processors threads are known to have run on; 0: nothing is known. */
uint32_t lode_processors_count(const struct lode_processors *processors);
/*
 * Who ran while a thread was ready: after wait number `event`, or in preemption `event` (`type` LODE_WAIT or LODE_CALL), from
 * `t0` to `t1`. Calls `take` with each thread that did and for how long, until it returns something other than 0; returns
 * that, or 0. Whatever time is not told is not known.
 */
int lode_processors_visit(const struct lode_processors *processors, enum lode_event_type type, uint32_t event,
			  uint64_t t0, uint64_t t1, int (*take)(void *context, uint32_t thread, uint64_t time),
			  void *context);
/* The one that ran longest of them, LODE_NONE: none is known; `*time`: for how long. */
uint32_t lode_processors_most(const struct lode_processors *processors, enum lode_event_type type, uint32_t event,
			      uint64_t t0, uint64_t t1, uint64_t *time);
/*
 * The same where threads of one name in processes of one name (`processes`: strings, by thread) count as one: of many
 * workers that have the processor in turn none alone has it for long.
 */
uint32_t lode_processors_most_alike(const struct lode_processors *processors, const uint32_t *processes,
				    enum lode_event_type type, uint32_t event, uint64_t t0, uint64_t t1,
				    uint64_t *time);

#endif
