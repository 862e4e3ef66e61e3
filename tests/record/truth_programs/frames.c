/*
 * Cases of frames of many shapes: deep, large, of random size, aligned, called back by
 * the C library, on top of a call that is no more, or that never was one.
 */
#include "cases.h"
#include "truth.h"

#include <stdlib.h>
#include <string.h>

/* How often a case does the same; each time it waits once or more, and computes for some milliseconds. */
#define ROUNDS 20

static volatile unsigned kept;

/* Waits and computes, as every case does where its stack is what it wants it to be. */
TRUTH_FUNCTION void truth_linger(void)
{
	truth_push(__func__);
	for (int i = 0; i < 8; i++)
		truth_wait();
	truth_work(2);
	truth_pop();
}

/* ---- recursion ---- */

TRUTH_FUNCTION void truth_recurse(unsigned depth, unsigned waits_every)
{
	truth_push(__func__);
	if (depth > 1) {
		truth_recurse(depth - 1, waits_every);
		if (depth % waits_every == 0)
			truth_wait();
	} else {
		truth_linger();
	}
	kept += depth;
	truth_pop();
}

void truth_case_recursion(void)
{
	truth_push(__func__);
	for (int i = 0; i < ROUNDS; i++)
		truth_recurse(120 + (unsigned)i, 25);
	truth_pop();
}

void truth_case_deep_recursion(void)
{
	truth_push(__func__);
	for (int i = 0; i < ROUNDS; i++)
		truth_recurse(300 + (unsigned)i, 60);
	truth_pop();
}

/* ---- sizes ---- */

TRUTH_FUNCTION void truth_alloca(unsigned depth)
{
	unsigned size = 16 + truth_random() % 3000;
	volatile char *room = __builtin_alloca(size);

	truth_push(__func__);
	room[0] = room[size - 1] = (char)depth;
	if (depth > 1)
		truth_alloca(depth - 1);
	else
		truth_linger();
	kept += (unsigned)room[size - 1];
	truth_pop();
}

void truth_case_alloca(void)
{
	truth_push(__func__);
	for (int i = 0; i < ROUNDS; i++)
		truth_alloca(1 + truth_random() % 200);
	truth_pop();
}

TRUTH_FUNCTION void truth_big(unsigned depth)
{
	volatile char room[100000];

	truth_push(__func__);
	room[truth_random() % sizeof(room)] = (char)depth;
	if (depth > 1)
		truth_big(depth - 1);
	else
		truth_linger();
	kept += (unsigned)room[0];
	truth_pop();
}

void truth_case_big_frames(void)
{
	truth_push(__func__);
	for (int i = 0; i < ROUNDS; i++)
		truth_big(1 + (unsigned)i % 5);
	truth_pop();
}

/* ---- stacks that look alike ---- */

void truth_twins(unsigned depth);

/* Two functions with frames of one size: what they call has the same registers, whoever called it. */
#define TWIN(name)                                                                                                \
	TRUTH_FUNCTION void name(unsigned depth)                                                                  \
	{                                                                                                         \
		truth_push(#name);                                                                                \
		truth_twins(depth - 1);                                                                           \
		kept += depth;                                                                                    \
		truth_pop();                                                                                      \
	}

TWIN(truth_left_twin)
TWIN(truth_right_twin)

TRUTH_FUNCTION void truth_twins(unsigned depth)
{
	truth_push(__func__);
	if (!depth)
		truth_wait();
	else if (truth_random() % 4)
		truth_left_twin(depth);
	else
		truth_right_twin(depth);
	kept += depth;
	truth_pop();
}

#define SLIDE 768

/* Leaves what is below as it was: an older frame may still be there. */
TRUTH_FUNCTION void truth_slid(unsigned size)
{
	volatile char *room = __builtin_alloca(size);

	truth_push(__func__);
	room[0] = 1;
	truth_wait();
	kept += (unsigned)room[0];
	truth_pop();
}

/* Both leave the stack pointer of truth_wait the same; only frame pointers show where the frames between are. */
#define SLIDER(name, own)                                                                                         \
	TRUTH_FUNCTION void name(void)                                                                            \
	{                                                                                                         \
		volatile char *room = __builtin_alloca((own) + (unsigned)(kept & 0));                             \
                                                                                                                  \
		truth_push(#name);                                                                                \
		room[0] = 1;                                                                                      \
		truth_slid(SLIDE - (own));                                                                        \
		kept += (unsigned)room[0];                                                                        \
		truth_pop();                                                                                      \
	}

SLIDER(truth_slide_far, 512)
SLIDER(truth_slide_near, 256)

void truth_case_alike(void)
{
	truth_push(__func__);
	for (int i = 0; i < 30 * ROUNDS; i++) {
		if (i % 2)
			truth_twins(4);
		else if (truth_random() % 4)
			truth_slide_far();
		else
			truth_slide_near();
	}
	for (int i = 0; i < ROUNDS; i++)
		truth_linger();
	truth_pop();
}

/* The functions are in realigned.c. */
void truth_case_realigned(void)
{
	truth_push(__func__);
	for (int i = 0; i < ROUNDS; i++)
		truth_realigned(1 + truth_random() % 8);
	truth_pop();
}

/* ---- callbacks and the C library ---- */

TRUTH_FUNCTION int truth_compare(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	truth_push(__func__);
	if (truth_random() % 4 == 0)
		truth_wait();
	if (truth_random() % 32 == 0)
		truth_work(1);
	truth_pop();
	return a < b ? -1 : a > b;
}

void truth_case_qsort(void)
{
	int numbers[200];

	truth_push(__func__);
	for (int i = 0; i < 200; i++)
		numbers[i] = (int)truth_random();
	truth_push(TRUTH_LIBRARY);
	qsort(numbers, 200, sizeof(*numbers), truth_compare);
	truth_pop();
	kept += (unsigned)numbers[0];
	truth_pop();
}

/* Most of this time is in code written in assembly. */
TRUTH_FUNCTION void truth_copy(char *to, const char *from, size_t size)
{
	uint64_t began;

	truth_push(__func__);
	began = truth_begin();
	for (int i = 0; i < 10; i++)
		memcpy(to + i, from, size);
	truth_end(began);
	truth_pop();
}

TRUTH_FUNCTION void truth_measure(const char *text)
{
	uint64_t began;

	truth_push(__func__);
	began = truth_begin();
	for (int i = 0; i < 10; i++)
		kept += (unsigned)strlen(text + i);
	truth_end(began);
	truth_pop();
}

void truth_case_assembly(void)
{
	static char from[1 << 20], to[(1 << 20) + 64];

	truth_push(__func__);
	memset(from, 'x', sizeof(from) - 1);
	for (int i = 0; i < 30; i++) {
		truth_copy(to, from, sizeof(from));
		truth_measure(from);
	}
	kept += (unsigned)to[99];
	truth_pop();
}
