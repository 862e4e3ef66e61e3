/*
 * Thread stops: see thread_stops.h.
 *
 * A sleeping thread is not stopped, because some system calls fail with EINTR when
 * they are interrupted, and because it costs it nothing. `holding` in its state
 * keeps the BPF side from touching its open functions for the moment, should
 * it wake up; whether it did is seen by its number of switches.
 *
 * A thread is stopped with PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal.
 * A signal that arrives in that moment is delivered when it continues.
 */
#include "hunt/meter/live/thread_stops.h"

#include "base/memory.h"
#include "hunt/meter/live/stopped_stack.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds to wait for a thread to stop; one that is deep in the kernel is continued later. */
#define STOP_LIMIT 200000000u
#define NAP        20000

/* Number of retries for a thread that wakes up meanwhile. */
#define LOOKS 8

struct process {
	uint32_t pid;
	uint32_t version;
	struct lode_stopped_stack *unwinder;
};

struct lode_stops {
	struct lode_thread_clocks *clocks;
	struct process *processes;
	size_t count;
	size_t capacity;
	uint32_t *late; /* threads that were asked to stop, and have not yet */
	size_t late_count;
	size_t late_capacity;
	struct lode_stop_frame frames[LODE_STOP_FRAMES];
};

struct lode_stops *lode_stops_create(struct lode_thread_clocks *clocks)
{
	struct lode_stops *stops = lode_calloc(1, sizeof(*stops));

	if (stops)
		stops->clocks = clocks;
	return stops;
}

/* ---- processes ---- */

static struct process *find_process(struct lode_stops *stops, uint32_t pid)
{
	for (size_t i = 0; i < stops->count; i++)
		if (stops->processes[i].pid == pid)
			return &stops->processes[i];
	return NULL;
}

/* Reading the memory of a process needs the same permission as stopping it. */
static int check_permission(uint32_t pid, struct lode_error *error)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { NULL, 1 };

	if (process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) >= 0 || errno != EPERM)
		return 0;
	return lode_fail(error, LODE_SYSTEM,
			 "hunt: the stacks of process %u cannot be read; run as root, or with the capability "
			 "CAP_SYS_PTRACE, and see that /proc/sys/kernel/yama/ptrace_scope is not 3",
			 pid);
}

int lode_stops_prepare(struct lode_stops *stops, uint32_t pid, uint32_t version, struct lode_error *error)
{
	struct process *process = find_process(stops, pid);

	if (process && process->version == version)
		return 0;
	if (check_permission(pid, error) < 0)
		return LODE_SYSTEM;
	if (!process) {
		if (LODE_APPEND(stops->processes, stops->count, stops->capacity, (struct process){ .pid = pid }) < 0)
			return lode_fail_memory(error);
		process = &stops->processes[stops->count - 1];
	}
	lode_stopped_stack_destroy(process->unwinder);
	process->version = version;
	process->unwinder = lode_stopped_stack_create(pid);
	return process->unwinder ? 0 : lode_fail_memory(error);
}

void lode_stops_forget(struct lode_stops *stops, uint32_t pid)
{
	struct process *process = find_process(stops, pid);

	if (!process)
		return;
	lode_stopped_stack_destroy(process->unwinder);
	*process = stops->processes[--stops->count];
}

/* ---- ptrace ---- */

/* Whether the thread has stopped: 1, and the signal to deliver; 0: not yet; below 0: it is gone. */
static int has_stopped(uint32_t tid, int *signal)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) < 0)
		return errno == EINTR ? 0 : -1;
	if (!info.si_pid)
		return 0;
	*signal = info.si_status >> 8 ? 0 : info.si_status;
	return 1;
}

static void let_go(uint32_t tid, int signal)
{
	ptrace(PTRACE_DETACH, (pid_t)tid, NULL, (void *)(intptr_t)signal);
}

void lode_stops_tidy(struct lode_stops *stops)
{
	size_t kept = 0;

	for (size_t i = 0; i < stops->late_count; i++) {
		int signal = 0, stopped = has_stopped(stops->late[i], &signal);

		if (stopped > 0)
			let_go(stops->late[i], signal);
		else if (!stopped)
			stops->late[kept++] = stops->late[i];
	}
	stops->late_count = kept;
}

void lode_stops_destroy(struct lode_stops *stops)
{
	struct timespec nap = { 0, 1000000 };

	if (!stops)
		return;
	for (int i = 0; stops->late_count && i < 1000; i++) {
		lode_stops_tidy(stops);
		if (stops->late_count)
			nanosleep(&nap, NULL);
	}
	while (stops->count)
		lode_stops_forget(stops, stops->processes[0].pid);
	lode_free(stops->processes);
	lode_free(stops->late);
	lode_free(stops);
}

/* Stops a thread. Returns 0, or 1 when it is gone or does not stop soon. */
static int stop(struct lode_stops *stops, uint32_t tid, int *signal)
{
	struct timespec nap = { 0, NAP };
	uint64_t began = lode_now();
	int stopped;

	/* Room first: a thread that does not stop in time must not be forgotten. */
	if (LODE_GROW(stops->late, stops->late_capacity, stops->late_count + 1) < 0 ||
	    ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, NULL) < 0)
		return 1;
	if (ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL) < 0) {
		let_go(tid, 0);
		return 1;
	}
	while ((stopped = has_stopped(tid, signal)) == 0) {
		if (lode_now() - began > STOP_LIMIT) {
			stops->late[stops->late_count++] = tid;
			return 1;
		}
		nanosleep(&nap, NULL);
	}
	return stopped < 0;
}

static int get_registers(uint32_t tid, struct lode_registers *registers)
{
	struct user_regs_struct kernel;
	struct iovec bytes = { &kernel, sizeof(kernel) };

	/* Of a thread that runs 32-bit code there are fewer bytes, of other registers. */
	if (ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &bytes) < 0 ||
	    bytes.iov_len != sizeof(kernel))
		return LODE_SYSTEM;
	lode_registers_from_kernel(registers, &kernel);
	return 0;
}

/* ---- looking ---- */

struct look {
	int (*take)(void *context, uint32_t place, const struct lode_stop_frame *frames, size_t count);
	void *context;
};

static int look_stopped(struct lode_stops *stops, struct process *process, uint32_t place, const struct look *look,
			uint64_t *stopped)
{
	uint32_t tid = stops->clocks->threads[place].tid;
	struct lode_registers registers;
	size_t count = 0;
	uint64_t began;
	int signal = 0, code = 1;

	if (stop(stops, tid, &signal))
		return 1;
	began = lode_now();
	if (!get_registers(tid, &registers))
		count = lode_stopped_stack_walk(process->unwinder, &registers, stops->frames, LODE_STOP_FRAMES);
	if (count)
		code = look->take(look->context, place, stops->frames, count);
	let_go(tid, signal);
	*stopped += lode_now() - began;
	return code;
}

static int is_asleep(const struct lode_hunt_thread *thread)
{
	return __atomic_load_n(&thread->blocked, __ATOMIC_ACQUIRE) && thread->sp;
}

/* Returns what `take` does, or 2 when the thread woke up meanwhile. */
static int look_asleep(struct lode_stops *stops, struct process *process, uint32_t place, const struct look *look)
{
	struct lode_hunt_thread *shared = &stops->clocks->threads[place], thread;
	struct lode_registers registers;
	size_t count;
	int code = 2;

	lode_thread_clocks_thread(stops->clocks, place, &thread);
	lode_registers_from_few(&registers, thread.pc, thread.sp, thread.fp, thread.link);
	count = lode_stopped_stack_walk(process->unwinder, &registers, stops->frames, LODE_STOP_FRAMES);
	__atomic_store_n(&shared->holding, 1, __ATOMIC_SEQ_CST);
	if (is_asleep(shared) && shared->switches == thread.switches)
		code = look->take(look->context, place, stops->frames, count);
	__atomic_store_n(&shared->holding, 0, __ATOMIC_SEQ_CST);
	return code;
}

int lode_stops_look(struct lode_stops *stops, uint32_t place,
		    int (*take)(void *context, uint32_t place, const struct lode_stop_frame *frames, size_t count),
		    void *context, uint64_t *stopped)
{
	const struct lode_hunt_thread *thread = &stops->clocks->threads[place];
	struct process *process = find_process(stops, thread->pid);
	struct look look = { take, context };
	int code = 2;

	if (!process || !process->unwinder)
		return 1;
	for (int i = 0; code == 2 && i < LOOKS; i++) {
		if (!thread->tid || thread->died)
			return 1;
		if (is_asleep(thread))
			code = look_asleep(stops, process, place, &look);
		else
			code = look_stopped(stops, process, place, &look, stopped);
	}
	return code == 2 ? 1 : code;
}
