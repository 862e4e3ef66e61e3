/*
 * One symbol for each address, the one that perf would print.
 *
 * perf first lets symbols without a size reach to the next symbol, then keeps
 * one of those that start at the same address: one with a size before one
 * without, typed before untyped, not weak before weak, global before local, then by
 * name: fewer leading underscores, the longer one, the first. Names are compared
 * as they are printed, demangled; demangling all aliases of a big C++ library
 * takes far longer than reading its symbols, so where only the names decide and
 * some are mangled, the rivals stay in the table behind the first of them (with
 * empty ranges) and the choice is made when the name is requested (image.c).
 */
#include "symbols/elf.h"

#include "base/error.h"
#include "base/sort_order.h"
#include "symbols/demangle.h"

#include <elf.h>
#include <string.h>

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

int lode_elf_compare_names(const char *a, const char *b)
{
	size_t of_a = leading_underscores(a), of_b = leading_underscores(b);

	if (of_a != of_b)
		return of_a < of_b ? -1 : 1;
	of_a = strlen(a);
	of_b = strlen(b);
	return of_a == of_b ? 0 : of_a > of_b ? -1 : 1;
}

/* How good a symbol is apart from its name: more is better. */
static unsigned merit(const struct lode_elf_symbol *symbol)
{
	return (unsigned)(symbol->end > symbol->start) << 3 | (unsigned)(symbol->type != STT_NOTYPE) << 2 |
	       (unsigned)(symbol->binding != STB_WEAK) << 1 | (unsigned)(symbol->binding == STB_GLOBAL);
}

/* A symbol without a size reaches to the next one, but not beyond its section. */
static void extend(struct lode_elf_symbol *symbol, uint64_t next)
{
	if (symbol->end != symbol->start)
		return;
	if (symbol->section_end > symbol->start && symbol->section_end < next)
		next = symbol->section_end;
	symbol->end = next;
}

/* The best of `count` symbols at one address goes to the front; its rivals by name alone follow. */
static size_t best_first(struct lode_elf_symbol *group, size_t count)
{
	unsigned best = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (merit(&group[i]) > best)
			best = merit(&group[i]);
	for (size_t i = 0; i < count; i++)
		if (merit(&group[i]) == best)
			group[kept++] = group[i];
	return kept;
}

static int choice_can_wait(const struct lode_elf_symbol *group, size_t count, const char *strings)
{
	int mangled = 0;

	for (size_t i = 0; i < count; i++) {
		if (group[i].end != group[0].end)
			return 0;
		mangled |= lode_demangle_wanted(strings + group[i].name);
	}
	return mangled;
}

/* The winner by name, demangled where it must be; the builder is marked when memory ran out. */
static size_t choose_by_name(const struct lode_elf_symbol *group, size_t count, struct lode_table_builder *builder)
{
	struct lode_buffer names[2] = { { 0 } };
	const char *strings = builder->strings.bytes;
	size_t winner = 0;

	for (size_t i = 0; i < count; i++) {
		const char *raw = strings + group[i].name;

		lode_buffer_clear(&names[1]);
		if (lode_demangle_wanted(raw))
			lode_demangle(raw, 1, &names[1]);
		else
			lode_buffer_text(&names[1], raw);
		lode_buffer_byte(&names[1], '\0');
		if (names[1].failed) {
			builder->failed = 1;
			break;
		}
		if (i == 0 || lode_elf_compare_names(names[0].bytes, names[1].bytes) > 0) {
			struct lode_buffer swap = names[0];

			names[0] = names[1];
			names[1] = swap;
			winner = i;
		}
	}
	lode_buffer_release(&names[0]);
	lode_buffer_release(&names[1]);
	return winner;
}

static void add_group(struct lode_elf_symbol *group, size_t count, struct lode_table_builder *builder)
{
	size_t winner = 0;

	count = best_first(group, count);
	if (count > 1 && choice_can_wait(group, count, builder->strings.bytes)) {
		lode_table_add(builder, group[0].start, group[0].end, group[0].name, (uint32_t)count - 1);
		for (size_t i = 1; i < count; i++)
			lode_table_add(builder, group[i].start, group[i].start, group[i].name, 0);
		return;
	}
	if (count > 1)
		winner = choose_by_name(group, count, builder);
	lode_table_add(builder, group[winner].start, group[winner].end, group[winner].name, 0);
}

static int sort_symbols(struct lode_elf_symbols *symbols)
{
	uint64_t *keys = lode_realloc(NULL, symbols->count, sizeof(*keys));
	uint32_t *order = lode_realloc(NULL, symbols->count, sizeof(*order));
	struct lode_elf_symbol *sorted = lode_realloc(NULL, symbols->count, sizeof(*sorted));
	int code = LODE_SYSTEM;

	if (!keys || !order || !sorted)
		goto out;
	for (size_t i = 0; i < symbols->count; i++)
		keys[i] = symbols->items[i].start;
	code = lode_sort_order(keys, symbols->count, order);
	if (code < 0)
		goto out;
	for (size_t i = 0; i < symbols->count; i++)
		sorted[i] = symbols->items[order[i]];
	lode_free(symbols->items);
	symbols->items = sorted;
	sorted = NULL;
out:
	lode_free(keys);
	lode_free(order);
	lode_free(sorted);
	return code;
}

int lode_elf_choose(struct lode_elf_symbols *symbols, struct lode_table_builder *builder)
{
	struct lode_elf_symbol *items;
	size_t count = symbols->count;

	if (builder->strings.failed || sort_symbols(symbols) < 0)
		return LODE_SYSTEM;
	items = symbols->items;
	for (size_t i = 0; i + 1 < count; i++)
		extend(&items[i], items[i + 1].start);
	if (count)
		extend(&items[count - 1], items[count - 1].start | 4095);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && items[next].start == items[i].start; next++)
			;
		add_group(items + i, next - i, builder);
	}
	return builder->failed ? LODE_SYSTEM : 0;
}
