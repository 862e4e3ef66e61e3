/* Renumber: see renumber.h. */
#include "export/renumber.h"

#include <string.h>

void lode_renumber_release(struct lode_renumber *renumber)
{
	lode_free(renumber->epochs);
	lode_free(renumber->numbers);
	lode_free(renumber->ids);
	memset(renumber, 0, sizeof(*renumber));
}

int lode_renumber_start(struct lode_renumber *renumber, size_t count, struct lode_error *error)
{
	if (lode_grow(&renumber->epochs, &renumber->epochs_capacity, count, sizeof(uint32_t)) < 0 ||
	    lode_grow(&renumber->numbers, &renumber->numbers_capacity, count, sizeof(uint32_t)) < 0 ||
	    lode_grow(&renumber->ids, &renumber->ids_capacity, count, sizeof(uint32_t)) < 0)
		return lode_fail_memory(error);
	if (count > renumber->ids_known) {
		memset(renumber->epochs + renumber->ids_known, 0, (count - renumber->ids_known) * sizeof(uint32_t));
		renumber->ids_known = count;
	}
	/* After four thousand million epochs the old marks must go. */
	if (++renumber->epoch == 0) {
		memset(renumber->epochs, 0, renumber->ids_known * sizeof(uint32_t));
		renumber->epoch = 1;
	}
	renumber->count = 0;
	return 0;
}
