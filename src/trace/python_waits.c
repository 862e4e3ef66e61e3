/*
 * Waits of CPython: see python_waits.h. A condition takes the lock of its waiter by itself: any other script function behind
 * it is a lock of its own making, and when it was notified it takes the lock around it again, by a function of its own.
 */
#include "trace/python_waits.h"

#include "base/starts_with.h"
#include "trace/script_modules.h"

#include <string.h>

/* Functions of threading.py; profilers leave out the classes. */
static const struct {
	const char *name;
	enum lode_python_wait wait;
} threading[] = {
	{ "Condition.wait", LODE_PYTHON_WAIT_CONDITION },
	{ "wait", LODE_PYTHON_WAIT_CONDITION },
	{ "Thread._wait_for_tstate_lock", LODE_PYTHON_WAIT_JOIN },
	{ "_wait_for_tstate_lock", LODE_PYTHON_WAIT_JOIN },
};

/* How other functions begin, without leading underscores. */
static const struct {
	const char *start;
	enum lode_python_wait wait;
} functions[] = {
	{ "queue_SimpleQueue_get", LODE_PYTHON_WAIT_CONDITION },
	{ "rlock_acquire_restore", LODE_PYTHON_WAIT_LOCK },
	{ "thread_RLock__acquire_restore", LODE_PYTHON_WAIT_LOCK },
	{ "take_gil", LODE_PYTHON_WAIT_LOCK },
	{ "pthread_mutex_", LODE_PYTHON_WAIT_LOCK },
	{ "lll_lock_wait", LODE_PYTHON_WAIT_LOCK },
};

static enum lode_python_wait wait_in_script(const char *module, const char *function)
{
	for (size_t i = 0; !strcmp(module, "threading.py") && i < sizeof(threading) / sizeof(*threading); i++)
		if (!strcmp(threading[i].name, function))
			return threading[i].wait;
	return LODE_PYTHON_WAIT_LOCK;
}

enum lode_python_wait lode_python_wait_in(const struct lode_frames *frames, uint32_t frame)
{
	const struct lode_module *module = &frames->modules[frames->items[frame].module];
	const char *name = lode_strings_get(&frames->strings, module->name);
	char text[LODE_PLAIN_FUNCTION];
	const char *function = lode_function_plain(lode_frames_function(frames, frame), text);

	if (module->kind == LODE_KIND_KERNEL)
		return LODE_PYTHON_WAIT_UNKNOWN;
	if (module->language || lode_module_is_script(name))
		return wait_in_script(name, function);
	function += strspn(function, "_");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (lode_starts_with(function, functions[i].start))
			return functions[i].wait;
	return LODE_PYTHON_WAIT_UNKNOWN;
}

enum lode_python_wait lode_python_wait(const struct lode_dictionary *dictionary, uint32_t stack)
{
	const struct lode_stack_node *nodes = dictionary->tree.nodes;
	enum lode_python_wait wait = LODE_PYTHON_WAIT_UNKNOWN;

	for (; stack && wait == LODE_PYTHON_WAIT_UNKNOWN; stack = nodes[stack].parent)
		wait = lode_python_wait_in(&dictionary->frames, nodes[stack].frame);
	return wait;
}
