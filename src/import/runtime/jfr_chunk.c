/*
 * A chunk of a Java Flight Recorder file: see jfr_chunk.h.
 *
 * The header (big-endian, 68 bytes):
 *
 *	 0  "FLR\0"			32  start, ns since 1970
 *	 4  major, minor (16 bits each)	40  duration in ns
 *	 8  size of the chunk		48  start in ticks
 *	16  place of a checkpoint	56  ticks a second
 *	24  place of the metadata	64  flags; bit 0: numbers are packed
 *
 * An event is its size, its class and its fields. A checkpoint names the one before it by
 * a distance. Declared counts are believed only as far as there are bytes; and since
 * a list of empty objects takes no bytes, reading fields uses up a budget.
 */
#include "import/runtime/jfr_chunk.h"

#include "base/utf8.h"
#include "import/runtime/jfr_packed.h"

#include <stdlib.h>
#include <string.h>

#define TICKS_LIMIT 10000000000u /* a second */
#define DEPTH_LIMIT 32           /* of objects in objects, and of metadata's elements */

enum kind { OBJECT, BOOLEAN, BYTE, CHAR, SHORT, INT, LONG, FLOAT, DOUBLE, TEXT };

static const struct {
	const char *name;
	enum kind kind;
	unsigned size; /* of a number that is not packed */
} primitives[] = {
	{ "boolean", BOOLEAN, 1 }, { "byte", BYTE, 1 },     { "char", CHAR, 2 },
	{ "short", SHORT, 2 },     { "int", INT, 4 },       { "long", LONG, 8 },
	{ "float", FLOAT, 4 },     { "double", DOUBLE, 8 }, { "java.lang.String", TEXT, 0 },
};

static const char *const slot_names[LODE_JFR_SLOTS] = {
	"startTime",    "duration",
	"eventThread",  "sampledThread",
	"stackTrace",   "state",
	"samples",      "previousOwner",
	"notifier",     "samplingPeriod",
	"frames",       "truncated",
	"method",       "type",
	"name",         "description",
	"string",       "osName",
	"osThreadId",   "javaName",
	"javaThreadId", "pid",
	"id",           "value",
};

static const char *const pool_names[LODE_JFR_POOLS] = {
	[LODE_JFR_NO_POOL] = "",
	[LODE_JFR_THREADS] = "java.lang.Thread",
	[LODE_JFR_CLASSES] = "java.lang.Class",
	[LODE_JFR_STRINGS] = "java.lang.String",
	[LODE_JFR_STACK_TRACES] = "jdk.types.StackTrace",
	[LODE_JFR_METHODS] = "jdk.types.Method",
	[LODE_JFR_SYMBOLS] = "jdk.types.Symbol",
	[LODE_JFR_FRAME_TYPES] = "jdk.types.FrameType",
	[LODE_JFR_THREAD_STATES] = "jdk.types.ThreadState",
};

/* ---- numbers ---- */

static uint64_t read_number(const struct lode_jfr_chunk *chunk, struct lode_cursor *cursor, unsigned size)
{
	if (size == 1)
		return lode_cursor_u8(cursor);
	if (chunk->compressed)
		return lode_jfr_packed(cursor);
	return size == 2 ? lode_cursor_u16(cursor) : size == 4 ? lode_cursor_u32(cursor) : lode_cursor_u64(cursor);
}

static struct lode_cursor cursor_at(const struct lode_jfr_chunk *chunk, uint64_t at)
{
	struct lode_cursor cursor = lode_cursor(chunk->bytes + at, chunk->size - at);

	cursor.swap = 1;
	return cursor;
}

/* ---- texts ---- */

/* How a text is written, by its first byte. */
enum encoding { TEXT_NULL, TEXT_EMPTY, TEXT_POOLED, TEXT_UTF8, TEXT_CHARS, TEXT_LATIN1 };

/* Reads a text; what it says goes to `buffer` unless that is NULL. Returns the key of one in the pool, else 0. */
static uint64_t read_text(const struct lode_jfr_chunk *chunk, struct lode_cursor *cursor,
			  struct lode_buffer *buffer)
{
	uint8_t encoding = lode_cursor_u8(cursor);
	const unsigned char *bytes;
	uint64_t size;

	if (encoding == TEXT_NULL || encoding == TEXT_EMPTY)
		return 0;
	size = read_number(chunk, cursor, encoding == TEXT_POOLED ? 8 : 4);
	if (encoding == TEXT_POOLED)
		return size;
	if (encoding > TEXT_LATIN1 || size > lode_cursor_left(cursor)) {
		cursor->failed = 1;
		return 0;
	}
	if (encoding == TEXT_CHARS) {
		for (uint64_t i = 0; i < size && !cursor->failed; i++) {
			uint64_t c = read_number(chunk, cursor, 2);

			if (buffer)
				lode_utf8_append(buffer, (uint16_t)c);
		}
		return 0;
	}
	bytes = lode_cursor_bytes(cursor, size);
	if (buffer && encoding == TEXT_UTF8)
		lode_buffer_add(buffer, bytes, size);
	for (uint64_t i = 0; buffer && encoding == TEXT_LATIN1 && i < size; i++)
		lode_utf8_append(buffer, bytes[i]);
	return 0;
}

/* ---- objects ---- */

static void skip_object(struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_,
			struct lode_cursor *cursor, unsigned depth);

/* Steps over one value of a class, which is no constant. */
static void skip_one(struct lode_jfr_chunk *chunk, uint32_t number, struct lode_cursor *cursor, unsigned depth)
{
	const struct lode_jfr_class *class_ = number == LODE_NONE ? NULL : &chunk->classes[number];

	if (!class_) {
		cursor->failed = 1;
		return;
	}
	switch ((enum kind)class_->kind) {
	case OBJECT:
		skip_object(chunk, class_, cursor, depth + 1);
		break;
	case TEXT:
		read_text(chunk, cursor, NULL);
		break;
	case FLOAT:
	case DOUBLE:
		lode_cursor_bytes(cursor, class_->kind == FLOAT ? 4 : 8);
		break;
	default:
		read_number(chunk, cursor, primitives[class_->kind - BOOLEAN].size);
	}
}

/* Uses up a field of the budget; a chunk in which it runs out is damaged. */
static int spend(struct lode_jfr_chunk *chunk, struct lode_cursor *cursor, unsigned depth)
{
	if (!chunk->budget || depth > DEPTH_LIMIT)
		cursor->failed = 1;
	else
		chunk->budget--;
	return !cursor->failed;
}

/* Steps over packed numbers, each a field of the budget and at least a byte. */
static void skip_packed(struct lode_jfr_chunk *chunk, struct lode_cursor *cursor, uint64_t count)
{
	if (cursor->failed || count > chunk->budget || count > lode_cursor_left(cursor)) {
		cursor->failed = 1;
		return;
	}
	chunk->budget -= count;
	for (count = lode_jfr_skip_packed(cursor, count); count && !cursor->failed; count--)
		lode_jfr_packed(cursor);
}

static void skip_field(struct lode_jfr_chunk *chunk, const struct lode_jfr_field *field,
		       struct lode_cursor *cursor, unsigned depth)
{
	unsigned packed = field->is_pooled || field->class_ == LODE_NONE ? 0 : chunk->classes[field->class_].packed;
	uint64_t count = 1;

	if (field->is_list)
		count = read_number(chunk, cursor, 4);
	if (packed) { /* most of a chunk: the frames of stacks */
		skip_packed(chunk, cursor, count > lode_cursor_left(cursor) ? UINT64_MAX : count * packed);
		return;
	}
	/* Items that take no bytes need not be counted. */
	for (const unsigned char *before = NULL; count && cursor->next != before && !cursor->failed; count--) {
		before = cursor->next;
		if (field->is_pooled)
			read_number(chunk, cursor, 8);
		else
			skip_one(chunk, field->class_, cursor, depth);
	}
}

static void skip_object(struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_,
			struct lode_cursor *cursor, unsigned depth)
{
	for (uint32_t i = 0; i < class_->count && spend(chunk, cursor, depth); i++)
		skip_field(chunk, &chunk->fields[class_->first + i], cursor, depth);
}

static int is_number(const struct lode_jfr_chunk *chunk, const struct lode_jfr_field *field)
{
	enum kind kind = field->class_ == LODE_NONE ? OBJECT : (enum kind)chunk->classes[field->class_].kind;

	return kind != OBJECT && kind != TEXT && kind != FLOAT && kind != DOUBLE;
}

static void read_field(struct lode_jfr_chunk *chunk, const struct lode_jfr_field *field,
		       struct lode_cursor *cursor, struct lode_jfr_value *value)
{
	value->class_ = field->class_;
	value->at.next = NULL;
	if (!field->is_list && field->is_pooled) {
		value->number = read_number(chunk, cursor, 8);
	} else if (!field->is_list && is_number(chunk, field)) {
		value->number =
			read_number(chunk, cursor, primitives[chunk->classes[field->class_].kind - BOOLEAN].size);
	} else {
		value->number = 0;
		value->at = *cursor;
		skip_field(chunk, field, cursor, 0);
	}
}

/* The same of a class all of whose fields are packed numbers. */
static void read_packed_object(struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_,
			       struct lode_cursor *cursor, struct lode_jfr_value values[LODE_JFR_SLOTS])
{
	const struct lode_jfr_field *field = &chunk->fields[class_->first];

	chunk->budget -= class_->count;
	for (const struct lode_jfr_field *end = field + class_->count; field < end; field++) {
		uint64_t number = lode_jfr_packed(cursor);

		if (field->slot == LODE_JFR_NO_SLOT)
			continue;
		values[field->slot].number = number;
		values[field->slot].class_ = field->class_;
		values[field->slot].at.next = NULL;
	}
}

int lode_jfr_object_again(struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_,
			  struct lode_cursor *cursor, struct lode_jfr_value values[LODE_JFR_SLOTS])
{
	if (class_->packed && !cursor->failed && chunk->budget >= class_->packed) {
		read_packed_object(chunk, class_, cursor, values);
		return !cursor->failed;
	}
	for (uint32_t i = 0; i < class_->count && spend(chunk, cursor, 0); i++) {
		const struct lode_jfr_field *field = &chunk->fields[class_->first + i];

		if (field->slot == LODE_JFR_NO_SLOT)
			skip_field(chunk, field, cursor, 0);
		else
			read_field(chunk, field, cursor, &values[field->slot]);
	}
	return !cursor->failed;
}

static int read_object(struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_,
		       struct lode_cursor *cursor, struct lode_jfr_value values[LODE_JFR_SLOTS])
{
	memset(values, 0, LODE_JFR_SLOTS * sizeof(*values));
	return lode_jfr_object_again(chunk, class_, cursor, values);
}

uint64_t lode_jfr_list(const struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value,
		       struct lode_cursor *list)
{
	uint64_t count;

	if (!value->at.next || value->class_ == LODE_NONE)
		return 0;
	*list = value->at;
	count = read_number(chunk, list, 4);
	/* Every item of use has a field at least, which is a byte. */
	return count > lode_cursor_left(list) ? 0 : count;
}

static uint64_t hash_constant(uint32_t class_, uint64_t key)
{
	return lode_hash_u64(key + ((uint64_t)class_ << 48));
}

/* The constant that a value names, or NULL. */
static struct lode_jfr_constant *find_constant(const struct lode_jfr_chunk *chunk,
					       const struct lode_jfr_value *value)
{
	uint64_t hash = hash_constant(value->class_, value->number);
	uint32_t id = LODE_INDEX_FIND(i, &chunk->constant_index, hash,
				      chunk->constants[i].key == value->number &&
					      chunk->constants[i].class_ == value->class_);

	return id == LODE_NONE ? NULL : &chunk->constants[id];
}

/* Where a value is: its constant's place, or that of the object itself. Its `next` is NULL where it is nowhere. */
static struct lode_cursor place_of(const struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value)
{
	const struct lode_jfr_constant *constant = value->at.next ? NULL : find_constant(chunk, value);

	return constant ? cursor_at(chunk, (uint64_t)(constant->at - chunk->bytes)) : value->at;
}

int lode_jfr_constant_read(struct lode_jfr_chunk *chunk, const struct lode_jfr_constant *constant,
			   struct lode_jfr_value values[LODE_JFR_SLOTS])
{
	struct lode_cursor cursor = cursor_at(chunk, (uint64_t)(constant->at - chunk->bytes));

	return read_object(chunk, &chunk->classes[constant->class_], &cursor, values);
}

int lode_jfr_value_read(struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value,
			struct lode_jfr_value values[LODE_JFR_SLOTS])
{
	struct lode_cursor cursor = place_of(chunk, value);

	if (cursor.next && value->class_ != LODE_NONE)
		return read_object(chunk, &chunk->classes[value->class_], &cursor, values);
	memset(values, 0, LODE_JFR_SLOTS * sizeof(*values));
	return 0;
}

void lode_jfr_text(struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value, struct lode_buffer *buffer)
{
	struct lode_jfr_value here = *value, fields[LODE_JFR_SLOTS];

	/* A name is a symbol, whose string is a text, which may be in the pool of texts. */
	for (int step = 0; step < 4 && here.class_ != LODE_NONE && here.class_ < chunk->class_count; step++) {
		struct lode_cursor cursor = place_of(chunk, &here);

		if (!cursor.next)
			return;
		if (chunk->classes[here.class_].is_text && spend(chunk, &cursor, 0)) {
			here.class_ = chunk->fields[chunk->classes[here.class_].first].class_;
			step++;
		}
		if (chunk->classes[here.class_].kind == TEXT) {
			uint64_t key = read_text(chunk, &cursor, buffer);

			if (!key)
				return;
			here.number = key;
			here.at.next = NULL;
		} else {
			if (!read_object(chunk, &chunk->classes[here.class_], &cursor, fields))
				return;
			here = fields[LODE_JFR_STRING];
		}
	}
}

/* ---- classes ---- */

struct lode_jfr_class *lode_jfr_class_find(const struct lode_jfr_chunk *chunk, uint64_t id)
{
	uint32_t number = LODE_INDEX_FIND(i, &chunk->class_index, lode_hash_u64(id), chunk->classes[i].id == id);

	return number == LODE_NONE ? NULL : &chunk->classes[number];
}

static int find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(primitives) / sizeof(*primitives); i++)
		if (strcmp(primitives[i].name, name) == 0)
			return primitives[i].kind;
	return OBJECT;
}

static uint8_t find_pool(const char *name)
{
	uint8_t pool = LODE_JFR_POOLS;

	while (--pool && strcmp(pool_names[pool], name) != 0)
		continue;
	return pool;
}

static uint8_t find_slot(const char *name)
{
	uint8_t slot = 0;

	while (slot < LODE_JFR_SLOTS && strcmp(slot_names[slot], name) != 0)
		slot++;
	return slot;
}

/* The attributes of an element that are of use. */
struct attributes {
	const char *name;
	const char *id;     /* of a class */
	const char *class_; /* of a field */
	const char *dimension;
	const char *pooled;
};

static const char *string_at(const struct lode_jfr_chunk *chunk, uint64_t number)
{
	return number < chunk->string_count ? chunk->strings[number] : "";
}

static void read_attributes(const struct lode_jfr_chunk *chunk, struct lode_cursor *cursor,
			    struct attributes *attributes)
{
	uint64_t count = read_number(chunk, cursor, 4);

	*attributes = (struct attributes){ "", "", "", "", "" };
	for (; count && !cursor->failed; count--) {
		const char *key = string_at(chunk, read_number(chunk, cursor, 4));
		const char *value = string_at(chunk, read_number(chunk, cursor, 4));

		if (!strcmp(key, "name"))
			attributes->name = value;
		else if (!strcmp(key, "id"))
			attributes->id = value;
		else if (!strcmp(key, "class"))
			attributes->class_ = value;
		else if (!strcmp(key, "dimension"))
			attributes->dimension = value;
		else if (!strcmp(key, "constantPool"))
			attributes->pooled = value;
	}
}

static int add_class(struct lode_jfr_chunk *chunk, const struct attributes *attributes)
{
	struct lode_jfr_class class_ = {
		.id = strtoull(attributes->id, NULL, 10),
		.name = attributes->name,
		.first = (uint32_t)chunk->field_count,
		.kind = (uint8_t)find_kind(attributes->name),
		.pool = find_pool(attributes->name),
	};

	if (lode_jfr_class_find(chunk, class_.id))
		class_.id = UINT64_MAX; /* nothing can name it */
	return LODE_INDEX_APPEND(&chunk->class_index, lode_hash_u64(class_.id), chunk->classes, chunk->class_count,
				 chunk->class_capacity, class_);
}

/* Adds a field to the newest class. */
static int add_field(struct lode_jfr_chunk *chunk, const struct attributes *attributes)
{
	struct lode_jfr_class *class_ = &chunk->classes[chunk->class_count - 1];
	struct lode_jfr_field field = {
		.class_ = LODE_NONE,
		.class_id = strtoull(attributes->class_, NULL, 10),
		.slot = find_slot(attributes->name),
		.is_list = attributes->dimension[0] && attributes->dimension[0] != '0',
		.is_pooled = !strcmp(attributes->pooled, "true"),
	};

	if (chunk->field_count >= LODE_NONE - 1 ||
	    LODE_APPEND(chunk->fields, chunk->field_count, chunk->field_capacity, field) < 0)
		return LODE_SYSTEM;
	class_->count = (uint32_t)chunk->field_count - class_->first;
	return 0;
}

/* Reads an element and those in it. `in_class`: it is directly in a class. Returns 0 or LODE_SYSTEM. */
static int read_element(struct lode_jfr_chunk *chunk, struct lode_cursor *cursor, unsigned depth, int in_class)
{
	const char *name = string_at(chunk, read_number(chunk, cursor, 4));
	int is_class = !in_class && !strcmp(name, "class"), code = 0;
	struct attributes attributes;
	uint64_t count;

	read_attributes(chunk, cursor, &attributes);
	if (cursor->failed || depth > DEPTH_LIMIT) {
		cursor->failed = 1;
		return 0;
	}
	if (is_class)
		code = add_class(chunk, &attributes);
	else if (in_class && !strcmp(name, "field"))
		code = add_field(chunk, &attributes);
	/* A class is whole before the next one begins, so fields that are elsewhere are not its. */
	for (count = read_number(chunk, cursor, 4); count && code == 0 && !cursor->failed; count--)
		code = read_element(chunk, cursor, depth + 1, is_class);
	return code;
}

static int read_strings(struct lode_jfr_chunk *chunk, struct lode_cursor *cursor)
{
	uint64_t count = read_number(chunk, cursor, 4);
	struct lode_buffer text = { 0 };
	int code = 0;

	for (; count && code == 0 && !cursor->failed; count--) {
		const char *copy;

		lode_buffer_clear(&text);
		read_text(chunk, cursor, &text);
		copy = text.failed ? NULL : lode_arena_text(&chunk->arena, text.size ? text.bytes : "", text.size);
		code = copy ? LODE_APPEND(chunk->strings, chunk->string_count, chunk->string_capacity, copy)
			    : LODE_SYSTEM;
	}
	lode_buffer_release(&text);
	return code;
}

/* Whether a field is a number that is packed in this chunk: bytes never are. */
static int is_packed(const struct lode_jfr_chunk *chunk, const struct lode_jfr_field *field)
{
	enum kind kind = field->class_ == LODE_NONE ? OBJECT : (enum kind)chunk->classes[field->class_].kind;

	return chunk->compressed && !field->is_list &&
	       (field->is_pooled || kind == CHAR || kind == SHORT || kind == INT || kind == LONG);
}

static void count_packed(struct lode_jfr_chunk *chunk, struct lode_jfr_class *class_)
{
	uint32_t count = 0;

	while (count < class_->count && is_packed(chunk, &chunk->fields[class_->first + count]))
		count++;
	if (class_->kind == OBJECT && count == class_->count && count <= UINT8_MAX)
		class_->packed = (uint8_t)count;
}

/* Whether a class is like jdk.types.Symbol. */
static uint8_t is_one_text(const struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_)
{
	const struct lode_jfr_field *field;

	if (class_->kind != OBJECT || class_->count != 1)
		return 0;
	field = &chunk->fields[class_->first];
	return field->slot == LODE_JFR_STRING && !field->is_list && !field->is_pooled &&
	       field->class_ != LODE_NONE && chunk->classes[field->class_].kind == TEXT;
}

static void join_classes(struct lode_jfr_chunk *chunk)
{
	for (size_t i = 0; i < chunk->field_count; i++) {
		const struct lode_jfr_class *class_ = lode_jfr_class_find(chunk, chunk->fields[i].class_id);

		if (class_)
			chunk->fields[i].class_ = (uint32_t)(class_ - chunk->classes);
	}
	for (size_t i = 0; i < chunk->class_count; i++) {
		count_packed(chunk, &chunk->classes[i]);
		chunk->classes[i].is_text = is_one_text(chunk, &chunk->classes[i]);
	}
}

static void forget_metadata(struct lode_jfr_chunk *chunk)
{
	chunk->described = NULL;
	lode_arena_release(&chunk->arena);
	chunk->string_count = chunk->class_count = chunk->field_count = 0;
	lode_index_clear(&chunk->class_index);
}

/* Whether what begins at the cursor is the metadata that were read last: those of most chunks are. */
static int is_described(const struct lode_jfr_chunk *chunk, const struct lode_cursor *cursor)
{
	return chunk->described && !cursor->failed && chunk->described_compressed == chunk->compressed &&
	       chunk->described_size <= lode_cursor_left(cursor) &&
	       memcmp(chunk->described, cursor->next, chunk->described_size) == 0;
}

static int read_metadata(struct lode_jfr_chunk *chunk, struct lode_error *error)
{
	struct lode_cursor cursor = cursor_at(chunk, chunk->metadata);
	const unsigned char *start;
	int code;

	read_number(chunk, &cursor, 4); /* size */
	if (read_number(chunk, &cursor, 8) != 0)
		return lode_fail(error, LODE_BAD_INPUT, "its metadata are not where the header says");
	for (int i = 0; i < 3; i++)
		read_number(chunk, &cursor, 8); /* start, duration, number */
	if (is_described(chunk, &cursor))
		return 0;
	forget_metadata(chunk);
	start = cursor.next;
	code = read_strings(chunk, &cursor);
	if (code == 0)
		code = read_element(chunk, &cursor, 0, 0);
	if (code < 0)
		return lode_fail_memory(error);
	if (cursor.failed || !chunk->class_count)
		return lode_fail(error, LODE_BAD_INPUT, "its metadata are damaged");
	join_classes(chunk);
	chunk->described = start;
	chunk->described_size = (size_t)(cursor.next - start);
	chunk->described_compressed = chunk->compressed;
	return 0;
}

/* ---- constants ---- */

struct lode_jfr_constant *lode_jfr_constant_of(const struct lode_jfr_chunk *chunk,
					       const struct lode_jfr_value *value, enum lode_jfr_pool pool)
{
	if (value->class_ >= chunk->class_count || chunk->classes[value->class_].pool != pool)
		return NULL;
	return find_constant(chunk, value);
}

static int add_constant(struct lode_jfr_chunk *chunk, uint32_t class_, uint64_t key, const unsigned char *at)
{
	struct lode_jfr_constant constant = { .class_ = class_, .key = key, .at = at, .memo = LODE_NONE };
	struct lode_jfr_value value = { .number = key, .class_ = class_ };

	if (find_constant(chunk, &value))
		return 0;
	return LODE_INDEX_APPEND(&chunk->constant_index, hash_constant(class_, key), chunk->constants,
				 chunk->constant_count, chunk->constant_capacity, constant);
}

static int read_pool(struct lode_jfr_chunk *chunk, struct lode_cursor *cursor)
{
	const struct lode_jfr_class *class_ = lode_jfr_class_find(chunk, read_number(chunk, cursor, 8));
	uint64_t count = read_number(chunk, cursor, 4);
	uint32_t number;

	if (!class_) {
		cursor->failed = 1;
		return 0;
	}
	number = (uint32_t)(class_ - chunk->classes);
	for (; count && !cursor->failed; count--) {
		uint64_t key = read_number(chunk, cursor, 8);
		const unsigned char *at = cursor->next;

		skip_one(chunk, number, cursor, 0);
		if (class_->pool && !cursor->failed && add_constant(chunk, number, key, at) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Reads the checkpoint at `*at` and finds the next one; `*at` becomes 0 behind the last. */
static int read_checkpoint(struct lode_jfr_chunk *chunk, uint64_t *at, struct lode_error *error)
{
	struct lode_cursor cursor = cursor_at(chunk, *at);
	uint64_t distance, count, type;
	int code = 0;

	read_number(chunk, &cursor, 4);
	type = read_number(chunk, &cursor, 8);
	read_number(chunk, &cursor, 8);
	read_number(chunk, &cursor, 8);
	distance = read_number(chunk, &cursor, 8);
	lode_cursor_u8(&cursor); /* what kind of checkpoint */
	count = read_number(chunk, &cursor, 4);
	if (type != 1)
		cursor.failed = 1;
	for (; count && code == 0 && !cursor.failed; count--)
		code = read_pool(chunk, &cursor);
	if (code < 0)
		return lode_fail_memory(error);
	if (cursor.failed)
		return lode_fail(error, LODE_BAD_INPUT, "the constants at byte %llu of a chunk are damaged",
				 (unsigned long long)*at);
	*at = distance ? *at + distance : 0;
	return 0;
}

/* Checkpoints are a chain, whose places must stay in the chunk and may not come again. */
static int read_checkpoints(struct lode_jfr_chunk *chunk, struct lode_error *error)
{
	uint64_t at = chunk->checkpoint, most = chunk->size / 8;
	int code = 0;

	while (at && code == 0) {
		if (at < LODE_JFR_HEADER || at >= chunk->size || !most--)
			return lode_fail(error, LODE_BAD_INPUT, "its constants are not where they should be");
		code = read_checkpoint(chunk, &at, error);
	}
	return code;
}

/* ---- the chunk ---- */

int lode_jfr_chunk_header(struct lode_jfr_chunk *chunk, const unsigned char *bytes, size_t size,
			  struct lode_error *error)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	unsigned major, minor;

	chunk->number++;
	chunk->constant_count = 0;
	lode_index_clear(&chunk->constant_index);
	cursor.swap = 1;
	if (size < LODE_JFR_HEADER || memcmp(bytes, "FLR", 4) != 0)
		return lode_fail(error, LODE_BAD_INPUT, "no chunk of a flight recording begins there");
	lode_cursor_u32(&cursor);
	major = lode_cursor_u16(&cursor);
	minor = lode_cursor_u16(&cursor);
	if (major < 1 || major > 2)
		return lode_fail(error, LODE_BAD_INPUT,
				 "version %u.%u of the format is not known; record with OpenJDK 8u262 or later",
				 major, minor);
	chunk->bytes = bytes;
	chunk->size = lode_cursor_u64(&cursor);
	chunk->checkpoint = lode_cursor_u64(&cursor);
	chunk->metadata = lode_cursor_u64(&cursor);
	chunk->start_ns = lode_cursor_u64(&cursor);
	lode_cursor_u64(&cursor);
	chunk->start_ticks = lode_cursor_u64(&cursor);
	chunk->ticks_per_second = lode_cursor_u64(&cursor);
	chunk->compressed = lode_cursor_u32(&cursor) & 1;
	return 0;
}

int lode_jfr_chunk_open(struct lode_jfr_chunk *chunk, struct lode_error *error)
{
	int code;

	if (!chunk->ticks_per_second || chunk->ticks_per_second > TICKS_LIMIT ||
	    chunk->metadata < LODE_JFR_HEADER || chunk->metadata >= chunk->size)
		return lode_fail(error, LODE_BAD_INPUT, "the header of a chunk is damaged");
	chunk->budget = (1 << 20) + 64 * chunk->size;
	code = read_metadata(chunk, error);
	return code < 0 ? code : read_checkpoints(chunk, error);
}

void lode_jfr_chunk_release(struct lode_jfr_chunk *chunk)
{
	lode_arena_release(&chunk->arena);
	lode_free(chunk->strings);
	lode_free(chunk->classes);
	lode_index_release(&chunk->class_index);
	lode_free(chunk->fields);
	lode_free(chunk->constants);
	lode_index_release(&chunk->constant_index);
	memset(chunk, 0, sizeof(*chunk));
}

int lode_jfr_event_next(const struct lode_jfr_chunk *chunk, uint64_t *at, uint64_t *class_id,
			struct lode_cursor *event)
{
	uint64_t size;

	if (*at >= chunk->size)
		return 0;
	*event = cursor_at(chunk, *at);
	size = read_number(chunk, event, 4);
	if (event->failed || size > chunk->size - *at || (uint64_t)(event->next - (chunk->bytes + *at)) > size)
		return -1;
	event->end = chunk->bytes + *at + size;
	*class_id = read_number(chunk, event, 8);
	*at += size;
	return size ? 1 : -1;
}

/* The header says that a second has at most 10^10 ticks, so nothing here overflows but the whole. */
static uint64_t scale(const struct lode_jfr_chunk *chunk, uint64_t ticks)
{
	uint64_t seconds = ticks / chunk->ticks_per_second, rest = ticks % chunk->ticks_per_second;
	uint64_t ns;

	if (__builtin_mul_overflow(seconds, 1000000000u, &ns))
		return UINT64_MAX;
	rest = rest * 1000000000u / chunk->ticks_per_second;
	return ns > UINT64_MAX - rest ? UINT64_MAX : ns + rest;
}

uint64_t lode_jfr_duration(const struct lode_jfr_chunk *chunk, uint64_t ticks)
{
	return ticks >> 63 ? 0 : scale(chunk, ticks);
}

uint64_t lode_jfr_time(const struct lode_jfr_chunk *chunk, uint64_t ticks)
{
	uint64_t ns, before;

	if (ticks < chunk->start_ticks) {
		before = scale(chunk, chunk->start_ticks - ticks);
		return chunk->start_ns > before ? chunk->start_ns - before : 0;
	}
	ns = scale(chunk, ticks - chunk->start_ticks);
	return __builtin_add_overflow(chunk->start_ns, ns, &ns) ? UINT64_MAX : ns;
}
