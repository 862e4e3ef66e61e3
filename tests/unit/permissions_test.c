/*
 * Why the kernel refuses: from files of many a machine, written here, to the sentence.
 */
#include "cmocka_all.h"
#include "temporary.h"

#include "record/load/permissions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ALL_CAPABILITIES  "000001ffffffffff"
#define NO_CAPABILITIES   "0000000000000000"
#define ONLY_BPF          "0000008000000000"
#define BPF_AND_PERFMON   "000000c000000000"
#define ONLY_ADMIN        "0000000000200000"
#define USERS_OF_MACHINE  "         0          0 4294967295\n"
#define USERS_OF_ROOTLESS "         0       1000          1\n"

struct machine {
	const char *capabilities;
	const char *users;
	const char *lockdown; /* NULL: not built in */
	const char *paranoid;
	int seccomp;
	int has_types;
};

static const struct machine ordinary = {
	.capabilities = ALL_CAPABILITIES, .users = USERS_OF_MACHINE, .paranoid = "2\n", .has_types = 1
};

static void put(const char *root, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	for (const char *slash = name + 1; (slash = strchr(slash, '/')); slash++) {
		snprintf(path, sizeof(path), "%s%.*s", root, (int)(slash - name), name);
		mkdir(path, 0700);
	}
	snprintf(path, sizeof(path), "%s%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The sentence of that machine; "" where no setting explains it. */
static const char *sentence(const struct machine *machine, unsigned needs, int number)
{
	static struct lode_error error;
	struct lode_permissions permissions;
	char status[256], root[64];
	int code;

	assert_int_equal(temporary_folder(root, sizeof(root)), 0);
	snprintf(status, sizeof(status), "Name:\tlode\nCapEff:\t%s\nNoNewPrivs:\t0\nSeccomp:\t%d\n",
		 machine->capabilities, machine->seccomp);
	put(root, "/proc/self/status", status);
	put(root, "/proc/self/uid_map", machine->users);
	put(root, "/proc/sys/kernel/perf_event_paranoid", machine->paranoid);
	if (machine->lockdown)
		put(root, "/sys/kernel/security/lockdown", machine->lockdown);
	if (machine->has_types)
		put(root, "/sys/kernel/btf/vmlinux", "types");
	lode_permissions_look(root, &permissions);
	error.text[0] = '\0';
	code = lode_permissions_explain(&permissions, needs, number, &error);
	assert_int_equal(code, error.text[0] ? LODE_SYSTEM : 0);
	assert_int_equal(temporary_remove(root), 0);
	return error.text;
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
}

static void assert_keeps_quiet_of(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' says '%s'", text, part);
}

static void missing_capabilities_are_named_and_no_others(void **state)
{
	struct machine machine = ordinary;
	const char *text;

	(void)state;
	machine.capabilities = NO_CAPABILITIES;
	text = sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM);
	assert_says(text, "CAP_BPF and CAP_PERFMON are missing");
	assert_says(text, "run as root");
	assert_says(text,
		    "'setcap cap_bpf,cap_perfmon,cap_syslog+ep', and cap_sys_ptrace for processes of other users");
	assert_keeps_quiet_of(text, "PTRACE");
	text = sentence(&machine, LODE_NEEDS_PROGRAMS | LODE_NEEDS_STACKS, EACCES);
	assert_says(text, "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE are missing");
	assert_says(text, "'setcap cap_bpf,cap_perfmon,cap_syslog,cap_sys_ptrace+ep')");
	machine.capabilities = ONLY_BPF;
	text = sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM);
	assert_says(text, "CAP_PERFMON is missing");
	assert_keeps_quiet_of(text, "CAP_BPF");
	machine.capabilities = BPF_AND_PERFMON;
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS | LODE_NEEDS_STACKS, EPERM),
		    "CAP_SYS_PTRACE is missing");
	machine.capabilities = ONLY_ADMIN;
	assert_keeps_quiet_of(sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM), "missing");
}

static void what_works_all_the_same_depends_on_perf_event_paranoid(void **state)
{
	struct machine machine = ordinary;
	const char *text;

	(void)state;
	machine.capabilities = NO_CAPABILITIES;
	text = sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM);
	assert_says(text, "perf_event_paranoid (now 2)");
	assert_says(text, "record your own programs with 'perf record -g'");
	assert_says(text, "'lode import'");
	machine.paranoid = "3\n";
	text = sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM);
	assert_says(text, "perf_event_paranoid (now 3)");
	assert_says(text, "needs kernel.perf_event_paranoid at 2 or less");
	assert_says(text, "'lode import'");
	assert_keeps_quiet_of(text, "with 'perf record -g'");
}

static void settings_that_refuse_root_are_named(void **state)
{
	struct machine machine = ordinary;

	(void)state;
	machine.has_types = 0;
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS, ENOENT), "/sys/kernel/btf/vmlinux: is missing");
	machine = ordinary;
	machine.lockdown = "none integrity [confidentiality]\n";
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM),
		    "/sys/kernel/security/lockdown: is 'confidentiality'");
	machine.lockdown = "none [integrity] confidentiality\n";
	assert_keeps_quiet_of(sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM), "lockdown");
	machine = ordinary;
	machine.users = USERS_OF_ROOTLESS;
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM), "user namespace");
	machine = ordinary;
	machine.seccomp = 2;
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM), "seccomp filter");
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS, ENOSYS), "seccomp filter");
	machine.seccomp = 0;
	assert_says(sentence(&machine, LODE_NEEDS_PROGRAMS, EPERM), "security module");
}

static void what_is_no_matter_of_permission_is_left_to_the_caller(void **state)
{
	(void)state;
	assert_string_equal(sentence(&ordinary, LODE_NEEDS_PROGRAMS, EINVAL), "");
	assert_string_equal(sentence(&ordinary, LODE_NEEDS_PROGRAMS, ENOSYS), "");
	assert_string_equal(sentence(&ordinary, LODE_NEEDS_PROGRAMS, ENOMEM), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_capabilities_are_named_and_no_others),
		cmocka_unit_test(what_works_all_the_same_depends_on_perf_event_paranoid),
		cmocka_unit_test(settings_that_refuse_root_are_named),
		cmocka_unit_test(what_is_no_matter_of_permission_is_left_to_the_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
