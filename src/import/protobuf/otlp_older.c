/*
 * Older versions of OpenTelemetry's profiles: see otlp_older.h.
 *
 * Data of 1.8 differs in the numbers of three fields of a sample, all of which take one byte: it is copied and
 * these bytes are changed. Data of 1.7 is written anew, message by message; each range of locations becomes
 * a stack of the dictionary. Ranges may overlap, so that a small file could ask for a large number of long stacks:
 * what is written may be only a multiple of what was read.
 */
#include "import/protobuf/otlp_older.h"

#include "import/protobuf/pprof_values.h"

#include "base/memory.h"
#include "base/protobuf_out.h"

#define MAX_GROWTH   32
#define FREE_GROWTH  (1u << 20) /* bytes that any file may grow by */
#define MAX_TYPES    16         /* of values */
#define SAMPLE_BYTES 64         /* more than the fields that are written for a sample without its stack */

/* Numbers of fields that all versions share. */
enum { RESOURCE_PROFILES = 1, DICTIONARY = 2, SCOPE_PROFILES = 2, PROFILES = 2, SAMPLES = 2, SAMPLE_TYPE = 1 };

/* Those of 1.7. */
enum {
	OLD_LOCATIONS = 3,
	OLD_TIME = 4,
	OLD_DURATION = 5,
	OLD_PERIOD_TYPE = 6,
	OLD_PERIOD = 7,
	OLD_SAMPLE_START = 1,
	OLD_SAMPLE_LENGTH = 2,
	OLD_SAMPLE_VALUES = 3,
	OLD_SAMPLE_ATTRIBUTES = 4,
	OLD_SAMPLE_LINK = 5,
	OLD_SAMPLE_TIMES = 6,
	OLD_ATTRIBUTE_UNITS = 7,
};

/* Those of 1.8, of a sample. */
enum { MIDDLE_SAMPLE_VALUES = 2, MIDDLE_SAMPLE_ATTRIBUTES = 3, MIDDLE_SAMPLE_LINK = 4 };

/* Those of the newest version. */
enum {
	NEW_TIME = 3,
	NEW_DURATION = 4,
	NEW_PERIOD_TYPE = 5,
	NEW_PERIOD = 6,
	NEW_SAMPLE_STACK = 1,
	NEW_SAMPLE_ATTRIBUTES = 2,
	NEW_SAMPLE_LINK = 3,
	NEW_SAMPLE_VALUES = 4,
	NEW_SAMPLE_TIMES = 5,
	NEW_STACKS = 7,
	NEW_STACK_LOCATIONS = 1,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
};

/* ---- which version ---- */

/* Walks over all profiles. Returns what `look` returned where that was not 0. */
static int each_profile(struct lode_cursor data, int (*look)(void *context, struct lode_cursor profile),
			void *context)
{
	struct lode_protobuf_field resource, scope, profile;
	int code = 0;

	while (!code && lode_protobuf_next(&data, &resource)) {
		if (resource.number != RESOURCE_PROFILES || resource.wire != LODE_WIRE_BYTES)
			continue;
		while (!code && lode_protobuf_next(&resource.bytes, &scope)) {
			if (scope.number != SCOPE_PROFILES || scope.wire != LODE_WIRE_BYTES)
				continue;
			while (!code && lode_protobuf_next(&scope.bytes, &profile))
				if (profile.number == PROFILES && profile.wire == LODE_WIRE_BYTES)
					code = look(context, profile.bytes);
		}
	}
	return code;
}

/* 1: `*version` is known. */
static int look_at_sample(struct lode_cursor sample, enum lode_otlp_version *version)
{
	struct lode_protobuf_field field;
	int is_middle = 0, is_newest = 0;

	while (lode_protobuf_next(&sample, &field)) {
		if ((field.number == OLD_SAMPLE_LENGTH && field.wire == LODE_WIRE_VARINT) ||
		    field.number == OLD_SAMPLE_TIMES) {
			*version = LODE_OTLP_1_7;
			return 1;
		}
		is_middle |= field.number == MIDDLE_SAMPLE_ATTRIBUTES && field.wire == LODE_WIRE_BYTES;
		is_newest |= field.number == NEW_SAMPLE_VALUES && field.wire == LODE_WIRE_BYTES;
	}
	if (is_middle == is_newest)
		return 0;
	*version = is_middle ? LODE_OTLP_1_8 : LODE_OTLP_NEWEST;
	return 1;
}

static int look_at_profile(void *context, struct lode_cursor profile)
{
	enum lode_otlp_version *version = context;
	struct lode_protobuf_field field;
	struct lode_cursor samples = profile;

	while (lode_protobuf_next(&profile, &field))
		if ((field.number == OLD_LOCATIONS && field.wire != LODE_WIRE_FIXED64) ||
		    (field.number == OLD_DURATION && field.wire == LODE_WIRE_VARINT) ||
		    (field.number == OLD_PERIOD_TYPE && field.wire == LODE_WIRE_BYTES)) {
			*version = LODE_OTLP_1_7;
			return 1;
		}
	while (lode_protobuf_next(&samples, &field))
		if (field.number == SAMPLES && field.wire == LODE_WIRE_BYTES && look_at_sample(field.bytes, version))
			return 1;
	return 0;
}

enum lode_otlp_version lode_otlp_version(struct lode_cursor data)
{
	enum lode_otlp_version version = LODE_OTLP_NEWEST;

	each_profile(data, look_at_profile, &version);
	return version;
}

/* ---- 1.8 ---- */

/* A copy, and where the original is. */
struct copying {
	const unsigned char *from;
	struct lode_buffer *to;
};

static void renumber_sample(const struct copying *copying, struct lode_cursor sample)
{
	static const unsigned char numbers[] = { [MIDDLE_SAMPLE_VALUES] = NEW_SAMPLE_VALUES,
						 [MIDDLE_SAMPLE_ATTRIBUTES] = NEW_SAMPLE_ATTRIBUTES,
						 [MIDDLE_SAMPLE_LINK] = NEW_SAMPLE_LINK };
	struct lode_protobuf_field field;
	const unsigned char *tag = sample.next;

	for (; lode_protobuf_next(&sample, &field); tag = sample.next)
		if (field.number >= MIDDLE_SAMPLE_VALUES && field.number <= MIDDLE_SAMPLE_LINK && *tag < 0x80)
			copying->to->bytes[tag - copying->from] =
				(char)(numbers[field.number] << 3 | (unsigned)field.wire);
}

static int renumber_profile(void *context, struct lode_cursor profile)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&profile, &field))
		if (field.number == SAMPLES && field.wire == LODE_WIRE_BYTES)
			renumber_sample(context, field.bytes);
	return 0;
}

/* ---- 1.7 ---- */

struct rewriting {
	struct lode_otlp_tables *tables;
	size_t limit;      /* bytes that may be written */
	size_t stack_size; /* of all stacks so far */
	uint64_t stacks;
	struct lode_buffer dictionary, resource, scope, profile, sample, packed;
	LODE_ARRAY(uint64_t) locations; /* of the profile */
	struct lode_pprof_value types[MAX_TYPES];
	size_t type_count;
};

static int read_type(struct rewriting *rewriting, struct lode_cursor message, struct lode_pprof_value *value)
{
	uint64_t numbers[VALUE_UNIT + 1] = { 0 };
	int code;

	lode_protobuf_numbers(message, numbers, VALUE_UNIT + 1);
	*value = (struct lode_pprof_value){ .scale = 0 };
	code = lode_otlp_string(rewriting->tables, numbers[VALUE_TYPE], &value->type);
	return code < 0 ? code : lode_otlp_string(rewriting->tables, numbers[VALUE_UNIT], &value->unit);
}

/* Which of the values are times: samples have one of each type, and most of them are counts of the same. */
static int choose_types(struct rewriting *rewriting, struct lode_cursor profile)
{
	const struct lode_import_options *options = rewriting->tables->import->options;
	struct lode_pprof_value period_type = { .unit = { "", 0 } };
	struct lode_protobuf_field field;
	double count_ns = options->unit_ns;
	uint64_t period = 0;
	int code = 0;

	rewriting->type_count = 0;
	while (code == 0 && lode_protobuf_next(&profile, &field)) {
		if (field.number == SAMPLE_TYPE && field.wire == LODE_WIRE_BYTES &&
		    rewriting->type_count < MAX_TYPES)
			code = read_type(rewriting, field.bytes, &rewriting->types[rewriting->type_count++]);
		else if (field.number == OLD_PERIOD_TYPE && field.wire == LODE_WIRE_BYTES)
			code = read_type(rewriting, field.bytes, &period_type);
		else if (field.number == OLD_PERIOD && field.wire == LODE_WIRE_VARINT)
			period = field.value;
	}
	if (code < 0)
		return code;
	if (!(count_ns > 0))
		count_ns = (double)period * lode_pprof_unit(period_type.unit);
	lode_pprof_choose(rewriting->types, rewriting->type_count, count_ns, options->kind_is_wait);
	return 0;
}

static int list_locations(struct rewriting *rewriting, struct lode_cursor profile)
{
	struct lode_protobuf_field field;
	uint64_t location;

	rewriting->locations.count = 0;
	while (lode_protobuf_next(&profile, &field)) {
		int more = 1;

		while (field.number == OLD_LOCATIONS && lode_protobuf_number(&field, &more, &location))
			if (LODE_PUSH(&rewriting->locations, location) < 0)
				return lode_fail_memory(rewriting->tables->import->error);
	}
	return 0;
}

static void put_span(struct lode_buffer *to, unsigned field, struct lode_cursor bytes)
{
	lode_protobuf_put_bytes(to, field, bytes.next, lode_cursor_left(&bytes));
}

/* Makes a stack of the dictionary; its number is the last one. */
static int write_stack(struct rewriting *rewriting, uint64_t start, uint64_t length)
{
	struct lode_buffer *packed = &rewriting->packed, *stack = &rewriting->sample;
	struct lode_otlp_tables *tables = rewriting->tables;

	if (start > rewriting->locations.count || length > rewriting->locations.count - start)
		return lode_json_reject(tables->import, "a sample has locations that its profile does not have");
	if (length > LODE_STACK_DEPTH_LIMIT) {
		tables->cut++;
		length = LODE_STACK_DEPTH_LIMIT;
	}
	lode_buffer_clear(packed);
	lode_buffer_clear(stack);
	for (uint64_t i = start; i < start + length; i++)
		lode_buffer_varint(packed, rewriting->locations.items[i]);
	rewriting->stack_size += packed->size + SAMPLE_BYTES;
	lode_protobuf_put_message(stack, NEW_STACK_LOCATIONS, packed);
	if (rewriting->stack_size > rewriting->limit)
		return lode_json_reject(tables->import, "its samples share their locations too often");
	lode_protobuf_put_message(&rewriting->dictionary, NEW_STACKS, stack);
	rewriting->stacks++;
	return 0;
}

/* The value of one type; samples with a time for each value have as many as types. */
static uint64_t value_of(struct lode_cursor values, size_t type)
{
	uint64_t value = 0;

	for (size_t i = 0; i <= type; i++)
		value = lode_cursor_left(&values) ? lode_cursor_varint(&values) : 0;
	return value;
}

static void write_times(struct rewriting *rewriting, struct lode_cursor times)
{
	lode_buffer_clear(&rewriting->packed);
	while (lode_cursor_left(&times) && !times.failed)
		lode_buffer_u64(&rewriting->packed, lode_cursor_varint(&times));
	if (rewriting->packed.size)
		lode_protobuf_put_message(&rewriting->sample, NEW_SAMPLE_TIMES, &rewriting->packed);
}

/* What a sample of 1.7 consists of. */
struct old_sample {
	uint64_t start, length, link;
	struct lode_cursor values, attributes, times;
};

static void read_old_sample(struct lode_cursor message, struct old_sample *sample)
{
	struct lode_protobuf_field field;

	*sample = (struct old_sample){ .values = lode_cursor("", 0),
				       .attributes = lode_cursor("", 0),
				       .times = lode_cursor("", 0) };
	while (lode_protobuf_next(&message, &field)) {
		if (field.number == OLD_SAMPLE_START)
			sample->start = field.value;
		else if (field.number == OLD_SAMPLE_LENGTH)
			sample->length = field.value;
		else if (field.number == OLD_SAMPLE_LINK)
			sample->link = field.value;
		else if (field.number == OLD_SAMPLE_VALUES)
			sample->values = field.bytes;
		else if (field.number == OLD_SAMPLE_ATTRIBUTES)
			sample->attributes = field.bytes;
		else if (field.number == OLD_SAMPLE_TIMES)
			sample->times = field.bytes;
	}
}

static int write_sample(struct rewriting *rewriting, struct lode_cursor message, size_t type)
{
	struct lode_buffer *to = &rewriting->sample;
	struct old_sample sample;
	int code;

	read_old_sample(message, &sample);
	code = write_stack(rewriting, sample.start, sample.length);
	if (code < 0)
		return code;
	lode_buffer_clear(to);
	lode_protobuf_put_number(to, NEW_SAMPLE_STACK, rewriting->stacks);
	if (lode_cursor_left(&sample.attributes))
		put_span(to, NEW_SAMPLE_ATTRIBUTES, sample.attributes);
	if (sample.link)
		lode_protobuf_put_number(to, NEW_SAMPLE_LINK, sample.link);
	if (lode_cursor_left(&sample.values)) {
		lode_buffer_clear(&rewriting->packed);
		lode_buffer_varint(&rewriting->packed, value_of(sample.values, type));
		lode_protobuf_put_message(to, NEW_SAMPLE_VALUES, &rewriting->packed);
	}
	write_times(rewriting, sample.times);
	lode_protobuf_put_message(&rewriting->profile, SAMPLES, to);
	return 0;
}

static void write_type(struct lode_buffer *to, struct lode_cursor profile, size_t type)
{
	struct lode_protobuf_field field;
	size_t i = 0;

	while (lode_protobuf_next(&profile, &field))
		if (field.number == SAMPLE_TYPE && field.wire == LODE_WIRE_BYTES && i++ == type)
			put_span(to, SAMPLE_TYPE, field.bytes);
}

/* A profile of one of the types. */
static int write_profile(struct rewriting *rewriting, struct lode_cursor profile, size_t type)
{
	struct lode_protobuf_field field;
	int code = 0;

	lode_buffer_clear(&rewriting->profile);
	write_type(&rewriting->profile, profile, type);
	while (code == 0 && lode_protobuf_next(&profile, &field)) {
		if (field.number == SAMPLES && field.wire == LODE_WIRE_BYTES)
			code = write_sample(rewriting, field.bytes, type);
		else if (field.number == OLD_TIME && field.wire == LODE_WIRE_VARINT)
			lode_protobuf_put_fixed64(&rewriting->profile, NEW_TIME, field.value);
		else if (field.number == OLD_DURATION && field.wire == LODE_WIRE_VARINT)
			lode_protobuf_put_number(&rewriting->profile, NEW_DURATION, field.value);
		else if (field.number == OLD_PERIOD_TYPE && field.wire == LODE_WIRE_BYTES)
			put_span(&rewriting->profile, NEW_PERIOD_TYPE, field.bytes);
		else if (field.number == OLD_PERIOD && field.wire == LODE_WIRE_VARINT)
			lode_protobuf_put_number(&rewriting->profile, NEW_PERIOD, field.value);
	}
	if (code == 0)
		lode_protobuf_put_message(&rewriting->scope, PROFILES, &rewriting->profile);
	return code < 0 ? code : profile.failed ? lode_otlp_fail_damaged(rewriting->tables) : 0;
}

/* Of the types that are times; where none is, of the first, so that the reader says what it was. */
static int write_profiles(struct rewriting *rewriting, struct lode_cursor profile)
{
	int code = choose_types(rewriting, profile), any = 0;

	if (code == 0)
		code = list_locations(rewriting, profile);
	for (size_t i = 0; code == 0 && i < rewriting->type_count; i++)
		if (rewriting->types[i].use == LODE_PPROF_RUN || rewriting->types[i].use == LODE_PPROF_WAIT) {
			code = write_profile(rewriting, profile, i);
			any = 1;
		}
	return code < 0 || any ? code : write_profile(rewriting, profile, 0);
}

static int write_scope(struct rewriting *rewriting, struct lode_cursor scope)
{
	struct lode_protobuf_field field;
	int code = 0;

	lode_buffer_clear(&rewriting->scope);
	while (code == 0 && lode_protobuf_next(&scope, &field))
		if (field.number == PROFILES && field.wire == LODE_WIRE_BYTES)
			code = write_profiles(rewriting, field.bytes);
	lode_protobuf_put_message(&rewriting->resource, SCOPE_PROFILES, &rewriting->scope);
	return code < 0 ? code : scope.failed ? lode_otlp_fail_damaged(rewriting->tables) : 0;
}

static int write_resource(struct rewriting *rewriting, struct lode_cursor resource, struct lode_buffer *to)
{
	struct lode_protobuf_field field;
	int code = 0;

	lode_buffer_clear(&rewriting->resource);
	while (code == 0 && lode_protobuf_next(&resource, &field)) {
		if (field.wire != LODE_WIRE_BYTES)
			continue;
		if (field.number == SCOPE_PROFILES)
			code = write_scope(rewriting, field.bytes);
		else
			put_span(&rewriting->resource, field.number, field.bytes);
	}
	lode_protobuf_put_message(to, RESOURCE_PROFILES, &rewriting->resource);
	return code < 0 ? code : resource.failed ? lode_otlp_fail_damaged(rewriting->tables) : 0;
}

/* All but the units of attributes, whose place stacks have now; stack 0 is none. */
static void copy_dictionary(struct rewriting *rewriting, struct lode_cursor dictionary)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&dictionary, &field))
		if (field.wire == LODE_WIRE_BYTES && field.number != OLD_ATTRIBUTE_UNITS)
			put_span(&rewriting->dictionary, field.number, field.bytes);
}

static int rewrite_old(struct lode_otlp_tables *tables, struct lode_cursor data, struct lode_buffer *to)
{
	struct rewriting rewriting = { .tables = tables,
				       .limit = lode_cursor_left(&data) * MAX_GROWTH + FREE_GROWTH };
	struct lode_protobuf_field field;
	struct lode_cursor parts = data;
	int code = 0;

	while (lode_protobuf_next(&parts, &field))
		if (field.number == DICTIONARY && field.wire == LODE_WIRE_BYTES)
			copy_dictionary(&rewriting, field.bytes);
	put_span(&rewriting.dictionary, NEW_STACKS, lode_cursor("", 0));
	while (code == 0 && lode_protobuf_next(&data, &field))
		if (field.number == RESOURCE_PROFILES && field.wire == LODE_WIRE_BYTES)
			code = write_resource(&rewriting, field.bytes, to);
	lode_protobuf_put_message(to, DICTIONARY, &rewriting.dictionary);
	if (code == 0 && to->failed)
		code = lode_fail_memory(tables->import->error);
	lode_buffer_release(&rewriting.dictionary);
	lode_buffer_release(&rewriting.resource);
	lode_buffer_release(&rewriting.scope);
	lode_buffer_release(&rewriting.profile);
	lode_buffer_release(&rewriting.sample);
	lode_buffer_release(&rewriting.packed);
	lode_free(rewriting.locations.items);
	return code;
}

int lode_otlp_rewrite(struct lode_otlp_tables *tables, enum lode_otlp_version version, struct lode_cursor data,
		      struct lode_buffer *rewritten)
{
	const struct copying copying = { data.next, rewritten };

	if (version == LODE_OTLP_1_7)
		return rewrite_old(tables, data, rewritten);
	lode_buffer_add(rewritten, data.next, lode_cursor_left(&data));
	if (rewritten->failed)
		return lode_fail_memory(tables->import->error);
	if (version == LODE_OTLP_1_8)
		each_profile(data, renumber_profile, (void *)(uintptr_t)&copying);
	return 0;
}
