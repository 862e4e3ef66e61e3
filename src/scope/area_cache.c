/*
 * The cached map step of the area: see area_cache.h.
 *
 * Everything that the rows of a stream depend on is in the key: the plan, the idle rules,
 * the content of the stream and, where its symptoms may count in another stream, which
 * ones do. `--where` is not: it only decides between all rows and none, so including or
 * excluding other streams changes nothing. The dictionary stays in the stream file, which
 * is read in either case.
 */
#include "scope/area_cache.h"

#include "scope/host_joins.h"
#include "scope/where.h"

#include "scope/symptom_claims.h"
#include "store/map_columns.h"

#include <string.h>

/* ---- the key ---- */

static void describe_texts(struct lode_buffer *buffer, const char *const *texts)
{
	for (; texts && *texts; texts++)
		lode_buffer_add(buffer, *texts, strlen(*texts) + 1);
	lode_buffer_byte(buffer, '\0');
}

static void describe_plan(struct lode_buffer *buffer, const struct lode_area_plan *plan)
{
	const struct lode_area_options *options = plan->options;

	lode_buffer_u32(buffer, (uint32_t)plan->scope);
	lode_buffer_u32(buffer, plan->kinds);
	lode_buffer_u32(buffer, (uint32_t)plan->relative);
	lode_buffer_u64(buffer, plan->from);
	lode_buffer_u64(buffer, plan->to);
	lode_buffer_byte(buffer, options->include_idle ? 1 : 0);
	lode_buffer_byte(buffer, options->include_work_waits ? 1 : 0);
	lode_buffer_byte(buffer, options->by_symptom ? 1 : 0);
	lode_buffer_byte(buffer, options->chains ? 1 : 0);
	lode_buffer_byte(buffer, options->ready ? 1 : 0);
	lode_buffer_byte(buffer, (char)options->by);
	if (lode_where_has_objects(options->where) || lode_where_has_groups(options->where) ||
	    lode_where_has_threads(options->where) || lode_where_has_contexts(options->where))
		describe_texts(buffer, options->where);
	describe_texts(buffer, options->symptoms);
	describe_texts(buffer, options->match);
	describe_texts(buffer, options->exclude);
	lode_idle_rules_describe(options->idle, buffer);
}

int lode_area_cache_key(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
			const struct lode_store *store, const struct lode_area_partial *partial,
			struct lode_map_key *key)
{
	struct lode_buffer description = { 0 };
	uint64_t events = 0;
	int code;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		events += entry->events[type];
	/* What is joined depends on other streams, too. */
	if (plan->keep || plan->visit || !lode_map_cache_wants(entry->cache, events) ||
	    (plan->scope != LODE_SCOPE_ALL && lode_host_joins_has(plan->options->joins, entry->id)))
		return 0;
	lode_store_digest(store, &description);
	lode_buffer_byte(&description, (char)partial->wanted);
	if (partial->wanted) {
		describe_plan(&description, plan);
		lode_buffer_u64(&description, plan->relative ? entry->first_t : 0);
		lode_symptom_claims_describe(plan->claims, entry, &description);
	}
	code = lode_map_key_make(key, "area 12", &description);
	lode_buffer_release(&description);
	return code ? code : 1;
}

/* ---- bytes ---- */

/* Who adds a field writes and reads it here, too, and then changes the size. */
_Static_assert(sizeof(struct lode_area_row) == 56, "all fields of a row are kept");
_Static_assert(sizeof(struct lode_area_rows) == 8 * 8, "all sums of rows are kept");
_Static_assert(sizeof(struct lode_area_account) == 40, "all of an account is kept");
_Static_assert(sizeof(struct lode_area_partial) == sizeof(struct lode_dictionary) + sizeof(struct lode_stream) +
							   8 + sizeof(char *) + 5 * sizeof(struct lode_area_rows) +
							   sizeof(struct lode_chains) +
							   2 * sizeof(struct lode_area_kept_list) + 11 * 8 +
							   sizeof(struct lode_area_account) + 2 * sizeof(void *),
	       "all numbers of a partial are kept");

static const struct lode_map_field row_fields[] = {
	LODE_MAP_FIELD(struct lode_area_row, stack),          LODE_MAP_FIELD(struct lode_area_row, stream),
	LODE_MAP_FIELD(struct lode_area_row, cost),           LODE_MAP_FIELD(struct lode_area_row, events),
	LODE_MAP_FIELD(struct lode_area_row, longest),        LODE_MAP_FIELD(struct lode_area_row, longest_t),
	LODE_MAP_FIELD(struct lode_area_row, longest_thread), LODE_MAP_FIELD(struct lode_area_row, variance),
	LODE_MAP_FIELD(struct lode_area_row, spread),
};
static const struct lode_map_layout row_layout = { sizeof(struct lode_area_row), row_fields,
						   sizeof(row_fields) / sizeof(row_fields[0]) };

_Static_assert(LODE_SPREADS == 16, "all random sums are kept");
static const struct lode_map_field spread_fields[LODE_SPREADS] = {
	{ 0 * sizeof(float), sizeof(float) },  { 1 * sizeof(float), sizeof(float) },
	{ 2 * sizeof(float), sizeof(float) },  { 3 * sizeof(float), sizeof(float) },
	{ 4 * sizeof(float), sizeof(float) },  { 5 * sizeof(float), sizeof(float) },
	{ 6 * sizeof(float), sizeof(float) },  { 7 * sizeof(float), sizeof(float) },
	{ 8 * sizeof(float), sizeof(float) },  { 9 * sizeof(float), sizeof(float) },
	{ 10 * sizeof(float), sizeof(float) }, { 11 * sizeof(float), sizeof(float) },
	{ 12 * sizeof(float), sizeof(float) }, { 13 * sizeof(float), sizeof(float) },
	{ 14 * sizeof(float), sizeof(float) }, { 15 * sizeof(float), sizeof(float) },
};
static const struct lode_map_layout spread_layout = { sizeof(struct lode_area_spread), spread_fields,
						      LODE_SPREADS };

static const struct lode_map_field symptom_fields[] = {
	LODE_MAP_FIELD(struct lode_area_symptom, name),
	LODE_MAP_FIELD(struct lode_area_symptom, tid),
	LODE_MAP_FIELD(struct lode_area_symptom, t0),
	LODE_MAP_FIELD(struct lode_area_symptom, t1),
};
static const struct lode_map_layout symptom_layout = { sizeof(struct lode_area_symptom), symptom_fields, 4 };

static const struct lode_map_field account_fields[] = {
	LODE_MAP_FIELD(struct lode_area_account, unknown), LODE_MAP_FIELD(struct lode_area_account, running),
	LODE_MAP_FIELD(struct lode_area_account, waiting), LODE_MAP_FIELD(struct lode_area_account, idling),
	LODE_MAP_FIELD(struct lode_area_account, ready),
};
static const struct lode_map_layout account_layout = { sizeof(struct lode_area_account), account_fields, 5 };

_Static_assert(sizeof(struct lode_chain_link) == 8 * 4, "all fields of a link are kept");
static const struct lode_map_field link_fields[] = {
	LODE_MAP_FIELD(struct lode_chain_link, before),         LODE_MAP_FIELD(struct lode_chain_link, process),
	LODE_MAP_FIELD(struct lode_chain_link, thread),         LODE_MAP_FIELD(struct lode_chain_link, object),
	LODE_MAP_FIELD(struct lode_chain_link, holder_process), LODE_MAP_FIELD(struct lode_chain_link, holder),
	LODE_MAP_FIELD(struct lode_chain_link, place),          LODE_MAP_FIELD(struct lode_chain_link, state),
};
static const struct lode_map_layout link_layout = { sizeof(struct lode_chain_link), link_fields, 8 };

_Static_assert(sizeof(struct lode_chain_row) == 6 * 4 + 4 * 8, "all fields of a chain's row are kept");
static const struct lode_map_field chain_fields[] = {
	LODE_MAP_FIELD(struct lode_chain_row, chain),   LODE_MAP_FIELD(struct lode_chain_row, stack),
	LODE_MAP_FIELD(struct lode_chain_row, stream),  LODE_MAP_FIELD(struct lode_chain_row, symptom),
	LODE_MAP_FIELD(struct lode_chain_row, context), LODE_MAP_FIELD(struct lode_chain_row, longest_tid),
	LODE_MAP_FIELD(struct lode_chain_row, cost),    LODE_MAP_FIELD(struct lode_chain_row, events),
	LODE_MAP_FIELD(struct lode_chain_row, longest), LODE_MAP_FIELD(struct lode_chain_row, longest_t),
};
static const struct lode_map_layout chain_layout = { sizeof(struct lode_chain_row), chain_fields, 10 };

static const struct lode_map_field number_field[] = { { 0, sizeof(uint64_t) } };
static const struct lode_map_layout number_layout = { sizeof(uint64_t), number_field, 1 };

/* All rows of a partial, one set after the other. */
static struct lode_area_rows *rows_of(struct lode_area_partial *partial, int i)
{
	if (i < LODE_AREA_KINDS)
		return &partial->rows[i];
	return i < 2 * LODE_AREA_KINDS ? &partial->idle[i - LODE_AREA_KINDS] : &partial->work;
}

#define ROW_SETS (2 * LODE_AREA_KINDS + 1)

static void write_rows(struct lode_map_writer *writer, const struct lode_area_rows *rows)
{
	lode_map_write_number(writer, rows->count);
	lode_map_write_number(writer, rows->cost);
	lode_map_write_number(writer, rows->events);
	lode_map_write_rows(writer, rows->items, rows->count, &row_layout);
	lode_map_write_number(writer, rows->spread_count);
	lode_map_write_rows(writer, rows->spreads, rows->spread_count, &spread_layout);
}

static void write_partial(struct lode_map_writer *writer, const struct lode_area_partial *partial)
{
	const uint64_t numbers[] = { partial->symptoms, partial->repeated, partial->delay, partial->longest_delay };

	lode_map_write_number(writer, partial->dictionary.tree.count);
	lode_map_write_rows(writer, partial->occurrences, partial->dictionary.tree.count, &number_layout);
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		lode_map_write_number(writer, partial->input_events[kind]);
		lode_map_write_number(writer, partial->recorded_events[kind]);
		lode_map_write_number(writer, partial->input_cost[kind]);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		lode_map_write_number(writer, numbers[i]);
	lode_map_write_rows(writer, &partial->account, 1, &account_layout);
	lode_map_write_number(writer, partial->each ? partial->symptoms : 0);
	if (partial->each) {
		lode_map_write_rows(writer, partial->each, partial->symptoms, &symptom_layout);
		lode_map_write_rows(writer, partial->each_account, partial->symptoms, &account_layout);
	}
	for (int i = 0; i < ROW_SETS; i++)
		write_rows(writer, rows_of((struct lode_area_partial *)(uintptr_t)partial, i));
	lode_map_write_number(writer, partial->chains.link_count);
	lode_map_write_rows(writer, partial->chains.links, partial->chains.link_count, &link_layout);
	lode_map_write_number(writer, partial->chains.row_count);
	lode_map_write_rows(writer, partial->chains.rows, partial->chains.row_count, &chain_layout);
}

/* ---- reading ---- */

/* Symptoms that have rows of their own; none of what they hold may point beyond the dictionary. */
static void read_each(struct lode_map_reader *reader, struct lode_area_partial *partial)
{
	size_t count = lode_map_read_count(reader, partial->symptoms);

	if (!count)
		return;
	lode_map_reader_expect(reader, count == partial->symptoms);
	partial->each = lode_map_read_new_rows(reader, count, &symptom_layout);
	partial->each_account = lode_map_read_new_rows(reader, count, &account_layout);
	for (size_t i = 0; !reader->code && i < count; i++)
		lode_map_reader_expect(reader, partial->each[i].name < partial->dictionary.frames.strings.count &&
						       partial->each[i].t0 <= partial->each[i].t1);
}

static void read_rows(struct lode_map_reader *reader, const struct lode_area_partial *partial,
		      struct lode_area_rows *rows)
{
	uint64_t streams = partial->each ? partial->symptoms : 1;
	size_t count = lode_map_read_count(reader, UINT32_MAX);

	rows->cost = lode_map_read_number(reader);
	rows->events = lode_map_read_number(reader);
	rows->items = lode_map_read_new_rows(reader, count, &row_layout);
	rows->spread_count = lode_map_read_count(reader, count);
	rows->spreads = lode_map_read_new_rows(reader, rows->spread_count, &spread_layout);
	rows->spread_capacity = rows->spreads ? rows->spread_count + 1 : 0;
	for (size_t i = 0; !reader->code && i < count; i++)
		lode_map_reader_expect(reader, rows->items[i].stack < partial->dictionary.tree.count &&
						       rows->items[i].stream < streams &&
						       rows->items[i].spread <= rows->spread_count);
	rows->count = reader->code ? 0 : count;
	rows->capacity = rows->items ? count + 1 : 0;
}

static void read_chains(struct lode_map_reader *reader, const struct lode_area_partial *partial,
			struct lode_chains *chains)
{
	chains->link_count = lode_map_read_count(reader, UINT32_MAX);
	chains->links = lode_map_read_new_rows(reader, chains->link_count, &link_layout);
	chains->row_count = lode_map_read_count(reader, UINT32_MAX);
	chains->rows = lode_map_read_new_rows(reader, chains->row_count, &chain_layout);
	if (reader->code)
		chains->link_count = chains->row_count = 0;
	lode_map_reader_expect(reader, lode_chains_are_valid(chains, &partial->dictionary, 1));
}

static void read_numbers(struct lode_map_reader *reader, struct lode_area_partial *partial)
{
	for (int kind = 0; kind < LODE_AREA_KINDS; kind++) {
		partial->input_events[kind] = lode_map_read_number(reader);
		partial->recorded_events[kind] = lode_map_read_number(reader);
		partial->input_cost[kind] = lode_map_read_number(reader);
	}
	partial->symptoms = lode_map_read_number(reader);
	partial->repeated = lode_map_read_number(reader);
	partial->delay = lode_map_read_number(reader);
	partial->longest_delay = lode_map_read_number(reader);
	lode_map_read_rows(reader, &partial->account, 1, &account_layout);
}

int lode_area_partial_read(struct lode_cursor payload, void *result)
{
	struct lode_area_partial *partial = result;
	struct lode_map_reader reader = lode_map_reader(payload);
	size_t nodes = partial->dictionary.tree.count;
	int code;

	lode_map_reader_expect(&reader, lode_map_read_number(&reader) == nodes);
	lode_map_read_rows(&reader, partial->occurrences, nodes, &number_layout);
	read_numbers(&reader, partial);
	read_each(&reader, partial);
	for (int i = 0; i < ROW_SETS; i++)
		read_rows(&reader, partial, rows_of(partial, i));
	read_chains(&reader, partial, &partial->chains);
	code = lode_map_reader_finish(&reader);
	lode_map_reader_release(&reader);
	return code;
}

/* ---- the cache ---- */

/* Back to the head alone. */
static void forget(struct lode_area_partial *partial)
{
	struct lode_area_partial empty = {
		.dictionary = partial->dictionary,
		.stream = partial->stream,
		.wanted = partial->wanted,
		.occurrences = partial->occurrences,
	};

	for (int i = 0; i < ROW_SETS; i++)
		lode_area_rows_release(rows_of(partial, i));
	lode_chains_release(&partial->chains);
	lode_free(partial->each);
	lode_free(partial->each_account);
	memset(partial->occurrences, 0, partial->dictionary.tree.count * sizeof(*partial->occurrences));
	*partial = empty;
}

int lode_area_cache_find(struct lode_map_cache *cache, const struct lode_map_key *key,
			 struct lode_area_partial *partial)
{
	int code = lode_map_cache_read(cache, key, lode_area_partial_read, partial);

	if (code == 0 || code == 1)
		return code;
	forget(partial);
	return code == LODE_BAD_INPUT ? 0 : code;
}

void lode_area_cache_put(struct lode_map_cache *cache, const struct lode_map_key *key,
			 const struct lode_area_partial *partial)
{
	struct lode_map_writer writer = { 0 };

	write_partial(&writer, partial);
	lode_map_cache_put(cache, key, &writer.buffer);
	lode_map_writer_release(&writer);
}
