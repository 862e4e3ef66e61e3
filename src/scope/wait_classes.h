/*
 * Which waits count and which are counted separately: the one answer for all analyses,
 * from the idle rules (idle.h), from where threads wait for work (work_waits.h), from
 * what idle threads are whatever their names (idle_threads.h) and from the paths of symptoms.
 */
#ifndef LODE_SCOPE_WAIT_CLASSES_H
#define LODE_SCOPE_WAIT_CLASSES_H

#include "scope/idle_threads.h"
#include "scope/scope.h"
#include "scope/work_waits.h"

enum lode_wait_class {
	LODE_WAIT_COUNTS,
	LODE_WAIT_IDLE,
	LODE_WAIT_FOR_WORK,
};

struct lode_wait_classes {
	const struct lode_idle_stacks *idle;
	struct lode_work_waits *work;      /* NULL: only the idle rules decide */
	struct lode_idle_threads *threads; /* NULL with `work` */
	uint8_t *on_path;                  /* by wait: a symptom's path goes through it; NULL: none does */
};

/*
 * For a stream whose events are loaded: waits with the columns t, cost, delay, thread, stack, waker
 * and waker_stack, runs with t, cost and thread. `stream` and `idle` must outlive it. With `work` unset,
 * waits for work count. Release it even on failure.
 */
int lode_wait_classes_make(struct lode_wait_classes *classes, const struct lode_stream *stream,
			   const struct lode_idle_stacks *idle, int work, struct lode_error *error);
/*
 * The same in steps, for a stream that is read block by block: begin; count all blocks of waits (columns of
 * lode_idle_threads_count); where lode_wait_classes_need_runs says so, see all blocks of runs (cost, thread, weight);
 * settle. Each returns 0 or a negative code.
 */
int lode_wait_classes_begin(struct lode_wait_classes *classes, const struct lode_stream *stream,
			    const struct lode_idle_stacks *idle, struct lode_error *error);
int lode_wait_classes_count(struct lode_wait_classes *classes, const struct lode_events *waits);
int lode_wait_classes_need_runs(const struct lode_wait_classes *classes);
void lode_wait_classes_see_runs(struct lode_wait_classes *classes, const struct lode_events *runs);
int lode_wait_classes_settle(struct lode_wait_classes *classes);
void lode_wait_classes_release(struct lode_wait_classes *classes);

/* Marks the waits that the paths of symptoms go through: they kept a user waiting, so they count. */
int lode_wait_classes_mark_paths(struct lode_wait_classes *classes, struct lode_scope_index *index, size_t waits,
				 const struct lode_symptom *symptoms, size_t count, struct lode_error *error);

/* What wait `i` is; the columns of lode_work_waits_count. */
enum lode_wait_class lode_wait_class(const struct lode_wait_classes *classes, const struct lode_events *waits,
				     size_t i);

#endif
