/* A part of a program: has `both`. For hunt_program_test.c. */
#include "parts.h"

int both(int x)
{
	return late(x) + back(x);
}
