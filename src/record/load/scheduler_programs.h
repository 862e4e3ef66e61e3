/*
 * The programs that see context switches, wakings and system calls, attached and detached while a recording goes on (time_slots.h).
 *
 * Detaching takes some tens of microseconds, and so does attaching, unless the kernel has to wait for readers of what
 * was detached before: where its thread for that, or one of the readers, does not get a processor, that takes seconds. So
 * attaching is left to a separate thread, which also has the kernel wait for them as soon as programs are detached.
 *
 * Where even that takes too long they can stay attached instead, and return at their first instructions while no slot is on.
 */
#ifndef LODE_RECORD_LOAD_SCHEDULER_PROGRAMS_H
#define LODE_RECORD_LOAD_SCHEDULER_PROGRAMS_H

struct lode_scheduler_programs;
struct recorder;

/* For programs that are attached now. NULL when memory has run out. */
struct lode_scheduler_programs *lode_scheduler_programs_create(struct recorder *programs);
/* Waits until the kernel is done with what was requested last. */
void lode_scheduler_programs_destroy(struct lode_scheduler_programs *scheduler);
void lode_scheduler_programs_detach(struct lode_scheduler_programs *scheduler);
/*
 * Instead of detaching them: the slot is off already, so they return at once. Only the one at wakeups is detached, and only
 * where another program stays attached there: then the kernel need not wait for a grace period.
 */
void lode_scheduler_programs_idle(struct lode_scheduler_programs *scheduler);
/*
 * Attaches them, unless they are. Returns 1 when they are, 0 when that takes longer: then it is to be called again, and they are
 * not to be detached before it returned something else; negative when they cannot be attached, with errno set.
 */
int lode_scheduler_programs_attach(struct lode_scheduler_programs *scheduler);

#endif
