/*
 * The id of an imported stream: XXH3-128 over what decides which stream comes
 * out of an import: the digest of the unpacked input, the ordinal of the stream
 * in it, and the options that change its events or its attributes.
 *
 * Left out on purpose: the file's name and how it is packed, because a copy is
 * the same recording; and everything about symbols, because a recording that is
 * imported again with better symbols is still the same recording (--replace
 * takes the newer one). Parts are written one after another, each ended by a
 * byte that none of them holds, so no two sets of parts read the same.
 */
#include "import/stream_id.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void add_part(struct lode_buffer *buffer, const char *key, const char *value)
{
	if (!value)
		return;
	lode_buffer_text(buffer, key);
	lode_buffer_byte(buffer, '=');
	lode_buffer_text(buffer, value);
	lode_buffer_byte(buffer, '\0');
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted: the order in which a list is given does not matter to the stream. */
static int add_list(struct lode_buffer *buffer, const char *key, const char *const *items)
{
	const char **sorted;
	size_t count = 0;

	while (items && items[count])
		count++;
	if (!count)
		return 0;
	sorted = lode_calloc(count, sizeof(*sorted));
	if (!sorted)
		return LODE_SYSTEM;
	memcpy(sorted, items, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_texts);
	for (size_t i = 0; i < count; i++)
		add_part(buffer, key, sorted[i]);
	lode_free(sorted);
	return 0;
}

int lode_stream_id(const struct lode_stream_id *parts, char id[33], struct lode_error *error)
{
	struct lode_buffer buffer = { 0 };
	char number[40];
	XXH128_hash_t hash;
	int failed;

	add_part(&buffer, "input", parts->digest);
	snprintf(number, sizeof(number), "%u", parts->ordinal);
	add_part(&buffer, "ordinal", number);
	add_part(&buffer, "format", parts->format);
	add_part(&buffer, "kind", parts->kind_is_wait ? "wait" : "run");
	snprintf(number, sizeof(number), "%.17g", parts->unit_ns);
	add_part(&buffer, "unit", number);
	add_part(&buffer, "name", parts->name);
	add_part(&buffer, "host", parts->host);
	failed = add_list(&buffer, "attr", parts->attributes) < 0 ||
		 add_list(&buffer, "symptoms", parts->symptom_markers) < 0 || buffer.failed;
	if (!failed) {
		hash = XXH3_128bits(buffer.bytes, buffer.size);
		snprintf(id, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
	}
	lode_buffer_release(&buffer);
	return failed ? lode_fail_memory(error) : 0;
}
