/*
 * Bodies of uploads, of all kinds: the first byte says which. They are read as in a sandbox, with small limits; a stream
 * that comes out must be whole. The same bytes are a message of the reading process to the collector.
 */
#include "fuzz.h"

#include "base/memory.h"
#include "collect/upload_reader.h"

#include <string.h>

static int take(void *context, const struct lode_stream *stream, const char id[33], int is_upload,
		struct lode_upload_refusal *refusal)
{
	unsigned *count = context;

	(void)refusal;
	(void)is_upload;
	fuzz_require(id[32] == '\0', "an id is not 32 digits");
	fuzz_check_stream(stream);
	++*count;
	return 0;
}

static int take_symbols(void *context, const struct lode_symbol_extract *symbols,
			struct lode_upload_refusal *refusal)
{
	struct lode_symbol_extract again;
	unsigned *count = context;

	(void)refusal;
	fuzz_require(symbols->build_id[0] != '\0', "an extract without a build-id");
	fuzz_require(lode_symbol_extract_make(&again, symbols->file.bytes, symbols->file.size, NULL) == 0 &&
			     again.file.size == symbols->file.size &&
			     !memcmp(again.file.bytes, symbols->file.bytes, again.file.size),
		     "the extract of an extract is another");
	lode_symbol_extract_release(&again);
	++*count;
	return 0;
}

static void read_message(const uint8_t *bytes, size_t size)
{
	struct lode_cursor message = lode_cursor(bytes, size);
	struct lode_upload_options options;
	struct lode_upload_stream found;
	struct lode_text_list labels = { 0 };

	if (lode_upload_stream_read(&message, &found) == 0)
		lode_upload_stream_release(&found);
	message = lode_cursor(bytes, size);
	lode_upload_options_read(&message, &options, &labels);
	lode_text_list_release(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_upload_limits limits = lode_upload_limits_default;
	struct lode_upload_options options = { .source = "fuzz", .boundary = "xyz" };
	struct lode_upload_refusal refusal;
	unsigned count = 0;
	const struct lode_upload_taker taker = { take, take_symbols, &count };
	int code;

	if (!size)
		return 0;
	limits.unpacked = 4u << 20;
	options.form = (enum lode_upload_form)(bytes[0] % LODE_UPLOAD_FORMS);
	code = lode_upload_read(lode_cursor(bytes + 1, size - 1), &options, &limits, &taker, &refusal);
	fuzz_require(code <= 0, "neither read nor refused");
	fuzz_require(code == 0 ? count > 0 : refusal.status >= 400 && refusal.status < 600 && refusal.error.text[0],
		     "refused without a status and a sentence");
	read_message(bytes + 1, size - 1);
	return 0;
}
