/*
 * Functions that wait at futexes: see wait_functions.h.
 *
 * From the leaf, kernel frames and the inner functions of the C library are skipped; the first function of a known
 * library decides. A condition variable or semaphore may be part of something larger (an interpreter's lock, a monitor):
 * so the next callers are looked at, too. Where a frame in between belongs to neither, nothing is known.
 */
#include "record/stream/wait_functions.h"

#include "base/starts_with.h"
#include "trace/python_waits.h"
#include "trace/script_modules.h"

#include <string.h>

/* Frames that are looked at for the function, and above it for what it is part of. */
#define MAX_INNER 12
#define MAX_OUTER 8

struct pattern {
	const char *start; /* of the name without leading underscores; with `*` in front: anywhere in it */
	enum lode_wait_function function;
};

static const struct pattern functions[] = {
	{ "pthread_mutex_", LODE_WAITS_MUTEX },
	{ "pthread_rwlock_", LODE_WAITS_RWLOCK },
	{ "pthread_cond_", LODE_WAITS_CONDITION },
	{ "pthread_join", LODE_WAITS_JOIN },
	{ "pthread_clockjoin", LODE_WAITS_JOIN },
	{ "pthread_timedjoin", LODE_WAITS_JOIN },
	{ "thrd_join", LODE_WAITS_JOIN },
	{ "pthread_barrier_wait", LODE_WAITS_SIGNAL },
	{ "pthread_once", LODE_WAITS_SIGNAL },
	{ "sem_wait", LODE_WAITS_SIGNAL },
	{ "sem_timedwait", LODE_WAITS_SIGNAL },
	{ "sem_clockwait", LODE_WAITS_SIGNAL },
	{ "new_sem_", LODE_WAITS_SIGNAL },
	{ "*futex::Mutex::lock_contended", LODE_WAITS_LOCK },
	{ "*futex::RwLock::read_contended", LODE_WAITS_LOCK },
	{ "*futex::RwLock::write_contended", LODE_WAITS_LOCK },
	{ "*RawMutex::lock_slow", LODE_WAITS_LOCK },
	{ "*RawRwLock::lock_", LODE_WAITS_LOCK },
	{ "*futex::Condvar::wait", LODE_WAITS_CONDITION },
	{ "*Parker::park", LODE_WAITS_SIGNAL },
	{ NULL, LODE_WAITS_UNKNOWN },
};

/* What condition variables and semaphores are part of. */
static const struct pattern wholes[] = {
	{ "take_gil", LODE_WAITS_GIL },
	{ "PyEval_RestoreThread", LODE_WAITS_GIL },
	{ "PyEval_AcquireThread", LODE_WAITS_GIL },
	{ "PyThread_acquire_lock", LODE_WAITS_LOCK },
	{ "*ObjectMonitor::enter", LODE_WAITS_MONITOR },
	{ "*ObjectMonitor::EnterI", LODE_WAITS_MONITOR },
	{ "*ObjectMonitor::ReenterI", LODE_WAITS_MONITOR },
	{ NULL, LODE_WAITS_UNKNOWN },
};

/* Between the system call and the function that decides; the last ones are musl's. */
static const char *const inner[] = { "futex_",
				     "lll_",
				     "do_futex_wait",
				     "internal_syscall_cancel",
				     "syscall",
				     "GI_",
				     "0x",
				     "libc_",
				     "new_sem_wait_slow",
				     "timedwait",
				     "wait",
				     "sccp",
				     "sigsetjmp",
				     NULL };

/* Wrappers of locks: who called them asked for the lock. */
static const char *const wrappers[] = { "std::",
					"gthread_",
					"boost::",
					"pthread_",
					"mtx_lock",
					"cnd_",
					"lll_",
					"sem_",
					"new_sem_",
					"PyThread_",
					"__gnu_cxx::",
					"PyMutex_Lock",
					"Monitor::",
					"Mutex::",
					"Semaphore::",
					"os::Platform",
					"PosixSemaphore::",
					"MonitorLocker::",
					"acquire_timed",
					"lock_PyThread_",
					"rlock_acquire",
					NULL };

static const char *plain_name(const struct lode_dictionary *dictionary, uint32_t node)
{
	const char *name = lode_frames_function(&dictionary->frames, dictionary->tree.nodes[node].frame);

	while (*name == '_')
		name++;
	return name;
}

static uint32_t module_of(const struct lode_dictionary *dictionary, uint32_t node)
{
	return dictionary->frames.items[dictionary->tree.nodes[node].frame].module;
}

static int is_one_of(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (lode_starts_with(name, *starts))
			return 1;
	return 0;
}

static enum lode_wait_function find(const char *name, const struct pattern *patterns)
{
	for (; patterns->start; patterns++)
		if (patterns->start[0] == '*' ? strstr(name, patterns->start + 1) != NULL
					      : lode_starts_with(name, patterns->start))
			return patterns->function;
	return LODE_WAITS_UNKNOWN;
}

static int is_kernel(const struct lode_dictionary *dictionary, uint32_t node)
{
	return dictionary->frames.modules[module_of(dictionary, node)].kind == LODE_KIND_KERNEL;
}

/* Functions without a name count as wrappers only in the library of the lock. */
static uint32_t find_caller(const struct lode_dictionary *dictionary, uint32_t node)
{
	uint32_t library = node ? module_of(dictionary, node) : 0;

	while (node &&
	       (is_one_of(plain_name(dictionary, node), wrappers) ||
		(lode_starts_with(plain_name(dictionary, node), "0x") && module_of(dictionary, node) == library)))
		node = dictionary->tree.nodes[node].parent;
	return node;
}

static enum lode_wait_function find_whole(const struct lode_dictionary *dictionary, uint32_t node, uint32_t *caller)
{
	enum lode_wait_function whole = LODE_WAITS_UNKNOWN, found;

	for (unsigned i = 0; node && i < MAX_OUTER; i++, node = dictionary->tree.nodes[node].parent) {
		found = find(plain_name(dictionary, node), wholes);
		if (found != LODE_WAITS_UNKNOWN) {
			whole = found;
			*caller = dictionary->tree.nodes[node].parent;
		}
	}
	return whole;
}

/*
 * What runs a language says nothing to who wrote the program, and little what came with the language: the first function of
 * the program's own that asked for the lock, or else the first of any script.
 */
static uint32_t find_script(const struct lode_dictionary *dictionary, uint32_t node)
{
	uint32_t first = 0;

	for (uint32_t at = node; at; at = dictionary->tree.nodes[at].parent) {
		const struct lode_module *module = &dictionary->frames.modules[module_of(dictionary, at)];
		const struct lode_strings *strings = &dictionary->frames.strings;

		if (module->kind != LODE_KIND_JIT && !module->language &&
		    !lode_module_is_script(lode_strings_get(strings, module->name)))
			continue;
		if (!lode_path_is_package(lode_strings_get(strings, module->path)))
			return at;
		first = first ? first : at;
	}
	return first ? first : node;
}

static int runs_scripts(const struct lode_dictionary *dictionary, uint32_t node)
{
	/* Of the empty stack there is no frame. */
	return node && lode_module_runs_scripts(
			       lode_frames_module_name(&dictionary->frames, dictionary->tree.nodes[node].frame));
}

/* What a lock of Python's is there for. */
static enum lode_wait_function use_of_lock(const struct lode_dictionary *dictionary, uint32_t node)
{
	switch (lode_python_wait(dictionary, node)) {
	case LODE_PYTHON_WAIT_CONDITION:
		return LODE_WAITS_SCRIPT_CONDITION;
	case LODE_PYTHON_WAIT_JOIN:
		return LODE_WAITS_JOIN;
	default:
		return LODE_WAITS_LOCK;
	}
}

enum lode_wait_function lode_wait_function(const struct lode_dictionary *dictionary, uint32_t node,
					   uint32_t *caller)
{
	enum lode_wait_function found = LODE_WAITS_UNKNOWN, whole = LODE_WAITS_UNKNOWN;
	int is_library_lock = 0;

	while (node && is_kernel(dictionary, node))
		node = dictionary->tree.nodes[node].parent;
	for (unsigned i = 0; node && i < MAX_INNER; i++, node = dictionary->tree.nodes[node].parent) {
		const char *name = plain_name(dictionary, node);

		found = find(name, functions);
		if (found != LODE_WAITS_UNKNOWN || !is_one_of(name, inner))
			break;
		is_library_lock |= lode_starts_with(name, "lll_") || lode_starts_with(name, "GI___lll_");
	}
	*caller = find_caller(dictionary, node);
	if (found == LODE_WAITS_UNKNOWN && runs_scripts(dictionary, *caller))
		*caller = find_script(dictionary, *caller);
	if (found == LODE_WAITS_UNKNOWN)
		return is_library_lock ? LODE_WAITS_LOCK : found;
	if (found == LODE_WAITS_CONDITION || found == LODE_WAITS_SIGNAL)
		whole = find_whole(dictionary, dictionary->tree.nodes[node].parent, caller);
	if (whole == LODE_WAITS_LOCK)
		whole = use_of_lock(dictionary, node);
	if (whole == LODE_WAITS_MONITOR || runs_scripts(dictionary, *caller))
		*caller = find_script(dictionary, *caller);
	return whole != LODE_WAITS_UNKNOWN ? whole : found;
}
