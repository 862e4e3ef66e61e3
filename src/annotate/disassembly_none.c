/* Instructions as text where Lode is built without capstone: none. See disassembly.c. */
#include "annotate/disassembly.h"

int lode_disassemble(unsigned machine, const void *bytes, size_t size, uint64_t address,
		     int (*visit)(void *context, const struct lode_instruction *instruction), void *context,
		     struct lode_error *error)
{
	(void)machine, (void)bytes, (void)size, (void)address, (void)visit, (void)context;
	return lode_fail(error, LODE_BAD_INPUT,
			 "instructions are shown with capstone, without which Lode was built; build it again with "
			 "libcapstone-dev");
}
