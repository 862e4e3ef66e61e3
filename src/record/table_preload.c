/* Tables before the start: see table_preload.h. */
#include "record/table_preload.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdlib.h>

/* Others have to ask, by a copy, as the kernel's maps have room for those that run, not for all of a large machine. */
#define MOST_PROCESSES 512

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

int lode_tables_preload(struct lode_unwind_loader *loader, struct lode_process_unwinder *unwinder, int only_known,
			uint64_t patience)
{
	uint64_t now = lode_now();

	if (!only_known && lode_processes_snapshot(&unwinder->processes) < 0)
		return LODE_SYSTEM;
	if (load_most_used(unwinder, now + patience) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < unwinder->processes.count && i < MOST_PROCESSES; i++)
		if (unwinder->processes.items[i].space.root &&
		    lode_unwind_loader_changed(loader, unwinder->processes.items[i].pid) < 0)
			return LODE_SYSTEM;
	return lode_unwind_loader_flush(loader, now);
}
