/*
 * Runs a library that pretends to be HotSpot (java_forged.c).
 *
 *	java_forger MODE MILLISECONDS
 */
#include "java_forged.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	forge(arguments[1]);
	printf("%d\n", forged_run(strtoull(arguments[2], NULL, 10)));
	return 0;
}
