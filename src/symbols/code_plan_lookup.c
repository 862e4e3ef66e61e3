/* Looking up addresses and imports in a plan: see code_plan.h. */
#include "symbols/code_plan.h"

#include "base/bisect.h"

#include <string.h>

const struct lode_load *lode_code_plan_load(const struct lode_code_plan *plan, uint64_t address)
{
	size_t low = LODE_BISECT(i, 0, plan->load_count, plan->loads[i].address <= address);
	if (!low || address - plan->loads[low - 1].address >= plan->loads[low - 1].size)
		return NULL;
	return &plan->loads[low - 1];
}

const unsigned char *lode_code_plan_bytes(const struct lode_code_plan *plan, uint64_t address, size_t *left)
{
	const struct lode_load *load = lode_code_plan_load(plan, address);

	if (!load)
		return NULL;
	*left = load->size - (address - load->address);
	return plan->map.bytes + load->offset + (address - load->address);
}

struct lode_plan_piece *lode_code_plan_at(const struct lode_code_plan *plan, uint64_t address)
{
	const struct lode_load *load = lode_code_plan_load(plan, address);
	uint64_t offset;
	size_t i;

	if (!load)
		return NULL;
	offset = address - load->address + load->offset;
	i = plan->pages[offset >> LODE_PLAN_PAGE_BITS];
	while (i < plan->pieces.count && plan->pieces.items[i].end <= offset)
		i++;
	if (i == plan->pieces.count || plan->pieces.items[i].start > offset)
		return NULL;
	/* Bytes that are mapped twice are a piece at only one of their addresses. */
	return plan->pieces.items[i].address == address - (offset - plan->pieces.items[i].start)
		       ? &plan->pieces.items[i]
		       : NULL;
}

uint32_t lode_code_plan_import(struct lode_code_plan *plan, const char *name)
{
	const char *end = strchr(name, '@');
	uint32_t id = lode_strings_add(&plan->imports, name, end ? (size_t)(end - name) : strlen(name));

	return id == LODE_NONE || id > LODE_CODE_IMPORT - 2 ? LODE_NONE : LODE_CODE_IMPORT | (id - 1);
}
