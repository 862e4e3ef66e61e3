/* Lists of texts: see text_list.h. */
#include "base/text_list.h"

#include "base/memory.h"

#include <string.h>

void lode_text_list_add(struct lode_text_list *list, char *text)
{
	if (!text || LODE_GROW(list->items, list->capacity, list->count + 2) < 0) {
		lode_free(text);
		list->failed = 1;
		return;
	}
	list->items[list->count++] = text;
	list->items[list->count] = NULL;
}

void lode_text_list_release(struct lode_text_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		lode_free(list->items[i]);
	lode_free(list->items);
	memset(list, 0, sizeof(*list));
}
