/*
 * Writes results by their tables: see fields.h. All depends on the row: where the value is, what kind it has, and
 * whether there is one. Keys of tables are plain, so they are copied without a look at their bytes.
 */
#include "result/fields.h"

#include <stdalign.h>
#include <string.h>

struct writer {
	struct lode_json *json;
	struct lode_output *output; /* NULL: all stays in the buffer */
	struct lode_error *error;
	int code;
};

static void write_members(struct writer *writer, const struct lode_fields *fields, const char *value);

static void write_object(struct writer *writer, const struct lode_fields *fields, const char *value)
{
	lode_json_object(writer->json);
	write_members(writer, fields, value);
	lode_json_object_end(writer->json);
}

/* Optional texts may be null where they are there. */
static void write_text(struct lode_json *json, const char *text)
{
	if (text)
		lode_json_text(json, text);
	else
		lode_json_null(json);
}

static void write_one(struct writer *writer, const struct lode_field *field, const char *value)
{
	struct lode_json *json = writer->json;

	switch ((enum lode_field_kind)field->kind) {
	case LODE_FIELD_U64:
		lode_json_u64(json, *(const uint64_t *)(const void *)value);
		break;
	case LODE_FIELD_U32:
		lode_json_u64(json, *(const uint32_t *)(const void *)value);
		break;
	case LODE_FIELD_I64:
		lode_json_i64(json, *(const int64_t *)(const void *)value);
		break;
	case LODE_FIELD_DOUBLE:
		lode_json_double(json, *(const double *)(const void *)value);
		break;
	case LODE_FIELD_BOOL:
		lode_json_bool(json, *(const int *)(const void *)value);
		break;
	case LODE_FIELD_TEXT:
		write_text(json, *(const char *const *)(const void *)value);
		break;
	case LODE_FIELD_CHARS:
		lode_json_text(json, value);
		break;
	case LODE_FIELD_POINTER:
		write_object(writer, field->fields, *(const char *const *)(const void *)value);
		break;
	case LODE_FIELD_OBJECT:
	case LODE_FIELD_PART:
		write_object(writer, field->fields, value);
		break;
	case LODE_FIELD_TRUE:
		lode_json_bool(json, 1);
		break;
	case LODE_FIELD_SCALAR:
		break;
	}
}

static size_t size_of_item(const struct lode_field *field)
{
	switch ((enum lode_field_kind)field->kind) {
	case LODE_FIELD_U32:
		return sizeof(uint32_t);
	case LODE_FIELD_BOOL:
		return sizeof(int);
	case LODE_FIELD_OBJECT:
		return field->fields->size;
	default:
		return sizeof(uint64_t);
	}
}

static void write_list(struct writer *writer, const struct lode_field *field, const struct lode_list *list)
{
	alignas(max_align_t) char room[LODE_FIELDS_ITEM];
	size_t size = size_of_item(field);

	lode_json_array(writer->json);
	for (size_t i = 0; i < list->count && !writer->code; i++) {
		int there = list->make ? list->make(list, i, room) : 1;

		if (there < 0) {
			writer->json->buffer->failed = 1;
			break;
		}
		if (!there)
			continue;
		write_one(writer, field, list->make ? room : (const char *)list->from + i * size);
		if (writer->output)
			writer->code = lode_output_flow(writer->output, writer->error);
	}
	lode_json_array_end(writer->json);
}

static void write_written(struct writer *writer, const struct lode_written *written)
{
	int code = written->write(written, writer->json);

	if (code < 0 && !writer->output)
		writer->json->buffer->failed = 1;
	else if (code < 0 && writer->error && !writer->error->text[0])
		code = lode_fail_memory(writer->error);
	writer->code = code;
}

/* Whether there is a value. A value without a flag and without a rule is always there. */
static int is_there(const struct lode_field *field, const char *from)
{
	const void *value = from + field->offset;

	if (field->rule == LODE_FIELD_ALWAYS)
		return 1;
	if (field->added)
		return 0;
	if (field->known)
		return *(const int *)(const void *)(from + field->known - 1) != 0;
	if (field->written)
		return ((const struct lode_written *)value)->write != NULL;
	if (field->shape != LODE_SHAPE_ONE)
		return ((const struct lode_list *)value)->count != 0;
	switch ((enum lode_field_kind)field->kind) {
	case LODE_FIELD_TEXT:
	case LODE_FIELD_POINTER:
		return *(const char *const *)value != NULL;
	case LODE_FIELD_U64:
	case LODE_FIELD_I64:
		return *(const uint64_t *)value != 0;
	case LODE_FIELD_U32:
	case LODE_FIELD_BOOL:
		return *(const uint32_t *)value != 0;
	default:
		return 1;
	}
}

/* Most values are numbers that are always there. */
static int write_number(struct writer *writer, const struct lode_field *field, const void *value)
{
	if (field->written || field->shape != LODE_SHAPE_ONE || field->kind > LODE_FIELD_U32)
		return 0;
	lode_json_plain_key_u64(writer->json, field->name, field->length,
				field->kind == LODE_FIELD_U64 ? *(const uint64_t *)value
							      : *(const uint32_t *)value);
	return 1;
}

static void write_member(struct writer *writer, const struct lode_field *field, const char *from)
{
	const void *value = from + field->offset;
	int there = is_there(field, from);

	if (!there && field->rule == LODE_FIELD_OPTIONAL)
		return;
	if (there && write_number(writer, field, value))
		return;
	lode_json_plain_key(writer->json, field->name, field->length);
	if (!there)
		lode_json_null(writer->json);
	else if (field->written)
		write_written(writer, value);
	else if (field->shape == LODE_SHAPE_LIST)
		write_list(writer, field, value);
	else
		write_one(writer, field, value);
}

static void write_members(struct writer *writer, const struct lode_fields *fields, const char *value)
{
	for (size_t i = 0; i < fields->count && !writer->code; i++) {
		const struct lode_field *field = &fields->rows[i];

		if (field->kind == LODE_FIELD_PART)
			write_members(writer, field->fields, value + field->offset);
		else
			write_member(writer, field, value);
	}
}

void lode_fields_write(const struct lode_fields *fields, const void *value, struct lode_json *json)
{
	struct writer writer = { .json = json };

	write_object(&writer, fields, value);
}

void lode_fields_members(const struct lode_fields *fields, const void *value, struct lode_json *json)
{
	struct writer writer = { .json = json };

	write_members(&writer, fields, value);
}

void lode_fields_line(const struct lode_fields *fields, const void *value, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_fields_write(fields, value, &json);
	lode_json_line(&json);
}

int lode_fields_flow(const struct lode_fields *fields, const void *value, struct lode_output *output,
		     struct lode_error *error)
{
	struct lode_json json = { .buffer = &output->buffer };
	struct writer writer = { .json = &json, .output = output, .error = error };

	if (error)
		error->text[0] = '\0'; /* tells whether a value that writes itself has said what failed */
	write_object(&writer, fields, value);
	lode_json_line(&json);
	return writer.code ? writer.code : lode_output_flow(output, error);
}
