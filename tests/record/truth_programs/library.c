/* A library between functions of a program. TRUTH_ROOM: bytes of its frames, which differ from build to build. */
#include "library.h"

static volatile unsigned kept;

void truth_library_call(void (*inside)(void))
{
	volatile char room[TRUTH_ROOM];

	room[0] = 1;
	inside();
	kept += (unsigned)room[0];
}

unsigned truth_library_step(unsigned number)
{
	return number * 1103515245 + 12345;
}
