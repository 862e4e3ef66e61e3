/* Tables before the start: see table_preload.h. */
#include "record/unwind/table_preload.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

struct usage {
	uint32_t image;
	uint32_t uses; /* mappings of code, of all processes */
};

struct usages {
	struct usage *items; /* by image */
	size_t count;
};

static int count_use(void *context, const struct lode_mapping *mapping)
{
	struct usages *usages = context;

	if (mapping->image < usages->count)
		usages->items[mapping->image].uses++;
	return 0;
}

static int by_uses(const void *one, const void *other)
{
	const struct usage *a = one, *b = other;

	if (a->uses != b->uses)
		return a->uses < b->uses ? 1 : -1;
	return a->image < b->image ? -1 : a->image > b->image;
}

/* The images of all processes, the most used first. Returns 0 or LODE_SYSTEM. */
static int count_uses(struct usages *usages, const struct lode_process_unwinder *unwinder)
{
	const struct lode_processes *processes = &unwinder->processes;

	usages->count = unwinder->images.count;
	usages->items = lode_calloc(usages->count + 1, sizeof(*usages->items));
	if (!usages->items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < usages->count; i++)
		usages->items[i].image = (uint32_t)i;
	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].space.root &&
		    lode_space_walk(&processes->spaces, &processes->items[i].space, count_use, usages) < 0)
			return LODE_SYSTEM;
	qsort(usages->items, usages->count, sizeof(*usages->items), by_uses);
	return 0;
}

static int load_most_used(struct lode_process_unwinder *unwinder, uint64_t until)
{
	struct usages usages = { 0 };
	uint32_t table;
	int code = count_uses(&usages, unwinder);

	for (size_t i = 0; !code && i < usages.count && usages.items[i].uses && lode_now() < until; i++) {
		const struct lode_process_image *image = &unwinder->images.items[usages.items[i].image];

		if (image->kind != LODE_MAPPED_ANONYMOUS && image->kind != LODE_MAPPED_NAMED)
			code = lode_process_unwinder_load_table(unwinder, usages.items[i].image, &table);
	}
	lode_free(usages.items);
	return code;
}

/* Returns how many processes did not get in. */
static size_t enter_processes(struct lode_unwind_loader *loader, const struct lode_processes *processes, int *code)
{
	size_t entered = 0, left_out = 0;

	for (size_t i = 0; !*code && i < processes->count; i++) {
		if (!processes->items[i].space.root)
			continue;
		if (entered == LODE_PRELOAD_PROCESSES) {
			left_out++;
			continue;
		}
		*code = lode_unwind_loader_changed(loader, processes->items[i].pid);
		entered++;
	}
	return left_out;
}

int lode_tables_preload(struct lode_unwind_loader *loader, struct lode_process_unwinder *unwinder, int only_known,
			uint64_t patience, uint64_t *left_out)
{
	uint64_t now = lode_now();
	int code = only_known ? 0 : lode_processes_snapshot(&unwinder->processes, patience);

	if (!code)
		code = load_most_used(unwinder, now + patience);
	*left_out = unwinder->processes.unread + enter_processes(loader, &unwinder->processes, &code);
	return code ? code : lode_unwind_loader_flush(loader, now);
}
