/* A part of a program: calls what it does not have. For hunt_program_test.c. */
#include "parts.h"

int back(int x)
{
	return x + 1;
}

static __attribute__((noinline)) int middle(int x)
{
	return both(x) + late(x);
}

int start(int x)
{
	return middle(x) * 3;
}
