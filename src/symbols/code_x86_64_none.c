/* The instructions of x86-64 where Lode is built without capstone: none is understood. See code_x86_64.c. */
#include "symbols/code_steps.h"

int lode_code_can_probe_x86_64(const unsigned char *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return 0;
}

const char lode_code_why_not_x86_64[] =
	"code of x86-64 is read with capstone, without which Lode was built; build it again with libcapstone-dev";

void *lode_code_open_x86_64(void)
{
	return NULL;
}

void lode_code_close_x86_64(void *disassembler)
{
	(void)disassembler;
}

void lode_code_decode_x86_64(void *disassembler, const struct lode_code_run *run, struct lode_steps *steps)
{
	(void)disassembler;
	lode_steps_add(steps, LODE_STEP_UNKNOWN, run->address, 0);
}
