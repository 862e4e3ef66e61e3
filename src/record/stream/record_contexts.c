/*
 * Contexts of events: see record_contexts.h. Numbers of the kernel ascend, those of marks (LODE_RECORD_CONTEXT_OWN) are few
 * and stay: both are places in one table, which grows while two numbers of its window want the same place.
 */
#include "record/stream/record_contexts.h"

#include "base/error.h"
#include "base/memory.h"
#include "trace/events.h"
#include "trace/query_text.h"

#include <stdio.h>
#include <string.h>

#define MIN_SIZE     4096u
#define MAX_SIZE     (1u << 22)
#define MAX_DISTINCT (1u << 20)

void lode_record_contexts_release(struct lode_record_contexts *contexts)
{
	lode_free(contexts->items);
	memset(contexts, 0, sizeof(*contexts));
}

/* Numbers of marks are counted from the end of the table. */
static struct lode_numbered_context *place_of(const struct lode_record_contexts *contexts, uint32_t number)
{
	size_t at = number & LODE_RECORD_CONTEXT_OWN ? ~(size_t)(number & ~LODE_RECORD_CONTEXT_OWN) : number;

	return &contexts->items[at & (contexts->size - 1)];
}

static int grow(struct lode_record_contexts *contexts)
{
	struct lode_record_contexts larger = *contexts;

	larger.size = contexts->size ? contexts->size * 2 : MIN_SIZE;
	larger.items = lode_calloc(larger.size, sizeof(*larger.items));
	if (!larger.items)
		return LODE_SYSTEM;
	for (size_t i = 0; i < contexts->size; i++)
		if (contexts->items[i].number)
			*place_of(&larger, contexts->items[i].number) = contexts->items[i];
	lode_free(contexts->items);
	*contexts = larger;
	return 0;
}

static void put_hex(char *text, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* The text of a context; "": it has none. */
static void describe(const struct lode_record_context *context, char text[LODE_RECORD_CONTEXT_BYTES])
{
	size_t size = context->size < LODE_RECORD_CONTEXT_BYTES ? context->size : LODE_RECORD_CONTEXT_BYTES;
	char trace[33], span[17];

	*text = '\0';
	switch (context->kind) {
	case LODE_CONTEXT_TRACE:
		if (size < 24)
			return;
		put_hex(trace, context->bytes, 16);
		put_hex(span, context->bytes + 16, 8);
		snprintf(text, LODE_RECORD_CONTEXT_BYTES, LODE_CONTEXT_OF_TRACE "%s span:%s", trace, span);
		return;
	case LODE_CONTEXT_TEXT:
		lode_query_text((const char *)context->bytes,
				size < LODE_RECORD_CONTEXT_BYTES ? size : LODE_RECORD_CONTEXT_BYTES - 1, text);
		return;
	default:
		snprintf(text, LODE_RECORD_CONTEXT_BYTES, "%.*s", (int)size, (const char *)context->bytes);
	}
}

int lode_record_contexts_add(struct lode_record_contexts *contexts, struct lode_strings *strings,
			     const struct lode_record_context *context)
{
	char text[LODE_RECORD_CONTEXT_BYTES];
	struct lode_numbered_context *place;
	size_t before = strings->count;
	uint32_t string;

	if (contexts->distinct >= MAX_DISTINCT) {
		contexts->left_out++;
		return 0;
	}
	describe(context, text);
	string = lode_strings_add(strings, text, strlen(text));
	if (string == LODE_NONE)
		return LODE_SYSTEM;
	contexts->distinct += strings->count > before;
	if (!contexts->size && grow(contexts) < 0)
		return LODE_SYSTEM;
	place = place_of(contexts, context->number);
	while (place->number && place->number != context->number && contexts->size < MAX_SIZE) {
		if (grow(contexts) < 0)
			return LODE_SYSTEM;
		place = place_of(contexts, context->number);
	}
	if (place->number & ~context->number & LODE_RECORD_CONTEXT_OWN) {
		contexts->left_out++; /* a mark's, which stays */
		return 0;
	}
	*place = (struct lode_numbered_context){ context->number, string };
	return 0;
}

uint32_t lode_record_contexts_find(struct lode_record_contexts *contexts, uint32_t number)
{
	const struct lode_numbered_context *place;

	if (!number)
		return 0;
	place = contexts->size ? place_of(contexts, number) : NULL;
	if (place && place->number == number)
		return place->text;
	contexts->forgotten++;
	return 0;
}

void lode_record_contexts_note(const struct lode_record_contexts *contexts, struct lode_notes *notes)
{
	lode_notes_add(notes, contexts->left_out,
		       "contexts left out: there were more than a million distinct ones", NULL);
	lode_notes_add(notes, contexts->forgotten, "events whose context was lost", NULL);
}
