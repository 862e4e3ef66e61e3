/* Streams that were sent or refused: see push_known.h. The file has an id a line, in the order in which they came. */
#include "cmd/push_known.h"

#include "base/memory.h"

#include <stdlib.h>

static int compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static uint64_t number_of(const char *id)
{
	char digits[17];

	snprintf(digits, sizeof(digits), "%.16s", id);
	return strtoull(digits, NULL, 16);
}

int lode_push_known_load(struct lode_push_known *known, const struct lode_push_spool *spool, const char *name,
			 struct lode_error *error)
{
	char *path = lode_format("%s/%s", lode_push_spool_folder(spool), name), line[64];

	if (!path)
		return lode_fail_memory(error);
	known->file = fopen(path, "a+e");
	lode_free(path);
	while (known->file && fgets(line, sizeof(line), known->file))
		if (LODE_PUSH(&known->numbers, number_of(line)) < 0)
			return lode_fail_memory(error);
	if (known->numbers.count)
		qsort(known->numbers.items, known->numbers.count, sizeof(uint64_t), compare_numbers);
	return 0;
}

void lode_push_known_release(struct lode_push_known *known)
{
	if (known->file)
		fclose(known->file);
	lode_free(known->numbers.items);
	*known = (struct lode_push_known){ 0 };
}

int lode_push_known_has(const struct lode_push_known *known, const char *id)
{
	uint64_t number = number_of(id);

	return known->numbers.count &&
	       bsearch(&number, known->numbers.items, known->numbers.count, sizeof(number), compare_numbers);
}

void lode_push_known_add(struct lode_push_known *known, const char *id)
{
	size_t at = known->numbers.count;
	uint64_t number = number_of(id);

	if (lode_push_known_has(known, id))
		return;
	if (LODE_PUSH(&known->numbers, number) == 0) {
		for (; at && known->numbers.items[at - 1] > number; at--)
			known->numbers.items[at] = known->numbers.items[at - 1];
		known->numbers.items[at] = number;
	}
	if (!known->file)
		return;
	fprintf(known->file, "%s\n", id);
	fflush(known->file);
}
