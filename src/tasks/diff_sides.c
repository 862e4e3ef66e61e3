/* The two sides of lode diff: see diff_sides.h. */
#include "tasks/diff_sides.h"

#include "base/memory.h"
#include "tasks/latency_states.h"

#include <stdlib.h>
#include <string.h>

/* The attributes that both sides must have and those of this side; NULL when memory has run out. */
static const char **join(const struct lode_option_list *both, const struct lode_option_list *own)
{
	const char **all = lode_calloc(both->count + own->count + 1, sizeof(*all));

	for (size_t i = 0; all && i < both->count; i++)
		all[i] = both->items[i];
	for (size_t i = 0; all && i < own->count; i++)
		all[both->count + i] = own->items[i];
	return all;
}

static int read_side(struct lode_latency_reading *reading, char *const *path,
		     const struct lode_diff_settings *settings, const struct lode_side_settings *side,
		     struct lode_work *work, struct lode_error *error)
{
	struct lode_latency_settings own = settings->latency;
	const char **where = join(&settings->latency.area.where, &side->where);
	int code;

	if (!where)
		return lode_fail_memory(error);
	own.area.where = (struct lode_option_list){ .items = where };
	own.streams = side->streams;
	code = lode_latency_open(reading, path, 1, &own, work, error);
	if (!code)
		code = lode_latency_read(reading, error);
	lode_free(where);
	reading->options.where = NULL;
	if (!code && !reading->latency.stream_count && !lode_host_helps(work->call->host))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: holds no streams, so there is nothing to compare with", *path);
	return code;
}

static void list_words(const struct lode_option_list *list, struct lode_buffer *buffer)
{
	for (size_t i = 0; i < list->count; i++) {
		lode_buffer_text(buffer, buffer->size ? ", " : "(");
		lode_buffer_text(buffer, list->items[i]);
	}
}

/* `(variant=good, laptop-17)`. */
static int describe_choice(const struct lode_side_settings *side, char **words)
{
	struct lode_buffer buffer = { 0 };
	int code = 0;

	list_words(&side->where, &buffer);
	list_words(&side->streams, &buffer);
	if (buffer.size) {
		lode_buffer_text(&buffer, ")");
		lode_buffer_byte(&buffer, '\0');
		*words = buffer.failed ? NULL : lode_strdup(buffer.bytes);
		code = *words ? 0 : LODE_SYSTEM;
	}
	lode_buffer_release(&buffer);
	return code;
}

/*
 * Gives a module of the slow side another name, unless it has one of that name already: `app-2` becomes `app-1`, so that
 * functions of two versions are the same ones.
 */
static int rename_module(struct lode_dictionary *dictionary, const char *rule)
{
	struct lode_frames *frames = &dictionary->frames;
	const char *old = strchr(rule, '=') + 1;
	size_t length = (size_t)(old - rule) - 1;
	uint32_t name;

	for (uint32_t i = 0; i < frames->module_count; i++)
		if (!strcmp(lode_strings_get(&frames->strings, frames->modules[i].name), old))
			return 0;
	name = lode_strings_add(&frames->strings, old, strlen(old));
	for (uint32_t i = 0; name != LODE_NONE && i < frames->module_count; i++) {
		const char *known = lode_strings_get(&frames->strings, frames->modules[i].name);

		if (strlen(known) == length && !memcmp(known, rule, length))
			frames->modules[i].name = name;
	}
	return name == LODE_NONE ? LODE_SYSTEM : 0;
}

static int check_modules(const struct lode_option_list *modules, struct lode_error *error)
{
	for (size_t i = 0; i < modules->count; i++) {
		const char *middle = strchr(modules->items[i], '=');

		if (!middle || middle == modules->items[i] || !middle[1])
			return lode_fail(error, LODE_USAGE,
					 "diff: '--slow-module %s' is no pair such as 'app-2.0=app-1.0'",
					 modules->items[i]);
	}
	return 0;
}

/* One corpus cannot be compared with itself: something must separate the sides. */
static int check_sides(const struct lode_call *call, struct lode_error *error)
{
	const struct lode_diff_settings *settings = call->settings;

	if (call->operand_count > 1 || ((settings->base.where.count || settings->base.streams.count) &&
					(settings->slow.where.count || settings->slow.streams.count)))
		return 0;
	return lode_fail(error, LODE_USAGE,
			 "diff: with one corpus, say which of its streams are the base and which are slow: "
			 "'--base-where version=1 --slow-where version=2'. See 'lode help diff'.");
}

static int compare_ids(const void *a, const void *b)
{
	const struct lode_latency_stream *left = a, *right = b;

	return strcmp(left->id, right->id);
}

static int sum_side(struct lode_latency_reading *reading, const struct lode_diff_settings *settings,
		    const struct lode_side_settings *side, struct lode_work *work, uint64_t states[LODE_STATES],
		    struct lode_error *error)
{
	const char **where = join(&settings->latency.area.where, &side->where);
	int code = where ? lode_latency_states(reading, where, work, UINT64_MAX, states, error)
			 : lode_fail_memory(error);

	lode_free(where);
	return code;
}

/* A stream on both sides blurs the difference. */
static int note_common_streams(const struct lode_diff_sides *sides, struct lode_notes *notes)
{
	const struct lode_latency *base = &sides->base.latency, *slow = &sides->slow.latency;
	struct lode_latency_stream *sorted = lode_calloc(slow->stream_count, sizeof(*sorted));

	if (!sorted)
		return LODE_SYSTEM;
	memcpy(sorted, slow->streams, slow->stream_count * sizeof(*sorted));
	qsort(sorted, slow->stream_count, sizeof(*sorted), compare_ids);
	for (size_t i = 0; i < base->stream_count; i++)
		if (bsearch(&base->streams[i], sorted, slow->stream_count, sizeof(*sorted), compare_ids))
			lode_notes_add(notes, 1, "streams are on both sides",
				       lode_strings_get(&base->dictionary.frames.strings, base->streams[i].name));
	lode_free(sorted);
	return 0;
}

int lode_diff_sides_read(struct lode_diff_sides *sides, const struct lode_call *call, struct lode_work *work,
			 struct lode_error *error)
{
	const struct lode_diff_settings *settings = call->settings;
	int code = check_sides(call, error);

	if (!code)
		code = check_modules(&settings->modules, error);
	lode_host_expect(call->host, 2);
	if (!code)
		code = read_side(&sides->base, &call->operands[0], settings, &settings->base, work, error);
	if (!code)
		code = read_side(&sides->slow, &call->operands[call->operand_count - 1], settings, &settings->slow,
				 work, error);
	for (size_t i = 0; !code && i < settings->modules.count; i++)
		if (rename_module(&sides->slow.latency.dictionary, settings->modules.items[i]) < 0)
			code = lode_fail_memory(error);
	/* Both sides may be of one corpus. */
	lode_unread_streams_note(&sides->base.latency.unread, &work->notes);
	if (!code && lode_unread_streams_note_others(&sides->slow.latency.unread, &sides->base.latency.unread,
						     &work->notes) < 0)
		code = lode_fail_memory(error);
	if (!code && (note_common_streams(sides, &work->notes) < 0 ||
		      describe_choice(&settings->base, &sides->base_streams) < 0 ||
		      describe_choice(&settings->slow, &sides->slow_streams) < 0))
		code = lode_fail_memory(error);
	/* Where several processes read together, all have latencies, and only the first shows the result. */
	if (!code && !lode_host_helps(call->host)) {
		code = sum_side(&sides->base, settings, &settings->base, work, sides->base_states, error);
		if (!code)
			code = sum_side(&sides->slow, settings, &settings->slow, work, sides->slow_states, error);
	}
	return code;
}

void lode_diff_sides_release(struct lode_diff_sides *sides)
{
	lode_free(sides->base_streams);
	lode_free(sides->slow_streams);
	lode_latency_reading_release(&sides->slow);
	lode_latency_reading_release(&sides->base);
}
