/*
 * Clones: what the compiler made out of a function. `parse.part.0`, `parse.cold` and
 * `parse.constprop.1` belong to the `parse` of their own compilation unit, or else
 * to the one that is known to all units. Where nothing is left of `parse` itself,
 * the first of its clones represents it.
 */
#include "symbols/code_plan.h"

#include "base/ends_with.h"

#include <string.h>

/* What compilers append to a name; a number may follow. */
static const char *const suffixes[] = { ".part", ".cold", ".constprop", ".isra", ".localalias", ".specialized" };

static size_t without_number(const char *name, size_t length)
{
	size_t end = length;

	while (end > 1 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end < length && name[end - 1] == '.' ? end - 1 : length;
}

/* Takes one suffix off; returns whether there was one. */
static int parse_suffix(const char *name, size_t *length, int *cold)
{
	size_t end = without_number(name, *length);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (end <= strlen(suffixes[i]) || !lode_bytes_end_with(name, end, suffixes[i]))
			continue;
		*length = end - strlen(suffixes[i]);
		*cold |= !strcmp(suffixes[i], ".cold");
		return 1;
	}
	return 0;
}

size_t lode_code_base_length(const char *name, size_t length, int *cold)
{
	if (memchr(name, '.', length))
		while (parse_suffix(name, &length, cold))
			;
	return length;
}

/* Functions by name and unit: symbols, among them clones whose function is gone. */
struct units {
	const struct lode_code_plan *plan;
	struct lode_index index; /* of symbols */
};

static uint64_t hash_name(const char *name, size_t length, uint32_t unit)
{
	return lode_hash_more(lode_hash_bytes(name, length), unit);
}

/* The symbol whose name without suffixes is this one; LODE_NONE without one. */
static uint32_t find_symbol(const struct units *units, const char *name, size_t length, uint32_t unit)
{
	uint64_t hash = hash_name(name, length, unit);
	size_t probe = 0;
	uint32_t i;
	int cold;

	while ((i = lode_index_next(&units->index, hash, &probe)) != LODE_NONE) {
		const struct lode_linker_symbol *symbol = &units->plan->symbols.items[i];

		if (symbol->unit == unit && lode_code_base_length(symbol->name, symbol->length, &cold) == length &&
		    !memcmp(symbol->name, name, length))
			return i;
	}
	return LODE_NONE;
}

static int add_symbol(struct units *units, uint32_t i, size_t length)
{
	const struct lode_linker_symbol *symbol = &units->plan->symbols.items[i];

	if (find_symbol(units, symbol->name, length, symbol->unit) != LODE_NONE)
		return 0;
	return lode_index_insert(&units->index, hash_name(symbol->name, length, symbol->unit), i);
}

/* The record that begins where a symbol does; LODE_NONE without one. */
static uint32_t record_of(const struct lode_code_plan *plan, const struct lode_linker_symbol *symbol)
{
	const struct lode_plan_piece *piece = lode_code_plan_at(plan, symbol->address);

	return piece && piece->address == symbol->address ? piece->record : LODE_NONE;
}

/* Joins a clone, whose name has `length` bytes without its suffixes, to its function. */
static int join(struct units *units, uint32_t i, size_t length, int cold, struct lode_code_kin *kin)
{
	const struct lode_linker_symbol *symbols = units->plan->symbols.items;
	uint32_t own = record_of(units->plan, &symbols[i]);
	uint32_t found = find_symbol(units, symbols[i].name, length, symbols[i].unit);
	uint32_t target;

	if (own != LODE_NONE)
		kin[own].cold |= cold;
	if (found == LODE_NONE)
		found = find_symbol(units, symbols[i].name, length, LODE_NONE);
	if (found == LODE_NONE)
		return add_symbol(units, i, length);
	target = record_of(units->plan, &symbols[found]);
	if (own != LODE_NONE && target != LODE_NONE && kin[own].of == own && kin[target].of == target)
		kin[own].of = target;
	return 0;
}

/* The first round knows the functions, the second joins their clones. */
static int walk_symbols(struct units *units, int clones, struct lode_code_kin *kin)
{
	const struct lode_linker_symbols *symbols = &units->plan->symbols;
	int code = 0;

	for (size_t i = 0; i < symbols->count && code == 0; i++) {
		const struct lode_linker_symbol *symbol = &symbols->items[i];
		int cold = 0;
		size_t length = lode_code_base_length(symbol->name, symbol->length, &cold);

		if ((length < symbol->length) == clones)
			code = clones ? join(units, (uint32_t)i, length, cold, kin)
				      : add_symbol(units, (uint32_t)i, length);
	}
	return code;
}

int lode_code_join_clones(const struct lode_code_plan *plan, struct lode_code_kin *kin)
{
	struct units units = { .plan = plan };
	int code;

	for (uint32_t i = 0; i < plan->image.table.count; i++)
		kin[i] = (struct lode_code_kin){ i, 0 };
	code = walk_symbols(&units, 0, kin);
	if (code == 0)
		code = walk_symbols(&units, 1, kin);
	lode_index_release(&units.index);
	return code;
}
