/*
 * Cold parts of functions in stripped binaries: only .eh_frame lists them, as
 * separate functions. They can be recognized: a function begins without a frame,
 * but a cold part begins in the middle of the frame of its function, so the first
 * instruction of its unwind program describes one.
 */
#include "symbols/code_plan.h"

#include "symbols/cold_part.h"

static int handle_function(void *context, const struct lode_cfi_function *function)
{
	struct lode_code_plan *plan = context;
	struct lode_plan_piece *piece;

	if (!lode_cfi_is_cold(function))
		return 0;
	piece = lode_code_plan_at(plan, function->start);
	if (piece && piece->address == function->start && plan->image.table.records[piece->record].name == LODE_NONE)
		piece->cold = 1;
	return 0;
}

int lode_code_find_cold(struct lode_code_plan *plan)
{
	return lode_cfi_walk(&plan->elf, ".eh_frame", handle_function, plan);
}
