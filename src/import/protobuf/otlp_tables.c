/* The dictionary of OpenTelemetry's profiles: see otlp_tables.h. */
#include "import/protobuf/otlp_tables.h"

#include "base/memory.h"
#include "import/module_name.h"

#include <stdio.h>

/* Numbers of fields. */
enum {
	MAPPING_TABLE = 1,
	LOCATION_TABLE = 2,
	FUNCTION_TABLE = 3,
	STRING_TABLE = 5,
	ATTRIBUTE_TABLE = 6,
	STACK_TABLE = 7,
	MAPPING_START = 1,
	MAPPING_LIMIT = 2,
	MAPPING_OFFSET = 3,
	MAPPING_FILE = 4,
	MAPPING_ATTRIBUTES = 5,
	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINE = 3,
	LINE_FUNCTION = 1,
	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILE = 3,
	STACK_LOCATIONS = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	ANY_TEXT = 1,
	ANY_BOOL = 2,
	ANY_INT = 3,
	ANY_DOUBLE = 4,
	ANY_STRING_INDEX = 8, /* from version 1.10 on */
};

void lode_otlp_tables_release(struct lode_otlp_tables *tables)
{
	lode_free(tables->mappings.items);
	lode_free(tables->locations.items);
	lode_free(tables->functions.items);
	lode_free(tables->strings.items);
	lode_free(tables->attributes.items);
	lode_free(tables->stacks.items);
	lode_free(tables->nodes);
	lode_free(tables->modules);
	lode_free(tables->lines);
	lode_free(tables->frames.items);
	lode_free(tables->chain);
}

void lode_otlp_tables_clear(struct lode_otlp_tables *tables)
{
	tables->mappings.count = 0;
	tables->locations.count = 0;
	tables->functions.count = 0;
	tables->strings.count = 0;
	tables->attributes.count = 0;
	tables->stacks.count = 0;
}

/* ---- loading ---- */

static struct lode_otlp_table *table_of(struct lode_otlp_tables *tables, uint32_t field)
{
	switch (field) {
	case MAPPING_TABLE:
		return &tables->mappings;
	case LOCATION_TABLE:
		return &tables->locations;
	case FUNCTION_TABLE:
		return &tables->functions;
	case STRING_TABLE:
		return &tables->strings;
	case ATTRIBUTE_TABLE:
		return &tables->attributes;
	case STACK_TABLE:
		return &tables->stacks;
	default:
		return NULL;
	}
}

int lode_otlp_tables_load(struct lode_otlp_tables *tables, struct lode_cursor dictionary)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&dictionary, &field)) {
		struct lode_otlp_table *table = field.wire == LODE_WIRE_BYTES ? table_of(tables, field.number)
									      : NULL;

		if (!table)
			continue;
		if (table->count >= LODE_NONE - 1 || LODE_PUSH(table, field.bytes) < 0)
			return lode_fail_memory(tables->import->error);
	}
	return dictionary.failed ? lode_json_reject(tables->import, "its dictionary is damaged or cut off") : 0;
}

static int make_unknown(uint32_t **items, size_t count)
{
	lode_free(*items);
	*items = lode_calloc(count + 1, sizeof(**items));
	if (!*items)
		return LODE_SYSTEM;
	memset(*items, 0xff, (count + 1) * sizeof(**items));
	return 0;
}

int lode_otlp_tables_reset(struct lode_otlp_tables *tables)
{
	tables->frames.count = 0;
	tables->addresses = (struct lode_import_addresses){ 0 };
	if (make_unknown(&tables->nodes, tables->stacks.count) < 0 ||
	    make_unknown(&tables->modules, tables->mappings.count) < 0 ||
	    make_unknown(&tables->lines, tables->locations.count) < 0)
		return lode_fail_memory(tables->import->error);
	return 0;
}

/* ---- strings and attributes ---- */

int lode_otlp_string(struct lode_otlp_tables *tables, uint64_t string, struct lode_span *text)
{
	*text = (struct lode_span){ "", 0 };
	if (!string && !tables->strings.count)
		return 0;
	if (string >= tables->strings.count)
		return lode_json_reject(tables->import, "it names a string that is not in its dictionary");
	*text = (struct lode_span){ (const char *)tables->strings.items[string].next,
				    lode_cursor_left(&tables->strings.items[string]) };
	return 0;
}

static void set_text(struct lode_otlp_value *value, struct lode_span text)
{
	value->text = text.text;
	value->length = text.length;
	value->type = LODE_ATTRIBUTE_TEXT;
}

static void set_number(struct lode_otlp_value *value, const struct lode_protobuf_field *field)
{
	if (field->number == ANY_DOUBLE) {
		memcpy(&value->fraction, &field->value, sizeof(value->fraction));
		value->is_fraction = 1;
		value->type = LODE_ATTRIBUTE_NUMBER;
		return;
	}
	value->number = (int64_t)field->value;
	value->type = field->number == ANY_INT ? LODE_ATTRIBUTE_NUMBER : LODE_ATTRIBUTE_BOOL;
}

int lode_otlp_value(struct lode_otlp_tables *tables, struct lode_cursor message, struct lode_otlp_value *value)
{
	struct lode_protobuf_field field;
	struct lode_span text;
	int code = 0;

	*value = (struct lode_otlp_value){ 0 };
	while (code == 0 && lode_protobuf_next(&message, &field)) {
		value->is_known = 1;
		if (field.number == ANY_TEXT && field.wire == LODE_WIRE_BYTES)
			set_text(value, (struct lode_span){ (const char *)field.bytes.next,
							    lode_cursor_left(&field.bytes) });
		else if (field.number == ANY_STRING_INDEX && field.wire == LODE_WIRE_VARINT) {
			code = lode_otlp_string(tables, field.value, &text);
			set_text(value, text);
		} else if ((field.number == ANY_DOUBLE && field.wire == LODE_WIRE_FIXED64) ||
			   ((field.number == ANY_INT || field.number == ANY_BOOL) && field.wire == LODE_WIRE_VARINT))
			set_number(value, &field);
		else
			value->is_known = 0;
	}
	return code;
}

int lode_otlp_attribute(struct lode_otlp_tables *tables, uint64_t attribute, struct lode_cursor *key,
			struct lode_otlp_value *value)
{
	struct lode_protobuf_field field;
	struct lode_cursor message;
	struct lode_span text = { NULL, 0 };
	uint64_t string = 0;
	int code = 0;

	*value = (struct lode_otlp_value){ 0 };
	if (attribute >= tables->attributes.count)
		return lode_json_reject(tables->import, "it names an attribute that is not in its dictionary");
	message = tables->attributes.items[attribute];
	while (code == 0 && lode_protobuf_next(&message, &field)) {
		if (field.number == ATTRIBUTE_KEY && field.wire == LODE_WIRE_VARINT)
			string = field.value;
		else if (field.number == ATTRIBUTE_KEY && field.wire == LODE_WIRE_BYTES) /* version 1.7 */
			text = (struct lode_span){ (const char *)field.bytes.next, lode_cursor_left(&field.bytes) };
		else if (field.number == ATTRIBUTE_VALUE && field.wire == LODE_WIRE_BYTES)
			code = lode_otlp_value(tables, field.bytes, value);
	}
	if (code == 0 && !text.text)
		code = lode_otlp_string(tables, string, &text);
	if (code == 0)
		*key = lode_cursor(text.text, text.length);
	return code;
}

/* ---- modules ---- */

/* What the attributes of a mapping say: its build-id, and the module as we called it in an export. */
struct mapping_facts {
	struct lode_otlp_value build_id, module;
};

static int read_mapping_attributes(struct lode_otlp_tables *tables, struct lode_protobuf_field field,
				   struct mapping_facts *facts)
{
	uint64_t attribute;
	int code = 0, more = 1;

	while (code == 0 && lode_protobuf_number(&field, &more, &attribute)) {
		struct lode_otlp_value value;
		struct lode_cursor key;

		code = lode_otlp_attribute(tables, attribute, &key, &value);
		if (code == 0 && lode_protobuf_is(key, "process.executable.build_id.gnu"))
			facts->build_id = value;
		else if (code == 0 && lode_protobuf_is(key, "lode.module"))
			facts->module = value;
	}
	return code;
}

static int keep_build_id(struct lode_otlp_tables *tables, uint32_t module, const struct lode_otlp_value *value)
{
	if (value->text &&
	    lode_frames_set_build_id(&tables->import->dictionary.frames, module, value->text, value->length) < 0)
		return lode_fail_memory(tables->import->error);
	return 0;
}

static int make_module(struct lode_otlp_tables *tables, struct lode_cursor message, uint32_t *module)
{
	struct lode_frames *frames = &tables->import->dictionary.frames;
	struct mapping_facts facts = { 0 };
	struct lode_protobuf_field field;
	struct lode_span path;
	uint64_t file = 0;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field)) {
		if (field.number == MAPPING_FILE && field.wire == LODE_WIRE_VARINT)
			file = field.value;
		else if (field.number == MAPPING_ATTRIBUTES)
			code = read_mapping_attributes(tables, field, &facts);
	}
	if (code < 0 || (code = lode_otlp_string(tables, file, &path)) < 0)
		return code;
	*module = facts.module.text ? lode_frames_module(frames, facts.module.text, facts.module.length)
				    : lode_module_from_file(frames, path.text, path.length);
	return *module == LODE_NONE ? lode_fail_memory(tables->import->error)
				    : keep_build_id(tables, *module, &facts.build_id);
}

static uint64_t no_mapping(const struct lode_otlp_tables *tables)
{
	return tables->from_zero ? UINT64_MAX : 0;
}

/* The module of a mapping. */
static int find_module(struct lode_otlp_tables *tables, uint64_t mapping, uint32_t *module)
{
	int code = 0;

	*module = 0;
	if (mapping == no_mapping(tables))
		return 0;
	if (mapping >= tables->mappings.count)
		return lode_json_reject(tables->import,
					"a location names a mapping that is not in its dictionary");
	*module = tables->modules[mapping];
	if (*module == LODE_NONE)
		code = make_module(tables, tables->mappings.items[mapping], module);
	tables->modules[mapping] = *module;
	return code;
}

/* ---- locations ---- */

static int add_frame(struct lode_otlp_tables *tables, uint32_t module, const char *text, size_t length)
{
	uint32_t frame = lode_frames_add(&tables->import->dictionary.frames, module, text, length);

	if (frame == LODE_NONE || tables->frames.count >= LODE_NONE - 1 || LODE_PUSH(&tables->frames, frame) < 0)
		return lode_fail_memory(tables->import->error);
	return 0;
}

/* Interpreted code has no mapping: the file that the function is in takes its place. */
static int add_function(struct lode_otlp_tables *tables, uint64_t function, uint32_t module)
{
	uint64_t numbers[FUNCTION_FILE + 1] = { 0 };
	struct lode_span name, file;
	int code;

	if (function >= tables->functions.count)
		return lode_json_reject(tables->import,
					"a location names a function that is not in its dictionary");
	lode_protobuf_numbers(tables->functions.items[function], numbers, FUNCTION_FILE + 1);
	if ((code = lode_otlp_string(tables, numbers[numbers[FUNCTION_NAME] ? FUNCTION_NAME : FUNCTION_SYSTEM_NAME],
				     &name)) < 0 ||
	    (code = lode_otlp_string(tables, numbers[FUNCTION_FILE], &file)) < 0)
		return code;
	if (!module && file.length)
		module = lode_module_from_file(&tables->import->dictionary.frames, file.text, file.length);
	return add_frame(tables, module, name.text, name.length);
}

/* A location without a function is an offset in its file. */
static int add_address(struct lode_otlp_tables *tables, uint64_t mapping, uint64_t address, uint32_t module)
{
	uint64_t numbers[MAPPING_OFFSET + 1] = { 0 };
	char text[24];

	if (mapping != no_mapping(tables)) /* in the table: its module was found */
		lode_protobuf_numbers(tables->mappings.items[mapping], numbers, MAPPING_OFFSET + 1);
	if (address >= numbers[MAPPING_START] && address < numbers[MAPPING_LIMIT]) {
		address = address - numbers[MAPPING_START] + numbers[MAPPING_OFFSET];
		tables->addresses.offsets++;
	} else {
		tables->addresses.others += module != 0;
	}
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	return add_frame(tables, module, text, strlen(text));
}

/* The frames of a location's lines, which begin with the innermost function; root first, their number in front. */
static int open_lines(struct lode_otlp_tables *tables, struct lode_cursor message, uint32_t module)
{
	struct lode_protobuf_field field;
	size_t first = tables->frames.count;
	int code = 0;

	while (code == 0 && lode_protobuf_next(&message, &field)) {
		uint64_t numbers[LINE_FUNCTION + 1] = { 0 };

		if (field.number != LOCATION_LINE || field.wire != LODE_WIRE_BYTES)
			continue;
		lode_protobuf_numbers(field.bytes, numbers, LINE_FUNCTION + 1);
		if (tables->frames.count - first == LODE_STACK_DEPTH_LIMIT) {
			tables->cut++;
			break;
		}
		if (numbers[LINE_FUNCTION] || tables->from_zero)
			code = add_function(tables, numbers[LINE_FUNCTION], module);
	}
	for (size_t i = first, j = tables->frames.count; code == 0 && i + 1 < j; i++) {
		uint32_t frame = tables->frames.items[i];

		tables->frames.items[i] = tables->frames.items[--j];
		tables->frames.items[j] = frame;
	}
	return code;
}

static int open_location(struct lode_otlp_tables *tables, uint32_t location)
{
	struct lode_cursor message = tables->locations.items[location];
	uint64_t numbers[LOCATION_ADDRESS + 1] = { [LOCATION_MAPPING] = no_mapping(tables) };
	size_t head = tables->frames.count;
	uint32_t module;
	int code;

	lode_protobuf_numbers(message, numbers, LOCATION_ADDRESS + 1);
	if ((code = find_module(tables, numbers[LOCATION_MAPPING], &module)) < 0)
		return code;
	if (head >= LODE_NONE - 1 || LODE_PUSH(&tables->frames, 0) < 0)
		return lode_fail_memory(tables->import->error);
	code = open_lines(tables, message, module);
	if (code == 0 && tables->frames.count == head + 1)
		code = add_address(tables, numbers[LOCATION_MAPPING], numbers[LOCATION_ADDRESS], module);
	tables->frames.items[head] = (uint32_t)(tables->frames.count - head - 1);
	tables->lines[location] = (uint32_t)head;
	return code;
}

/* ---- stacks ---- */

/* Reads the locations of a stack into `chain`, leaf first, as far as the limit of depth allows. */
static int read_chain(struct lode_otlp_tables *tables, struct lode_cursor message, size_t *count)
{
	struct lode_protobuf_field field;
	uint64_t location, depth = 0;
	int code = 0;

	*count = 0;
	while (code == 0 && lode_protobuf_next(&message, &field)) {
		int more = 1;

		while (code == 0 && field.number == STACK_LOCATIONS &&
		       lode_protobuf_number(&field, &more, &location)) {
			if (location >= tables->locations.count)
				return lode_json_reject(tables->import,
							"a stack names a location that is not in its dictionary");
			if (lode_grow(&tables->chain, &tables->chain_capacity, *count + 1,
				      sizeof(*tables->chain)) < 0)
				return lode_fail_memory(tables->import->error);
			code = tables->lines[location] == LODE_NONE ? open_location(tables, (uint32_t)location) : 0;
			if (code < 0)
				return code;
			depth += tables->frames.items[tables->lines[location]];
			if (depth > LODE_STACK_DEPTH_LIMIT) {
				tables->cut++;
				return 0;
			}
			tables->chain[(*count)++] = (uint32_t)location;
		}
		message.failed |= field.wire == LODE_WIRE_BYTES && field.bytes.failed;
	}
	return message.failed ? lode_json_reject(tables->import, "a stack of its dictionary is damaged") : 0;
}

int lode_otlp_stack(struct lode_otlp_tables *tables, uint64_t stack, uint32_t *node)
{
	size_t count;
	int code;

	*node = 0;
	if (!stack)
		return 0;
	if (stack >= tables->stacks.count)
		return lode_json_reject(tables->import, "a sample names a stack that is not in its dictionary");
	*node = tables->nodes[stack];
	if (*node != LODE_NONE)
		return 0;
	code = read_chain(tables, tables->stacks.items[stack], &count);
	if (code < 0)
		return code;
	*node = 0;
	while (count) {
		const uint32_t *lines = &tables->frames.items[tables->lines[tables->chain[--count]]];

		for (uint32_t i = 1; i <= lines[0] && *node != LODE_NONE; i++)
			*node = lode_stack_tree_child(&tables->import->dictionary.tree, *node, lines[i]);
	}
	tables->nodes[stack] = *node;
	return *node == LODE_NONE ? lode_fail_memory(tables->import->error) : 0;
}
