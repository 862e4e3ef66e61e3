/* The longest symptoms for a page: see scope_longest.h. */
#include "result/scope_longest.h"

#include "base/memory.h"

#include <stdlib.h>

/* A symptom as JSON, kept until it is known whether it is among the longest. */
struct lode_scope_kept {
	uint64_t length;
	uint64_t number; /* in the order of the catalogue */
	struct lode_buffer json;
};

/* Longest first, then in the order of the catalogue. */
static int compare(const void *left, const void *right)
{
	const struct lode_scope_kept *a = left, *b = right;

	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* Where a symptom is to be kept; NULL: it is too short. -1 when memory has run out. */
static int find_place(struct lode_scope_longest *page, const struct lode_scope_kept *candidate,
		      struct lode_scope_kept **place)
{
	if (page->count < page->most) {
		if (lode_grow(&page->kept, &page->capacity, page->count + 1, sizeof(*page->kept)) < 0)
			return LODE_SYSTEM;
		*place = &page->kept[page->count++];
		**place = *candidate;
		return 0;
	}
	*place = &page->kept[0];
	for (size_t i = 1; i < page->count; i++)
		if (compare(&page->kept[i], *place) > 0)
			*place = &page->kept[i];
	if (compare(candidate, *place) > 0) {
		*place = NULL;
		return 0;
	}
	lode_buffer_release(&(*place)->json);
	**place = *candidate;
	return 0;
}

static int add_symptom(struct lode_scope_longest *page, struct lode_scope_report *report, size_t i,
		       struct lode_error *error)
{
	const struct lode_symptom *symptom = &report->items[i].symptom;
	struct lode_scope_kept candidate = {.length = symptom->t1 - symptom->t0, .number = page->symptoms + i};
	struct lode_scope_kept *place;
	struct lode_output output;
	int code;

	if (find_place(page, &candidate, &place) < 0)
		return lode_fail_memory(error);
	if (!place)
		return 0;
	lode_output_memory(&output);
	code = lode_scope_page_symptom(report, i, &output, error);
	place->json = output.buffer;
	if (!code && place->json.failed)
		code = lode_fail_memory(error);
	return code;
}

int lode_scope_longest_add(struct lode_scope_longest *page, struct lode_scope_report *report, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < report->count && !code; i++) {
		code = add_symptom(page, report, i, error);
		lode_scope_report_forget(report, i);
	}
	page->symptoms += report->count;
	return code;
}

void lode_scope_longest_json(struct lode_scope_longest *page, struct lode_buffer *buffer)
{
	qsort(page->kept, page->count, sizeof(*page->kept), compare);
	lode_buffer_print(buffer, "{\"symptoms_total\":%llu,\"symptoms\":[", (unsigned long long)page->symptoms);
	for (size_t i = 0; i < page->count; i++) {
		lode_buffer_text(buffer, i ? "," : "");
		lode_buffer_add(buffer, page->kept[i].json.bytes, page->kept[i].json.size);
	}
	lode_buffer_text(buffer, "]}\n");
}

void lode_scope_longest_release(struct lode_scope_longest *page)
{
	for (size_t i = 0; i < page->count; i++)
		lode_buffer_release(&page->kept[i].json);
	lode_free(page->kept);
}
