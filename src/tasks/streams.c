/* The streams that `--stream NAME` asks for: see streams.h. */
#include "tasks/streams.h"

#include "tasks/nearest.h"

#include <string.h>

static int is_called(const struct lode_corpus_entry *entry, const char *name)
{
	return !strcmp(entry->name, name) || !strcmp(entry->id, name);
}

int lode_stream_asked_for(const struct lode_option_list *names, const struct lode_corpus_entry *entry)
{
	for (size_t i = 0; i < names->count; i++)
		if (is_called(entry, names->items[i]))
			return 1;
	return !names->count;
}

static int check_name(const char *name, const struct lode_corpus_list *list, const char *path,
		      struct lode_error *error)
{
	struct lode_nearest nearest = lode_nearest(name);

	for (size_t i = 0; i < list->count; i++) {
		if (is_called(&list->items[i], name))
			return 0;
		lode_nearest_try(&nearest, list->items[i].name);
	}
	if (nearest.best)
		return lode_fail(error, LODE_USAGE, "%s: has no stream '%s'; did you mean '%s'?", path, name,
				 nearest.best);
	return lode_fail(error, LODE_USAGE, "%s: has no stream '%s'; 'lode info --all %s' lists them", path, name,
			 path);
}

int lode_streams_check(const struct lode_option_list *names, const struct lode_corpus_list *list, const char *path,
		       struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < names->count && !code; i++)
		code = check_name(names->items[i], list, path, error);
	return code;
}
