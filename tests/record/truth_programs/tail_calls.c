/*
 * Functions that end with a jump to another one instead of a call: they are gone from the
 * stack, as debuggers show it too. Built with -foptimize-sibling-calls.
 *
 * Each takes its name from the shadow stack before it jumps.
 */
#include "cases.h"
#include "truth.h"

static volatile unsigned kept;

TRUTH_FUNCTION void truth_last(void)
{
	volatile char room[40];

	truth_push(__func__);
	room[0] = 1;
	truth_linger();
	kept += (unsigned)room[0];
	truth_pop();
}

TRUTH_FUNCTION void truth_jumps_again(void)
{
	truth_push(__func__);
	truth_wait();
	truth_pop();
	truth_last();
}

TRUTH_FUNCTION void truth_jumps(void)
{
	truth_push(__func__);
	truth_wait();
	truth_pop();
	truth_jumps_again();
}

TRUTH_FUNCTION void truth_calls_jumper(void)
{
	truth_push(__func__);
	truth_jumps();
	kept++;
	truth_pop();
}

void truth_case_tail_calls(void)
{
	truth_push(__func__);
	for (int i = 0; i < 20; i++)
		truth_calls_jumper();
	truth_pop();
}
