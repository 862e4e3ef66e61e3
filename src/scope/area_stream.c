/*
 * The map step of the area of interest: from the events of one stream to rows. area_mapping.h says which file does what;
 * here a stream is opened, looked up in the cache and, where it is not there, read.
 */
#include "scope/area_stream.h"

#include "scope/area_cache.h"
#include "scope/area_mapping.h"
#include "scope/frame_filter.h"
#include "scope/where.h"

#include <stdlib.h>
#include <string.h>

/* Looks for the slots of time in which the stream was recorded. */
static int find_slots(struct lode_area_mapping *mapping, struct lode_error *error)
{
	const struct lode_strings *strings = &mapping->partial->dictionary.frames.strings;
	struct lode_events events = { 0 };
	int code = 0;

	if (!lode_slot_sampling_is_possible(strings))
		return 0;
	for (size_t i = 0; !code && i < lode_store_blocks(mapping->store); i++) {
		if (lode_store_block(mapping->store, i)->type != LODE_CALL)
			continue;
		code = lode_store_events(mapping->store, i, LODE_T | LODE_DELAY | LODE_NAME, &events, error);
		if (!code && lode_slot_sampling_see(&mapping->sampling, &events, strings) < 0)
			code = lode_fail_memory(error);
	}
	lode_slot_sampling_settle(&mapping->sampling, strtoull(mapping->entry->id, NULL, 16));
	lode_events_release(&events);
	return code;
}

static int prepare(struct lode_area_mapping *mapping, struct lode_error *error)
{
	const struct lode_area_options *options = mapping->plan->options;
	struct lode_area_partial *partial = mapping->partial;
	const struct lode_dictionary *dictionary = &partial->dictionary;
	size_t nodes = dictionary->tree.count;
	int failed = 0;

	failed |= lode_stacks_match(dictionary, options->match, &mapping->match) < 0;
	failed |= lode_stacks_match(dictionary, options->exclude, &mapping->exclude) < 0;
	failed |= lode_where_threads(&partial->stream, options->where, &mapping->threads) < 0;
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		mapping->sums[kind][LODE_AREA_COUNTED].rows = &partial->rows[kind];
		mapping->sums[kind][LODE_AREA_COUNTED].kept = mapping->plan->keep ? &partial->kept[kind] : NULL;
		mapping->sums[kind][LODE_AREA_IDLE].rows = &partial->idle[kind];
		mapping->sums[kind][LODE_AREA_FOR_WORK].rows = &partial->work; /* only waits come here */
		for (int set = 0; set < LODE_AREA_ROW_SETS; set++) {
			mapping->sums[kind][set].places = lode_calloc(nodes, sizeof(uint32_t));
			failed |= !mapping->sums[kind][set].places;
		}
	}
	if (failed)
		return lode_fail_memory(error);
	failed = options->idle ? lode_idle_stacks_make(&mapping->idle, options->idle, dictionary, error) : 0;
	mapping->classes.idle = mapping->idle;
	mapping->preemption =
		lode_strings_find(&dictionary->frames.strings, LODE_PREEMPTION, sizeof(LODE_PREEMPTION) - 1);
	return failed ? failed : lode_area_prepare_chains(mapping, error);
}

static void set_time(struct lode_area_mapping *mapping, uint64_t first_t)
{
	const struct lode_area_plan *plan = mapping->plan;

	mapping->from = plan->relative ? lode_add_saturating(first_t, plan->from) : plan->from;
	mapping->to = plan->relative ? lode_add_saturating(first_t, plan->to) : plan->to;
}

static int read_head(struct lode_area_mapping *mapping, struct lode_error *error)
{
	struct lode_area_partial *partial = mapping->partial;
	int code = lode_store_head(mapping->store, &partial->stream, error);

	if (!code && mapping->plan->scope != LODE_SCOPE_ALL)
		code = lode_joined_hosts_open(&mapping->hosts, mapping->plan->options->joins, mapping->entry,
					      &partial->stream, error);
	if (!code)
		code = lode_area_objects_make(&mapping->objects, mapping->store, &partial->stream,
					      mapping->plan->options, error);
	if (!code)
		code = lode_area_contexts_make(&mapping->contexts, mapping->store, &partial->stream,
					       mapping->plan->options, error);
	if (!code)
		code = lode_area_groups_make(&mapping->groups, &partial->stream, mapping->plan->options, error);
	if (code)
		return code;
	partial->occurrences = lode_calloc(partial->dictionary.tree.count, sizeof(*partial->occurrences));
	if (!partial->occurrences)
		return lode_fail_memory(error);
	partial->wanted = lode_where_fits(&partial->stream, mapping->plan->options->where);
	return 0;
}

static int map_events(struct lode_area_mapping *mapping, struct lode_error *error)
{
	int code;

	if (!mapping->partial->wanted)
		return lode_area_map_blocks(mapping, 0, error);
	code = prepare(mapping, error);
	if (!code)
		code = find_slots(mapping, error);
	if (code)
		return code;
	set_time(mapping, mapping->entry->first_t);
	return mapping->plan->scope == LODE_SCOPE_ALL ? lode_area_map_all(mapping, error)
						      : lode_area_map_symptoms(mapping, error);
}

/* From the cache where it is there. */
static int map_stream(struct lode_area_mapping *mapping, struct lode_error *error)
{
	const struct lode_corpus_entry *entry = mapping->entry;
	struct lode_map_key key;
	int code = read_head(mapping, error), kept, found;

	if (code)
		return code;
	kept = lode_area_cache_key(mapping->plan, entry, mapping->store, mapping->partial, &key);
	found = kept > 0 ? lode_area_cache_find(entry->cache, &key, mapping->partial) : 0;
	if (kept < 0 || found < 0)
		return lode_fail_memory(error);
	if (found)
		return 0;
	code = map_events(mapping, error);
	if (!code && kept)
		lode_area_cache_put(entry->cache, &key, mapping->partial);
	return code;
}

static int fill_partial(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
			struct lode_area_partial *partial, struct lode_error *error)
{
	struct lode_area_mapping mapping = { .plan = plan, .entry = entry, .partial = partial };
	int code;

	memset(partial, 0, sizeof(*partial));
	if (lode_dictionary_init(&partial->dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&partial->stream, &partial->dictionary);
	code = lode_store_open(&mapping.store, entry->path, error);
	if (code)
		return code;
	code = map_stream(&mapping, error);
	lode_store_close(mapping.store);
	lode_slot_sampling_release(&mapping.sampling);
	lode_area_chains_release(&mapping.chains);
	lode_wait_kinds_free(mapping.kinds);
	lode_processors_free(mapping.processors);
	lode_wait_classes_release(&mapping.classes);
	lode_idle_stacks_free(mapping.idle);
	lode_joined_hosts_release(&mapping.hosts);
	lode_area_objects_release(&mapping.objects);
	lode_area_contexts_release(&mapping.contexts);
	lode_area_groups_release(&mapping.groups);
	lode_free(mapping.match);
	lode_free(mapping.exclude);
	lode_free(mapping.threads);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++)
		for (int set = 0; set < LODE_AREA_ROW_SETS; set++)
			lode_free(mapping.sums[kind][set].places);
	return code;
}

int lode_area_stream_if_readable(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
				 struct lode_area_partial *partial, struct lode_error *error)
{
	struct lode_error own = { "" };
	int code = fill_partial(plan, entry, partial, &own);

	if (!code)
		return 0;
	if (plan->options->strict || !lode_stream_is_unreadable(entry, code))
		return lode_fail(error, code, "%s", own.text);
	lode_area_partial_release(partial);
	*partial = (struct lode_area_partial){ .unread = code, .reason = lode_strdup(own.text) };
	return partial->reason ? 0 : lode_fail_memory(error);
}

void lode_area_partial_release(struct lode_area_partial *partial)
{
	lode_free(partial->reason);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_area_rows_release(&partial->rows[kind]);
		lode_area_rows_release(&partial->idle[kind]);
		lode_free(partial->kept[kind].items);
	}
	lode_area_rows_release(&partial->work);
	lode_chains_release(&partial->chains);
	lode_free(partial->occurrences);
	lode_free(partial->each);
	lode_free(partial->each_account);
	lode_stream_release(&partial->stream);
	lode_dictionary_release(&partial->dictionary);
}

/* ---- for the cache alone ---- */

/* The key depends on no stack. */
int lode_area_stream_key(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
			 struct lode_map_key *key)
{
	struct lode_area_partial partial = { 0 };
	struct lode_store *store = NULL;
	int code = 0;

	if (lode_dictionary_init(&partial.dictionary) < 0)
		return 0;
	lode_stream_init(&partial.stream, &partial.dictionary);
	if (!lode_store_open(&store, entry->path, NULL) && !lode_store_brief_head(store, &partial.stream, NULL)) {
		partial.wanted = lode_where_fits(&partial.stream, plan->options->where);
		code = lode_area_cache_key(plan, entry, store, &partial, key) > 0;
	}
	if (store)
		lode_store_close(store);
	lode_area_partial_release(&partial);
	return code;
}

static int is_kept(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry)
{
	struct lode_cached_map found;
	struct lode_map_key key;

	if (lode_area_stream_key(plan, entry, &key) <= 0 || !lode_map_cache_find(entry->cache, &key, &found))
		return 0;
	lode_cached_map_release(&found);
	return 1;
}

void lode_area_stream_keep(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry)
{
	struct lode_area_partial partial = { 0 };

	if (is_kept(plan, entry))
		return;
	fill_partial(plan, entry, &partial, NULL);
	lode_area_partial_release(&partial);
}
