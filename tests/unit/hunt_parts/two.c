/* A part of a program: has another `both`. For hunt_program_test.c. */
#include "parts.h"

int both(int x)
{
	return x - 2;
}

int late(int x)
{
	return back(x) - 1;
}
