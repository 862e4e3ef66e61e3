/* Recognises profiles of pprof: see pprof_fields.h. */
#include "import/protobuf/pprof_fields.h"

#include "import/import.h"
#include "import/protobuf/protobuf.h"

#include <string.h>

static int is_right_wire(const struct lode_protobuf_field *field)
{
	switch (field->number) {
	case SAMPLE_TYPE:
	case SAMPLE:
	case MAPPING:
	case LOCATION:
	case FUNCTION:
	case STRING:
	case PERIOD_TYPE:
		return field->wire == LODE_WIRE_BYTES;
	case DROP_FRAMES:
	case KEEP_FRAMES:
	case TIME:
	case DURATION:
	case PERIOD:
	case DEFAULT_TYPE:
	case DOC_URL:
		return field->wire == LODE_WIRE_VARINT;
	case COMMENT:
		return field->wire == LODE_WIRE_VARINT || field->wire == LODE_WIRE_BYTES;
	default:
		return 0;
	}
}

static int is_value_type(struct lode_cursor message)
{
	struct lode_protobuf_field field;

	while (lode_protobuf_next(&message, &field))
		if (field.number > 2 || field.wire != LODE_WIRE_VARINT)
			return 0;
	return !message.failed;
}

static int has_name(const char *name)
{
	return strstr(name, ".pb") || strstr(name, ".pprof") || strstr(name, ".prof");
}

/* There is no magic number: all fields that can be seen must be fields of a profile, of the right kind. */
int lode_pprof_sniff(const unsigned char *bytes, size_t size, const char *name)
{
	struct lode_cursor message = lode_cursor(bytes, size);
	struct lode_protobuf_field field;
	unsigned count = 0, types = 0;

	while (lode_protobuf_next(&message, &field)) {
		if (!is_right_wire(&field))
			return 0;
		if (field.number == SAMPLE_TYPE && !is_value_type(field.bytes))
			return 0;
		types += field.number == SAMPLE_TYPE;
		count++;
	}
	/* The last field may reach beyond what can be seen. */
	if (message.failed && size < LODE_SNIFF_BYTES)
		return 0;
	if (count < 2)
		return has_name(name) ? 10 : 0;
	return (types ? 60 : 30) + (has_name(name) ? 20 : 0);
}
