/*
 * The cached map step of the latencies: see partial_cache.h.
 *
 * The dictionary stays in the stream file; only the nodes that putting stacks in their
 * places (lost_callers.h) added to the tree are kept with the sums.
 */
#include "latency/partial_cache.h"

#include "scope/where.h"
#include "store/map_columns.h"

#include <string.h>

/* ---- the key ---- */

int lode_latency_cache_key(const struct lode_latency_options *options, const struct lode_corpus_entry *entry,
			   const struct lode_store *store, struct lode_map_key *key)
{
	struct lode_buffer description = { 0 };
	uint64_t events = 0;
	int code;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		events += entry->events[type];
	if (!lode_map_cache_wants(entry->cache, events))
		return 0;
	lode_store_digest(store, &description);
	lode_buffer_byte(&description, options->aggressive_end ? 1 : 0);
	lode_buffer_byte(&description, options->include_work_waits ? 1 : 0);
	lode_buffer_byte(&description, options->keep_plumbing ? 1 : 0);
	lode_idle_rules_describe(options->idle, &description);
	for (size_t i = 0; lode_where_has_members(options->where) && options->where[i]; i++)
		lode_buffer_add(&description, options->where[i], strlen(options->where[i]) + 1);
	code = lode_map_key_make(key, "latency 3", &description);
	lode_buffer_release(&description);
	return code ? code : 1;
}

/* ---- bytes ---- */

/* Who adds a field writes and reads it here, too, and then changes the size. */
_Static_assert(sizeof(double) == sizeof(uint64_t), "fractions are kept bit for bit");
_Static_assert(sizeof(struct lode_latency_node) == 80, "all sums of a node are kept");
_Static_assert(sizeof(struct lode_instances_input) == 32, "all counts are kept");
_Static_assert(sizeof(struct lode_latency_partial) ==
		       sizeof(struct lode_dictionary) + sizeof(struct lode_stream) + 16 + 6 * sizeof(void *) +
			       sizeof(struct lode_call_chains) + sizeof(struct lode_sketch) +
			       sizeof(struct lode_instances_input) + sizeof(struct lode_lost_callers),
	       "all numbers of a partial are kept");

static const struct lode_map_field sum_fields[] = {
	LODE_MAP_FIELD(struct lode_latency_node, count),
	LODE_MAP_FIELD(struct lode_latency_node, conservative),
	LODE_MAP_FIELD(struct lode_latency_node, aggressive),
	LODE_MAP_FIELD(struct lode_latency_node, estimate),
	LODE_MAP_FIELD(struct lode_latency_node, waited),
	LODE_MAP_FIELD(struct lode_latency_node, idle),
	LODE_MAP_FIELD(struct lode_latency_node, longest),
	LODE_MAP_FIELD(struct lode_latency_node, unsure),
	LODE_MAP_FIELD(struct lode_latency_node, variance),
	LODE_MAP_FIELD(struct lode_latency_node, gap),
};
static const struct lode_map_layout sum_layout = { sizeof(struct lode_latency_node), sum_fields,
						   sizeof(sum_fields) / sizeof(sum_fields[0]) };

static const struct lode_map_field node_fields[] = {
	LODE_MAP_FIELD(struct lode_stack_node, parent),
	LODE_MAP_FIELD(struct lode_stack_node, frame),
};
static const struct lode_map_layout node_layout = { sizeof(struct lode_stack_node), node_fields, 2 };

static const struct lode_map_field step_fields[] = {
	LODE_MAP_FIELD(struct lode_sketch_step, step),
	LODE_MAP_FIELD(struct lode_sketch_step, count),
};
static const struct lode_map_layout step_layout = { sizeof(struct lode_sketch_step), step_fields, 2 };

static const struct lode_map_field wide_field[] = { { 0, sizeof(uint64_t) } };
static const struct lode_map_layout wide_layout = { sizeof(uint64_t), wide_field, 1 };
static const struct lode_map_field narrow_field[] = { { 0, sizeof(uint32_t) } };
static const struct lode_map_layout narrow_layout = { sizeof(uint32_t), narrow_field, 1 };

/* By chain how many steps its latencies have, then all steps. */
static void write_sketch(struct lode_map_writer *writer, const struct lode_sketch *sketch, size_t nodes)
{
	uint32_t *counts = lode_calloc(nodes, sizeof(*counts));
	struct lode_sketch_step *steps = NULL;
	size_t total = 0;

	for (size_t i = 0; counts && i < nodes; i++)
		total += counts[i] = lode_sketch_steps(sketch, (uint32_t)i, NULL);
	steps = lode_calloc(total + 1, sizeof(*steps));
	if (counts && steps) {
		for (size_t i = 0, at = 0; i < nodes; i++)
			at += lode_sketch_steps(sketch, (uint32_t)i, steps + at);
		lode_map_write_rows(writer, counts, nodes, &narrow_layout);
		lode_map_write_number(writer, total);
		lode_map_write_rows(writer, steps, total, &step_layout);
	} else {
		writer->buffer.failed = 1;
	}
	lode_free(counts);
	lode_free(steps);
}

static void write_partial(struct lode_map_writer *writer, const struct lode_latency_partial *partial, size_t own)
{
	const struct lode_stack_tree *tree = &partial->dictionary.tree;
	const uint64_t *const columns[] = { partial->own, partial->slept, partial->queued };
	const uint64_t numbers[] = { partial->input.events,  partial->input.no_stack, partial->input.idle,
				     partial->input.threads, partial->lost.placed,    partial->lost.unplaced };

	lode_map_write_number(writer, own);
	lode_map_write_number(writer, tree->count - own);
	lode_map_write_rows(writer, tree->nodes + own, tree->count - own, &node_layout);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		lode_map_write_number(writer, numbers[i]);
	lode_map_write_number(writer, partial->unsure != NULL);
	if (partial->unsure)
		lode_map_write_rows(writer, partial->unsure, tree->count, &wide_layout);
	lode_map_write_number(writer, partial->chains.count);
	lode_map_write_rows(writer, partial->chains.ends, partial->chains.count, &narrow_layout);
	lode_map_write_rows(writer, partial->nodes, partial->chains.count, &sum_layout);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		lode_map_write_rows(writer, columns[i], partial->chains.count, &wide_layout);
	write_sketch(writer, &partial->sketch, partial->chains.count);
}

/* ---- reading ---- */

/* The nodes that were added, which must come out as new and in order. */
static void read_nodes(struct lode_map_reader *reader, struct lode_dictionary *dictionary)
{
	size_t own = dictionary->tree.count, count;
	struct lode_stack_node *nodes;

	lode_map_reader_expect(reader, lode_map_read_number(reader) == own);
	count = lode_map_read_count(reader, UINT32_MAX);
	nodes = lode_map_read_new_rows(reader, count, &node_layout);
	for (size_t i = 0; !reader->code && i < count; i++) {
		uint32_t node;

		lode_map_reader_expect(reader,
				       nodes[i].parent < own + i && nodes[i].frame < dictionary->frames.count);
		if (reader->code)
			break;
		node = lode_stack_tree_child(&dictionary->tree, nodes[i].parent, nodes[i].frame);
		if (node == LODE_NONE)
			reader->code = LODE_SYSTEM;
		lode_map_reader_expect(reader, node == own + i);
	}
	lode_free(nodes);
}

static void read_numbers(struct lode_map_reader *reader, struct lode_latency_partial *partial)
{
	partial->input.events = lode_map_read_number(reader);
	partial->input.no_stack = lode_map_read_number(reader);
	partial->input.idle = lode_map_read_number(reader);
	partial->input.threads = lode_map_read_number(reader);
	partial->lost.placed = lode_map_read_number(reader);
	partial->lost.unplaced = lode_map_read_number(reader);
	if (lode_map_read_count(reader, 1))
		partial->unsure = lode_map_read_new_rows(reader, partial->dictionary.tree.count, &wide_layout);
}

/* Returns how many there are. */
static size_t read_chains(struct lode_map_reader *reader, struct lode_latency_partial *partial)
{
	size_t count = lode_map_read_count(reader, partial->dictionary.tree.count);
	uint32_t *ends = lode_map_read_new_rows(reader, count, &narrow_layout);

	if (!reader->code)
		reader->code = lode_call_chains_restore(&partial->chains, &partial->dictionary.tree, ends, count);
	lode_free(ends);
	return reader->code ? 0 : count;
}

static void put_steps(struct lode_map_reader *reader, struct lode_sketch *sketch, const uint32_t *counts,
		      size_t nodes, const struct lode_sketch_step *steps, size_t total)
{
	size_t at = 0;

	for (size_t i = 0; !reader->code && i < nodes; i++) {
		int code;

		lode_map_reader_expect(reader, counts[i] <= total - at);
		code = reader->code ? 0 : lode_sketch_put(sketch, (uint32_t)i, steps + at, counts[i]);
		if (code)
			reader->code = code;
		else
			at += counts[i];
	}
	lode_map_reader_expect(reader, at == total);
}

static void read_sketch(struct lode_map_reader *reader, struct lode_sketch *sketch, size_t nodes)
{
	uint32_t *counts = lode_map_read_new_rows(reader, nodes, &narrow_layout);
	size_t total = lode_map_read_count(reader, UINT64_MAX);
	struct lode_sketch_step *steps = lode_map_read_new_rows(reader, total, &step_layout);

	if (!reader->code && lode_sketch_reserve(sketch, nodes) < 0)
		reader->code = LODE_SYSTEM;
	if (!reader->code)
		put_steps(reader, sketch, counts, nodes, steps, total);
	lode_free(counts);
	lode_free(steps);
}

int lode_latency_partial_read(struct lode_cursor payload, void *result)
{
	struct lode_latency_partial *partial = result;
	struct lode_map_reader reader = lode_map_reader(payload);
	size_t chains;
	int code;

	read_nodes(&reader, &partial->dictionary);
	read_numbers(&reader, partial);
	chains = read_chains(&reader, partial);
	partial->nodes = lode_map_read_new_rows(&reader, chains, &sum_layout);
	partial->own = lode_map_read_new_rows(&reader, chains, &wide_layout);
	partial->slept = lode_map_read_new_rows(&reader, chains, &wide_layout);
	partial->queued = lode_map_read_new_rows(&reader, chains, &wide_layout);
	read_sketch(&reader, &partial->sketch, chains);
	code = lode_map_reader_finish(&reader);
	lode_map_reader_release(&reader);
	return code;
}

/* ---- the cache ---- */

int lode_latency_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			    struct lode_latency_partial *partial)
{
	return lode_map_cache_read(cache, key, lode_latency_partial_read, partial);
}

void lode_latency_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			    const struct lode_latency_partial *partial, size_t nodes)
{
	struct lode_map_writer writer = { 0 };

	write_partial(&writer, partial, nodes);
	lode_map_cache_put(cache, key, &writer.buffer);
	lode_map_writer_release(&writer);
}
