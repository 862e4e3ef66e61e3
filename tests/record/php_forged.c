/*
 * Pretends to be PHP 8.2, and lies: a hostile program for the recorder, which believes what the symbols of a binary say.
 *
 *	php_forged MODE MILLISECONDS
 *
 * `cycle`: the list of frames never ends, and none is the outermost. `tops`: nor does it, and each is. `internal`: all are functions written
 * in C, which no C frame runs. `empty`: none has a function. `wild`: pointers lead nowhere. `names`: texts have 2^60 characters.
 * With THREADS it says that it has threads.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default"), used))

#ifdef THREADS
PUBLIC const char interface[] = "API20220829,TS";
#else
PUBLIC const char interface[] = "API20220829,NTS";
#endif

#define CURRENT 61 /* word of the pointer to the current frame */

PUBLIC uint64_t executor_globals[225];
PUBLIC void zend_vm_stack_init(void);

PUBLIC void zend_vm_stack_init(void)
{
}

/* In words. */
static uint64_t frames[4][10], function[32], text[16];

static void forge(const char *mode)
{
	uint64_t wild = strcmp(mode, "wild") ? 0 : 0xdead00000008, top = strcmp(mode, "cycle") ? 2ull << 16 : 0;

	for (int i = 0; i < 4; i++) {
		frames[i][3] = wild ? wild + (uint64_t)i * 8 : strcmp(mode, "empty") ? (uint64_t)function : 0;
		frames[i][5] = top;
		frames[i][6] = wild && i == 3 ? wild : (uint64_t)frames[(i + 1) % 4];
	}
	function[0] = strcmp(mode, "internal") ? 2 : 1;
	function[1] = function[2] = function[10] = function[19] = (uint64_t)text; /* name, class, extension, file */
	text[1] = text[4] = (uint64_t)text;
	text[2] = strcmp(mode, "names") ? 3 : 1ull << 60;
	memcpy(&text[3], "abc", 4);
	executor_globals[CURRENT] = (uint64_t)frames[0];
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

PUBLIC int execute_ex(uint64_t until);

/* Spins and sleeps in turns. */
PUBLIC __attribute__((noinline)) int execute_ex(uint64_t until)
{
	struct timespec nap = { 0, 1000000 };
	int naps = 0;

	while (now() < until) {
		for (uint64_t begun = now(); now() == begun;)
			;
		naps += nanosleep(&nap, NULL) == 0;
	}
	return naps;
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	forge(arguments[1]);
	printf("%d\n", execute_ex(now() + strtoull(arguments[2], NULL, 10)));
	return 0;
}
