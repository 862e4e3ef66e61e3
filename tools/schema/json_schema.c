/*
 * The JSON schema of a result. A table that occurs once is written where it occurs; one that occurs more often, or
 * inside itself, is in $defs.
 */
#include "make_schema.h"

struct schema {
	struct lode_json json;
	struct tables tables;
};

static void write_object(struct schema *schema, const struct lode_fields *fields);

static void write_type(struct schema *schema, const char *type, int nullable)
{
	lode_json_key(&schema->json, "type");
	if (nullable) {
		lode_json_array(&schema->json);
		lode_json_text(&schema->json, type);
		lode_json_text(&schema->json, "null");
		lode_json_array_end(&schema->json);
	} else {
		lode_json_text(&schema->json, type);
	}
}

static void write_choice(struct schema *schema, const struct lode_field *field, int nullable)
{
	lode_json_key_array(&schema->json, "enum");
	for (unsigned i = 0; field->choice(i); i++)
		lode_json_text(&schema->json, field->choice(i));
	if (nullable)
		lode_json_null(&schema->json);
	lode_json_array_end(&schema->json);
}

static void write_table(struct schema *schema, const struct lode_fields *fields)
{
	struct lode_buffer place = { 0 };

	if (tables_uses(&schema->tables, fields) < 2) {
		write_object(schema, fields);
		return;
	}
	lode_buffer_print(&place, "#/$defs/%s", fields->type);
	lode_json_key(&schema->json, "$ref");
	lode_json_take(&schema->json, &place);
	lode_buffer_release(&place);
}

static void write_table_or_null(struct schema *schema, const struct lode_fields *fields)
{
	lode_json_key_array(&schema->json, "anyOf");
	lode_json_object(&schema->json);
	lode_json_key_text(&schema->json, "type", "null");
	lode_json_object_end(&schema->json);
	lode_json_object(&schema->json);
	write_table(schema, fields);
	lode_json_object_end(&schema->json);
	lode_json_array_end(&schema->json);
}

static void write_scalar(struct schema *schema, int nullable)
{
	lode_json_key_array(&schema->json, "type");
	lode_json_text(&schema->json, "string");
	lode_json_text(&schema->json, "number");
	lode_json_text(&schema->json, "boolean");
	if (nullable)
		lode_json_text(&schema->json, "null");
	lode_json_array_end(&schema->json);
}

/* One value, or an item of a list. */
static void write_kind(struct schema *schema, const struct lode_field *field, int nullable)
{
	switch ((enum lode_field_kind)field->kind) {
	case LODE_FIELD_U64:
	case LODE_FIELD_U32:
		write_type(schema, "integer", nullable);
		lode_json_key_u64(&schema->json, "minimum", field->least);
		break;
	case LODE_FIELD_I64:
		write_type(schema, "integer", nullable);
		break;
	case LODE_FIELD_DOUBLE:
		write_type(schema, "number", nullable);
		break;
	case LODE_FIELD_BOOL:
		write_type(schema, "boolean", nullable);
		break;
	case LODE_FIELD_TEXT:
	case LODE_FIELD_CHARS:
		if (field->choice)
			write_choice(schema, field, nullable);
		else
			write_type(schema, "string", nullable);
		if (field->digits)
			lode_json_key_text(&schema->json, "pattern", "^[0-9]+$");
		break;
	case LODE_FIELD_TRUE:
		lode_json_key_bool(&schema->json, "const", 1);
		break;
	case LODE_FIELD_SCALAR:
		write_scalar(schema, nullable);
		break;
	case LODE_FIELD_OBJECT:
	case LODE_FIELD_POINTER:
	case LODE_FIELD_PART:
		if (nullable)
			write_table_or_null(schema, field->fields);
		else
			write_table(schema, field->fields);
		break;
	}
}

static void write_items(struct schema *schema, const struct lode_field *field, const char *key, int lists)
{
	lode_json_key_object(&schema->json, key);
	if (lists) {
		write_type(schema, "array", 0);
		write_items(schema, field, "items", lists - 1);
	} else {
		write_kind(schema, field, field->maybe);
	}
	lode_json_object_end(&schema->json);
}

static void write_field(struct schema *schema, const struct lode_field *field)
{
	int nullable = field->rule == LODE_FIELD_NULLABLE;

	lode_json_key_object(&schema->json, field->name);
	lode_json_key_text(&schema->json, "description", field->what);
	switch ((enum lode_field_shape)field->shape) {
	case LODE_SHAPE_ONE:
		write_kind(schema, field, nullable || field->maybe);
		break;
	case LODE_SHAPE_LIST:
	case LODE_SHAPE_LISTS:
		write_type(schema, "array", nullable);
		write_items(schema, field, "items", field->shape == LODE_SHAPE_LISTS);
		break;
	case LODE_SHAPE_MAP:
		write_type(schema, "object", nullable);
		write_items(schema, field, "additionalProperties", 0);
		break;
	}
	lode_json_object_end(&schema->json);
}

static void write_properties(struct schema *schema, const struct lode_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (fields->rows[i].kind == LODE_FIELD_PART)
			write_properties(schema, fields->rows[i].fields);
		else
			write_field(schema, &fields->rows[i]);
	}
}

static void write_required(struct schema *schema, const struct lode_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (fields->rows[i].kind == LODE_FIELD_PART)
			write_required(schema, fields->rows[i].fields);
		else if (fields->rows[i].rule != LODE_FIELD_OPTIONAL)
			lode_json_text(&schema->json, fields->rows[i].name);
	}
}

static void write_either(struct schema *schema, const struct lode_fields *fields)
{
	lode_json_key_array(&schema->json, "anyOf");
	for (size_t i = 0; i < 2; i++) {
		lode_json_object(&schema->json);
		write_table(schema, fields->either[i]);
		lode_json_object_end(&schema->json);
	}
	lode_json_array_end(&schema->json);
}

static void write_object(struct schema *schema, const struct lode_fields *fields)
{
	if (fields->either[0]) {
		write_either(schema, fields);
		return;
	}
	write_type(schema, "object", 0);
	lode_json_key_object(&schema->json, "properties");
	write_properties(schema, fields);
	lode_json_object_end(&schema->json);
	lode_json_key_array(&schema->json, "required");
	write_required(schema, fields);
	lode_json_array_end(&schema->json);
}

static void write_lines(struct schema *schema, const struct lode_described_result *result)
{
	if (!result->lines[1]) {
		write_table(schema, result->lines[0]);
		return;
	}
	lode_json_key_array(&schema->json, "anyOf");
	for (size_t i = 0; i < LODE_RESULT_LINES && result->lines[i]; i++) {
		lode_json_object(&schema->json);
		lode_json_key_text(&schema->json, "description", result->line_what[i]);
		write_table(schema, result->lines[i]);
		lode_json_object_end(&schema->json);
	}
	lode_json_array_end(&schema->json);
}

static void write_definitions(struct schema *schema)
{
	int any = 0;

	for (size_t i = 0; i < schema->tables.count; i++) {
		if (schema->tables.uses[i] < 2)
			continue;
		if (!any++)
			lode_json_key_object(&schema->json, "$defs");
		lode_json_key_object(&schema->json, schema->tables.items[i]->type);
		write_object(schema, schema->tables.items[i]);
		lode_json_object_end(&schema->json);
	}
	if (any)
		lode_json_object_end(&schema->json);
}

/* One member or item a line, tabs for depth. */
static void indent(const struct lode_buffer *compact, struct lode_buffer *buffer)
{
	int depth = 0, in_text = 0;

	for (size_t i = 0; i < compact->size; i++) {
		char byte = compact->bytes[i];
		int opens = !in_text && (byte == '{' || byte == '['),
		    closes = !in_text && (byte == '}' || byte == ']');

		if (byte == '"' && (!i || compact->bytes[i - 1] != '\\'))
			in_text = !in_text;
		depth += opens - closes;
		if (closes)
			lode_buffer_print(buffer, "\n%.*s", depth,
					  "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t");
		lode_buffer_byte(buffer, byte);
		if (opens || (!in_text && byte == ','))
			lode_buffer_print(buffer, "\n%.*s", depth,
					  "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t");
		else if (!in_text && byte == ':')
			lode_buffer_byte(buffer, ' ');
	}
	lode_buffer_byte(buffer, '\n');
}

void write_schema(const struct lode_described_result *result, struct lode_buffer *buffer)
{
	struct lode_buffer compact = { 0 };
	struct schema schema = { .json = { .buffer = &compact } };

	for (size_t i = 0; i < LODE_RESULT_LINES && result->lines[i]; i++)
		tables_add(&schema.tables, result->lines[i]);
	lode_json_object(&schema.json);
	lode_json_key_text(&schema.json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	lode_json_key_text(&schema.json, "title", result->title);
	lode_json_key_text(&schema.json, "description", result->what);
	write_lines(&schema, result);
	write_definitions(&schema);
	lode_json_object_end(&schema.json);
	indent(&compact, buffer);
	buffer->failed |= compact.failed;
	lode_buffer_release(&compact);
}
