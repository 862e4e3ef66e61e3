/* Focus names: see focus_names.h. */
#include "hunt/meter/focus_names.h"

#include <string.h>

int lode_focus_names_init(struct lode_focus_names *names)
{
	memset(names, 0, sizeof(*names));
	return lode_strings_init(&names->strings);
}

void lode_focus_names_release(struct lode_focus_names *names)
{
	lode_strings_release(&names->strings);
	lode_index_release(&names->index);
	lode_free(names->items);
}

static uint64_t hash_of(enum lode_focus_axis axis, uint64_t number)
{
	const uint64_t key[] = { (uint64_t)axis, number };

	return lode_hash_bytes(key, sizeof(key));
}

const char *lode_focus_names_find(const struct lode_focus_names *names, enum lode_focus_axis axis, uint64_t number)
{
	uint64_t hash = hash_of(axis, number);
	uint32_t id = LODE_INDEX_FIND(i, &names->index, hash,
				      names->items[i].axis == axis && names->items[i].number == number);

	return id == LODE_NONE ? NULL : lode_strings_get(&names->strings, names->items[id].text);
}

const char *lode_focus_names_keep(struct lode_focus_names *names, enum lode_focus_axis axis, uint64_t number,
				  const char *text)
{
	uint32_t id = lode_strings_add(&names->strings, text, strlen(text));

	if (id == LODE_NONE || LODE_INDEX_APPEND(&names->index, hash_of(axis, number), names->items, names->count,
						 names->capacity, (struct lode_focus_name){ number, axis, id }) < 0)
		return NULL;
	return lode_strings_get(&names->strings, id);
}
