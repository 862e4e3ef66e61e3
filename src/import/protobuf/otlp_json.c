/*
 * OpenTelemetry's profiles in JSON: see otlp_json.h.
 *
 * A table names the members of each message with their numbers and kinds. A message must
 * know its size before it, so each level is built in a separate buffer; there are as many
 * levels as the table has, regardless of the document.
 */
#include "import/protobuf/otlp_json.h"

#include "import/json_profile.h"
#include "import/protobuf/protobuf.h"

#include "base/protobuf_out.h"

#include <string.h>

enum kind {
	NUMBER, /* also as text, as 64 bits are written */
	FIXED,  /* 64 bits */
	TEXT,
	BOOL,
	DOUBLE,
	MESSAGE,
};

enum message {
	DATA,
	DICTIONARY,
	RESOURCE_PROFILES,
	RESOURCE,
	KEY_VALUE,
	ANY,
	SCOPE_PROFILES,
	PROFILE,
	VALUE_TYPE,
	SAMPLE,
	MAPPING,
	LOCATION,
	LINE,
	FUNCTION,
	STACK,
	ATTRIBUTE,
	OLD_DATA, /* of version 1.7 (otlp_older.h), as are all below */
	OLD_DICTIONARY,
	OLD_RESOURCE_PROFILES,
	OLD_SCOPE_PROFILES,
	OLD_PROFILE,
	OLD_SAMPLE,
};

/* Messages inside one another: data, resource profiles, resource, key and value, any value. */
#define LEVELS 6

struct member {
	enum message owner;
	const char *name;
	unsigned number;
	enum kind kind;
	enum message type; /* of a message */
};

static const struct member members[] = {
	{ DATA, "resourceProfiles", 1, MESSAGE, RESOURCE_PROFILES },
	{ DATA, "dictionary", 2, MESSAGE, DICTIONARY },
	{ DICTIONARY, "mappingTable", 1, MESSAGE, MAPPING },
	{ DICTIONARY, "locationTable", 2, MESSAGE, LOCATION },
	{ DICTIONARY, "functionTable", 3, MESSAGE, FUNCTION },
	{ DICTIONARY, "stringTable", 5, TEXT, 0 },
	{ DICTIONARY, "attributeTable", 6, MESSAGE, ATTRIBUTE },
	{ DICTIONARY, "stackTable", 7, MESSAGE, STACK },
	{ RESOURCE_PROFILES, "resource", 1, MESSAGE, RESOURCE },
	{ RESOURCE_PROFILES, "scopeProfiles", 2, MESSAGE, SCOPE_PROFILES },
	{ RESOURCE, "attributes", 1, MESSAGE, KEY_VALUE },
	{ KEY_VALUE, "key", 1, TEXT, 0 },
	{ KEY_VALUE, "value", 2, MESSAGE, ANY },
	{ KEY_VALUE, "keyStrindex", 3, NUMBER, 0 },
	{ ANY, "stringValue", 1, TEXT, 0 },
	{ ANY, "boolValue", 2, BOOL, 0 },
	{ ANY, "intValue", 3, NUMBER, 0 },
	{ ANY, "doubleValue", 4, DOUBLE, 0 },
	{ ANY, "stringValueStrindex", 8, NUMBER, 0 },
	{ SCOPE_PROFILES, "profiles", 2, MESSAGE, PROFILE },
	{ PROFILE, "sampleType", 1, MESSAGE, VALUE_TYPE },
	{ PROFILE, "samples", 2, MESSAGE, SAMPLE },
	{ PROFILE, "sample", 2, MESSAGE, SAMPLE }, /* 1.8 */
	{ PROFILE, "timeUnixNano", 3, FIXED, 0 },
	{ PROFILE, "periodType", 5, MESSAGE, VALUE_TYPE },
	{ PROFILE, "period", 6, NUMBER, 0 },
	{ VALUE_TYPE, "typeStrindex", 1, NUMBER, 0 },
	{ VALUE_TYPE, "unitStrindex", 2, NUMBER, 0 },
	{ SAMPLE, "stackIndex", 1, NUMBER, 0 },
	{ SAMPLE, "attributeIndices", 2, NUMBER, 0 },
	{ SAMPLE, "linkIndex", 3, NUMBER, 0 },
	{ SAMPLE, "values", 4, NUMBER, 0 },
	{ SAMPLE, "timestampsUnixNano", 5, FIXED, 0 },
	{ MAPPING, "memoryStart", 1, NUMBER, 0 },
	{ MAPPING, "memoryLimit", 2, NUMBER, 0 },
	{ MAPPING, "fileOffset", 3, NUMBER, 0 },
	{ MAPPING, "filenameStrindex", 4, NUMBER, 0 },
	{ MAPPING, "attributeIndices", 5, NUMBER, 0 },
	{ LOCATION, "mappingIndex", 1, NUMBER, 0 },
	{ LOCATION, "address", 2, NUMBER, 0 },
	{ LOCATION, "lines", 3, MESSAGE, LINE },
	{ LOCATION, "line", 3, MESSAGE, LINE }, /* until 1.8 */
	{ LINE, "functionIndex", 1, NUMBER, 0 },
	{ FUNCTION, "nameStrindex", 1, NUMBER, 0 },
	{ FUNCTION, "systemNameStrindex", 2, NUMBER, 0 },
	{ FUNCTION, "filenameStrindex", 3, NUMBER, 0 },
	{ STACK, "locationIndices", 1, NUMBER, 0 },
	{ ATTRIBUTE, "keyStrindex", 1, NUMBER, 0 },
	{ ATTRIBUTE, "value", 2, MESSAGE, ANY },
	{ OLD_DATA, "resourceProfiles", 1, MESSAGE, OLD_RESOURCE_PROFILES },
	{ OLD_DATA, "dictionary", 2, MESSAGE, OLD_DICTIONARY },
	{ OLD_DICTIONARY, "mappingTable", 1, MESSAGE, MAPPING },
	{ OLD_DICTIONARY, "locationTable", 2, MESSAGE, LOCATION },
	{ OLD_DICTIONARY, "functionTable", 3, MESSAGE, FUNCTION },
	{ OLD_DICTIONARY, "stringTable", 5, TEXT, 0 },
	{ OLD_DICTIONARY, "attributeTable", 6, MESSAGE, KEY_VALUE },
	{ OLD_RESOURCE_PROFILES, "resource", 1, MESSAGE, RESOURCE },
	{ OLD_RESOURCE_PROFILES, "scopeProfiles", 2, MESSAGE, OLD_SCOPE_PROFILES },
	{ OLD_SCOPE_PROFILES, "profiles", 2, MESSAGE, OLD_PROFILE },
	{ OLD_PROFILE, "sampleType", 1, MESSAGE, VALUE_TYPE },
	{ OLD_PROFILE, "sample", 2, MESSAGE, OLD_SAMPLE },
	{ OLD_PROFILE, "locationIndices", 3, NUMBER, 0 },
	{ OLD_PROFILE, "timeNanos", 4, NUMBER, 0 },
	{ OLD_PROFILE, "durationNanos", 5, NUMBER, 0 },
	{ OLD_PROFILE, "periodType", 6, MESSAGE, VALUE_TYPE },
	{ OLD_PROFILE, "period", 7, NUMBER, 0 },
	{ OLD_SAMPLE, "locationsStartIndex", 1, NUMBER, 0 },
	{ OLD_SAMPLE, "locationsLength", 2, NUMBER, 0 },
	{ OLD_SAMPLE, "value", 3, NUMBER, 0 },
	{ OLD_SAMPLE, "attributeIndices", 4, NUMBER, 0 },
	{ OLD_SAMPLE, "linkIndex", 5, NUMBER, 0 },
	{ OLD_SAMPLE, "timestampsUnixNano", 6, NUMBER, 0 },
};

struct encoding {
	struct lode_buffer levels[LEVELS + 1];
	struct lode_buffer text;
};

static const struct member *find_member(enum message owner, struct lode_json_value key)
{
	size_t length;
	const char *text = lode_json_plain_text(key, &length);

	for (size_t i = 0; text && i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].owner == owner && strlen(members[i].name) == length &&
		    memcmp(members[i].name, text, length) == 0)
			return &members[i];
	return NULL;
}

/* A whole number, below 0 too, with quotes or without. */
static uint64_t number_of(struct lode_json_value value)
{
	struct lode_json_value positive = { value.at + 1 };

	if (lode_json_kind(value) == LODE_JSON_NUMBER && *value.at == '-')
		return 0 - lode_json_u64_or(positive, 0);
	return lode_json_number_or(value, 0);
}

static void put_scalar(struct encoding *encoding, unsigned level, const struct member *member,
		       struct lode_json_value value)
{
	struct lode_buffer *to = &encoding->levels[level];
	double fraction;
	uint64_t bits;

	switch (member->kind) {
	case TEXT:
		lode_buffer_clear(&encoding->text);
		lode_json_text_to(value, &encoding->text);
		lode_protobuf_put_message(to, member->number, &encoding->text);
		return;
	case FIXED:
		lode_protobuf_put_fixed64(to, member->number, number_of(value));
		return;
	case DOUBLE:
		fraction = lode_json_double_or(value, 0);
		memcpy(&bits, &fraction, sizeof(bits));
		lode_protobuf_put_fixed64(to, member->number, bits);
		return;
	default:
		lode_protobuf_put_number(to, member->number,
					 member->kind == BOOL ? lode_json_kind(value) == LODE_JSON_TRUE
							      : number_of(value));
	}
}

/* Lists of numbers are packed. */
static void put_packed(struct encoding *encoding, unsigned level, const struct member *member,
		       struct lode_json_value list)
{
	struct lode_json_walk walk = lode_json_walk(list);
	struct lode_json_value item;

	lode_buffer_clear(&encoding->text);
	while (lode_json_item(&walk, &item)) {
		if (member->kind == FIXED)
			lode_buffer_u64(&encoding->text, number_of(item));
		else
			lode_buffer_varint(&encoding->text, number_of(item));
	}
	if (encoding->text.size)
		lode_protobuf_put_message(&encoding->levels[level], member->number, &encoding->text);
}

static void put_object(struct encoding *encoding, unsigned level, enum message type, struct lode_json_value object);

static void put_value(struct encoding *encoding, unsigned level, const struct member *member,
		      struct lode_json_value value)
{
	if (member->kind != MESSAGE) {
		put_scalar(encoding, level, member, value);
		return;
	}
	if (level == LEVELS)
		return;
	lode_buffer_clear(&encoding->levels[level + 1]);
	put_object(encoding, level + 1, member->type, value);
	lode_protobuf_put_message(&encoding->levels[level], member->number, &encoding->levels[level + 1]);
}

static void put_object(struct encoding *encoding, unsigned level, enum message type, struct lode_json_value object)
{
	struct lode_json_walk walk = lode_json_walk(object);
	struct lode_json_value key, value, item;

	if (lode_json_kind(object) != LODE_JSON_OBJECT)
		return;
	while (lode_json_member(&walk, &key, &value)) {
		const struct member *member = find_member(type, key);
		struct lode_json_walk items = lode_json_walk(value);

		if (!member)
			continue;
		if (lode_json_kind(value) != LODE_JSON_ARRAY)
			put_value(encoding, level, member, value);
		else if (member->kind == NUMBER || member->kind == FIXED)
			put_packed(encoding, level, member, value);
		else
			while (lode_json_item(&items, &item))
				put_value(encoding, level, member, item);
	}
}

int lode_otlp_encode(const char *name, const unsigned char *bytes, size_t size, struct lode_buffer *encoded,
		     struct lode_error *error)
{
	struct encoding encoding = { 0 };
	struct lode_json_value root;
	int code = lode_json_check(name, (const char *)bytes, size, &root, error);

	if (code < 0)
		return code;
	put_object(&encoding, 0, lode_sniff_has(bytes, size, "\"locationsLength\"") ? OLD_DATA : DATA, root);
	if (encoding.levels[0].failed || encoding.text.failed)
		code = lode_fail_memory(error);
	for (unsigned i = 1; i <= LEVELS; i++)
		lode_buffer_release(&encoding.levels[i]);
	lode_buffer_release(&encoding.text);
	*encoded = encoding.levels[0];
	return code;
}

/* ---- what they begin with ---- */

int lode_otlp_is_json(const unsigned char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && memchr(" \t\r\n\xef\xbb\xbf", bytes[at], 7))
		at++;
	return at < size && bytes[at] == '{';
}

/* A message whose visible fields all have these numbers and are messages themselves. */
static int has_only(struct lode_cursor message, uint32_t most)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.wire != LODE_WIRE_BYTES || field.number > most)
			return 0;
	return 1;
}

/* Whether an attribute's key is a number of a string, and its value a message. */
static int refers_to_strings(struct lode_cursor resource)
{
	struct lode_protobuf_field field, attribute;
	int has_key = 0, has_value = 0;

	if (!lode_protobuf_next(&resource, &field) || field.number != 1 || field.wire != LODE_WIRE_BYTES ||
	    !lode_protobuf_next(&field.bytes, &attribute) || attribute.number != 1 ||
	    attribute.wire != LODE_WIRE_BYTES)
		return 0;
	while (lode_protobuf_next(&attribute.bytes, &field)) {
		has_value |= field.number == 2 && field.wire == LODE_WIRE_BYTES;
		has_key |= field.number == 3 && field.wire == LODE_WIRE_VARINT;
		if (field.number > 3)
			return 0;
	}
	return has_key && has_value && !attribute.bytes.failed;
}

/* The first attributes of a resource have keys such as `process.pid` or `service.name`. */
static int has_usual_keys(const unsigned char *bytes, size_t size)
{
	static const char *const usual[] = { "process.", "service.", "host.", "lode.", "telemetry.", "container." };

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (lode_sniff_has(bytes, size < 600 ? size : 600, usual[i]))
			return 1;
	return 0;
}

/*
 * The first resource has a resource, whose attributes have keys, or scopes. It may go beyond what
 * can be seen, so its length is not requested.
 */
int lode_otlp_sniff(const unsigned char *bytes, size_t size)
{
	struct lode_cursor data = lode_cursor(bytes, size), resource;
	uint64_t tag, length;

	if (lode_otlp_is_json(bytes, size))
		return lode_sniff_has(bytes, size, "\"resourceProfiles\"") ||
				       (lode_sniff_has(bytes, size, "\"dictionary\"") &&
					lode_sniff_has(bytes, size, "\"stringTable\""))
			       ? 95
			       : 0;
	tag = lode_cursor_varint(&data);
	length = lode_cursor_varint(&data);
	if (data.failed || tag != (1u << 3 | LODE_WIRE_BYTES))
		return 0;
	resource = lode_cursor(data.next,
			       length < lode_cursor_left(&data) ? (size_t)length : lode_cursor_left(&data));
	if (lode_cursor_left(&resource) < 4 || !has_only(resource, 3))
		return 0;
	if (refers_to_strings(resource))
		return 85;
	if (resource.next[0] != (1u << 3 | LODE_WIRE_BYTES)) /* without a resource, as async-profiler writes it */
		return resource.next[0] == (2u << 3 | LODE_WIRE_BYTES) ? 20 : 0;
	return has_usual_keys(bytes, size) ? 85 : 25;
}
