/*
 * The states that a thread can be in, and their words. How they are found: states.h.
 */
#ifndef LODE_SCOPE_THREAD_STATE_H
#define LODE_SCOPE_THREAD_STATE_H

enum lode_state {
	LODE_STATE_RUNNING,
	LODE_STATE_READY,
	LODE_STATE_LOCK,
	LODE_STATE_REPLY, /* of another recorded thread: a message, a signal, a result */
	LODE_STATE_DISK,
	LODE_STATE_NETWORK,
	LODE_STATE_TIMER,
	LODE_STATE_GIL,
	LODE_STATE_PAGE, /* page faults, and memory that is reclaimed */
	LODE_STATE_CHILD,
	LODE_STATE_WORK,
	LODE_STATE_IDLE,
	LODE_STATE_OTHER_WAIT,
	LODE_STATE_NOT_RECORDED,
	LODE_STATES,
};

/* For people: "running", "ready", "lock", ..., "GIL", "not recorded". */
const char *lode_state_name(enum lode_state state);
/* For JSON and the names of features: "running", ..., "gil", "not_recorded". */
const char *lode_state_key(enum lode_state state);
/* Whether the thread is blocked then, in a known way. */
int lode_state_is_wait(enum lode_state state);
/* Whether someone may mind: not idle, nor waiting for work or for a child, whose own time it is, nor unknown. */
int lode_state_counts(enum lode_state state);

#endif
