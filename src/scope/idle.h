/*
 * Idle: waits of threads that have nothing to do, event loops, worker pools,
 * timers. Which these are is defined by rules in a text file that users can
 * extend: idle.rules is the built-in one and explains the format, as does
 * lode-idle(5).
 *
 * A rule looks at the leaf end of a stack, skipping frames without information
 * (the scheduler, system-call entry, ways of waiting), and, if it says so, at
 * the waker.
 */
#ifndef LODE_SCOPE_IDLE_H
#define LODE_SCOPE_IDLE_H

#include "base/error.h"
#include "trace/stream.h"

struct lode_idle_rules;

/* The built-in rules, and behind them those of `paths` (NULL-terminated, may be NULL). */
int lode_idle_rules_load(struct lode_idle_rules **rules, const char *const *paths, struct lode_error *error);
/* Adds those of one more file; `of_corpus`: nobody named it, so it must be a plain file, no link. */
int lode_idle_rules_add(struct lode_idle_rules *rules, const char *path, int of_corpus, struct lode_error *error);
void lode_idle_rules_free(struct lode_idle_rules *rules);

/* Appends a text that identifies these rules; NULL means no rules. */
void lode_idle_rules_describe(const struct lode_idle_rules *rules, struct lode_buffer *buffer);

/* The rules applied to one dictionary: what each stack is. */
struct lode_idle_stacks;

int lode_idle_stacks_make(struct lode_idle_stacks **stacks, const struct lode_idle_rules *rules,
			  const struct lode_dictionary *dictionary, struct lode_error *error);
void lode_idle_stacks_free(struct lode_idle_stacks *stacks);

/* Whether an event with this stack, made ready by a waker with that one (0: unknown), is idle. */
int lode_idle_event(const struct lode_idle_stacks *stacks, uint32_t stack, uint32_t waker_stack);
/* Whether a frame is on the `ignore` list: it says nothing, here as in a report for people. */
int lode_idle_ignores(const struct lode_idle_stacks *stacks, uint32_t frame);
/* Whether a frame is on the `ignore`, `prefix` or `receive` list: how a thread waits, not who does. */
int lode_idle_is_way_of_waiting(const struct lode_idle_stacks *stacks, uint32_t frame);
/* Whether a frame is on the `busy` list: who waits in it has something to do. */
int lode_idle_is_busy(const struct lode_idle_stacks *stacks, uint32_t frame);
/* What a thread that waits in this frame may be waiting for (`receive` rules). */
enum lode_idle_receive {
	LODE_RECEIVES = 1,           /* something that another thread sends */
	LODE_RECEIVES_INTERRUPT = 2, /* only if an interrupt or a timer ended the wait */
};
unsigned lode_idle_receives(const struct lode_idle_stacks *stacks, uint32_t frame);
/* The frame that made a stack idle, LODE_NONE for one that is not. */
uint32_t lode_idle_frame(const struct lode_idle_stacks *stacks, uint32_t stack);
/* Whether a waker with this stack is an interrupt or a timer: such a wake-up ends a chain. */
int lode_idle_interrupt(const struct lode_idle_stacks *stacks, uint32_t waker_stack);
/* The same for all nodes, as lode_scope_index_interrupts wants it; owned by `stacks`. */
const uint8_t *lode_idle_interrupts(const struct lode_idle_stacks *stacks);

#endif
