/* Links that are alike: see finding_alike.h. A link comes behind the one before it, so one pass over them is enough. */
#include "mine/finding_alike.h"

#include "mine/finding_names.h"

#include <string.h>

/* Texts without numbers, and by string of the dictionary that of it, LODE_NONE before it was asked for. */
struct plain_texts {
	const struct lode_strings *strings;
	struct lode_strings texts;
	void (*write)(struct lode_buffer *buffer, const char *text);
	uint32_t *by_string;
	int failed;
};

static int plain_texts_init(struct plain_texts *plain, const struct lode_strings *strings,
			    void (*write)(struct lode_buffer *buffer, const char *text))
{
	*plain = (struct plain_texts){ .strings = strings, .write = write };
	plain->by_string = lode_alloc((strings->count + 1) * sizeof(*plain->by_string));
	for (size_t i = 0; plain->by_string && i < strings->count; i++)
		plain->by_string[i] = LODE_NONE;
	return lode_strings_init(&plain->texts) < 0 || !plain->by_string ? LODE_SYSTEM : 0;
}

static void plain_texts_release(struct plain_texts *plain)
{
	lode_strings_release(&plain->texts);
	lode_free(plain->by_string);
}

/* Equal for texts that are alike; 0 for none. */
static uint32_t number_of(struct plain_texts *plain, uint32_t string)
{
	struct lode_buffer text = { 0 };

	if (plain->by_string[string] != LODE_NONE)
		return plain->by_string[string];
	plain->write(&text, lode_strings_get(plain->strings, string));
	plain->by_string[string] = text.failed ? LODE_NONE : lode_strings_add(&plain->texts, text.bytes, text.size);
	plain->failed |= plain->by_string[string] == LODE_NONE;
	lode_buffer_release(&text);
	return plain->by_string[string];
}

static int add_links(struct lode_finding_alike *alike, const struct lode_chains *chains, struct plain_texts *names,
		     struct plain_texts *objects)
{
	for (size_t i = 0; i < chains->link_count; i++) {
		struct lode_chain_link link = chains->links[i];

		link.before = link.before == LODE_NONE ? LODE_NONE : alike->numbers[link.before];
		link.process = number_of(names, link.process);
		link.thread = number_of(names, link.thread);
		link.holder_process = number_of(names, link.holder_process);
		link.holder = number_of(names, link.holder);
		link.object = number_of(objects, link.object);
		alike->numbers[i] = lode_chains_link(&alike->chains, &link);
		if (alike->numbers[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return names->failed || objects->failed ? LODE_SYSTEM : 0;
}

int lode_finding_alike_make(struct lode_finding_alike *alike, const struct lode_area *area)
{
	const struct lode_strings *strings = &area->dictionary.frames.strings;
	struct plain_texts names = { 0 }, objects = { 0 };
	int code = plain_texts_init(&names, strings, lode_finding_plain_name);

	memset(alike, 0, sizeof(*alike));
	if (!code)
		code = plain_texts_init(&objects, strings, lode_finding_object_name);
	alike->numbers = lode_calloc(area->chains.link_count + 1, sizeof(*alike->numbers));
	if (!alike->numbers)
		code = LODE_SYSTEM;
	if (!code)
		code = add_links(alike, &area->chains, &names, &objects);
	plain_texts_release(&names);
	plain_texts_release(&objects);
	return code;
}

void lode_finding_alike_release(struct lode_finding_alike *alike)
{
	lode_chains_release(&alike->chains);
	lode_free(alike->numbers);
	memset(alike, 0, sizeof(*alike));
}
