/* The types of the page: an interface for each table of fields. */
#include "make_schema.h"

#include <string.h>

static void write_choice(const struct lode_field *field, struct lode_buffer *buffer)
{
	for (unsigned i = 0; field->choice(i); i++)
		lode_buffer_print(buffer, "%s'%s'", i ? " | " : "", field->choice(i));
}

/* One value, or an item of a list. */
static void write_kind(const struct lode_field *field, struct lode_buffer *buffer)
{
	switch ((enum lode_field_kind)field->kind) {
	case LODE_FIELD_U64:
	case LODE_FIELD_U32:
	case LODE_FIELD_I64:
	case LODE_FIELD_DOUBLE:
		lode_buffer_text(buffer, "number");
		break;
	case LODE_FIELD_BOOL:
		lode_buffer_text(buffer, "boolean");
		break;
	case LODE_FIELD_TEXT:
	case LODE_FIELD_CHARS:
		if (field->choice)
			write_choice(field, buffer);
		else
			lode_buffer_text(buffer, "string");
		break;
	case LODE_FIELD_TRUE:
		lode_buffer_text(buffer, "true");
		break;
	case LODE_FIELD_SCALAR:
		lode_buffer_text(buffer, "string | number | boolean");
		break;
	case LODE_FIELD_OBJECT:
	case LODE_FIELD_POINTER:
	case LODE_FIELD_PART:
		lode_buffer_text(buffer, field->fields->type);
		break;
	}
}

static void write_item(const struct lode_field *field, struct lode_buffer *buffer)
{
	int is_union = field->maybe || field->choice || field->kind == LODE_FIELD_SCALAR;

	lode_buffer_text(buffer, is_union ? "(" : "");
	write_kind(field, buffer);
	lode_buffer_text(buffer, field->maybe ? " | null" : "");
	lode_buffer_text(buffer, is_union ? ")" : "");
}

static void write_value(const struct lode_field *field, struct lode_buffer *buffer)
{
	switch ((enum lode_field_shape)field->shape) {
	case LODE_SHAPE_ONE:
		write_kind(field, buffer);
		lode_buffer_text(buffer, field->maybe ? " | null" : "");
		break;
	case LODE_SHAPE_LIST:
	case LODE_SHAPE_LISTS:
		write_item(field, buffer);
		lode_buffer_text(buffer, field->shape == LODE_SHAPE_LISTS ? "[][]" : "[]");
		break;
	case LODE_SHAPE_MAP:
		lode_buffer_text(buffer, "Record<string, ");
		write_kind(field, buffer);
		lode_buffer_text(buffer, field->maybe ? " | null>" : ">");
		break;
	}
}

/* A name with other characters is quoted. */
static void write_name(const char *name, struct lode_buffer *buffer)
{
	const char *quote = strchr(name, '-') ? "'" : "";

	lode_buffer_print(buffer, "\t%s%s%s", quote, name, quote);
}

static void write_rows(const struct lode_fields *fields, struct lode_buffer *buffer)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct lode_field *field = &fields->rows[i];

		if (field->kind == LODE_FIELD_PART) {
			write_rows(field->fields, buffer);
			continue;
		}
		write_name(field->name, buffer);
		lode_buffer_text(buffer, field->rule == LODE_FIELD_OPTIONAL ? "?: " : ": ");
		write_value(field, buffer);
		lode_buffer_print(buffer, "%s; // %s\n", field->rule == LODE_FIELD_NULLABLE ? " | null" : "",
				  field->what);
	}
}

void write_page_types(struct lode_buffer *buffer)
{
	struct tables tables = { .count = 0 };

	lode_buffer_text(buffer, "// Results as the page gets them. Made from the tables in src/result (fields.h) "
				 "by `ninja -C build "
				 "schema`: edit those.\n");
	for (size_t i = 0; i < lode_described_result_count; i++)
		for (size_t k = 0; k < LODE_RESULT_LINES && lode_described_results[i].lines[k]; k++)
			tables_add(&tables, lode_described_results[i].lines[k]);
	for (size_t i = 0; i < tables.count; i++) {
		if (tables.items[i]->either[0]) {
			lode_buffer_print(buffer, "\nexport type %s = %s | %s;\n", tables.items[i]->type,
					  tables.items[i]->either[0]->type, tables.items[i]->either[1]->type);
			continue;
		}
		lode_buffer_print(buffer, "\nexport interface %s {\n", tables.items[i]->type);
		write_rows(tables.items[i], buffer);
		lode_buffer_text(buffer, "}\n");
	}
}
