/*
 * Kinds of waits: see wait_kinds.h.
 *
 * What a stack says follows from its parent and its last frame, so one pass over the tree, parents before children,
 * knows all of them, after each function was looked up once in a table of globs.
 */
#include "scope/wait_kinds.h"

#include "base/starts_with.h"
#include "scope/frame_filter.h"
#include "scope/scope_index.h"
#include "trace/python_waits.h"

#include <string.h>

/* What a stack says, before the waker is known. */
enum hint {
	HINT_NONE,
	HINT_LOCK,
	HINT_GIL,
	HINT_DISK,
	HINT_TIMER,
	HINT_CHILD,
	HINT_PAGE,
	HINT_RECLAIM, /* there is too little memory */
	HINT_SIGNAL,  /* condition variables, semaphores, pipes: what another thread does */
	HINT_SOCKET,
	HINT_POLL,
	HINTS,
};

#define HINT_IN_USER 0x80 /* a user function said so; kernel functions below it change nothing */

struct known_function {
	const char *glob;
	enum hint hint;
};

/*
 * Names without what C libraries put before them: __GI_ and underscores. None begins with a `*`, so that a name is compared
 * with few of them.
 *
 * Each of these waits and calls no code of others, so the first one in a stack decides.
 */
static const struct known_function user_functions[] = {
	{ "take_gil", HINT_GIL },
	{ "PyThreadState_Attach", HINT_GIL },
	{ "gvl_acquire*", HINT_GIL },
	{ "thread_sched_to_running*", HINT_GIL },
	{ "thread_sched_wait_running_turn", HINT_GIL },
	{ "ProcSleep", HINT_LOCK },
	{ "LWLockAcquire*", HINT_LOCK },
	{ "lock_wait_suspend_thread", HINT_LOCK },
	{ "lock_wait", HINT_LOCK },
	{ "MDL_context::acquire_lock*", HINT_LOCK },
	{ "MDL_wait::timed_wait", HINT_LOCK },
	{ "ObjectMonitor::enter*", HINT_LOCK },
	{ "ObjectMonitor::EnterI*", HINT_LOCK },
	{ "ObjectMonitor::ReenterI*", HINT_LOCK },
	{ "ObjectMonitor::wait*", HINT_SIGNAL },
	{ "pthread_mutex_*lock*", HINT_LOCK },
	{ "pthread_rwlock_*lock*", HINT_LOCK },
	{ "lll_lock_wait*", HINT_LOCK },
	{ "pthread_cond_*wait*", HINT_SIGNAL },
	{ "pthread_barrier_wait*", HINT_SIGNAL },
	{ "pthread_*join*", HINT_SIGNAL },
	{ "std::condition_variable*::wait*", HINT_SIGNAL },
	{ "std::_V2::condition_variable*::wait*", HINT_SIGNAL },
	{ "sem_wait*", HINT_SIGNAL },
	{ "sem_timedwait*", HINT_SIGNAL },
	{ "sem_clockwait*", HINT_SIGNAL },
	{ "new_sem_wait*", HINT_SIGNAL },
	{ "runtime.notesleep*", HINT_SIGNAL },
	{ "runtime.notetsleep*", HINT_SIGNAL },
};

/* Ways into the kernel: they tell where its functions were not recorded. */
static const struct known_function system_calls[] = {
	{ "nanosleep*", HINT_TIMER },    { "clock_nanosleep*", HINT_TIMER },
	{ "sleep", HINT_TIMER },         { "usleep", HINT_TIMER },
	{ "time.Sleep", HINT_TIMER },    { "java.lang.Thread.sleep*", HINT_TIMER },
	{ "Thread.sleep*", HINT_TIMER }, { "wait4", HINT_CHILD },
	{ "waitpid", HINT_CHILD },       { "waitid", HINT_CHILD },
	{ "fsync", HINT_DISK },          { "fdatasync", HINT_DISK },
	{ "pread*", HINT_DISK },         { "pwrite*", HINT_DISK },
	{ "libc_pread*", HINT_DISK },    { "libc_pwrite*", HINT_DISK },
	{ "recv", HINT_SOCKET },         { "recvfrom", HINT_SOCKET },
	{ "recvmsg", HINT_SOCKET },      { "libc_recv*", HINT_SOCKET },
	{ "accept", HINT_SOCKET },       { "accept4", HINT_SOCKET },
	{ "connect", HINT_SOCKET },      { "libc_connect", HINT_SOCKET },
	{ "poll", HINT_POLL },           { "ppoll", HINT_POLL },
	{ "select", HINT_POLL },         { "pselect*", HINT_POLL },
	{ "epoll_*wait*", HINT_POLL },
};

/* The innermost decides. */
static const struct known_function kernel_functions[] = {
	{ "futex_*wait*", HINT_LOCK },
	{ "__futex_wait*", HINT_LOCK },
	{ "futex_lock_pi*", HINT_LOCK },
	{ "do_futex*", HINT_LOCK },
	{ "mutex_lock*", HINT_LOCK },
	{ "__mutex_lock*", HINT_LOCK },
	{ "rt_mutex_*lock*", HINT_LOCK },
	{ "rwsem_down_*", HINT_LOCK },
	{ "down_read*", HINT_LOCK },
	{ "down_write*", HINT_LOCK },
	{ "percpu_rwsem_wait*", HINT_LOCK },
	{ "__lock_sock", HINT_LOCK },
	{ "lock_sock_nested", HINT_LOCK },
	{ "locks_lock_inode_wait", HINT_LOCK },
	{ "flock_lock_inode_wait", HINT_LOCK },
	{ "posix_lock_inode_wait", HINT_LOCK },
	{ "fcntl_setlk*", HINT_LOCK },
	{ "do_semtimedop*", HINT_LOCK },
	{ "__do_semtimedop*", HINT_LOCK },
	{ "io_schedule*", HINT_DISK },
	{ "bit_wait_io*", HINT_DISK },
	{ "folio_wait_*", HINT_DISK },
	{ "wait_on_page_*", HINT_DISK },
	{ "__wait_on_buffer*", HINT_DISK },
	{ "jbd2_*", HINT_DISK },
	{ "do_fsync", HINT_DISK },
	{ "vfs_fsync*", HINT_DISK },
	{ "ext4_sync_file", HINT_DISK },
	{ "blk_*", HINT_DISK },
	{ "submit_bio_wait", HINT_DISK },
	{ "rq_qos_wait", HINT_DISK },
	{ "wbt_wait", HINT_DISK },
	{ "filemap_fdatawait*", HINT_DISK },
	{ "__filemap_fdatawait*", HINT_DISK },
	{ "balance_dirty_pages*", HINT_DISK },
	{ "xfs_*", HINT_DISK },
	{ "btrfs_*", HINT_DISK },
	{ "nfs_*", HINT_DISK },
	{ "nfs4_*", HINT_DISK },
	{ "request_wait_answer", HINT_DISK },
	{ "read_events", HINT_DISK },
	{ "hrtimer_nanosleep*", HINT_TIMER },
	{ "do_nanosleep", HINT_TIMER },
	{ "common_nsleep*", HINT_TIMER },
	{ "msleep*", HINT_TIMER },
	{ "usleep_range*", HINT_TIMER },
	{ "timerfd_read*", HINT_TIMER },
	{ "do_wait", HINT_CHILD },
	{ "__do_wait", HINT_CHILD },
	{ "kernel_wait4", HINT_CHILD },
	{ "kernel_waitid*", HINT_CHILD },
	{ "wait_for_vfork_done", HINT_CHILD },
	{ "kernel_clone", HINT_CHILD }, /* into which wait_for_vfork_done is inlined */
	{ "filemap_fault", HINT_PAGE },
	{ "handle_mm_fault", HINT_PAGE },
	{ "__handle_mm_fault", HINT_PAGE },
	{ "do_swap_page", HINT_PAGE },
	{ "handle_userfault", HINT_PAGE },
	{ "try_to_free_mem_cgroup_pages", HINT_RECLAIM },
	{ "mem_cgroup_handle_over_high*", HINT_RECLAIM },
	{ "try_to_free_pages", HINT_RECLAIM },
	{ "reclaim_throttle", HINT_RECLAIM },
	{ "pipe_*", HINT_SIGNAL },
	{ "anon_pipe_*", HINT_SIGNAL },
	{ "fifo_open", HINT_SIGNAL },
	{ "eventfd_*", HINT_SIGNAL },
	{ "do_msgrcv", HINT_SIGNAL },
	{ "do_msgsnd", HINT_SIGNAL },
	{ "wq_sleep", HINT_SIGNAL },
	{ "do_sigtimedwait", HINT_SIGNAL },
	{ "sigsuspend", HINT_SIGNAL },
	{ "signalfd_read*", HINT_SIGNAL },
	{ "tcp_*", HINT_SOCKET },
	{ "udp_*", HINT_SOCKET },
	{ "inet_*", HINT_SOCKET },
	{ "unix_*", HINT_SOCKET },
	{ "netlink_*", HINT_SOCKET },
	{ "vsock_*", HINT_SOCKET },
	{ "sk_wait_*", HINT_SOCKET },
	{ "sk_stream_wait_*", HINT_SOCKET },
	{ "sock_recvmsg*", HINT_SOCKET },
	{ "sock_sendmsg*", HINT_SOCKET },
	{ "__skb_wait_for_more_packets", HINT_SOCKET },
	{ "ep_poll", HINT_POLL },
	{ "do_epoll_*wait*", HINT_POLL },
	{ "do_sys_poll", HINT_POLL },
	{ "do_poll*", HINT_POLL },
	{ "poll_schedule_timeout*", HINT_POLL },
	{ "do_select", HINT_POLL },
	{ "core_sys_select", HINT_POLL },
	{ "io_cqring_wait", HINT_POLL },
};

/* Functions of a waker's stack that tell a timer from other interrupts. */
static const struct known_function timers[] = {
	{ "hrtimer_*", HINT_TIMER },     { "process_timeout", HINT_TIMER }, { "run_timer_softirq", HINT_TIMER },
	{ "call_timer_fn", HINT_TIMER }, { "it_real_fn", HINT_TIMER },
};

struct lode_wait_kinds {
	const struct lode_stream *stream;
	const struct lode_idle_stacks *idle;
	uint8_t *hints;   /* by node: enum hint */
	uint8_t *timers;  /* by node: a waker with this stack is a timer */
	uint8_t *pythons; /* by node: enum lode_python_wait */
	uint32_t *groups;
	size_t group_count;
	uint8_t *recorded;   /* by group */
	uint8_t *idle_tasks; /* by thread */
};

static uint8_t look_up(const struct known_function *table, size_t count, const char *function)
{
	for (size_t i = 0; i < count; i++)
		if (*table[i].glob == *function && lode_glob_match(table[i].glob, function))
			return (uint8_t)table[i].hint;
	return HINT_NONE;
}

#define LOOK_UP(table, function) look_up(table, sizeof(table) / sizeof(*(table)), function)

static const char *plain_name(const char *function)
{
	if (lode_starts_with(function, "__GI_"))
		function += strlen("__GI_");
	return function + strspn(function, "_");
}

/* What a frame says by itself; `*is_timer`: whether it is one of a timer's. */
static uint8_t hint_of_frame(const struct lode_frames *frames, uint32_t frame, uint8_t *is_timer)
{
	char text[LODE_PLAIN_FUNCTION];
	const char *function = lode_function_plain(lode_frames_function(frames, frame), text);
	uint8_t hint;

	if (!strcmp(lode_frames_module_name(frames, frame), "kernel")) {
		*is_timer = LOOK_UP(timers, function) != HINT_NONE;
		return LOOK_UP(kernel_functions, function);
	}
	function = plain_name(function);
	hint = LOOK_UP(user_functions, function);
	return hint ? hint | HINT_IN_USER : LOOK_UP(system_calls, function);
}

int lode_stack_waits_for_lock(const struct lode_dictionary *dictionary, uint32_t stack)
{
	const struct lode_stack_node *nodes = dictionary->tree.nodes;
	uint8_t outermost = HINT_NONE, is_timer;

	for (; stack; stack = nodes[stack].parent) {
		uint8_t hint = hint_of_frame(&dictionary->frames, nodes[stack].frame, &is_timer);

		if (hint & HINT_IN_USER)
			outermost = hint;
	}
	return outermost == (HINT_LOCK | HINT_IN_USER);
}

static uint8_t join_hints(uint8_t outer, uint8_t inner)
{
	if (!inner || outer & HINT_IN_USER)
		return outer;
	/* The page, or memory, is what was waited for; that it came from a disk, or was written there, is how. */
	return (outer == HINT_PAGE || outer == HINT_RECLAIM) && inner == HINT_DISK ? outer : inner;
}

static int judge_stacks(struct lode_wait_kinds *kinds)
{
	const struct lode_dictionary *dictionary = kinds->stream->dictionary;
	const struct lode_stack_tree *tree = &dictionary->tree;
	size_t frames = dictionary->frames.count;
	uint8_t *hints = lode_calloc(frames + 1, 1), *are_timers = lode_calloc(frames + 1, 1);
	uint8_t *pythons = lode_calloc(frames + 1, 1);
	int code = 0;

	kinds->hints = lode_calloc(tree->count + 1, 1);
	kinds->timers = lode_calloc(tree->count + 1, 1);
	kinds->pythons = lode_calloc(tree->count + 1, 1);
	if (!hints || !are_timers || !pythons || !kinds->hints || !kinds->timers || !kinds->pythons)
		code = LODE_SYSTEM;
	for (size_t i = 0; !code && i < frames; i++) {
		hints[i] = hint_of_frame(&dictionary->frames, (uint32_t)i, &are_timers[i]);
		pythons[i] = (uint8_t)lode_python_wait_in(&dictionary->frames, (uint32_t)i);
	}
	for (size_t node = 1; !code && node < tree->count; node++) {
		const struct lode_stack_node *item = &tree->nodes[node];

		kinds->hints[node] = join_hints(kinds->hints[item->parent], hints[item->frame]);
		kinds->timers[node] = kinds->timers[item->parent] | are_timers[item->frame];
		kinds->pythons[node] = pythons[item->frame] ? pythons[item->frame] : kinds->pythons[item->parent];
	}
	for (size_t node = 1; !code && node < tree->count; node++)
		kinds->hints[node] &= (uint8_t)~HINT_IN_USER;
	lode_free(hints);
	lode_free(are_timers);
	lode_free(pythons);
	return code;
}

int lode_wait_kinds_make(struct lode_wait_kinds **result, const struct lode_stream *stream,
			 const struct lode_idle_stacks *idle, struct lode_error *error)
{
	struct lode_wait_kinds *kinds = lode_calloc(1, sizeof(*kinds));

	*result = NULL;
	if (!kinds)
		return lode_fail_memory(error);
	kinds->stream = stream;
	kinds->idle = idle;
	kinds->groups = lode_threads_by_tid(stream, &kinds->group_count);
	kinds->recorded = lode_calloc(stream->thread_count + 1, 1);
	kinds->idle_tasks = lode_idle_tasks(stream);
	if (!kinds->groups || !kinds->recorded || !kinds->idle_tasks || judge_stacks(kinds) < 0) {
		lode_wait_kinds_free(kinds);
		return lode_fail_memory(error);
	}
	*result = kinds;
	return 0;
}

void lode_wait_kinds_free(struct lode_wait_kinds *kinds)
{
	if (!kinds)
		return;
	lode_free(kinds->hints);
	lode_free(kinds->timers);
	lode_free(kinds->pythons);
	lode_free(kinds->groups);
	lode_free(kinds->recorded);
	lode_free(kinds->idle_tasks);
	lode_free(kinds);
}

void lode_wait_kinds_see(struct lode_wait_kinds *kinds, const struct lode_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		kinds->recorded[kinds->groups[events->thread[i]]] = 1;
}

/* ---- who ended it ---- */

static int is_interrupt(const struct lode_wait_kinds *kinds, uint32_t waker_stack)
{
	return kinds->idle && lode_idle_interrupt(kinds->idle, waker_stack);
}

/* Whether a thread that is recorded ended wait `i`. */
static int ended_by_thread(const struct lode_wait_kinds *kinds, const struct lode_events *waits, size_t i)
{
	uint32_t waker = waits->waker[i];

	return waker != LODE_NONE && !is_interrupt(kinds, waits->waker_stack[i]) && !kinds->idle_tasks[waker] &&
	       kinds->recorded[kinds->groups[waker]];
}

static enum lode_state state_by_waker(const struct lode_wait_kinds *kinds, enum hint hint,
				      const struct lode_events *waits, size_t i)
{
	uint32_t waker_stack = waits->waker_stack[i];

	if (ended_by_thread(kinds, waits, i))
		return LODE_STATE_REPLY;
	if (is_interrupt(kinds, waker_stack) && kinds->timers[waker_stack])
		return LODE_STATE_TIMER;
	return hint == HINT_SOCKET ? LODE_STATE_NETWORK : LODE_STATE_OTHER_WAIT;
}

/* Whether what seems to be a lock is a condition of Python's. Older recordings call it a lock, and importers give it no name. */
static int is_condition(const struct lode_wait_kinds *kinds, uint32_t stack, enum lode_state state)
{
	return state == LODE_STATE_LOCK && kinds->pythons[stack] == LODE_PYTHON_WAIT_CONDITION;
}

enum lode_state lode_wait_kind(const struct lode_wait_kinds *kinds, const struct lode_events *waits, size_t i)
{
	static const enum lode_state plain[HINTS] = {
		[HINT_NONE] = LODE_STATE_OTHER_WAIT, [HINT_LOCK] = LODE_STATE_LOCK,
		[HINT_GIL] = LODE_STATE_GIL,         [HINT_DISK] = LODE_STATE_DISK,
		[HINT_TIMER] = LODE_STATE_TIMER,     [HINT_CHILD] = LODE_STATE_CHILD,
		[HINT_PAGE] = LODE_STATE_PAGE,       [HINT_RECLAIM] = LODE_STATE_PAGE,
	};
	enum hint hint = (enum hint)kinds->hints[waits->stack[i]];
	uint32_t object = lode_events_object(waits, i);
	enum lode_state state =
		object ? lode_wait_kind_of_object(
				 lode_strings_get(&kinds->stream->dictionary->frames.strings, object))
		       : LODE_STATES;

	/* Whatever the thread wanted to do: it had no memory for that. */
	if (hint == HINT_RECLAIM && (state == LODE_STATE_DISK || state == LODE_STATE_NETWORK))
		return LODE_STATE_PAGE;
	if (is_condition(kinds, waits->stack[i], state == LODE_STATES ? plain[hint] : state))
		return state_by_waker(kinds, HINT_SIGNAL, waits, i);
	/* Who wakes decides whether a peer is a recorded thread. */
	if (state != LODE_STATES && state != LODE_STATE_NETWORK)
		return state;
	if (hint == HINT_SIGNAL || hint == HINT_SOCKET || hint == HINT_POLL)
		return state_by_waker(kinds, hint, waits, i);
	return plain[hint];
}

int lode_wait_is_sleep(const struct lode_wait_kinds *kinds, const struct lode_events *waits, size_t i)
{
	const char *object =
		lode_strings_get(&kinds->stream->dictionary->frames.strings, lode_events_object(waits, i));

	return kinds->hints[waits->stack[i]] == HINT_TIMER || lode_wait_kind_of_object(object) == LODE_STATE_TIMER;
}

enum lode_state lode_state_of_part(const struct lode_wait_kinds *kinds, const struct lode_part *part)
{
	if (part->type == LODE_RUN)
		return LODE_STATE_RUNNING;
	return lode_part_is_ready(kinds->stream, part)
		       ? LODE_STATE_READY
		       : lode_wait_kind(kinds, &kinds->stream->events[LODE_WAIT], part->event);
}

enum lode_state lode_wait_kind_of_object(const char *object)
{
	static const struct {
		const char *kind;
		enum lode_state state;
	} known[] = {
		{ "lock", LODE_STATE_LOCK }, { "gil", LODE_STATE_GIL },     { "disk", LODE_STATE_DISK },
		{ "file", LODE_STATE_DISK }, { "timer", LODE_STATE_TIMER }, { "child", LODE_STATE_CHILD },
		{ "page", LODE_STATE_PAGE }, { "gpu", LODE_STATE_REPLY },   { "launch", LODE_STATE_REPLY },
	};
	size_t length = strcspn(object, ":");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].kind) == length && !memcmp(known[i].kind, object, length))
			return known[i].state;
	return LODE_STATES;
}
