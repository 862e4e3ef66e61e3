/*
 * Pretends to be CPython, and lies: a hostile program for the recorder, which believes what the symbols of a binary say.
 *
 *	python_forged MODE MILLISECONDS
 *
 * `cycle`: the list of frames never ends. `threads`: nor does that of threads, and none is this one. `wild`: pointers lead nowhere. `names`:
 * code objects have texts of 2^60 characters. With VERSION at 3.13 the table of offsets has numbers of 2^60.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default"), used))

#ifndef VERSION
#define VERSION 0x030b02f0
#endif

PUBLIC const unsigned long Py_Version = VERSION;
PUBLIC uint64_t PyCode_Type[64];
#if VERSION >= 0x030d0000
/* "xdebugpy" */
PUBLIC uint64_t _PyRuntime[512] = { 0x7970677562656478, VERSION, 0, 1ull << 60, 1ull << 60, 1ull << 60, 1ull << 60 };
#else
PUBLIC uint64_t _PyRuntime[512] = { 1 };
#endif

/* As 3.11 has them, in words. */
static uint64_t interpreter[8], threads[4][32], frames[4][16], code[32], text[16];

static void forge(const char *mode)
{
	uint64_t wild = strcmp(mode, "wild") ? 0 : 0xdead00000008;

	_PyRuntime[5] = (uint64_t)interpreter;
	interpreter[2] = wild ? wild : (uint64_t)threads[0];
	for (int i = 0; i < 4; i++) {
		threads[i][1] = (uint64_t)threads[(i + 1) % 4];
		threads[i][20] = strcmp(mode, "threads") ? (uint64_t)syscall(SYS_gettid) : 1;
		frames[i][4] = wild ? wild : (uint64_t)code;
		frames[i][6] = wild ? wild : (uint64_t)frames[(i + 1) % 4];
	}
	code[1] = (uint64_t)PyCode_Type;
	code[14] = code[16] = code[17] = (uint64_t)text; /* names, and the table of lines */
	text[2] = 1ull << 60;
	text[4] = 1 << 2 | 1 << 5 | 1 << 6;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

PUBLIC int _PyEval_EvalFrameDefault(uint64_t until);

/* Spins and sleeps in turns; the entry of the chain is on its stack, as in CPython. */
PUBLIC __attribute__((noinline)) int _PyEval_EvalFrameDefault(uint64_t until)
{
	volatile uint64_t entry[3] = { 0, (uint64_t)frames[0], 0 };
	struct timespec nap = { 0, 1000000 };
	int naps = 0;

	entry[2] = (uint64_t)entry;
	for (int i = 0; i < 4; i++)
		threads[i][7] = (uint64_t)entry;
	while (now() < until) {
		for (uint64_t begun = now(); now() == begun;)
			;
		naps += nanosleep(&nap, NULL) == 0;
	}
	return naps + (int)entry[0];
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	forge(arguments[1]);
	printf("%d\n", _PyEval_EvalFrameDefault(now() + strtoull(arguments[2], NULL, 10)));
	return 0;
}
