/*
 * A program to be hunted: `prey WHAT FILE` does one thing over and over until it is
 * killed, or for ten minutes. See prey.h.
 */
#include "prey.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u

/* Functions that are measured must be there: not inlined. */
#define NEVER_INLINE __attribute__((noinline))

static struct prey_page *page;
static volatile uint64_t sink;
static uint64_t end;

/* A process left behind would keep the tests' output open, and processors busy. */
static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static uint64_t clock_of(clockid_t which)
{
	struct timespec time;

	clock_gettime(which, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t wall(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static uint64_t cpu(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static int goes_on(void)
{
	__atomic_fetch_add(&page->turns, 1, __ATOMIC_RELAXED);
	return wall() < end;
}

/* Begins and ends what a function uses; in between the truth grows by steps, so that it can be read at any
 * time. */
struct span {
	struct prey_truth *truth;
	uint64_t cpu;
	uint64_t wall;
	uint64_t queued;
};

/* Time that the thread was in the run queue, as the kernel reports it; 0: it does not. */
static uint64_t queued(void)
{
	unsigned long long ran, waited;
	char text[128] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	close(fd);
	return waited;
}

static struct span make_span(int truth, uint64_t address)
{
	page->truths[truth].address = address;
	__atomic_fetch_add(&page->truths[truth].calls, 1, __ATOMIC_RELAXED);
	return (struct span){ &page->truths[truth], cpu(), wall(), 0 };
}

#define begin(truth, function) make_span(truth, (uint64_t)(uintptr_t)(function))

static void step(struct span *span)
{
	uint64_t now_cpu = cpu();

	__atomic_fetch_add(&span->truth->cpu, now_cpu - span->cpu, __ATOMIC_RELAXED);
	span->cpu = now_cpu;
}

/* The same for a function that waits: the wall time that is neither CPU time nor spent in the run queue. */
static struct span begin_wait(int truth, uint64_t address)
{
	struct span span = make_span(truth, address);

	span.queued = queued();
	span.cpu = cpu();
	span.wall = wall();
	return span;
}

static void end_wait(struct span *span)
{
	uint64_t used = cpu() - span->cpu, took = wall() - span->wall, queued_for = queued() - span->queued;

	__atomic_fetch_add(&span->truth->cpu, used, __ATOMIC_RELAXED);
	__atomic_fetch_add(&span->truth->blocked, took > used + queued_for ? took - used - queued_for : 0,
			   __ATOMIC_RELAXED);
}

/* Uses so much CPU time; `span` (NULL: none) is updated as it goes. */
static NEVER_INLINE void burn(uint64_t time, struct span *span)
{
	uint64_t until = cpu() + time;

	while (cpu() < until) {
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i * sink + 1;
		if (span)
			step(span);
	}
}

static void nap(uint64_t time)
{
	struct timespec left = { 0, (long)time };

	nanosleep(&left, NULL);
}

/* ---- shares: two functions, called over and over ---- */

static NEVER_INLINE void work_much(void)
{
	struct span span = begin(0, work_much);

	burn(6 * MS, &span);
	step(&span);
	sink++;
}

static NEVER_INLINE void work_little(void)
{
	struct span span = begin(1, work_little);

	burn(2 * MS, &span);
	step(&span);
	sink++;
}

static NEVER_INLINE void sleep_some(void)
{
	struct span span = begin(2, sleep_some);

	nap(2 * MS);
	step(&span);
	sink++;
}

static void do_shares(void)
{
	while (goes_on()) {
		work_much();
		work_little();
		sleep_some();
	}
}

/* ---- loop: in progress all the time, from before the hunt begins ---- */

static NEVER_INLINE void long_loop(void)
{
	struct span span = begin(0, long_loop);

	while (goes_on()) {
		burn(3 * MS, &span);
		nap(1 * MS);
		step(&span);
	}
}

/* ---- recursion ---- */

static NEVER_INLINE void descend(int depth, struct span *span)
{
	if (depth > 0) {
		descend(depth - 1, span);
		sink++;
		return;
	}
	burn(2 * MS, span);
	sink++;
}

static void do_recursion(void)
{
	while (goes_on()) {
		struct span span = begin(0, descend);

		descend(60, &span);
		step(&span);
		burn(2 * MS, NULL);
	}
}

/* ---- tail calls ---- */

static NEVER_INLINE void tail_end(void)
{
	struct span span = begin(1, tail_end);

	burn(3 * MS, &span);
	step(&span);
	sink++;
}

static NEVER_INLINE void tail_caller(void)
{
	struct span span = begin(0, tail_caller);

	burn(1 * MS, &span);
	step(&span);
	tail_end();
}

static void do_tail(void)
{
	while (goes_on()) {
		tail_caller();
		burn(2 * MS, NULL);
	}
}

/* ---- longjmp ---- */

static jmp_buf back;

static NEVER_INLINE void jumper(int depth, struct span *span)
{
	if (depth > 0) {
		jumper(depth - 1, span);
		sink++;
		return;
	}
	burn(2 * MS, span);
	if (goes_on() || sink)
		longjmp(back, 1);
}

static NEVER_INLINE void after_jump(void)
{
	struct span span = begin(1, after_jump);

	burn(4 * MS, &span);
	step(&span);
	sink++;
}

static void do_jumps(void)
{
	while (goes_on()) {
		struct span span = begin(0, jumper);

		if (!setjmp(back))
			jumper(3, &span);
		after_jump();
	}
}

/* ---- threads and a lock: one holds it 6 ms of every 8, the other waits for it ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NEVER_INLINE void hold_lock(void)
{
	pthread_mutex_lock(&lock);
	nap(6 * MS);
	pthread_mutex_unlock(&lock);
	sink++;
}

static NEVER_INLINE void want_lock(void)
{
	struct span span = begin_wait(0, (uint64_t)(uintptr_t)want_lock);

	pthread_mutex_lock(&lock);
	end_wait(&span);
	pthread_mutex_unlock(&lock);
	sink++;
}

static void *holder(void *argument)
{
	while (goes_on()) {
		hold_lock();
		nap(2 * MS);
	}
	return argument;
}

static void do_lock(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, holder, NULL);
	while (goes_on()) {
		want_lock();
		nap(MS);
	}
	pthread_join(thread, NULL);
}

/* ---- waiting by spinning, as MPI libraries do: the meter knows them by their names ---- */

int MPI_Barrier(int communicator);
int MPI_Recv(void *buffer, int count, int type, int source, int tag, int communicator, void *status);
int MPI_Sendrecv(const void *sent, int count, int type, int to, int tag, void *got, int got_count, int got_type,
		 int from, int got_tag, int communicator, void *status);
int MPI_Allreduce(const void *from, void *to, int count, int type, int operation, int communicator);

static void spin(uint64_t time)
{
	uint64_t until = wall() + time;

	while (wall() < until)
		sink++;
}

NEVER_INLINE int MPI_Barrier(int communicator)
{
	sink += (uint64_t)communicator;
	return 0;
}

/* They take so many milliseconds as there are elements. */
NEVER_INLINE int MPI_Recv(void *buffer, int count, int type, int source, int tag, int communicator, void *status)
{
	(void)buffer, (void)type, (void)source, (void)tag, (void)status;
	spin((uint64_t)count * MS);
	MPI_Barrier(communicator + 1);
	sink++;
	return 0;
}

NEVER_INLINE int MPI_Sendrecv(const void *sent, int count, int type, int to, int tag, void *got, int got_count,
			      int got_type, int from, int got_tag, int communicator, void *status)
{
	(void)sent, (void)type, (void)to, (void)tag, (void)got, (void)got_count, (void)got_type, (void)from;
	(void)got_tag, (void)communicator, (void)status;
	spin((uint64_t)count * MS);
	sink++;
	return 0;
}

NEVER_INLINE int MPI_Allreduce(const void *from, void *to, int count, int type, int operation, int communicator)
{
	(void)from, (void)to, (void)type, (void)operation, (void)communicator;
	spin((uint64_t)count * MS);
	sink++;
	return 0;
}

static NEVER_INLINE void exchange(void)
{
	struct span span = begin(0, exchange);

	MPI_Recv(NULL, 4, 0, 1, 7, 0x44000000, NULL);
	__atomic_fetch_add(&span.truth->blocked, wall() - span.wall, __ATOMIC_RELAXED);
	sink++;
}

/* Truths by communicator and tag; which is which, the test knows. */
static void count_message(int truth, uint64_t since)
{
	uint64_t time = wall() - since;

	__atomic_fetch_add(&page->truths[truth].blocked, time, __ATOMIC_RELAXED);
	if (time > page->truths[truth].cpu)
		__atomic_store_n(&page->truths[truth].cpu, time, __ATOMIC_RELAXED); /* the longest */
}

static void do_messages(void)
{
	page->truths[0].address = (uint64_t)(uintptr_t)MPI_Recv;
	while (goes_on()) {
		uint64_t now = wall();

		MPI_Recv(NULL, 4, 0, 1, 7, 0x44000000, NULL);
		count_message(0, now);
		now = wall();
		MPI_Recv(NULL, 2, 0, 1, 8, 0x44000000, NULL);
		count_message(1, now);
		now = wall();
		MPI_Allreduce(NULL, NULL, 3, 0, 0, 0x44000000);
		count_message(2, now);
		now = wall();
		MPI_Sendrecv(NULL, 6, 0, 1, 7, NULL, 6, 0, 1, 9, (int)0x84000001, NULL);
		count_message(3, now);
		burn(2 * MS, NULL);
	}
}

static void do_spin(void)
{
	while (goes_on()) {
		exchange();
		burn(2 * MS, NULL);
	}
}

/* ---- small writes, and reads that wait ---- */

static NEVER_INLINE void small_writes(int fd)
{
	char bytes[64] = "";

	for (int i = 0; i < 50; i++)
		if (write(fd, bytes, sizeof(bytes)) > 0)
			__atomic_fetch_add(&page->operations, 1, __ATOMIC_RELAXED);
}

static void do_writes(void)
{
	int fd = open("/dev/null", O_WRONLY);

	page->truths[0].address = (uint64_t)(uintptr_t)small_writes;
	while (goes_on()) {
		small_writes(fd);
		burn(1 * MS, NULL);
	}
}

static NEVER_INLINE void read_byte(int fd)
{
	struct span span = begin_wait(0, (uint64_t)(uintptr_t)read_byte);
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	end_wait(&span);
	sink++;
}

static void *writer(void *argument)
{
	int fd = *(int *)argument;

	while (goes_on()) {
		nap(20 * MS);
		if (write(fd, "", 1) < 0)
			break;
	}
	return NULL;
}

static void do_pipe(void)
{
	pthread_t thread;
	int fds[2];

	if (pipe(fds) < 0)
		return;
	pthread_create(&thread, NULL, writer, &fds[1]);
	while (goes_on()) {
		read_byte(fds[0]);
		burn(1 * MS, NULL);
	}
	pthread_join(thread, NULL);
}

/* ---- too many calls ---- */

static NEVER_INLINE void tiny(void)
{
	sink++;
}

static NEVER_INLINE void call_tiny(void)
{
	for (int i = 0; i < 100000; i++)
		tiny();
	page->truths[0].calls += 100000;
	page->truths[1].calls++;
}

static void do_hot(void)
{
	page->truths[0].address = (uint64_t)(uintptr_t)tiny;
	page->truths[1].address = (uint64_t)(uintptr_t)call_tiny;
	while (goes_on())
		call_tiny();
}

/* ---- kinds of instructions that a probe can be on ---- */

extern void begins_with_push(void);
extern void begins_with_nop(void);
extern void begins_with_move(void);

#if defined(__aarch64__)
#define PUSH "stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n"
#define MOVE "mov x0, x0\n"
#define TYPE "%function\n"
#else
#define PUSH "push %rbp\n pop %rbp\n"
#define MOVE "mov %rax, %rax\n"
#define TYPE "@function\n"
#endif
#define FUNCTION(name, code)                                                                                      \
	".globl " name "\n.type " name ", " TYPE name ":\n" code "ret\n.size " name ", . - " name "\n"

__asm__(".text\n.p2align 4\n" FUNCTION("begins_with_push", PUSH) FUNCTION("begins_with_nop", "nop\n")
		FUNCTION("begins_with_move", MOVE));

static void call_kind(int truth, void (*function)(void))
{
	uint64_t before = cpu();

	page->truths[truth].address = (uint64_t)(uintptr_t)function;
	for (int i = 0; i < 1000; i++)
		function();
	page->truths[truth].cpu += cpu() - before;
	page->truths[truth].calls += 1000;
}

static void do_kinds(void)
{
	while (goes_on()) {
		call_kind(0, begins_with_push);
		call_kind(1, begins_with_nop);
		call_kind(2, begins_with_move);
		nap(10 * MS);
	}
}

/* ---- children ---- */

static void do_children(void)
{
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			die_with_parent();
			while (goes_on()) {
				work_much();
				nap(2 * MS);
			}
			_exit(0);
		}
	}
	while (goes_on())
		nap(5 * MS);
	while (wait(NULL) > 0)
		;
}

/* ---- many threads that come and go ---- */

static void *short_life(void *argument)
{
	work_little();
	return argument;
}

static void do_lives(void)
{
	while (goes_on()) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, short_life, NULL))
			pthread_join(thread, NULL);
		nap(MS);
	}
}

/* ---- a plugin, loaded after a while ---- */

static void burn_for_plugin(void *context)
{
	burn(2 * MS, context);
}

static void do_plugin(void)
{
	void *library = NULL;
	void (*work)(void (*burn)(void *context), void *context) = NULL;
	uint64_t load = wall() + 300 * MS;

	while (goes_on()) {
		if (!library && wall() > load) {
			library = dlopen(getenv("PREY_PLUGIN"), RTLD_NOW);
			if (!library)
				return;
			*(void **)&work = dlsym(library, "plugin_work");
		}
		if (work) {
			struct span span = begin(0, work);

			work(burn_for_plugin, &span);
		}
		burn(2 * MS, NULL);
	}
}

static const struct {
	const char *name;
	void (*act)(void);
} acts[] = {
	{ "shares", do_shares },     { "loop", long_loop }, { "recursion", do_recursion },
	{ "tail", do_tail },         { "jumps", do_jumps }, { "lock", do_lock },
	{ "writes", do_writes },     { "pipe", do_pipe },   { "hot", do_hot },
	{ "children", do_children }, { "lives", do_lives }, { "spin", do_spin },
	{ "messages", do_messages }, { "kinds", do_kinds }, { "plugin", do_plugin },
};

int main(int count, char **words)
{
	int fd = count == 3 ? open(words[2], O_RDWR | O_CREAT, 0600) : -1;

	die_with_parent();
	if (fd < 0 || ftruncate(fd, sizeof(*page)) < 0)
		return 2;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 2;
	end = wall() + 600000000000u;
	__atomic_store_n(&page->ready, 1, __ATOMIC_RELEASE);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcmp(acts[i].name, words[1])) {
			acts[i].act();
			return 0;
		}
	return 2;
}
