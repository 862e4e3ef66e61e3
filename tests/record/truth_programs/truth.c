/*
 * The shadow stacks, windows and log of the programs that know their own stacks: see
 * truth.h.
 *
 *	PROGRAM LOG [CASE...]
 *
 * Waits and computes for a while (case `start`), since a recorder may have to look into the
 * program's files first. Then runs the cases, all of the program's unless some are named.
 * Appends to the file LOG what was noted, one line each:
 *
 *	stack PID NUMBER NAME;NAME;...             a shadow stack, root first
 *	window PID NUMBER CASE TID BEGAN ENDED     a window with the stack of that number
 *	imprecise PID 0                            the compiler does not say how to unwind from
 *	                                           the beginnings and ends of functions
 *
 * Everything is kept in memory of fixed size until the process ends, and written at once,
 * so that the lines of several processes do not mix.
 */
#include "truth.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* LLVM has it for aarch64 since version 15. */
#if defined(__clang__) && defined(__aarch64__)
#define IS_IMPRECISE (__clang_major__ < 15)
#else
#define IS_IMPRECISE 0
#endif

#define DEPTH_LIMIT   1024
#define STACKS_LIMIT  4096
#define WINDOWS_LIMIT 65536
#define NAMES_LIMIT   (1u << 18)

struct shadow {
	unsigned depth;
	const char *names[DEPTH_LIMIT];
};

struct stack {
	unsigned first; /* in `names` */
	unsigned depth;
};

struct window {
	unsigned stack;
	int tid;
	const char *name; /* of the case */
	uint64_t began;
	uint64_t ended;
};

static __thread struct shadow shadow;
static __thread unsigned window_stack; /* of the window that is open */

static const char *log_path, *case_name = "";
static char lock;
static const char *names[NAMES_LIMIT];
static unsigned name_count;
static struct stack stacks[STACKS_LIMIT];
static unsigned stack_count;
static struct window windows[WINDOWS_LIMIT];
static unsigned window_count;
static unsigned seed = 1;
static volatile unsigned sum;

static void fail(const char *sentence)
{
	fprintf(stderr, "truth: %s\n", sentence);
	_exit(3);
}

static void take_lock(void)
{
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void release_lock(void)
{
	__atomic_clear(&lock, __ATOMIC_RELEASE);
}

unsigned truth_random(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

/* ---- the shadow stack ---- */

void truth_push(const char *function)
{
	if (shadow.depth == DEPTH_LIMIT)
		fail("the shadow stack is full");
	shadow.names[shadow.depth++] = function;
}

void truth_pop(void)
{
	shadow.depth--;
}

void truth_start(const char *start)
{
	shadow.depth = 0;
	truth_push(start);
}

static int is_shadow(const struct stack *stack)
{
	return stack->depth == shadow.depth &&
	       !memcmp(names + stack->first, shadow.names, shadow.depth * sizeof(*names));
}

/* The number of the shadow stack; most windows have the same stack as a recent one. */
static unsigned number_of_shadow(void)
{
	unsigned number;

	take_lock();
	for (number = stack_count; number > 0; number--)
		if (is_shadow(&stacks[number - 1]))
			break;
	if (!number) {
		if (stack_count == STACKS_LIMIT || name_count + shadow.depth > NAMES_LIMIT)
			fail("too many stacks");
		memcpy(names + name_count, shadow.names, shadow.depth * sizeof(*names));
		stacks[stack_count++] = (struct stack){ name_count, shadow.depth };
		name_count += shadow.depth;
		number = stack_count;
	}
	release_lock();
	return number - 1;
}

/* ---- windows ---- */

static inline __attribute__((always_inline)) uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

TRUTH_FUNCTION uint64_t truth_begin(void)
{
	window_stack = number_of_shadow();
	return now();
}

TRUTH_FUNCTION void truth_end(uint64_t began)
{
	uint64_t ended = now();
	unsigned number = __atomic_fetch_add(&window_count, 1, __ATOMIC_RELAXED);

	if (number >= WINDOWS_LIMIT)
		fail("too many windows");
	windows[number] = (struct window){ window_stack, (int)syscall(SYS_gettid), case_name, began, ended };
}

TRUTH_FUNCTION void truth_wait(void)
{
	struct timespec time = { 0, 60000 };
	uint64_t began;

	truth_push(__func__);
	began = truth_begin();
	nanosleep(&time, NULL);
	truth_end(began);
	truth_pop();
}

TRUTH_FUNCTION unsigned truth_leaf(unsigned number)
{
	return number * 1103515245 + 12345;
}

/* Needs registers that it has to save, and room. */
TRUTH_FUNCTION unsigned truth_step(unsigned number)
{
	volatile unsigned room[20];
	unsigned a = truth_leaf(number), b = truth_leaf(a + 1), c = truth_leaf(b + 2);

	room[a % 20] = b;
	return a + b * c + room[a % 20];
}

TRUTH_FUNCTION void truth_work(unsigned milliseconds)
{
	uint64_t began, end;

	truth_push(__func__);
	began = truth_begin();
	end = began + milliseconds * 1000000ull;
	do {
		for (int i = 0; i < 2000; i++)
			sum = truth_step(sum);
	} while (now() < end);
	truth_end(began);
	truth_pop();
}

TRUTH_FUNCTION void truth_work_until(int signal, volatile int *done)
{
	sigset_t set;

	truth_push(__func__);
	truth_push(TRUTH_WORKING);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	while (!*done)
		sum = truth_step(sum);
	sigprocmask(SIG_BLOCK, &set, NULL);
	truth_pop();
	truth_pop();
}

/* ---- the log ---- */

static void write_stack(FILE *file, unsigned number)
{
	fprintf(file, "stack %d %u ", (int)getpid(), number);
	for (unsigned i = 0; i < stacks[number].depth; i++)
		fprintf(file, "%s%s", i ? ";" : "", names[stacks[number].first + i]);
	fputc('\n', file);
}

void truth_write(void)
{
	int fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	size_t size;
	char *text;
	FILE *file = open_memstream(&text, &size);

	if (fd < 0 || !file)
		fail("the log cannot be written");
	if (IS_IMPRECISE)
		fprintf(file, "imprecise %d 0\n", (int)getpid());
	for (unsigned i = 0; i < stack_count; i++)
		write_stack(file, i);
	for (unsigned i = 0; i < window_count; i++)
		fprintf(file, "window %d %u %s %d %llu %llu\n", (int)getpid(), windows[i].stack, windows[i].name,
			windows[i].tid, (unsigned long long)windows[i].began, (unsigned long long)windows[i].ended);
	fclose(file);
	if (write(fd, text, size) != (ssize_t)size)
		fail("the log cannot be written");
	free(text);
	close(fd);
}

void truth_forget(void)
{
	stack_count = window_count = name_count = 0;
}

/* ---- cases ---- */

static const struct truth_case *find_case(const char *name)
{
	const struct truth_case *each = truth_cases;

	while (each->name && strcmp(each->name, name) != 0)
		each++;
	if (!each->name)
		fail("there is no such case");
	return each;
}

static void run_case(const struct truth_case *chosen)
{
	case_name = chosen->name;
	chosen->run();
}

/* Children that live for a moment are as they are: without a start. */
static void start(const char *first)
{
	uint64_t end = now() + 200000000u;

	if (first && !strcmp(first, "child"))
		return;
	case_name = "start";
	while (now() < end) {
		truth_wait();
		truth_work(1);
	}
}

int main(int count, char **words)
{
	if (count < 2)
		fail("give the file to write to");
	log_path = words[1];
	truth_start("main");
	start(words[2]);
	for (int i = 2; i < count; i++)
		run_case(find_case(words[i]));
	for (const struct truth_case *each = truth_cases; count == 2 && each->name; each++)
		run_case(each);
	truth_write();
	return 0;
}
