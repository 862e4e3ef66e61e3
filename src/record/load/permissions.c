/*
 * Permissions: see permissions.h.
 *
 * The checks are in the order of what a user can change: a missing capability is the
 * usual reason, and nothing else matters without it; but in a user namespace a
 * capability means nothing, and a kernel that is locked down or has no BTF type
 * information refuses even root.
 */
#include "record/load/permissions.h"

#include "base/proc_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers of linux/capability.h, which older ones do not have. */
#define CAP_PTRACE  19
#define CAP_ADMIN   21
#define CAP_PERFMON 38
#define CAP_BPF     39

#define TYPES    "/sys/kernel/btf/vmlinux"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define STATUS   "/proc/self/status"
#define USERS    "/proc/self/uid_map"

/* ---- looking ---- */

static int can_read(const char *root, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return access(path, R_OK) == 0;
}

/* Users of the machine are mapped one to one, all of them; those of a namespace are not. */
static int is_namespace(const char *users)
{
	unsigned long inside, outside, count;

	return sscanf(users, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
	       !(inside == 0 && outside == 0 && count == UINT32_MAX);
}

void lode_permissions_look(const char *root, struct lode_permissions *permissions)
{
	char text[4096];

	memset(permissions, 0, sizeof(*permissions));
	permissions->has_types = can_read(root, TYPES);
	lode_proc_text(text, sizeof(text), "%s" STATUS, root);
	permissions->capabilities = lode_proc_field(text, "\nCapEff:", 16, UINT64_MAX);
	permissions->is_filtered = lode_proc_field(text, "\nSeccomp:", 10, 0) == 2;
	lode_proc_text(text, sizeof(text), "%s" USERS, root);
	permissions->is_in_namespace = is_namespace(text);
	lode_proc_text(text, sizeof(text), "%s" LOCKDOWN, root);
	permissions->is_locked_down = strstr(text, "[confidentiality]") != NULL;
	lode_proc_text(text, sizeof(text), "%s" PARANOID, root);
	permissions->paranoid = *text ? atoi(text) : 2;
}

/* ---- messages ---- */

static int has(const struct lode_permissions *permissions, int capability)
{
	return (permissions->capabilities >> capability & 1) != 0;
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, which are newer. */
static void name_missing(const struct lode_permissions *permissions, unsigned needs, char text[64])
{
	int programs = needs & LODE_NEEDS_PROGRAMS && !has(permissions, CAP_ADMIN);
	const char *missing[3];
	int count = 0;

	text[0] = '\0';
	if (programs && !has(permissions, CAP_BPF))
		missing[count++] = "CAP_BPF";
	if (programs && !has(permissions, CAP_PERFMON))
		missing[count++] = "CAP_PERFMON";
	if (needs & LODE_NEEDS_STACKS && !has(permissions, CAP_PTRACE))
		missing[count++] = "CAP_SYS_PTRACE";
	for (int i = 0; i < count; i++)
		snprintf(text + strlen(text), 64 - strlen(text), "%s%s",
			 i == 0          ? ""
			 : i < count - 1 ? ", "
					 : " and ",
			 missing[i]);
}

/* What can be done without any privilege. */
static const char *what_works(const struct lode_permissions *permissions)
{
	if (permissions->paranoid > 2)
		return "Otherwise import recordings of perf and other profilers with 'lode import'; 'perf record' "
		       "of your own programs needs kernel.perf_event_paranoid at 2 or less.";
	return "Otherwise record your own programs with 'perf record -g', or use another profiler, and read the "
	       "result with 'lode import'.";
}

static int fail_capabilities(const struct lode_permissions *permissions, unsigned needs, const char *missing,
			     struct lode_error *error)
{
	return lode_fail(
		error, LODE_SYSTEM,
		"the kernel does not permit it: %s %s missing; run as root, or give them to the program "
		"('setcap cap_bpf,cap_perfmon,cap_syslog%s+ep'%s) or to its container ('--cap-add'); changing "
		"kernel.perf_event_paranoid (now %d) does not help. %s",
		missing, strchr(missing, ' ') ? "are" : "is", needs & LODE_NEEDS_STACKS ? ",cap_sys_ptrace" : "",
		needs & LODE_NEEDS_STACKS ? "" : ", and cap_sys_ptrace for processes of other users",
		permissions->paranoid, what_works(permissions));
}

int lode_permissions_explain(const struct lode_permissions *permissions, unsigned needs, int number,
			     struct lode_error *error)
{
	int refused = number == EPERM || number == EACCES;
	char missing[64];

	name_missing(permissions, needs, missing);
	if (refused && *missing)
		return fail_capabilities(permissions, needs, missing, error);
	if (needs & LODE_NEEDS_PROGRAMS && !permissions->has_types)
		return lode_fail(
			error, LODE_SYSTEM,
			TYPES ": is missing: this kernel was built without BTF type information, or a container "
			      "hides them; use a kernel with CONFIG_DEBUG_INFO_BTF, or mount the "
			      "host's /sys. %s",
			what_works(permissions));
	if (refused && permissions->is_in_namespace)
		return lode_fail(error, LODE_SYSTEM,
				 USERS ": this is a user namespace (a rootless container), whose "
				       "capabilities do not reach the kernel; run as root outside of it. %s",
				 what_works(permissions));
	if (refused && permissions->is_locked_down)
		return lode_fail(error, LODE_SYSTEM,
				 LOCKDOWN ": is 'confidentiality', which forbids even root to look into "
					  "programs; boot with lockdown=integrity, or without Secure Boot. %s",
				 what_works(permissions));
	if ((refused || number == ENOSYS) && permissions->is_filtered)
		return lode_fail(error, LODE_SYSTEM,
				 STATUS ": a seccomp filter (of a container or service) forbids bpf() or "
					"perf_event_open(); allow both, as with '--security-opt "
					"seccomp=unconfined'. %s",
				 what_works(permissions));
	if (refused)
		return lode_fail(
			error, LODE_SYSTEM,
			"the kernel does not permit it, although all capabilities are there; check with 'dmesg' "
			"or 'ausearch -m avc' whether a security module (SELinux, AppArmor) forbids it. %s",
			what_works(permissions));
	return 0;
}

int lode_permissions_fail(unsigned needs, int number, struct lode_error *error)
{
	struct lode_permissions permissions;

	if (number == EMFILE)
		return lode_fail(
			error, LODE_SYSTEM,
			"recording needs several open files for each CPU, more than this process may have; raise "
			"the limit as root with 'ulimit -n 65536', or in a systemd unit with LimitNOFILE=65536");
	lode_permissions_look("", &permissions);
	return lode_permissions_explain(&permissions, needs, number, error);
}

int lode_permissions_read_maps(void)
{
	struct lode_permissions permissions;

	lode_permissions_look("", &permissions);
	return has(&permissions, CAP_PTRACE);
}
