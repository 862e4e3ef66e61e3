/* A list of texts of its own, such as the words of a command: NULL is behind the last. */
#ifndef LODE_BASE_TEXT_LIST_H
#define LODE_BASE_TEXT_LIST_H

#include <stddef.h>

/* A zeroed struct is an empty list. */
struct lode_text_list {
	char **items; /* NULL: there is none */
	size_t count;
	size_t capacity;
	int failed; /* memory has run out: a text is missing */
};

/* Takes a text over, in either case; NULL, as of a copy that failed, marks the list. */
void lode_text_list_add(struct lode_text_list *list, char *text);
void lode_text_list_release(struct lode_text_list *list);

#endif
