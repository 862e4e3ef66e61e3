/* Rates and limits of a flight recorder: see retention.h. */
#include "watch/retention.h"

#include "base/memory.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000u
#define HOUR   (3600ull * SECOND)

int lode_rate_init(struct lode_rate *rate, size_t limit)
{
	*rate = (struct lode_rate){ .limit = limit };
	if (!limit)
		return 0;
	rate->times = lode_calloc(limit, sizeof(*rate->times));
	return rate->times ? 0 : LODE_SYSTEM;
}

void lode_rate_release(struct lode_rate *rate)
{
	lode_free(rate->times);
	memset(rate, 0, sizeof(*rate));
}

int lode_rate_take(struct lode_rate *rate, uint64_t now)
{
	size_t place;

	if (!rate->limit) {
		rate->count++;
		return 1;
	}
	place = rate->count % rate->limit;
	/* The one so many before this one must be an hour ago. */
	if (rate->count >= rate->limit && now - rate->times[place] < HOUR)
		return 0;
	rate->times[place] = now;
	rate->count++;
	return 1;
}

static int read_days(const char *text, uint64_t *seconds)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 6 || strcmp(text + digits, "d") != 0)
		return 0;
	*seconds = strtoull(text, NULL, 10) * 86400;
	return 1;
}

int lode_retention_parse(struct lode_retention *keep, const char *text, struct lode_error *error)
{
	uint64_t *limit = &keep->seconds, nanoseconds;
	size_t digits = strspn(text, "0123456789");

	if (digits && digits < 19 && !text[digits]) {
		limit = &keep->count;
		*limit = strtoull(text, NULL, 10);
	} else if (strpbrk(text, "BkMGTP")) {
		limit = &keep->bytes;
		if (lode_bytes_parse(text, limit, error) < 0)
			return LODE_USAGE;
	} else if (!read_days(text, limit)) {
		if (lode_duration_parse(text, &nanoseconds, NULL) < 0)
			return lode_fail(error, LODE_USAGE,
					 "'%s' is not a limit; write a number of streams (20), "
					 "a size (500MB) or an age (36h, 7d)",
					 text);
		*limit = nanoseconds / SECOND;
	}
	if (*limit)
		return 0;
	return lode_fail(error, LODE_USAGE, "'%s' would keep nothing; write more", text);
}

static int compare_ages(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = left, *b = right;

	if (a->added != b->added)
		return a->added > b->added ? -1 : 1;
	if (a->last_t != b->last_t)
		return a->last_t > b->last_t ? -1 : 1;
	return strcmp(a->id, b->id);
}

static int is_kept(const struct lode_retention *keep, const struct lode_corpus_entry *entry, uint64_t number,
		   uint64_t bytes, uint64_t now)
{
	if (keep->count && number >= keep->count)
		return 0;
	if (keep->bytes && bytes + entry->file_size > keep->bytes)
		return 0;
	return !keep->seconds || entry->added + keep->seconds >= now;
}

/* From the youngest on: the first that is too much, and all that are older, go. */
static int remove_rest(const struct lode_retention *keep, struct lode_corpus *corpus,
		       struct lode_corpus_list *list, const char *host, uint64_t now, struct lode_error *error)
{
	uint64_t number = 0, bytes = 0;
	int removed = 0, over = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct lode_corpus_entry *entry = &list->items[i];
		int code;

		if (strcmp(entry->host, host) != 0)
			continue;
		over |= number && !is_kept(keep, entry, number, bytes, now);
		number++;
		bytes += entry->file_size;
		if (!over)
			continue;
		code = lode_corpus_remove(corpus, entry->id, error);
		if (code < 0)
			return code;
		removed += code;
	}
	return removed;
}

int lode_retention_apply(const struct lode_retention *keep, struct lode_corpus *corpus, const char *watch,
			 const char *host, uint64_t now, struct lode_error *error)
{
	struct lode_corpus_list list;
	int code;

	if (!keep->count && !keep->bytes && !keep->seconds)
		return 0;
	code = lode_corpus_streams_with(corpus, LODE_WATCH_ATTRIBUTE, watch, &list, error);
	if (code < 0)
		return code;
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), compare_ages);
	code = remove_rest(keep, corpus, &list, host, now, error);
	lode_corpus_list_release(&list);
	return code;
}
