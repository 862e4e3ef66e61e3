/*
 * Names of streams: see import_names.h.
 *
 * perf calls every recording `perf.data`, so that the base name alone says nothing
 * once there are several. All files with the same name are prefixed with one more
 * folder until all names differ.
 */
#include "import/import_names.h"

#include "base/ends_with.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* Length without an extension; a name that begins with its only dot keeps it. */
static size_t without_extension(const char *name, size_t length)
{
	const char *dot = memrchr(name, '.', length);

	return dot && dot > name && dot[-1] != '/' && !memchr(dot, '/', length - (size_t)(dot - name))
		       ? (size_t)(dot - name)
		       : length;
}

/* Where the base name begins, with up to `folders` of its folders in front. */
static const char *tail_of(const char *path, unsigned folders)
{
	const char *end = path + strlen(path);

	while (end > path + 1 && end[-1] == '/')
		end--;
	for (folders++; folders && end > path; folders--) {
		const char *slash = memrchr(path, '/', (size_t)(end - path));

		if (!slash || slash == path)
			return slash && folders == 1 && slash[1] ? slash + 1 : path;
		if (folders == 1)
			return slash + 1;
		end = slash;
	}
	return path;
}

char *lode_import_name(const char *path, unsigned folders)
{
	const char *name = tail_of(path, folders);
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		length--;
	if (lode_bytes_end_with(name, length, ".gz") || lode_bytes_end_with(name, length, ".zst") ||
	    lode_bytes_end_with(name, length, ".xz"))
		length = without_extension(name, length);
	return lode_strndup(name, without_extension(name, length));
}

char *lode_import_default_name(const struct lode_input *input, const struct lode_import_options *options)
{
	if (options->stream_name || options->file_name)
		return lode_strdup(options->stream_name ? options->stream_name : options->file_name);
	return lode_import_name(lode_input_name(input), 0);
}

static char *name_of(const char *path, unsigned folders)
{
	return strcmp(path, "-") ? lode_import_name(path, folders) : lode_strdup("standard input");
}

/* Whether a name with one more folder says more. */
static int has_more(const char *path, unsigned folders)
{
	char *name = name_of(path, folders), *longer = name_of(path, folders + 1);
	int more = name && longer && strcmp(name, longer) != 0;

	lode_free(name);
	lode_free(longer);
	return more;
}

/* The numbers of the files' names, equal ones for equal names; by number, a file of it and whether another
 * has it. */
struct round {
	struct lode_strings strings;
	uint32_t *ids;
	size_t *first;
	char *shared;
};

static int number_names(const struct lode_import_names *names, struct round *round)
{
	for (size_t i = 0; i < names->count; i++) {
		char *name = name_of(names->paths[i], names->folders[i]);
		size_t before = round->strings.count;
		uint32_t id = name ? lode_strings_add(&round->strings, name, strlen(name)) : LODE_NONE;

		lode_free(name);
		if (id == LODE_NONE)
			return LODE_SYSTEM;
		round->ids[i] = id;
		if (round->strings.count > before)
			round->first[id] = i;
		else if (id && strcmp(names->paths[round->first[id]], names->paths[i]) != 0)
			round->shared[id] = 1;
	}
	return 0;
}

/* Gives the files that share a name one folder more. Returns whether there were any, or LODE_SYSTEM. */
static int lengthen(struct lode_import_names *names)
{
	struct round round = {
		.ids = lode_calloc(names->count + 1, sizeof(*round.ids)),
		.first = lode_calloc(names->count + 1, sizeof(*round.first)),
		.shared = lode_calloc(names->count + 1, 1),
	};
	int changed = round.ids && round.first && round.shared ? lode_strings_init(&round.strings) : LODE_SYSTEM;

	if (changed == 0)
		changed = number_names(names, &round);
	for (size_t i = 0; changed >= 0 && i < names->count; i++) {
		if (!round.shared[round.ids[i]] || !has_more(names->paths[i], names->folders[i]))
			continue;
		names->folders[i]++;
		changed = 1;
	}
	lode_strings_release(&round.strings);
	lode_free(round.ids);
	lode_free(round.first);
	lode_free(round.shared);
	return changed;
}

int lode_import_names_init(struct lode_import_names *names, const char *const *paths, const unsigned *levels,
			   size_t count)
{
	int changed = 1;

	*names = (struct lode_import_names){ .paths = paths, .count = count };
	names->folders = lode_calloc(count + 1, sizeof(*names->folders));
	if (!names->folders || lode_strings_init(&names->taken) < 0)
		return LODE_SYSTEM;
	if (count)
		memcpy(names->folders, levels, count * sizeof(*levels));
	while (changed > 0)
		changed = lengthen(names);
	return changed;
}

void lode_import_names_release(struct lode_import_names *names)
{
	lode_free(names->folders);
	lode_strings_release(&names->taken);
	memset(names, 0, sizeof(*names));
}

char *lode_import_names_get(const struct lode_import_names *names, size_t file)
{
	return name_of(names->paths[file], names->folders[file]);
}

/* ---- names of the corpus ---- */

static int load(struct lode_import_names *names, struct lode_corpus *corpus, struct lode_error *error)
{
	struct lode_corpus_list list;
	int code = 0;

	if (names->loaded)
		return 0;
	code = lode_corpus_streams(corpus, &list, error);
	if (code < 0)
		return code;
	for (size_t i = 0; i < list.count && code == 0; i++)
		if (lode_strings_add(&names->taken, list.items[i].name, strlen(list.items[i].name)) == LODE_NONE)
			code = lode_fail_memory(error);
	lode_corpus_list_release(&list);
	names->loaded = code == 0;
	return code;
}

static int is_taken(const struct lode_import_names *names, const char *name)
{
	return lode_strings_find(&names->taken, name, strlen(name)) != LODE_NONE;
}

/* `name`, with folders in front or a number behind it as long as it is taken; frees `name`. */
static char *free_name(const struct lode_import_names *names, size_t file, char *name)
{
	const char *path = names->paths[file];
	size_t room;
	char *numbered;

	for (unsigned folders = names->folders[file]; name && is_taken(names, name) && has_more(path, folders);) {
		lode_free(name);
		name = name_of(path, ++folders);
	}
	if (!name || !is_taken(names, name))
		return name;
	room = strlen(name) + 24;
	numbered = lode_alloc(room);
	for (unsigned long long number = 2; numbered; number++) {
		snprintf(numbered, room, "%s-%llu", name, number);
		if (!is_taken(names, numbered))
			break;
	}
	lode_free(name);
	return numbered;
}

static int set_name(struct lode_stream *stream, const char *name)
{
	uint32_t id = lode_strings_add(&stream->dictionary->frames.strings, name, strlen(name));

	if (id == LODE_NONE)
		return LODE_SYSTEM;
	stream->name = id;
	return 0;
}

int lode_import_names_settle(struct lode_import_names *names, size_t file, struct lode_corpus *corpus,
			     struct lode_stream *stream, struct lode_error *error)
{
	const char *own = lode_strings_get(&stream->dictionary->frames.strings, stream->name);
	char *name = lode_import_names_get(names, file);
	int code = load(names, corpus, error);

	if (code == 0 && name && !strcmp(own, name) && is_taken(names, name)) {
		name = free_name(names, file, name);
		if (!name || set_name(stream, name) < 0)
			code = lode_fail_memory(error);
	} else if (code == 0) {
		lode_free(name);
		name = lode_strdup(own);
	}
	if (code == 0 && (!name || lode_strings_add(&names->taken, name, strlen(name)) == LODE_NONE))
		code = lode_fail_memory(error);
	lode_free(name);
	return code;
}
