/* Frames whose variables are aligned more than the stack is; on x86-64 also main's own (-mstackrealign). */
#include "cases.h"
#include "truth.h"

static volatile unsigned kept;

/* A frame of known size. */
TRUTH_FUNCTION void truth_aligned(unsigned depth)
{
	_Alignas(64) volatile char room[192];

	truth_push(__func__);
	room[depth] = (char)depth;
	if (depth > 1)
		truth_realigned(depth - 1);
	else
		truth_linger();
	kept += (unsigned)room[depth];
	truth_pop();
}

/* And of a size that is not. */
TRUTH_FUNCTION void truth_realigned(unsigned depth)
{
	unsigned size = 16 + truth_random() % 900;
	_Alignas(64) volatile char room[64];
	volatile char *more = __builtin_alloca(size);

	truth_push(__func__);
	room[depth] = more[size - 1] = (char)depth;
	if (depth > 1)
		truth_aligned(depth - 1);
	else
		truth_linger();
	kept += (unsigned)room[depth] + (unsigned)more[size - 1];
	truth_pop();
}
