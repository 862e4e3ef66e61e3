/* Areas without events: see empty_area.h. Only here, where it is too late for speed, the threads of all streams are looked at. */
#include "tasks/empty_area.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "base/units.h"
#include "scope/process_names.h"
#include "scope/where.h"
#include "tasks/nearest.h"

#include <string.h>

static int is_empty(const struct lode_area *area)
{
	size_t rows = area->work.count + area->chains.row_count;

	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		rows += area->rows[kind].count + area->idle[kind].count;
	return !rows;
}

/* ---- names of threads and processes ---- */

struct search {
	struct lode_dictionary dictionary;
	const char *condition; /* `process=GLOB` or `thread=GLOB` */
	struct lode_nearest nearest;
	int is_found;
};

static int try_names(struct search *search, const struct lode_stream *stream)
{
	const struct lode_strings *strings = &search->dictionary.frames.strings;
	uint32_t *processes = lode_process_names(stream);
	int of_processes = lode_starts_with(search->condition, "process=");

	for (size_t i = 0; processes && i < stream->thread_count; i++)
		lode_nearest_try(&search->nearest,
				 lode_strings_get(strings, of_processes ? processes[i] : stream->threads[i].name));
	lode_free(processes);
	return processes ? 0 : LODE_SYSTEM;
}

static int search_stream(struct search *search, const struct lode_stream *stream)
{
	const char *const where[] = { search->condition, NULL };
	uint8_t *fits = NULL;

	if (lode_where_threads(stream, where, &fits) < 0)
		return LODE_SYSTEM;
	search->is_found |= !fits; /* it is about an attribute here */
	for (size_t i = 0; fits && i < stream->thread_count; i++)
		search->is_found |= fits[i];
	lode_free(fits);
	return search->is_found ? 0 : try_names(search, stream);
}

/* A stream that cannot be read was told of before. */
static int search_file(struct search *search, const char *path, struct lode_error *error)
{
	struct lode_store *store = NULL;
	struct lode_stream stream;
	int code = 0;

	lode_stream_init(&stream, &search->dictionary);
	if (lode_store_open(&store, path, NULL) == 0 && lode_store_head(store, &stream, NULL) == 0 &&
	    search_stream(search, &stream) < 0)
		code = lode_fail_memory(error);
	lode_store_close(store);
	lode_stream_release(&stream);
	return code;
}

static int fail_search(const struct search *search, const char *path, struct lode_error *error)
{
	if (search->is_found)
		return 0;
	if (search->nearest.best)
		return lode_fail(error, LODE_USAGE, "%s: no thread has '%s'; did you mean '%s'?", path,
				 search->condition, search->nearest.best);
	return lode_fail(error, LODE_USAGE, "%s: no thread has '%s'; 'lode info %s' shows the processes there are",
			 path, search->condition, path);
}

/* Whether some thread has what is asked for, whatever else is asked for. */
static int check_threads(const struct lode_source *source, const struct lode_corpus_list *list,
			 const char *condition, struct lode_error *error)
{
	struct search search = { .condition = condition, .nearest = lode_nearest(strchr(condition, '=') + 1) };
	int code = lode_dictionary_init(&search.dictionary) < 0 ? lode_fail_memory(error) : 0;

	for (size_t i = 0; !code && i < list->count && !search.is_found; i++)
		code = search_file(&search, list->items[i].path, error);
	if (!code)
		code = fail_search(&search, source->path, error);
	lode_dictionary_release(&search.dictionary);
	return code;
}

/* ---- what was asked for ---- */

static void put_list(struct lode_buffer *words, const char *option, const struct lode_option_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		lode_buffer_print(words, "%s%s '%s'", words->size ? ", " : "", option, list->items[i]);
}

static int fail_filters(const struct lode_source *source, const struct lode_area_settings *settings,
			size_t streams, struct lode_error *error)
{
	struct lode_buffer words = { 0 };
	int code = 0;

	put_list(&words, "--where", &settings->where);
	put_list(&words, "--match", &settings->match);
	put_list(&words, "--exclude", &settings->exclude);
	if (settings->time)
		lode_buffer_print(&words, "%s--time '%s'", words.size ? ", " : "", settings->time);
	if (words.size) {
		lode_buffer_byte(&words, '\0');
		code = lode_fail(
			error, LODE_USAGE,
			"%s: no event of its %zu stream%s is left by %s; 'lode info %s' shows what there is",
			source->path, streams, lode_plural(streams), words.failed ? "this" : words.bytes,
			source->path);
	}
	lode_buffer_release(&words);
	return code;
}

int lode_empty_area_check(struct lode_source *source, const struct lode_area_settings *settings,
			  const struct lode_area *area, int is_whole, struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	int code;

	if (!is_empty(area))
		return 0;
	code = lode_corpus_streams(source->corpus, &list, error);
	if (!code && !list.count)
		code = lode_fail(
			error, LODE_BAD_INPUT,
			"%s: has no streams; add some with 'lode record -o %s' or 'lode import FILE -o %s'",
			source->path, source->path, source->path);
	for (size_t i = 0; !code && i < settings->where.count; i++)
		if (lode_starts_with(settings->where.items[i], "process=") ||
		    lode_starts_with(settings->where.items[i], "thread="))
			code = check_threads(source, &list, settings->where.items[i], error);
	if (!code && is_whole)
		code = fail_filters(source, settings, list.count, error);
	lode_corpus_list_release(&list);
	return code;
}
