/* A pprof profile being written: see pprof_profile.h. */
#include "export/pprof_profile.h"

#include "base/json.h"
#include "base/memory.h"

#include <string.h>

#define PLAIN_PIECE (64u << 10)

/* ---- gzip ---- */

static void *zlib_alloc(void *context, unsigned count, unsigned size)
{
	(void)context;
	return lode_calloc(count, size);
}

static void zlib_free(void *context, void *memory)
{
	(void)context;
	lode_free(memory);
}

static int pack(struct lode_pprof *pprof, int flush, struct lode_error *error)
{
	struct lode_buffer *packed = &pprof->output->buffer;
	z_stream *stream = &pprof->packer;
	int state, code;

	if (pprof->plain.failed)
		return lode_fail_memory(error);
	stream->next_in = (unsigned char *)pprof->plain.bytes;
	stream->avail_in = (unsigned)pprof->plain.size;
	do {
		char *room = lode_buffer_room(packed, PLAIN_PIECE);

		if (!room)
			return lode_fail_memory(error);
		stream->next_out = (unsigned char *)room;
		stream->avail_out = PLAIN_PIECE;
		state = deflate(stream, flush);
		packed->size += PLAIN_PIECE - stream->avail_out;
		code = lode_output_flow(pprof->output, error);
	} while (code == 0 && (flush == Z_FINISH ? state == Z_OK : stream->avail_out == 0));
	lode_buffer_clear(&pprof->plain);
	return code;
}

static int plain_flow(struct lode_pprof *pprof, struct lode_error *error)
{
	return pprof->plain.size < PLAIN_PIECE && !pprof->plain.failed ? 0 : pack(pprof, Z_NO_FLUSH, error);
}

/* ---- protobuf ---- */

void lode_pprof_number(struct lode_buffer *buffer, unsigned field, uint64_t number)
{
	lode_buffer_varint(buffer, field << 3);
	lode_buffer_varint(buffer, number);
}

static void put_bytes(struct lode_buffer *buffer, unsigned field, const void *bytes, size_t size)
{
	lode_buffer_varint(buffer, field << 3 | 2);
	lode_buffer_varint(buffer, size);
	lode_buffer_add(buffer, bytes, size);
}

int lode_pprof_message(struct lode_pprof *pprof, unsigned field, struct lode_error *error)
{
	put_bytes(&pprof->plain, field, pprof->message.bytes, pprof->message.size);
	pprof->plain.failed |= pprof->message.failed | pprof->inner.failed;
	lode_buffer_clear(&pprof->message);
	return plain_flow(pprof, error);
}

void lode_pprof_inner(struct lode_pprof *pprof, unsigned field)
{
	put_bytes(&pprof->message, field, pprof->inner.bytes, pprof->inner.size);
	pprof->message.failed |= pprof->inner.failed;
	lode_buffer_clear(&pprof->inner);
}

/* ---- samples ---- */

int lode_pprof_value_type(struct lode_pprof *pprof, unsigned field, uint32_t type, uint32_t unit,
			  struct lode_error *error)
{
	lode_pprof_number(&pprof->message, LODE_PPROF_VALUE_TYPE_TYPE, type);
	lode_pprof_number(&pprof->message, LODE_PPROF_VALUE_TYPE_UNIT, unit);
	return lode_pprof_message(pprof, field, error);
}

/* Locations go from the leaf to the root, which is how the tree is walked. */
void lode_pprof_sample(struct lode_pprof *pprof, uint32_t node, const uint64_t *values, size_t count)
{
	const struct lode_stack_tree *tree = &pprof->dictionary->tree;

	for (; node; node = tree->nodes[node].parent)
		lode_buffer_varint(&pprof->inner, (uint64_t)tree->nodes[node].frame + 1);
	lode_pprof_inner(pprof, LODE_PPROF_SAMPLE_LOCATIONS);
	for (size_t i = 0; i < count; i++)
		lode_buffer_varint(&pprof->inner, lode_pprof_signed(values[i]));
	lode_pprof_inner(pprof, LODE_PPROF_SAMPLE_VALUES);
}

/* ---- tables ---- */

static int write_mappings(struct lode_pprof *pprof, struct lode_error *error)
{
	const struct lode_frames *frames = &pprof->dictionary->frames;
	int code = 0;

	for (size_t i = 1; i < frames->module_count && code == 0; i++) {
		const struct lode_module *module = &frames->modules[i];

		lode_pprof_number(&pprof->message, LODE_PPROF_MAPPING_ID, i);
		lode_pprof_number(&pprof->message, LODE_PPROF_MAPPING_FILE,
				  module->path ? module->path : module->name);
		if (module->build_id)
			lode_pprof_number(&pprof->message, LODE_PPROF_MAPPING_BUILD_ID, module->build_id);
		lode_pprof_number(&pprof->message, LODE_PPROF_MAPPING_HAS_FUNCTIONS, 1);
		code = lode_pprof_message(pprof, LODE_PPROF_PROFILE_MAPPING, error);
	}
	return code;
}

static int write_frame(struct lode_pprof *pprof, uint32_t frame, struct lode_error *error)
{
	const struct lode_frame *item = &pprof->dictionary->frames.items[frame];
	uint64_t id = (uint64_t)frame + 1;
	int code;

	lode_pprof_number(&pprof->message, LODE_PPROF_FUNCTION_ID, id);
	lode_pprof_number(&pprof->message, LODE_PPROF_FUNCTION_NAME, item->function);
	lode_pprof_number(&pprof->message, LODE_PPROF_FUNCTION_SYSTEM_NAME, item->function);
	lode_pprof_number(&pprof->message, LODE_PPROF_FUNCTION_FILE,
			  pprof->dictionary->frames.modules[item->module].name);
	code = lode_pprof_message(pprof, LODE_PPROF_PROFILE_FUNCTION, error);
	if (code < 0)
		return code;
	lode_pprof_number(&pprof->message, LODE_PPROF_LOCATION_ID, id);
	if (item->module)
		lode_pprof_number(&pprof->message, LODE_PPROF_LOCATION_MAPPING, item->module);
	lode_pprof_number(&pprof->inner, LODE_PPROF_LINE_FUNCTION, id);
	lode_pprof_inner(pprof, LODE_PPROF_LOCATION_LINE);
	return lode_pprof_message(pprof, LODE_PPROF_PROFILE_LOCATION, error);
}

/* Strings are UTF-8 there; bytes that are not become U+FFFD. */
static void put_utf8(struct lode_buffer *buffer, const struct lode_string *string)
{
	const unsigned char *bytes = (const unsigned char *)string->text;

	for (size_t at = 0; at < string->length;) {
		size_t step = lode_utf8_length(bytes + at, string->length - at);

		lode_buffer_add(buffer, step ? string->text + at : "\xef\xbf\xbd", step ? step : 3);
		at += step ? step : 1;
	}
}

static int write_tables(struct lode_pprof *pprof, struct lode_error *error)
{
	const struct lode_frames *frames = &pprof->dictionary->frames;
	int code = write_mappings(pprof, error);

	for (uint32_t i = 0; i < frames->count && code == 0; i++)
		code = write_frame(pprof, i, error);
	for (size_t i = 0; i < frames->strings.count && code == 0; i++) {
		put_utf8(&pprof->message, &frames->strings.items[i]);
		code = lode_pprof_message(pprof, LODE_PPROF_PROFILE_STRING, error);
	}
	return code;
}

/* ---- the whole ---- */

int lode_pprof_open(struct lode_pprof *pprof, struct lode_output *output, struct lode_dictionary *dictionary,
		    struct lode_error *error)
{
	memset(pprof, 0, sizeof(*pprof));
	pprof->output = output;
	pprof->dictionary = dictionary;
	pprof->packer.zalloc = zlib_alloc;
	pprof->packer.zfree = zlib_free;
	/* 15 bits of window and 16 for a gzip header. */
	if (deflateInit2(&pprof->packer, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return lode_fail_memory(error);
	pprof->open = 1;
	return 0;
}

int lode_pprof_finish(struct lode_pprof *pprof, struct lode_error *error)
{
	int code = write_tables(pprof, error);

	return code ? code : pack(pprof, Z_FINISH, error);
}

void lode_pprof_release(struct lode_pprof *pprof)
{
	if (pprof->open)
		deflateEnd(&pprof->packer);
	lode_buffer_release(&pprof->message);
	lode_buffer_release(&pprof->inner);
	lode_buffer_release(&pprof->plain);
	memset(pprof, 0, sizeof(*pprof));
}
