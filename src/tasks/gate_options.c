/* The options of a gate: see gate_options.h. */
#include "tasks/gate_options.h"

#include "base/memory.h"
#include "store/store.h"
#include "tasks/diff_sides.h"

#include <stdlib.h>
#include <string.h>

static const char *const usual_keys[] = { "host", "kernel", NULL };

int lode_gate_read_rules(const struct lode_gate_settings *settings, struct lode_gate *gate,
			 struct lode_error *error)
{
	int code = 0;

	gate->persist = settings->persist ? settings->persist : LODE_GATE_PERSIST;
	gate->rules = lode_calloc(settings->rules.count + 1, sizeof(*gate->rules));
	if (!gate->rules)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && i < settings->rules.count; i++)
		code = lode_gate_rule_parse(&gate->rules[gate->rule_count++], settings->rules.items[i], error);
	if (!code && !settings->rules.count && (settings->unsure || settings->block_by.count || settings->persist))
		code = lode_fail(
			error, LODE_USAGE,
			"diff: '--unsure', '--block-by' and '--persist' are about the rules of '--gate', and "
			"there are none. See 'lode help diff'.");
	return code;
}

void lode_gate_release(struct lode_gate *gate)
{
	lode_free(gate->rules);
	lode_free(gate->blocks);
	lode_free(gate->times);
	memset(gate, 0, sizeof(*gate));
}

void lode_gate_set_unsure(const struct lode_gate_settings *settings, struct lode_checks *checks)
{
	checks->unsure_passes = settings->unsure && !strcmp(settings->unsure, "pass");
	checks->unsure_fails = settings->unsure && !strcmp(settings->unsure, "fail");
}

/* ---- blocks ---- */

/* The values of a stream that say which block it belongs to. */
struct key {
	char *text;
	uint32_t stream;
};

static const char *attribute_of(const struct lode_stream *stream, const char *key)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	if (!strcmp(key, "host"))
		return lode_strings_get(strings, stream->host);
	if (!strcmp(key, "name"))
		return lode_strings_get(strings, stream->name);
	for (size_t i = 0; i < stream->attribute_count; i++)
		if (!strcmp(lode_strings_get(strings, stream->attributes[i].key), key))
			return lode_strings_get(strings, stream->attributes[i].value);
	return "";
}

static char *key_of(const struct lode_stream *stream, const char *const *keys)
{
	struct lode_buffer buffer = { 0 };
	char *text;

	for (; *keys; keys++) {
		lode_buffer_text(&buffer, attribute_of(stream, *keys));
		lode_buffer_byte(&buffer, '\n');
	}
	lode_buffer_byte(&buffer, '\0');
	text = buffer.failed ? NULL : lode_strdup(buffer.bytes);
	lode_buffer_release(&buffer);
	return text;
}

static int read_key(const struct lode_corpus_entry *entry, const char *const *keys, char **text,
		    struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_store *store = NULL;
	int code = lode_dictionary_init(&dictionary) < 0 ? lode_fail_memory(error) : 0;

	if (code)
		return code;
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, entry->path, error);
	if (!code)
		code = lode_store_brief_head(store, &stream, error);
	if (!code && !(*text = key_of(&stream, keys)))
		code = lode_fail_memory(error);
	lode_store_close(store);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp((*(const struct lode_corpus_entry *const *)a)->id,
		      (*(const struct lode_corpus_entry *const *)b)->id);
}

static int find_entry(const void *id, const void *entry)
{
	return strcmp(id, (*(const struct lode_corpus_entry *const *)entry)->id);
}

/* Reads keys and times of the streams of a side; `times` may be NULL. */
static int read_side(const struct lode_latency_reading *reading, const char *const *keys, struct key *texts,
		     uint64_t *times, struct lode_error *error)
{
	const struct lode_latency *latency = &reading->latency;
	struct lode_corpus_list list = { 0 };
	const struct lode_corpus_entry **entries = NULL;
	int code = lode_corpus_streams(reading->source.corpus, &list, error);

	if (!code && !(entries = lode_calloc(list.count + 1, sizeof(*entries))))
		code = lode_fail_memory(error);
	for (size_t i = 0; !code && i < list.count; i++)
		entries[i] = &list.items[i];
	if (!code && list.count)
		qsort(entries, list.count, sizeof(*entries), compare_entries);
	for (size_t i = 0; !code && i < latency->stream_count; i++) {
		const struct lode_corpus_entry *const *entry =
			bsearch(latency->streams[i].id, entries, list.count, sizeof(*entries), find_entry);

		if (entry && times)
			times[i] = (*entry)->added;
		if (entry)
			code = read_key(*entry, keys, &texts[i].text, error);
	}
	lode_free(entries);
	lode_corpus_list_release(&list);
	return code;
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *left = a, *right = b;

	return strcmp(left->text ? left->text : "", right->text ? right->text : "");
}

static void number_blocks(struct key *keys, size_t count, uint32_t *blocks)
{
	uint32_t block = 0;

	if (count)
		qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++) {
		if (i && compare_keys(&keys[i - 1], &keys[i]))
			block++;
		blocks[keys[i].stream] = block;
	}
}

int lode_gate_read_blocks(const struct lode_gate_settings *settings, const struct lode_diff_sides *sides,
			  struct lode_gate *gate, struct lode_error *error)
{
	static const char *const none[] = { NULL };
	size_t base = sides->base.latency.stream_count, slow = sides->slow.latency.stream_count;
	const char *const *by = settings->block_by.count ? settings->block_by.items : usual_keys;
	struct key *keys = lode_calloc(base + slow + 1, sizeof(*keys));
	int code;

	if (settings->block_by.count == 1 && !strcmp(by[0], "none"))
		by = none;
	gate->blocks = lode_calloc(base + slow + 1, sizeof(*gate->blocks));
	gate->times = lode_calloc(slow + 1, sizeof(*gate->times));
	code = keys && gate->blocks && gate->times ? 0 : lode_fail_memory(error);
	for (size_t i = 0; !code && i < base + slow; i++)
		keys[i].stream = (uint32_t)i;
	if (!code)
		code = read_side(&sides->base, by, keys, NULL, error);
	if (!code)
		code = read_side(&sides->slow, by, keys + base, gate->times, error);
	if (!code)
		number_blocks(keys, base + slow, gate->blocks);
	for (size_t i = 0; keys && i < base + slow; i++)
		lode_free(keys[i].text);
	lode_free(keys);
	return code;
}
