/*
 * The longest symptoms as text, gathered stream by stream. Those with the same critical path
 * are put together (scope_groups.h), and of each group the longest is shown.
 */
#ifndef LODE_TEXT_SYMPTOM_LIST_H
#define LODE_TEXT_SYMPTOM_LIST_H

#include "text/scope_groups.h"

struct lode_scope_shown;

struct lode_symptom_list {
	/* To be set; the rest is empty at first. */
	const struct lode_look *look;
	size_t most;  /* symptoms or groups that are shown */
	size_t lines; /* of each; 0: all */
	int together; /* symptoms with the same path are */

	struct lode_scope_shown *shown;
	size_t count;
	size_t capacity;
	struct lode_scope_groups groups;
	uint64_t symptoms; /* of all streams */
	uint64_t streams;
};

/* Adds the symptoms of a stream. */
int lode_symptom_list_add(void *to, struct lode_scope_report *report, struct lode_error *error);
/* Appends those that are shown, the longest first. */
void lode_symptom_list_text(struct lode_symptom_list *list, struct lode_buffer *buffer);
void lode_symptom_list_release(struct lode_symptom_list *list);

#endif
