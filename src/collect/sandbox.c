/*
 * Sandbox: see sandbox.h.
 *
 * A seccomp filter lets through the calls below; all others fail with EPERM, which libraries take for an answer (a
 * thread that cannot be started, a file that cannot be opened). Memory may never become executable. Making files durable
 * is left to the process that asked, so these calls do nothing. Limits of CPU time and of the clock end the
 * process; it cannot lift them or block their signals, since the calls for that are not in the list.
 */
#include "collect/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#define MAX_DESCRIPTORS 32

#ifdef MACHINE

static const int allowed[] = {
	SYS_read,
	SYS_write,
	SYS_pread64,
	SYS_pwrite64,
	SYS_readv,
	SYS_writev,
	SYS_lseek,
	SYS_close,
	SYS_dup,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigreturn,
	SYS_sigaltstack, /* of itself; the sanitizers ask before they end a process */
	SYS_clock_gettime,
	SYS_getpid,
	SYS_gettid,
	SYS_getrandom,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_restart_syscall,
};
/* With a look at the protection, which is the third argument of both. */
static const int protecting[] = { SYS_mmap, SYS_mprotect };
/* Nothing here blocks signals for a good reason; what the limits send must arrive. */
static const int ignored[] = { SYS_fsync, SYS_fdatasync, SYS_rt_sigprocmask };

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* Two instructions for each call: whether it is this one, and what then. The protecting ones need five. */
#define PROGRAM_ROOM (8 + 2 * (COUNT(allowed) + COUNT(ignored)) + 5 * COUNT(protecting))

struct program {
	struct sock_filter code[PROGRAM_ROOM];
	unsigned short size;
};

static void add(struct program *program, struct sock_filter instruction)
{
	program->code[program->size++] = instruction;
}

static void load(struct program *program, size_t offset)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct program *program, uint32_t verdict)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

static void answer_for(struct program *program, const int *calls, size_t count, uint32_t verdict)
{
	for (size_t i = 0; i < count; i++) {
		add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1));
		answer(program, verdict);
	}
}

static void make_program(struct program *program)
{
	load(program, offsetof(struct seccomp_data, arch));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
	answer(program, SECCOMP_RET_KILL_PROCESS);
	load(program, offsetof(struct seccomp_data, nr));
	answer_for(program, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
	answer_for(program, ignored, COUNT(ignored), SECCOMP_RET_ERRNO);
	for (size_t i = 0; i < COUNT(protecting); i++) {
		add(program,
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)protecting[i], 0, 4));
		load(program, offsetof(struct seccomp_data, args[2]));
		add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0));
		answer(program, SECCOMP_RET_ALLOW);
		answer(program, SECCOMP_RET_ERRNO | EPERM);
	}
	answer(program, SECCOMP_RET_ERRNO | EPERM);
}

static int filter_calls(void)
{
	struct program program = { .size = 0 };
	struct sock_fprog filter;

	make_program(&program);
	filter = (struct sock_fprog){ program.size, program.code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? -1 : 0;
}

#else

static int filter_calls(void)
{
	errno = ENOSYS;
	return -1;
}

#endif

static int limit(__rlimit_resource_t resource, uint64_t most)
{
	const struct rlimit both = { most, most };

	return setrlimit(resource, &both);
}

static int limit_resources(const struct lode_sandbox_limits *limits)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	/* Sanitizers take terabytes of addresses for themselves. */
	if (limit(RLIMIT_AS, limits->memory) < 0)
		return -1;
#endif
	alarm(2 * limits->seconds);
	return limit(RLIMIT_CPU, limits->seconds) < 0 || limit(RLIMIT_FSIZE, limits->written) < 0 ||
			       limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_NOFILE, MAX_DESCRIPTORS) < 0
		       ? -1
		       : 0;
}

int lode_sandbox_enter(const struct lode_sandbox_limits *limits, struct lode_error *error)
{
	if (limit_resources(limits) < 0 || filter_calls() < 0)
		return lode_fail(error, LODE_SYSTEM, "cannot enter a sandbox: %s", strerror(errno));
	return 0;
}
