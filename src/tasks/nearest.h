/*
 * Nearest: the right word for a wrong one.
 */
#ifndef LODE_TASKS_NEAREST_H
#define LODE_TASKS_NEAREST_H

#include <stddef.h>

struct lode_nearest {
	const char *wrong;
	const char *best; /* NULL while nothing is near enough */
	size_t distance;
};

/* Begins a search for what `wrong`, which must outlive it, may have meant. */
struct lode_nearest lode_nearest(const char *wrong);
/* Considers one right word; of equally near ones the first stays. */
void lode_nearest_try(struct lode_nearest *nearest, const char *word);

#endif
