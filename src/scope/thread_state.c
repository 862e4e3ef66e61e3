/* Words for the states of threads: see thread_state.h. */
#include "scope/thread_state.h"

static const struct {
	const char *name;
	const char *key;
} words[LODE_STATES] = {
	[LODE_STATE_RUNNING] = { "running", "running" },
	[LODE_STATE_READY] = { "ready", "ready" },
	[LODE_STATE_LOCK] = { "lock", "lock" },
	[LODE_STATE_REPLY] = { "reply", "reply" },
	[LODE_STATE_DISK] = { "disk", "disk" },
	[LODE_STATE_NETWORK] = { "network", "network" },
	[LODE_STATE_TIMER] = { "timer", "timer" },
	[LODE_STATE_GIL] = { "GIL", "gil" },
	[LODE_STATE_PAGE] = { "page", "page" },
	[LODE_STATE_CHILD] = { "child", "child" },
	[LODE_STATE_WORK] = { "work", "work" },
	[LODE_STATE_IDLE] = { "idle", "idle" },
	[LODE_STATE_OTHER_WAIT] = { "other", "other" },
	[LODE_STATE_NOT_RECORDED] = { "not recorded", "not_recorded" },
};

const char *lode_state_name(enum lode_state state)
{
	return words[state].name;
}

const char *lode_state_key(enum lode_state state)
{
	return words[state].key;
}

int lode_state_is_wait(enum lode_state state)
{
	return state >= LODE_STATE_LOCK && state <= LODE_STATE_OTHER_WAIT;
}

int lode_state_counts(enum lode_state state)
{
	return state != LODE_STATE_CHILD && state != LODE_STATE_IDLE && state != LODE_STATE_WORK &&
	       state != LODE_STATE_NOT_RECORDED;
}
