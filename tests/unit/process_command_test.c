/* What processes were started as: from arguments, and of a process that calls itself otherwise. */
#include "cmocka_all.h"

#include "process/process_command.h"
#include "process/processes.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUIRE(arguments, name, expected)                                                                         \
	do {                                                                                                       \
		char command[LODE_COMMAND_NAME];                                                                   \
                                                                                                                   \
		lode_command_of_arguments(arguments "\0", sizeof(arguments "\0"), name, command, sizeof(command)); \
		assert_string_equal(command, expected);                                                            \
	} while (0)

static void a_process_is_called_by_its_program_if_it_has_another_name_now(void **state)
{
	(void)state;
	REQUIRE("/usr/bin/node", "MainThread", "node");
	REQUIRE("node", "node", "");
	REQUIRE("/usr/bin/python3\0./serve.py", "serve.py", ""); /* a script is called by its own name */
	REQUIRE("nginx: worker process", "nginx", "");
	REQUIRE("/usr/sbin/nginx: worker", "renamed", "nginx");
	REQUIRE("-bash", "bash", "");
	REQUIRE("/opt/a-program-with-a-long-name", "a-program-with-", "");
	REQUIRE("/opt/a-program-with-a-long-name", "other", "a-program-with-");
	REQUIRE("", "kworker/0:1", "");
	REQUIRE("/", "x", "");
}

static void what_runs_a_script_is_called_as_the_script(void **state)
{
	(void)state;
	REQUIRE("/usr/bin/node\0server.js", "MainThread", "server.js");
	REQUIRE("python3\0-u\0-W\0ignore\0/srv/shop/serve.py\0--token\0secret", "python3", "serve.py");
	REQUIRE("python3.11\0-m\0http.server\0"
		"8000",
		"python3.11", "http.server");
	REQUIRE("python3\0-c\0import os", "python3", "");
	REQUIRE("java\0-Xmx1g\0-cp\0/srv/a.jar\0com.example.Server\0secret", "java", "com.example.Server");
	REQUIRE("java\0-jar\0/srv/shop.jar", "java", "shop.jar");
	REQUIRE("sh\0-c\0make", "sh", "");
	REQUIRE("sh\0./build.sh", "sh", "build.sh");
	REQUIRE("python3\0-m", "python3", "");
	REQUIRE("pythonic\0secret", "pythonic", "");
	REQUIRE("/usr/bin/python3\0./serve.py", "worker", "serve.py");
}

static void this_process_keeps_its_command_when_it_renames_itself(void **state)
{
	struct lode_thread_lifetime before = { .pid = (uint32_t)getpid() };
	char command[LODE_COMMAND_NAME];

	(void)state;
	SKIP_EMULATED("the first argument is the emulator's");
	assert_int_equal(prctl(PR_GET_NAME, before.name), 0);
	lode_process_command(before.pid, before.name, command, sizeof(command));
	if (command[0])
		skip(); /* it was started by another program, such as valgrind */
	lode_process_command(before.pid, "MainThread", command, sizeof(command));
	assert_string_equal(command, before.name);
}

static void a_child_is_the_program_of_its_parent(void **state)
{
	char command[LODE_COMMAND_NAME] = "", java[LODE_THREAD_NAME] = "java", none[LODE_THREAD_NAME] = "";

	(void)state;
	lode_command_inherit(command, none, java, "java");
	assert_string_equal(command, "");
	lode_command_inherit(command, none, java, "pool-1"); /* another of its threads has forked */
	assert_string_equal(command, "java");
	lode_command_inherit(command, java, none, "pool-1");
	assert_string_equal(command, "java");
}

/* A child that executes nothing has the same arguments: a name of its own is its part of the program, that of an interpreter is none. */
static void a_child_that_was_forked_before_is_called_as_its_parent_unless_it_has_a_name(void **state)
{
	char own[LODE_COMMAND_NAME], command[LODE_COMMAND_NAME];
	pid_t child = fork();

	(void)state;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	lode_process_command((uint32_t)getpid(), "python3", own, sizeof(own));
	lode_process_command((uint32_t)child, "python3", command, sizeof(command));
	assert_string_equal(command, own);
	lode_process_command((uint32_t)child, "checkpointer", command, sizeof(command));
	assert_string_equal(command, "");
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_called_by_its_program_if_it_has_another_name_now),
		cmocka_unit_test(what_runs_a_script_is_called_as_the_script),
		cmocka_unit_test(this_process_keeps_its_command_when_it_renames_itself),
		cmocka_unit_test(a_child_is_the_program_of_its_parent),
		cmocka_unit_test(a_child_that_was_forked_before_is_called_as_its_parent_unless_it_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
