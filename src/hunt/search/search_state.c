/* Search state: lists of experiments, and changes of an experiment's state; see search_internal.h. */
#include "hunt/search/search_internal.h"

int lode_ids_push(struct lode_ids *ids, uint32_t item)
{
	return LODE_APPEND(ids->items, ids->count, ids->capacity, item);
}

void lode_ids_remove(struct lode_ids *ids, uint32_t item)
{
	size_t kept = 0;

	for (size_t i = 0; i < ids->count; i++)
		if (ids->items[i] != item)
			ids->items[kept++] = ids->items[i];
	ids->count = kept;
}

void lode_search_notify(struct lode_search *search, uint32_t experiment)
{
	search->changed_at = now(search);
	if (search->changed)
		search->changed(search->context, experiment);
}

void lode_search_set_state(struct lode_search *search, uint32_t id, enum lode_experiment_state state,
			   const char *why)
{
	if (get(search, id)->state == state)
		return;
	get(search, id)->state = state;
	lode_history_say(&search->history, id, why);
	lode_search_notify(search, id);
}
