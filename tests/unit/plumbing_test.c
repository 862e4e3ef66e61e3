/* Stacks without the functions of an interpreter between those of the program. */
#include "cmocka_all.h"

#include "scope/plumbing.h"

#include <string.h>

/* The node of a stack, whose frames have spaces between them; `~` stands for a space in a name. */
static uint32_t stack(struct lode_dictionary *dictionary, const char *text)
{
	uint32_t node = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		char frame[256];

		assert_true(length < sizeof(frame));
		for (size_t i = 0; i < length; i++)
			frame[i] = text[i] == '~' ? ' ' : text[i];
		node = lode_stack_tree_child(&dictionary->tree, node,
					     lode_frames_parse(&dictionary->frames, frame, length));
		assert_int_not_equal(node, LODE_NONE);
		text += length + (text[length] == ' ');
	}
	return node;
}

static void assert_without(const char *text, const char *expected)
{
	struct lode_dictionary dictionary;
	uint32_t node, *without;

	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	node = stack(&dictionary, text);
	without = lode_stacks_without_plumbing(&dictionary);
	assert_non_null(without);
	assert_int_equal(without[node], stack(&dictionary, expected));
	lode_free(without);
	lode_dictionary_release(&dictionary);
}

#define EVAL "python3.11!_PyEval_EvalFrameDefault "

static void the_interpreter_is_left_out_between_python_functions(void **unused)
{
	(void)unused;
	assert_without("python3.11!_start libc.so.6!main python3.11!Py_RunMain a.py!<module> a.py!f " EVAL
		       "python3.11!PyObject_Vectorcall python3.11!0x123 a.py!g " EVAL "kernel!read",
		       "libc.so.6!main a.py!<module> a.py!f a.py!g kernel!read");
	/* Awaiting is no function, with the C frame of the coroutine that awaits and without. */
	assert_without("a.py!f " EVAL "python3.11!PyIter_Send python3!(await) a.py!g python3!(await) a.py!h " EVAL
		       "kernel!read",
		       "a.py!f a.py!g a.py!h kernel!read");
	/* With lines. */
	assert_without("python3.11!main:12 a.py!<module>:3 python3.11!_PyEval_EvalFrameDefault:5376 "
		       "python3.11!_PyEval_Vector:6434 "
		       "a.py!g:2 kernel!read",
		       "a.py!<module>:3 a.py!g:2 kernel!read");
	/* A leaf, too; and in a library. */
	assert_without("libpython3.13.so.1.0!PyEval_EvalCode a.py!f libpython3.13.so.1.0!_PyEval_EvalFrameDefault",
		       "a.py!f");
}

static void of_what_imports_one_function_stays(void **unused)
{
	(void)unused;
	assert_without("a.py!<module> " EVAL "{frozen~importlib._bootstrap}!_find_and_load " EVAL
		       "{frozen~importlib._bootstrap}!_load_unlocked " EVAL
		       "{frozen~importlib._bootstrap_external}!_LoaderBasics.exec_module " EVAL
		       "b.py!<module> " EVAL "kernel!read",
		       "a.py!<module> {frozen~importlib._bootstrap}!_find_and_load b.py!<module> kernel!read");
}

static void what_says_something_stays(void **unused)
{
	(void)unused;
	assert_without("a.py!f " EVAL "python3.11!take_gil libc.so.6!pthread_cond_timedwait",
		       "a.py!f python3.11!take_gil libc.so.6!pthread_cond_timedwait");
	assert_without("a.py!f " EVAL "_ssl.so!0x12 libssl.so!SSL_read", "a.py!f _ssl.so!0x12 libssl.so!SSL_read");
	/* A program of that name is none. */
	assert_without("a.py!f " EVAL "python3_tool.py!g", "a.py!f python3_tool.py!g");
}

static void php_is_left_out_between_its_functions(void **unused)
{
	(void)unused;
	assert_without(
		"php8.2!_start php8.2!zend_execute a.php!{main} php:standard!usort php8.2!execute_ex php8.2!0x12 "
		"php8.2!zend_call_function a.php!f php:standard!usleep php8.2!execute_ex php8.2!0x34 "
		"libc.so.6!usleep",
		"a.php!{main} php:standard!usort a.php!f php:standard!usleep libc.so.6!usleep");
	/* What starts it has no PHP functions; nor has a program of another language. */
	assert_without("php-fpm8.2!_start php-fpm8.2!0x12 php-fpm8.2!php_module_startup",
		       "php-fpm8.2!_start php-fpm8.2!0x12 php-fpm8.2!php_module_startup");
	assert_without("engine!f engine!execute_ex engine!zend_call_function",
		       "engine!f engine!execute_ex engine!zend_call_function");
}

static void hotspot_is_left_out_between_java_functions(void **unused)
{
	(void)unused;
	assert_without(
		"libc.so.6!start_thread libjvm.so!thread_native_entry libjvm.so!JavaCalls::call_helper "
		"libjvm.so!<StubRoutines> Thread.java!Thread.run A.java!A.f libjvm.so!<monitorenter_nofpu> "
		"libjvm.so!Runtime1::monitorenter libjvm.so!ObjectMonitor::enter libc.so.6!pthread_cond_wait",
		"libc.so.6!start_thread Thread.java!Thread.run A.java!A.f libjvm.so!ObjectMonitor::enter "
		"libc.so.6!pthread_cond_wait");
	/* A thread of the virtual machine's own. */
	assert_without("libc.so.6!start_thread libjvm.so!thread_native_entry libjvm.so!VMThread::run",
		       "libc.so.6!start_thread libjvm.so!thread_native_entry libjvm.so!VMThread::run");
}

static void stacks_without_python_functions_are_whole(void **unused)
{
	(void)unused;
	assert_without(
		"python3.11!_start python3.11!PyEval_EvalCode python3.11!_PyEval_EvalFrameDefault python3.11!0x1",
		"python3.11!_start python3.11!PyEval_EvalCode python3.11!_PyEval_EvalFrameDefault python3.11!0x1");
}

static void node_is_left_out_between_javascript_functions(void **unused)
{
	(void)unused;
	assert_without(
		"node!_start libc.so.6!main node!node::Start node!uv_run node!uv__run_timers "
		"node!v8::internal::Execution::Call node!Builtins_JSEntry node:internal/timers!processTimers "
		"node!Builtins_InterpreterEntryTrampoline a.js!f node!Builtins_InterpreterEntryTrampoline "
		"javascript!map node!Builtins_ArrayMap b.mjs!(anonymous):12 node:fs!readSync "
		"node!Builtins_CallFunction_ReceiverIsAny node!node::fs::Read libc.so.6!read",
		"libc.so.6!main a.js!f javascript!map b.mjs!(anonymous):12 node:fs!readSync node!node::fs::Read "
		"libc.so.6!read");
	/* A stripped library, a leaf. */
	assert_without("libnode.so.108!node::Start libnode.so.108!0x12 a.js!f libnode.so.108!0x34", "a.js!f");
	/* What says something. */
	assert_without("a.js!f node!v8::internal::JsonParser node!Builtins_KeyedLoadIC_Megamorphic",
		       "a.js!f node!v8::internal::JsonParser node!Builtins_KeyedLoadIC_Megamorphic");
	/* Only Node's own, and another program of that name. */
	assert_without("node!node::Start node:internal/main!run node!Builtins_JSEntry",
		       "node!node::Start node:internal/main!run node!Builtins_JSEntry");
	assert_without("node!_start node!main node!consensus", "node!_start node!main node!consensus");
}

static void waits_for_the_global_lock_are_recognized(void **unused)
{
	struct lode_dictionary dictionary;

	(void)unused;
	assert_int_equal(lode_dictionary_init(&dictionary), 0);
	assert_true(lode_stack_waits_for_gil(&dictionary,
					     stack(&dictionary, "a.py!f " EVAL
								"python3.11!0x12 libc.so.6!pthread_cond_timedwait "
								"libc.so.6!futex_wait kernel!futex_do_wait")));
	assert_true(lode_stack_waits_for_gil(&dictionary, stack(&dictionary, "libpython3.12.so.1.0!take_gil "
									     "libc.so.6!pthread_cond_timedwait")));
	/* Another library's, a lock's, and none. */
	assert_false(lode_stack_waits_for_gil(
		&dictionary,
		stack(&dictionary,
		      "a.py!f " EVAL "libtorch.so!wait libc.so.6!pthread_cond_timedwait kernel!futex_do_wait")));
	assert_false(lode_stack_waits_for_gil(&dictionary,
					      stack(&dictionary,
						    "a.py!f " EVAL
						    "python3.11!PyThread_acquire_lock_timed libc.so.6!sem_wait")));
	assert_false(lode_stack_waits_for_gil(&dictionary,
					      stack(&dictionary,
						    "A.java!A.f libjvm.so!os::PlatformEvent::park "
						    "libc.so.6!pthread_cond_timedwait kernel!futex_do_wait")));
	assert_false(lode_stack_waits_for_gil(&dictionary, 0));
	lode_dictionary_release(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interpreter_is_left_out_between_python_functions),
		cmocka_unit_test(of_what_imports_one_function_stays),
		cmocka_unit_test(what_says_something_stays),
		cmocka_unit_test(php_is_left_out_between_its_functions),
		cmocka_unit_test(hotspot_is_left_out_between_java_functions),
		cmocka_unit_test(stacks_without_python_functions_are_whole),
		cmocka_unit_test(node_is_left_out_between_javascript_functions),
		cmocka_unit_test(waits_for_the_global_lock_are_recognized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
