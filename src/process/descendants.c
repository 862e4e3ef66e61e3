/*
 * Descendants: see descendants.h.
 *
 * All processes are listed once, by their parents; then the children of what was found are looked up, as long as there are
 * any. A parent that ends meanwhile leaves its children to another process: those are not found.
 */
#include "process/descendants.h"

#include "base/memory.h"
#include "base/proc_files.h"

#include <stdlib.h>
#include <string.h>

struct family {
	uint32_t pid;
	uint32_t parent;
};

struct families {
	struct family *items;
	size_t count;
	size_t capacity;
};

/* Its name, in parentheses, may contain anything. */
uint32_t lode_process_parent(uint32_t pid)
{
	char text[512], *name_end;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/stat", pid) < 0)
		return 0;
	name_end = strrchr(text, ')');
	return name_end && strlen(name_end) > 4 ? (uint32_t)strtoul(name_end + 4, NULL, 10) : 0;
}

static int add_process(void *context, uint32_t pid)
{
	struct families *families = context;
	struct family family = { pid, lode_process_parent(pid) };

	return LODE_APPEND(families->items, families->count, families->capacity, family);
}

static int compare(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The first process whose parent is `pid` or has a larger number. */
static size_t first_child(const struct families *families, uint32_t pid)
{
	size_t low = 0, high = families->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (families->items[middle].parent < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Fills `found`, which has room for all processes, and returns how many there are. A pid that comes again cannot lead in circles. */
static size_t find_all(const struct families *families, uint32_t pid, uint32_t *found)
{
	size_t count = 0, looked = 0;

	do {
		for (size_t i = first_child(families, pid);
		     i < families->count && families->items[i].parent == pid && count < families->count; i++)
			found[count++] = families->items[i].pid;
		pid = looked < count ? found[looked] : 0;
	} while (looked++ < count);
	return count;
}

int lode_process_descendants(uint32_t pid, int (*each)(void *context, uint32_t pid), void *context)
{
	struct families families = { 0 };
	uint32_t *found = NULL;
	size_t count = 0;
	int code = lode_proc_numbers("/proc", add_process, &families);

	code = code < 0 ? code : 0;
	if (!code && families.count) {
		qsort(families.items, families.count, sizeof(*families.items), compare);
		found = lode_calloc(families.count, sizeof(*found));
		code = found ? 0 : LODE_SYSTEM;
	}
	if (found)
		count = find_all(&families, pid, found);
	for (size_t i = 0; !code && i < count; i++)
		code = each(context, found[i]);
	lode_free(families.items);
	lode_free(found);
	return code;
}
