/*
 * A program's own account of its contexts, kept while a real recorder records it.
 *
 * Linked into a program of one thread that is built with -finstrument-functions. Every call and
 * return moves in a tree of contexts, and a context's latency grows by what each of its calls
 * takes. Time is that of the processor's counter, read first thing at a call and last thing at a
 * return: what the account costs is inside the call that it is about, for the account and for
 * a sample that meets it alike. (To read it the other way round would count that cost for the
 * caller, where samples show it in the callee, and there are as many calls as nanoseconds.)
 * What is left outside, from a reading at a return to one at the next call, is measured with a
 * function that does nothing; half of it is taken for the callee's, the other for the caller's.
 *
 * LODE_OWN_TIMES names the file to write. Its lines:
 *
 *	node PARENT ADDRESS CALLS TOTAL_NS   contexts, from number 1 on; 0 is the root
 *	outside NS                           what was added for each call
 */
#define _GNU_SOURCE
#include "context_tree.h"

#include <stdint.h>
#include <stdio.h>

struct call {
	uint64_t t;
	uint32_t node;
};

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static const char *path;
static struct call *calls;
static uint32_t depth;
static uint64_t first_tick, first_ns;

static inline QUIET __attribute__((always_inline)) uint64_t ticks(void)
{
#if defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#elif defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
#error "which counter does this processor have?"
#endif
}

QUIET void __cyg_profile_func_enter(void *function, void *site)
{
	uint64_t t = ticks();

	(void)site;
	if (!path || depth + 1 >= MAX_DEPTH)
		return;
	calls[depth + 1] = (struct call){ t, child_of(calls[depth].node, function) };
	depth++;
}

/* A jump out of several calls ends them all. */
QUIET void __cyg_profile_func_exit(void *function, void *site)
{
	uint32_t at = depth;

	(void)site;
	while (at && nodes[calls[at].node].function != function)
		at--;
	if (!at)
		return;
	for (; depth > at; depth--) {
		nodes[calls[depth].node].calls++;
		nodes[calls[depth].node].total += ticks() - calls[depth].t;
	}
	depth--;
	nodes[calls[at].node].calls++;
	nodes[calls[at].node].total += ticks() - calls[at].t;
}

static QUIET __attribute__((constructor)) void begin(void)
{
	path = getenv("LODE_OWN_TIMES");
	if (!path)
		return;
	tree_open();
	calls = room(MAX_DEPTH * sizeof(*calls));
	first_ns = now();
	first_tick = ticks();
}

static __attribute__((noinline)) void do_nothing(void)
{
	__cyg_profile_func_enter((void *)do_nothing, NULL);
	__cyg_profile_func_exit((void *)do_nothing, NULL);
}

/* Ticks from a return to the next call: the least of some series, so that nothing interrupted it. */
static QUIET double ticks_outside(void)
{
	uint32_t node = child_of(calls[depth].node, (void *)do_nothing);
	double least = 1e9;

	for (int series = 0; series < 50; series++) {
		uint64_t inside = nodes[node].total, t = ticks();
		double outside;

		for (int i = 0; i < 10000; i++)
			do_nothing();
		outside = ((double)(ticks() - t) - (double)(nodes[node].total - inside)) / 10000;
		least = outside < least ? outside : least;
	}
	return least > 0 ? least : 0;
}

static QUIET __attribute__((destructor)) void end(void)
{
	uint64_t t = ticks();
	double ns = path ? (double)(now() - first_ns) / (double)(t - first_tick) : 0;
	FILE *file = path ? fopen(path, "w") : NULL;
	uint32_t count = node_count;
	double outside;

	if (!file)
		return;
	for (; depth; depth--) {
		nodes[calls[depth].node].calls++;
		nodes[calls[depth].node].total += t - calls[depth].t;
	}
	outside = ticks_outside();
	path = NULL;
	for (uint32_t i = 1; i < count; i++)
		fprintf(file, "node %u %llx %llu %.0f\n", nodes[i].parent,
			(unsigned long long)(uintptr_t)nodes[i].function, (unsigned long long)nodes[i].calls,
			((double)nodes[i].total + (double)nodes[i].calls * outside / 2) * ns);
	fprintf(file, "outside %.2f\n", outside / 2 * ns);
	fclose(file);
}
