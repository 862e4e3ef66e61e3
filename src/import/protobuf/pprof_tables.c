/*
 * The tables of a pprof profile: see pprof_tables.h. One pass over the message notes where the field of
 * each string and entry is; what is in it is looked at when it is first used.
 */
#include "import/protobuf/pprof_tables.h"

#include "import/protobuf/pprof_fields.h"

#include <string.h>

/* `at` is the place of the trouble in the message. */
int lode_pprof_fail_damaged(struct lode_pprof_tables *tables, uint64_t at, const char *what)
{
	return lode_fail(tables->error, LODE_BAD_INPUT,
			 "%s: byte %llu: %s; the profile is damaged, or not a pprof profile",
			 lode_input_name(tables->input), (unsigned long long)at, what);
}

uint64_t lode_pprof_place(const struct lode_pprof_tables *tables, const struct lode_cursor *cursor)
{
	return (uint64_t)(cursor->next - tables->bytes);
}

/* The message of the field at `at`, which was read before. */
struct lode_cursor lode_pprof_message_at(const struct lode_pprof_tables *tables, uint64_t at)
{
	struct lode_cursor cursor = lode_cursor(tables->bytes + at, (size_t)(tables->size - at));
	struct lode_protobuf_field field = { .bytes = lode_cursor(tables->bytes, 0) };

	lode_protobuf_next(&cursor, &field);
	return field.bytes;
}

/* ---- tables ---- */

struct lode_pprof_entry *lode_pprof_find(const struct lode_pprof_table *table, uint64_t id)
{
	uint32_t place;

	if (id && id <= table->count && table->items[id - 1].id == id)
		return &table->items[id - 1]; /* nearly all writers count from 1 */
	place = LODE_INDEX_FIND(i, &table->index, lode_hash_u64(id), table->items[i].id == id);
	return place == LODE_NONE ? NULL : &table->items[place];
}

static int add_entry(struct lode_pprof_tables *tables, struct lode_pprof_table *table, uint64_t id, uint64_t at)
{
	if (!id || lode_pprof_find(table, id))
		return lode_pprof_fail_damaged(tables, at, id ? "an id occurs twice" : "an id is missing");
	if (LODE_INDEX_PUSH(&table->index, lode_hash_u64(id), table,
			    (struct lode_pprof_entry){ .id = id, .at = at, .first = LODE_NONE }) < 0)
		return lode_fail_memory(tables->error);
	return 0;
}

static void release_table(struct lode_pprof_table *table)
{
	lode_free(table->items);
	lode_index_release(&table->index);
}

/* ---- strings ---- */

/* Number `number` of the string table. Returns 0, or LODE_BAD_INPUT when there is none. */
int lode_pprof_string_get(struct lode_pprof_tables *tables, uint64_t number, struct lode_span *string)
{
	struct lode_cursor text;

	*string = (struct lode_span){ "", 0 };
	if (number == 0)
		return 0;
	if (number >= tables->strings.count)
		return lode_fail(tables->error, LODE_BAD_INPUT,
				 "%s: string %llu is used and there are %zu; the profile is damaged",
				 lode_input_name(tables->input), (unsigned long long)number, tables->strings.count);
	text = lode_pprof_message_at(tables, tables->strings.items[number]);
	*string = (struct lode_span){ (const char *)text.next, lode_cursor_left(&text) };
	return 0;
}

/* ---- first pass: where everything is ---- */

int lode_pprof_append(struct lode_pprof_tables *tables, uint64_t **items, size_t *count, size_t *capacity,
		      uint64_t item)
{
	if (LODE_APPEND(*items, *count, *capacity, item) < 0)
		return lode_fail_memory(tables->error);
	return 0;
}

/* The number in field `number` of a message; the last one counts. */
int lode_pprof_read_number(struct lode_pprof_tables *tables, struct lode_cursor message, uint32_t number,
			   uint64_t *value)
{
	struct lode_protobuf_field field;

	*value = 0;
	while (lode_protobuf_next(&message, &field))
		if (field.number == number && field.wire != LODE_WIRE_BYTES)
			*value = field.value;
	return message.failed ? lode_pprof_fail_damaged(tables, lode_pprof_place(tables, &message),
							"a message ends too early")
			      : 0;
}

static int read_value_type(struct lode_pprof_tables *tables, struct lode_cursor message,
			   struct lode_pprof_kind *type)
{
	int code = lode_pprof_read_number(tables, message, 1, &type->type);

	return code < 0 ? code : lode_pprof_read_number(tables, message, 2, &type->unit);
}

static int note_type(struct lode_pprof_tables *tables, struct lode_cursor message)
{
	if (LODE_RESERVE(&tables->types, 1) < 0)
		return lode_fail_memory(tables->error);
	return read_value_type(tables, message, &tables->types.items[tables->types.count++]);
}

static int note_entry(struct lode_pprof_tables *tables, struct lode_pprof_table *table, struct lode_cursor message,
		      uint64_t at)
{
	uint64_t id;
	int code = lode_pprof_read_number(tables, message, 1, &id); /* `id` is field 1 of all three */

	return code < 0 ? code : add_entry(tables, table, id, at);
}

static int note_comments(struct lode_pprof_tables *tables, struct lode_protobuf_field *field)
{
	uint64_t number;
	int more = 1, code = 0;

	while (code == 0 && lode_protobuf_number(field, &more, &number))
		code = lode_pprof_append(tables, &tables->comments.items, &tables->comments.count,
					 &tables->comments.capacity, number);
	return code;
}

static int note_message(struct lode_pprof_tables *tables, struct lode_protobuf_field *field, uint64_t at)
{
	switch (field->number) {
	case SAMPLE_TYPE:
		return note_type(tables, field->bytes);
	case MAPPING:
		return note_entry(tables, &tables->mappings, field->bytes, at);
	case LOCATION:
		return note_entry(tables, &tables->locations, field->bytes, at);
	case FUNCTION:
		return note_entry(tables, &tables->functions, field->bytes, at);
	case STRING:
		return lode_pprof_append(tables, &tables->strings.items, &tables->strings.count,
					 &tables->strings.capacity, at);
	case PERIOD_TYPE:
		return read_value_type(tables, field->bytes, &tables->period_type);
	case COMMENT:
		return note_comments(tables, field);
	default:
		return 0;
	}
}

static int note_number(struct lode_pprof_tables *tables, struct lode_protobuf_field *field)
{
	uint64_t value = (int64_t)field->value < 0 ? 0 : field->value;

	switch (field->number) {
	case TIME:
		tables->time = value;
		return 0;
	case DURATION:
		tables->duration = value;
		return 0;
	case PERIOD:
		tables->period = value;
		return 0;
	case DEFAULT_TYPE:
		tables->default_type = value;
		return 0;
	case COMMENT:
		return note_comments(tables, field);
	default:
		return 0;
	}
}

int lode_pprof_tables_read(struct lode_pprof_tables *tables)
{
	struct lode_cursor message = lode_cursor(tables->bytes, tables->size);
	struct lode_protobuf_field field;
	uint64_t at = 0;

	for (; lode_protobuf_next(&message, &field); at = lode_pprof_place(tables, &message)) {
		int code = field.wire == LODE_WIRE_BYTES ? note_message(tables, &field, at)
							 : note_number(tables, &field);

		if (code < 0)
			return code;
	}
	if (message.failed)
		return lode_pprof_fail_damaged(tables, at, "these bytes are not a field of a profile");
	return 0;
}

void lode_pprof_tables_release(struct lode_pprof_tables *tables)
{
	lode_free(tables->strings.items);
	lode_free(tables->types.items);
	lode_free(tables->comments.items);
	release_table(&tables->mappings);
	release_table(&tables->functions);
	release_table(&tables->locations);
}
