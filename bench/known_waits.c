/*
 * A program that knows its waits: `known_waits SECONDS PAIRS`. Each pair is an asker, whose functions wait for answers of a
 * helper, and its helper, whose functions wait for questions and rest. A function keeps count of its waits (what the kernel
 * counts as voluntary switches of its thread while it ran) and of their time (by the clock, less the thread's time on a
 * processor and in the run queue).
 * How often each is called changes from phase to phase. At the end, a line for each function: name, waits, nanoseconds.
 *
 *	ask_briefly     answered after 5 to 15 us
 *	ask             after 60 to 300 us
 *	ask_for_long    after 3 to 12 ms
 *	await_question  the helper's; as long as the asker thinks, 2 to 10 us
 *	rest            the helper's, for the long answers
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NEVER_INLINE __attribute__((noinline))
#define US           1000u
#define MS           1000000u
#define MAX_PAIRS    16

enum function { ASK_BRIEFLY, ASK, ASK_FOR_LONG, AWAIT_QUESTION, REST, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "ask_briefly", "ask", "ask_for_long", "await_question", "rest" };

struct known {
	uint64_t waits;
	uint64_t time;
};

struct pair {
	sem_t asked, answered;
	uint64_t answer_after;
	int sleeps;
	int over;
	uint64_t seed;
	struct known known[FUNCTIONS];
};

static uint64_t end;
static volatile uint64_t sink;

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

static uint64_t draw(uint64_t *seed, uint64_t least, uint64_t most)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return least + *seed % (most - least + 1);
}

static void spin(uint64_t time)
{
	uint64_t until = wall() + time;

	while (wall() < until)
		sink++;
}

/* ---- what is known ---- */

struct moment {
	uint64_t wall, cpu, queued, switches;
};

/* Nanoseconds that the current thread has been in the run queue; 0: the kernel does not say. */
static uint64_t queued(void)
{
	static _Thread_local int file = -1;
	unsigned long long ran, waited = 0;
	char text[128] = "";

	if (file < 0)
		file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (file < 0 || pread(file, text, sizeof(text) - 1, 0) < 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2)
		return 0;
	return waited;
}

static struct moment look(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (struct moment){ wall(), clock_of(CLOCK_THREAD_CPUTIME_ID), queued(), (uint64_t)usage.ru_nvcsw };
}

static void add(struct known *known, const struct moment *since)
{
	struct moment now = look();

	known->time += now.wall - since->wall - (now.cpu - since->cpu) - (now.queued - since->queued);
	known->waits += now.switches - since->switches;
}

/* ---- the asker ---- */

static void put_question(struct pair *pair, uint64_t answer_after, int sleeps)
{
	pair->answer_after = answer_after;
	pair->sleeps = sleeps;
	sem_post(&pair->asked);
}

static NEVER_INLINE void ask_briefly(struct pair *pair)
{
	struct moment since = look();

	put_question(pair, draw(&pair->seed, 5 * US, 15 * US), 0);
	sem_wait(&pair->answered);
	add(&pair->known[ASK_BRIEFLY], &since);
}

static NEVER_INLINE void ask(struct pair *pair)
{
	struct moment since = look();

	put_question(pair, draw(&pair->seed, 60 * US, 300 * US), 0);
	sem_wait(&pair->answered);
	add(&pair->known[ASK], &since);
}

static NEVER_INLINE void ask_for_long(struct pair *pair)
{
	struct moment since = look();

	put_question(pair, draw(&pair->seed, 3 * MS, 12 * MS), 1);
	sem_wait(&pair->answered);
	add(&pair->known[ASK_FOR_LONG], &since);
}

/* A phase of 10 to 150 ms: how many in a thousand questions are not brief. */
static void ask_for_a_phase(struct pair *pair)
{
	static const unsigned mixes[] = { 2, 20, 200 };
	uint64_t until = wall() + draw(&pair->seed, 10 * MS, 150 * MS);
	unsigned mix = mixes[draw(&pair->seed, 0, 2)];

	while (wall() < until) {
		uint64_t kind = draw(&pair->seed, 0, 999);

		spin(draw(&pair->seed, 2 * US, 10 * US));
		if (kind >= mix)
			ask_briefly(pair);
		else if (kind >= mix / 10)
			ask(pair);
		else
			ask_for_long(pair);
	}
}

static void *run_asker(void *context)
{
	struct pair *pair = context;

	prctl(PR_SET_NAME, "asker");
	while (wall() < end)
		ask_for_a_phase(pair);
	pair->over = 1;
	sem_post(&pair->asked);
	return NULL;
}

/* ---- the helper ---- */

static NEVER_INLINE void await_question(struct pair *pair)
{
	struct moment since = look();

	sem_wait(&pair->asked);
	add(&pair->known[AWAIT_QUESTION], &since);
}

static NEVER_INLINE void rest(struct pair *pair)
{
	struct moment since = look();

	nanosleep(&(struct timespec){ .tv_nsec = (long)pair->answer_after }, NULL);
	add(&pair->known[REST], &since);
}

static void *run_helper(void *context)
{
	struct pair *pair = context;

	prctl(PR_SET_NAME, "helper");
	for (;;) {
		await_question(pair);
		if (pair->over)
			return NULL;
		if (pair->sleeps)
			rest(pair);
		else
			spin(pair->answer_after);
		sem_post(&pair->answered);
	}
}

/* So that a recorder knows the program by the time that it begins to count. */
static void show(void)
{
	for (int i = 0; i < 50; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10 * MS }, NULL);
}

int main(int count, char **words)
{
	static struct pair pairs[MAX_PAIRS];
	static pthread_t threads[2 * MAX_PAIRS];
	unsigned pair_count = count == 3 ? (unsigned)strtoul(words[2], NULL, 10) : 0;

	if (!pair_count || pair_count > MAX_PAIRS)
		return 2;
	show();
	end = wall() + strtoul(words[1], NULL, 10) * 1000000000u;
	for (unsigned i = 0; i < pair_count; i++) {
		pairs[i].seed = 88172645463325252u + i + (uint64_t)time(NULL);
		sem_init(&pairs[i].asked, 0, 0);
		sem_init(&pairs[i].answered, 0, 0);
		if (pthread_create(&threads[2 * i], NULL, run_asker, &pairs[i]) ||
		    pthread_create(&threads[2 * i + 1], NULL, run_helper, &pairs[i]))
			return 2;
	}
	for (unsigned i = 0; i < 2 * pair_count; i++)
		pthread_join(threads[i], NULL);
	for (int f = 0; f < FUNCTIONS; f++) {
		struct known sum = { 0, 0 };

		for (unsigned i = 0; i < pair_count; i++) {
			sum.waits += pairs[i].known[f].waits;
			sum.time += pairs[i].known[f].time;
		}
		printf("%s %llu %llu\n", names[f], (unsigned long long)sum.waits, (unsigned long long)sum.time);
	}
	return 0;
}
