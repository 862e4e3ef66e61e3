/*
 * Plumbing: see plumbing.h.
 *
 * That a stack has Java functions is seen from HotSpot's generated code that calls the first of them. That it has Python functions is seen from the interpreter's function that runs them: its caller in the stack is the
 * Python function (process/languages/language_words.h); without Python functions it is another one of the interpreter. PHP's is the same.
 *
 * Left out are the interpreter's functions without a name, which are most in a stripped binary, and those that call and run
 * code. Others stay: that a Python function waits for the global lock (take_gil) or compares strings is worth knowing.
 * Functions of extensions and of other libraries stay, too.
 *
 * The global lock is the only thing for which CPython waits by pthread_cond_timedwait: its other locks are semaphores and futexes.
 */
#include "scope/plumbing.h"

#include "base/ends_with.h"
#include "base/starts_with.h"
#include "scope/javascript_plumbing.h"
#include "trace/script_modules.h"

#include <string.h>

static int is_cpython(const char *module)
{
	return (lode_starts_with(module, "python3") || lode_starts_with(module, "libpython3")) &&
	       !lode_ends_with(module, ".py");
}

static int is_hotspot(const char *module)
{
	return !strcmp(module, "libjvm.so");
}

int lode_module_is_interpreter(const char *module)
{
	return is_cpython(module) || is_hotspot(module) || lode_module_is_php(module);
}

/* How the functions begin that run code and make calls, and what starts and ends the interpreter. */
static const char *const cpython_starts[] = {
	"0x",
	"_start",
	"main",
	"_PyEval_",
	"_Py_HandlePending",
	"PyEval_Eval",
	"PyEval_RestoreThread",
	"PyEval_AcquireThread",
	"PyObject_Call",
	"PyObject_Vectorcall",
	"_PyObject",
	"PyVectorcall_",
	"_PyVectorcall_",
	"_PyFunction_Vectorcall",
	"PyCFunction_",
	"_PyRun_",
	"PyRun_",
	"Py_RunMain",
	"Py_BytesMain",
	"Py_Main",
	"pymain_",
	"run_mod",
	"run_eval_code_obj",
	"pyrun_",
	"method_vectorcall",
	"vectorcall_",
	"cfunction_",
	"slot_tp_",
	"slot_mp_",
	"slot_sq_",
	"slot_nb_",
	"type_call",
	"object_vacall",
	"gen_send_ex",
	"gen_iternext",
	"thread_run",
	"pythread_wrapper",
	"builtin___build_class__",
	"builtin_exec",
	"builtin_eval",
	"PyObject_GetIter",
	"PyIter_",
	"_PyStack_",
	"PyImport_",
	"import_",
	"(await)", /* between coroutines: no function, but said by the recorder */
	NULL,
};

/* Code that is generated is in brackets. What waits and what holds locks (ObjectMonitor, Unsafe_Park) is not here. */
static const char *const hotspot_starts[] = {
	"0x",
	"<",
	"thread_native_entry",
	"thread_entry",
	"Thread::call_run",
	"JavaThread::run",
	"JavaThread::thread_main_inner",
	"JavaCalls::",
	"InterpreterRuntime::",
	"Runtime1::",
	"SharedRuntime::",
	"OptoRuntime::",
	"jni_Call",
	"jni_invoke_",
	"jni_NewObject",
	"JVM_DoPrivileged",
	"JVM_InvokeMethod",
	"JVM_NewInstanceFromConstructor",
	"Reflection::invoke",
	NULL,
};

/* What reads and compiles scripts (zend_compile, zendparse) and what waits stays. */
static const char *const php_starts[] = {
	"0x",
	"_start",
	"main",
	"execute_ex",
	"zend_execute",
	"zend_call_",
	"_zend_call_",
	"_call_user_function",
	"zend_fcall_info_call",
	"zend_generator_",
	"zend_std_call_",
	"zend_observer_",
	"php_execute_",
	"php_request_",
	"php_call_shutdown_functions",
	"php_user_shutdown_function_call",
	NULL,
};

int lode_function_only_calls(const char *module, const char *function)
{
	const char *const *starts = is_hotspot(module)           ? hotspot_starts
				    : lode_module_is_php(module) ? php_starts
								 : cpython_starts;

	for (; *starts; starts++)
		if (lode_starts_with(function, *starts))
			return 1;
	return 0;
}

/* Python's own functions that import: one of them stays, to say that something is imported. */
static int imports(const char *module, const char *function)
{
	char text[LODE_PLAIN_FUNCTION];

	function = lode_function_plain(function, text);
	return lode_starts_with(module, "{frozen importlib._bootstrap") && strcmp(function, "_find_and_load") != 0;
}

enum mark {
	OTHER,
	INTERPRETER,
	CALLS = 2,      /* may be left out */
	RUNS = 4,       /* runs Python or PHP functions */
	PROGRAM = 8,    /* a function of JavaScript */
	GENERATED = 16, /* code that HotSpot generated, by which Java functions are called */
	IMPORTS = 32,   /* a function of Python that may be left out */
};

static int runs_code(const struct lode_frames *frames, uint32_t frame)
{
	char text[LODE_PLAIN_FUNCTION];
	const char *function = lode_function_plain(lode_frames_function(frames, frame), text);

	return !strcmp(function, "_PyEval_EvalFrameDefault") ||
	       (!strcmp(function, "execute_ex") && lode_module_is_php(lode_frames_module_name(frames, frame)));
}

/* In every stack with Java functions. */
static int runs_java(const struct lode_frames *frames, uint32_t frame)
{
	return is_hotspot(lode_frames_module_name(frames, frame)) && *lode_frames_function(frames, frame) == '<';
}

int lode_frames_have_plumbing(const struct lode_frames *frames)
{
	for (uint32_t i = 0; i < frames->count; i++)
		if (runs_code(frames, i) || runs_java(frames, i))
			return 1;
	return lode_frames_have_javascript(frames);
}

static int is_timed_wait(const char *function)
{
	char text[LODE_PLAIN_FUNCTION];

	function = lode_function_plain(function, text);
	return !strcmp(function, "pthread_cond_timedwait") || !strcmp(function, "pthread_cond_clockwait");
}

static uint8_t mark_frame(const struct lode_frames *frames, uint32_t frame)
{
	const char *function = lode_frames_function(frames, frame),
		   *module = lode_frames_module_name(frames, frame);
	enum lode_javascript_role role = lode_javascript_role(module, function);

	if (role != LODE_JAVASCRIPT_NONE)
		return role == LODE_JAVASCRIPT_CALLS ? CALLS : PROGRAM;
	if (!lode_module_is_interpreter(module))
		return imports(module, function) ? IMPORTS : OTHER;
	return (uint8_t)(INTERPRETER | (lode_function_only_calls(module, function) ? CALLS : 0) |
			 (runs_code(frames, frame) ? RUNS : 0) | (runs_java(frames, frame) ? GENERATED : 0));
}

int lode_frame_is_plumbing(const struct lode_frames *frames, uint32_t frame)
{
	return (mark_frame(frames, frame) & (CALLS | IMPORTS)) != 0;
}

static uint8_t *mark_frames(const struct lode_frames *frames)
{
	uint8_t *marks = lode_calloc(frames->count + 1, 1);

	for (uint32_t i = 0; marks && i < frames->count; i++)
		marks[i] = mark_frame(frames, i);
	return marks;
}

/* Whether a stack has functions of a language. A node as it was before any were added. */
static int has_functions(const struct lode_stack_tree *tree, const uint8_t *marks, const uint8_t *has,
			 uint32_t node)
{
	uint32_t parent = tree->nodes[node].parent;
	uint8_t mark = marks[tree->nodes[node].frame];

	return has[parent] || mark & PROGRAM ||
	       (parent && mark & RUNS && !(marks[tree->nodes[parent].frame] & ~IMPORTS)) ||
	       (parent && mark == OTHER && marks[tree->nodes[parent].frame] & GENERATED);
}

int lode_stack_waits_for_gil(const struct lode_dictionary *dictionary, uint32_t stack)
{
	const struct lode_stack_node *nodes = dictionary->tree.nodes;
	const struct lode_frames *frames = &dictionary->frames;

	for (; stack && nodes[stack].parent; stack = nodes[stack].parent) {
		const char *module = lode_frames_module_name(frames, nodes[stack].frame);

		if (is_timed_wait(lode_frames_function(frames, nodes[stack].frame)))
			return is_cpython(lode_frames_module_name(frames, nodes[nodes[stack].parent].frame));
		if (is_cpython(module))
			return 0;
	}
	return 0;
}

/* Fills `without`. Returns 0 or LODE_SYSTEM. */
static int leave_out(struct lode_stack_tree *tree, const uint8_t *marks, uint8_t *has, uint32_t *without,
		     size_t count)
{
	for (uint32_t node = 1; node < count; node++) {
		uint32_t above = without[tree->nodes[node].parent], frame = tree->nodes[node].frame;

		has[node] = (uint8_t)has_functions(tree, marks, has, node);
		without[node] = marks[frame] & (CALLS | IMPORTS) ? above
								 : lode_stack_tree_child(tree, above, frame);
		if (without[node] == LODE_NONE)
			return LODE_SYSTEM;
	}
	for (uint32_t node = 1; node < count; node++)
		if (!has[node])
			without[node] = node;
	return 0;
}

uint32_t *lode_stacks_without_plumbing(struct lode_dictionary *dictionary)
{
	struct lode_stack_tree *tree = &dictionary->tree;
	size_t count = tree->count;
	uint32_t *without = lode_calloc(count, sizeof(*without));
	uint8_t *has = lode_calloc(count, 1), *marks = mark_frames(&dictionary->frames);

	if (!without || !has || !marks || leave_out(tree, marks, has, without, count) < 0) {
		lode_free(without);
		without = NULL;
	}
	lode_free(has);
	lode_free(marks);
	return without;
}
