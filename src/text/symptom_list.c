/* The longest symptoms as text: see symptom_list.h. */
#include "text/symptom_list.h"

#include "base/memory.h"
#include "base/units.h"

#include <stdlib.h>

/* A symptom as text, kept until it is known whether it is among the longest. */
struct lode_scope_shown {
	uint64_t length;
	uint64_t number; /* in the order of the catalogue */
	size_t group;    /* where symptoms are put together; else of no meaning */
	struct lode_buffer text;
};

/* Longest first, then in the order of the catalogue. */
static int compare_shown(const void *left, const void *right)
{
	const struct lode_scope_shown *a = left, *b = right;

	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* The one that has to go first. */
static struct lode_scope_shown *shortest(const struct lode_symptom_list *list)
{
	struct lode_scope_shown *last = list->shown;

	for (size_t i = 1; i < list->count; i++)
		if (compare_shown(&list->shown[i], last) > 0)
			last = &list->shown[i];
	return last;
}

/* Of those that are put together the longest is shown. */
static struct lode_scope_shown *same_group(const struct lode_symptom_list *list,
					   const struct lode_scope_shown *candidate)
{
	for (size_t i = 0; list->together && i < list->count; i++)
		if (list->shown[i].group == candidate->group)
			return &list->shown[i];
	return NULL;
}

/* A place for a symptom of this length; NULL with code 0 when it is not among the longest. */
static int place_for(struct lode_symptom_list *list, const struct lode_scope_shown *candidate,
		     struct lode_scope_shown **place)
{
	*place = same_group(list, candidate);
	if (!*place && list->count < list->most) {
		if (lode_grow(&list->shown, &list->capacity, list->count + 1, sizeof(*list->shown)) < 0)
			return LODE_SYSTEM;
		*place = &list->shown[list->count++];
		**place = *candidate;
		return 0;
	}
	if (!*place)
		*place = shortest(list);
	if (compare_shown(candidate, *place) > 0) {
		*place = NULL;
		return 0;
	}
	lode_buffer_release(&(*place)->text);
	**place = *candidate;
	return 0;
}

static int find_group(struct lode_symptom_list *list, struct lode_scope_report *report, size_t i, size_t *group,
		      struct lode_error *error)
{
	struct lode_scope_profile profile;
	int code = lode_scope_report_find(report, i, error);

	if (code)
		return code;
	if (lode_scope_profile_make(&profile, report, &report->items[i]) < 0 ||
	    lode_scope_groups_add(&list->groups, report, &report->items[i], &profile, list->streams, group) < 0)
		return lode_fail_memory(error);
	return 0;
}

static int add_symptom(struct lode_symptom_list *list, struct lode_scope_report *report, size_t i,
		       struct lode_error *error)
{
	const struct lode_symptom *symptom = &report->items[i].symptom;
	struct lode_scope_shown candidate = { .length = symptom->t1 - symptom->t0, .number = list->symptoms + i };
	struct lode_scope_shown *place;
	int code = list->together ? find_group(list, report, i, &candidate.group, error) : 0;

	if (code)
		return code;
	if (place_for(list, &candidate, &place) < 0)
		return lode_fail_memory(error);
	code = place ? lode_scope_report_find(report, i, error) : 0;
	if (place && !code) {
		lode_scope_text(report, &report->items[i], list->look, list->lines, &place->text);
		if (place->text.failed)
			code = lode_fail_memory(error);
	}
	lode_scope_report_forget(report, i);
	return code;
}

static void put_number_of_paths(const struct lode_symptom_list *list, struct lode_buffer *buffer)
{
	char symptoms[LODE_UNITS_TEXT], paths[LODE_UNITS_TEXT], some[LODE_UNITS_TEXT];
	size_t count = list->groups.count;

	if (list->count == list->symptoms)
		return;
	lode_buffer_print(buffer, "%s symptoms with %s different path%s", lode_count_text(list->symptoms, symptoms),
			  lode_count_text(count, paths), count == 1 ? "" : "s");
	if (list->count < count)
		lode_buffer_print(buffer, ", those of the %s longest", lode_count_text(list->count, some));
	lode_buffer_text(buffer, "; --all shows each symptom\n\n");
}

int lode_symptom_list_add(void *to, struct lode_scope_report *report, struct lode_error *error)
{
	struct lode_symptom_list *list = to;
	int code = 0;

	list->streams++;
	for (size_t i = 0; i < report->count && !code; i++)
		code = add_symptom(list, report, i, error);
	list->symptoms += report->count;
	return code;
}

void lode_symptom_list_text(struct lode_symptom_list *list, struct lode_buffer *buffer)
{
	char some[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT];

	if (list->count)
		qsort(list->shown, list->count, sizeof(*list->shown), compare_shown);
	if (list->together)
		put_number_of_paths(list, buffer);
	else if (list->count < list->symptoms)
		lode_buffer_print(buffer, "The %s longest of %s symptoms; --all shows all\n\n",
				  lode_count_text(list->count, some), lode_count_text(list->symptoms, all));
	for (size_t i = 0; i < list->count; i++) {
		lode_buffer_text(buffer, i ? "\n" : "");
		if (list->together && list->groups.items[list->shown[i].group].count > 1)
			lode_scope_group_text(&list->groups.items[list->shown[i].group], buffer);
		lode_buffer_add(buffer, list->shown[i].text.bytes, list->shown[i].text.size);
	}
}

void lode_symptom_list_release(struct lode_symptom_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		lode_buffer_release(&list->shown[i].text);
	lode_free(list->shown);
	lode_scope_groups_release(&list->groups);
}
