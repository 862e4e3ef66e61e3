/*
 * Which stream a symptom counts in: see symptom_claims.h.
 *
 * Streams are sorted by host and start; those that begin before the end of an
 * earlier one overlap, and only they are read beforehand: their heads, and their
 * events where symptoms are derived. Times may restart with each recording, so
 * equal numbers are not enough: those streams that share some are read once more,
 * and a symptom is the same only where the last event of its thread is, too. Sorted,
 * the symptoms decide the owner of each.
 */
#include "scope/symptom_claims.h"

#include "base/bisect.h"
#include "base/parallel.h"
#include "scope/where.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS (LODE_T | LODE_COST | LODE_DELAY | LODE_THREAD | LODE_STACK)

struct claim {
	const struct lode_corpus_entry *entry;
	uint64_t t0;
	uint64_t t1;
	uint64_t event_t; /* the last event of its thread in it; where there is none, both are 0 */
	uint64_t event_cost;
	uint32_t tid;
	uint32_t place; /* in its stream */
	int cut;        /* the stream's events begin later */
};

struct claim_list {
	struct claim *items;
	size_t count;
};

struct lode_symptom_claims {
	struct claim_list owners; /* by host, thread, time and event; one for each */
};

/* ---- comparing ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Host, thread and time. */
static int compare_keys(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;
	int order = strcmp(a->entry->host, b->entry->host);

	if (!order)
		order = compare_numbers(a->tid, b->tid);
	if (!order)
		order = compare_numbers(a->t0, b->t0);
	return order ? order : compare_numbers(a->t1, b->t1);
}

/* And the event. */
static int compare_whole(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;
	int order = compare_keys(a, b);

	if (!order)
		order = compare_numbers(a->event_t, b->event_t);
	return order ? order : compare_numbers(a->event_cost, b->event_cost);
}

/* Of equal symptoms the one that counts comes first. Entries of a list are in one array. */
static int compare_claims(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;
	int order = compare_whole(a, b);

	if (!order)
		order = a->cut - b->cut;
	if (!order && a->entry != b->entry)
		order = a->entry < b->entry ? -1 : 1;
	return order ? order : compare_numbers(a->place, b->place);
}

static void drop_equal(struct claim_list *list, int (*compare)(const void *left, const void *right))
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_claims);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || compare(&list->items[kept - 1], &list->items[i]))
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static struct claim claim_of(const struct lode_corpus_entry *entry, const struct lode_stream *stream,
			     const struct lode_symptom *symptoms, size_t i)
{
	return (struct claim){
		.entry = entry,
		.t0 = symptoms[i].t0,
		.t1 = symptoms[i].t1,
		.tid = stream->threads[symptoms[i].thread].tid,
		.place = (uint32_t)i,
	};
}

/* The symptoms of a stream as claims; NULL when memory has run out. */
static struct claim *claims_of(const struct lode_corpus_entry *entry, const struct lode_stream *stream,
			       const struct lode_symptom *symptoms, size_t count)
{
	struct claim *claims = lode_calloc(count + 1, sizeof(*claims));

	for (size_t i = 0; claims && i < count; i++)
		claims[i] = claim_of(entry, stream, symptoms, i);
	return claims;
}

/* ---- the event that distinguishes symptoms ---- */

/* The number of events that begin up to `t`. */
static size_t events_until(const struct lode_events *events, uint64_t t)
{
	return LODE_BISECT(i, 0, events->count, events->t[i] <= t);
}

/* Looks for the last event of the symptom's thread that begins and ends within it. */
static void look_for_event(struct claim *claim, const struct lode_stream *stream, enum lode_event_type type)
{
	const struct lode_events *events = &stream->events[type];

	for (size_t i = events_until(events, claim->t1); i-- && events->t[i] >= claim->t0;) {
		if (stream->threads[events->thread[i]].tid != claim->tid ||
		    lode_add_saturating(events->t[i], events->cost[i]) > claim->t1)
			continue;
		if (events->t[i] >= claim->event_t) {
			claim->event_t = events->t[i];
			claim->event_cost = events->cost[i];
		}
		return;
	}
}

static void look_for_events(struct claim *claim, const struct lode_stream *stream)
{
	claim->cut = 1;
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		if (stream->events[type].count && stream->events[type].t[0] <= claim->t0)
			claim->cut = 0;
	look_for_event(claim, stream, LODE_RUN);
	look_for_event(claim, stream, LODE_WAIT);
}

/* ---- overlapping streams ---- */

static int compare_entries(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = *(const struct lode_corpus_entry *const *)left,
				       *b = *(const struct lode_corpus_entry *const *)right;
	int order = strcmp(a->host, b->host);

	if (!order)
		order = compare_numbers(a->first_t, b->first_t);
	return order ? order : compare_numbers(a->last_t, b->last_t);
}

/* Leaves those that overlap with another one. What has no host is not known to be of the same. */
static size_t keep_overlapping(const struct lode_corpus_entry **entries, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0, end; i < count; i = end) {
		uint64_t last = entries[i]->last_t;

		for (end = i + 1; end < count && *entries[i]->host &&
				  !strcmp(entries[end]->host, entries[i]->host) && entries[end]->first_t <= last;
		     end++)
			last = entries[end]->last_t > last ? entries[end]->last_t : last;
		if (end - i < 2)
			continue;
		memmove(&entries[kept], &entries[i], (end - i) * sizeof(*entries));
		kept += end - i;
	}
	return kept;
}

/* ---- reading them ---- */

struct reading {
	const struct lode_area_plan *plan;
	const struct lode_corpus_entry **entries;
	const struct claim_list *shared; /* whose events are to be looked for; NULL: of none */
	struct claim_list *lists;        /* by entry */
	struct lode_error *errors;
	int *codes;
};

static const struct claim *find_key(const struct claim_list *list, const struct claim *claim)
{
	return list->count ? bsearch(claim, list->items, list->count, sizeof(*claim), compare_keys) : NULL;
}

static int load(const struct reading *reading, struct lode_store *store, struct lode_stream *stream,
		struct lode_error *error)
{
	const unsigned columns[LODE_EVENT_TYPES] = { COLUMNS, COLUMNS, COLUMNS };
	int code = lode_store_head(store, stream, error);

	if (!code && (reading->plan->rules.count || reading->shared) &&
	    lode_where_fits(stream, reading->plan->options->where))
		code = lode_store_load_events(store, stream, columns, error);
	return code;
}

/* Of the claims only those that are shared, with their events. */
static void keep_shared(struct claim_list *list, const struct claim_list *shared, const struct lode_stream *stream)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!find_key(shared, &list->items[i]))
			continue;
		list->items[kept] = list->items[i];
		look_for_events(&list->items[kept++], stream);
	}
	list->count = kept;
}

/*
 * Idle waits may be among what is found here: they are claimed, and found in no stream later. Requests are not found, since
 * where threads wait for work is not known here: streams that overlap have theirs each.
 */
static int list_symptoms(const struct reading *reading, size_t i, const struct lode_stream *stream,
			 struct lode_error *error)
{
	struct claim_list *list = &reading->lists[i];
	struct lode_symptom *symptoms;
	size_t count;
	int code;

	if (!lode_where_fits(stream, reading->plan->options->where))
		return 0;
	code = lode_symptoms_of(&reading->plan->rules, stream, NULL, &symptoms, &count, error);
	if (code)
		return code;
	list->items = claims_of(reading->entries[i], stream, symptoms, count);
	lode_free(symptoms);
	if (!list->items)
		return lode_fail_memory(error);
	list->count = count;
	drop_equal(list, compare_keys);
	if (reading->shared)
		keep_shared(list, reading->shared, stream);
	return 0;
}

static void read_stream(void *context, size_t i)
{
	struct reading *reading = context;
	struct lode_dictionary dictionary;
	struct lode_store *store;
	struct lode_stream stream;
	int code;

	if (!reading->plan->rules.count && !reading->entries[i]->symptoms)
		return;
	if (lode_dictionary_init(&dictionary) < 0) {
		reading->codes[i] = lode_fail_memory(&reading->errors[i]);
		return;
	}
	lode_stream_init(&stream, &dictionary);
	code = lode_store_open(&store, reading->entries[i]->path, &reading->errors[i]);
	if (!code) {
		code = load(reading, store, &stream, &reading->errors[i]);
		if (!code)
			code = list_symptoms(reading, i, &stream, &reading->errors[i]);
		lode_store_close(store);
	}
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	reading->codes[i] = code;
}

static int join_lists(const struct reading *reading, size_t count, struct claim_list *all, struct lode_error *error)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		/* A stream that cannot be read is left out later, too, so others have its symptoms. */
		if (reading->codes[i] && (reading->plan->options->strict ||
					  !lode_stream_is_unreadable(reading->entries[i], reading->codes[i])))
			return lode_fail(error, reading->codes[i], "%s", reading->errors[i].text);
		total += reading->lists[i].count;
	}
	all->items = lode_calloc(total + 1, sizeof(*all->items));
	if (!all->items)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		if (reading->lists[i].count)
			memcpy(&all->items[all->count], reading->lists[i].items,
			       reading->lists[i].count * sizeof(*all->items));
		all->count += reading->lists[i].count;
	}
	return 0;
}

/* The symptoms of all entries; the caller frees them in either case. */
static int read_all(const struct lode_area_plan *plan, const struct lode_corpus_entry **entries, size_t count,
		    const struct claim_list *shared, struct claim_list *all, struct lode_error *error)
{
	struct reading reading = {
		.plan = plan,
		.entries = entries,
		.shared = shared,
		.lists = lode_calloc(count + 1, sizeof(*reading.lists)),
		.errors = lode_calloc(count + 1, sizeof(*reading.errors)),
		.codes = lode_calloc(count + 1, sizeof(*reading.codes)),
	};
	int code = reading.lists && reading.errors && reading.codes ? 0 : lode_fail_memory(error);

	if (!code) {
		lode_parallel(plan->options->jobs, count, read_stream, &reading);
		code = join_lists(&reading, count, all, error);
	}
	for (size_t i = 0; reading.lists && i < count; i++)
		lode_free(reading.lists[i].items);
	lode_free(reading.lists);
	lode_free(reading.errors);
	lode_free(reading.codes);
	return code;
}

/* Leaves the symptoms that several streams have, all of each. */
static void keep_repeated(struct claim_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_claims);
	for (size_t i = 0, end; i < list->count; i = end) {
		for (end = i + 1; end < list->count && !compare_keys(&list->items[i], &list->items[end]); end++)
			continue;
		if (end - i < 2)
			continue;
		memmove(&list->items[kept], &list->items[i], (end - i) * sizeof(*list->items));
		kept += end - i;
	}
	list->count = kept;
}

static int compare_places(const void *left, const void *right)
{
	const struct lode_corpus_entry *a = *(const struct lode_corpus_entry *const *)left,
				       *b = *(const struct lode_corpus_entry *const *)right;

	return a < b ? -1 : a > b;
}

/* Leaves the entries that have any of the symptoms. `marks` has a zero for each. */
static size_t keep_sharing(const struct lode_corpus_entry **entries, size_t count, const struct claim_list *shared,
			   uint8_t *marks)
{
	size_t kept = 0;

	qsort(entries, count, sizeof(*entries), compare_places);
	for (size_t i = 0; i < shared->count; i++) {
		const struct lode_corpus_entry **found =
			bsearch(&shared->items[i].entry, entries, count, sizeof(*entries), compare_places);

		if (found)
			marks[found - entries] = 1;
	}
	for (size_t i = 0; i < count; i++)
		if (marks[i])
			entries[kept++] = entries[i];
	return kept;
}

static int find_owners(struct claim_list *owners, const struct lode_area_plan *plan,
		       const struct lode_corpus_entry **entries, size_t count, struct lode_error *error)
{
	struct claim_list shared = { 0 };
	uint8_t *marks = lode_calloc(count, 1);
	int code = marks ? read_all(plan, entries, count, NULL, &shared, error) : lode_fail_memory(error);

	if (!code)
		keep_repeated(&shared);
	if (!code && shared.count) {
		count = keep_sharing(entries, count, &shared, marks);
		code = read_all(plan, entries, count, &shared, owners, error);
	}
	if (!code)
		drop_equal(owners, compare_whole);
	lode_free(shared.items);
	lode_free(marks);
	return code;
}

int lode_symptom_claims_make(struct lode_symptom_claims **result, const struct lode_area_plan *plan,
			     const struct lode_corpus_list *list, struct lode_error *error)
{
	struct lode_symptom_claims *claims = lode_calloc(1, sizeof(*claims));
	const struct lode_corpus_entry **entries = lode_calloc(list->count + 1, sizeof(*entries));
	size_t count;
	int code = claims && entries ? 0 : lode_fail_memory(error);

	for (size_t i = 0; !code && i < list->count; i++)
		entries[i] = &list->items[i];
	count = code ? 0 : keep_overlapping(entries, list->count);
	if (count)
		code = find_owners(&claims->owners, plan, entries, count, error);
	lode_free(entries);
	if (code) {
		lode_symptom_claims_free(claims);
		claims = NULL;
	}
	*result = claims;
	return code;
}

void lode_symptom_claims_free(struct lode_symptom_claims *claims)
{
	if (!claims)
		return;
	lode_free(claims->owners.items);
	lode_free(claims);
}

/* ---- applying ---- */

/* A symptom without an event is not known to be another's. */
static int counts_elsewhere(const struct lode_symptom_claims *claims, const struct lode_stream *stream,
			    struct claim *claim)
{
	const struct claim *owner;

	if (!claims || !find_key(&claims->owners, claim))
		return 0;
	look_for_events(claim, stream);
	owner = bsearch(claim, claims->owners.items, claims->owners.count, sizeof(*claim), compare_whole);
	return claim->event_cost && owner && owner->entry != claim->entry;
}

int lode_symptom_claims_apply(const struct lode_symptom_claims *claims, const struct lode_corpus_entry *entry,
			      const struct lode_stream *stream, struct lode_symptom *symptoms, size_t *count)
{
	struct claim_list own = { claims_of(entry, stream, symptoms, *count), *count };
	uint8_t *stays = lode_calloc(*count + 1, 1);
	size_t kept = 0;

	if (own.items && stays) {
		drop_equal(&own, compare_keys);
		for (size_t i = 0; i < own.count; i++)
			stays[own.items[i].place] = !counts_elsewhere(claims, stream, &own.items[i]);
		for (size_t i = 0; i < *count; i++)
			if (stays[i])
				symptoms[kept++] = symptoms[i];
		*count = kept;
	}
	lode_free(own.items);
	lode_free(stays);
	return own.items && stays ? 0 : LODE_SYSTEM;
}

/* Only symptoms of its host can be the same as its own, and then it matters who owns them. */
void lode_symptom_claims_describe(const struct lode_symptom_claims *claims, const struct lode_corpus_entry *entry,
				  struct lode_buffer *buffer)
{
	for (size_t i = 0; claims && i < claims->owners.count; i++) {
		const struct claim *owner = &claims->owners.items[i];

		if (strcmp(owner->entry->host, entry->host) != 0)
			continue;
		lode_buffer_byte(buffer, owner->entry == entry);
		lode_buffer_u32(buffer, owner->tid);
		lode_buffer_u64(buffer, owner->t0);
		lode_buffer_u64(buffer, owner->t1);
		lode_buffer_u64(buffer, owner->event_t);
		lode_buffer_u64(buffer, owner->event_cost);
	}
}
