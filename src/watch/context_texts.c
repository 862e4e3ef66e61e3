/* Texts of contexts: see context_texts.h. */
#include "watch/context_texts.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

/* Numbers of the kernel, which ascend, and of marks, which are few and stay. */
#define KERNEL_PLACES (1u << 18)
#define MARK_PLACES   (LODE_CONTEXT_PLACES - KERNEL_PLACES)
/* Sets of texts by their hash, and texts of a set. */
#define SETS (1u << 12)
#define WAYS 4

struct text {
	uint64_t used; /* when, by the count of additions; 0: never */
	uint32_t size;
	uint16_t kind;
	uint16_t generation; /* how many texts were here before */
	uint8_t bytes[LODE_RECORD_CONTEXT_BYTES];
};

struct numbered {
	uint32_t number; /* 0: none */
	uint16_t text;
	uint16_t generation; /* of the text */
};

struct lode_context_texts {
	uint64_t added;
	struct numbered numbers[LODE_CONTEXT_PLACES];
	struct text texts[SETS * WAYS];
};

_Static_assert(SETS *WAYS <= UINT16_MAX + 1u, "a number's text has 16 bits");

struct lode_context_texts *lode_context_texts_create(void)
{
	return lode_calloc(1, sizeof(struct lode_context_texts));
}

void lode_context_texts_destroy(struct lode_context_texts *texts)
{
	lode_free(texts);
}

uint32_t lode_context_texts_place(uint32_t number)
{
	if (number & LODE_RECORD_CONTEXT_OWN)
		return KERNEL_PLACES + number % MARK_PLACES;
	return number % KERNEL_PLACES;
}

static int is_same(const struct text *text, const struct lode_record_context *context)
{
	return text->used && text->kind == context->kind && text->size == context->size &&
	       !memcmp(text->bytes, context->bytes, context->size);
}

/* The place of a context's text, or for it: the one of its set that was not used for longest. */
static struct text *place_of_text(struct lode_context_texts *texts, const struct lode_record_context *context)
{
	uint64_t hash = lode_hash_bytes(context->bytes, context->size) + context->kind;
	struct text *set = &texts->texts[hash % SETS * WAYS], *oldest = set;

	for (int i = 0; i < WAYS; i++) {
		if (is_same(&set[i], context))
			return &set[i];
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	return oldest;
}

void lode_context_texts_add(struct lode_context_texts *texts, const struct lode_record_context *context)
{
	struct text *text;

	if (!context->number || context->size > sizeof(context->bytes))
		return;
	text = place_of_text(texts, context);
	if (!is_same(text, context)) {
		text->generation++;
		text->kind = (uint16_t)context->kind;
		text->size = context->size;
		memcpy(text->bytes, context->bytes, context->size);
	}
	text->used = ++texts->added;
	texts->numbers[lode_context_texts_place(context->number)] =
		(struct numbered){ context->number, (uint16_t)(text - texts->texts), text->generation };
}

int lode_context_texts_find(const struct lode_context_texts *texts, uint32_t number,
			    struct lode_record_context *context)
{
	const struct numbered *place = &texts->numbers[lode_context_texts_place(number)];
	const struct text *text = &texts->texts[place->text];

	if (!number || place->number != number || text->generation != place->generation)
		return 0;
	*context = (struct lode_record_context){ .number = number, .size = text->size, .kind = text->kind };
	context->mark = LODE_RECORD_CONTEXT_MARK;
	memcpy(context->bytes, text->bytes, text->size);
	return 1;
}
