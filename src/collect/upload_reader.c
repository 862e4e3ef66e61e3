/*
 * Reading an upload: see upload_reader.h.
 *
 * Senders pack what is packed already (a pprof profile, which is gzip, sent with Content-Encoding: gzip), so that up to
 * two layers are taken off, recognized by their first bytes. The content is in memory then: limits on it are what
 * keeps a small upload from becoming a large one.
 */
#include "collect/upload_reader.h"

#include "base/decompress.h"
#include "base/memory.h"
#include "collect/upload_forms.h"
#include "import/import.h"
#include "import/stream_id.h"

#include <string.h>

#define MAX_LAYERS   2
#define STREAM_MAGIC "LODESTRM"
#define NAME         "upload"

enum { BAD_REQUEST = 400, TOO_LARGE = 413, CANNOT_READ = 422, OUR_FAULT = 500 };

struct reading {
	const struct lode_upload_limits *limits;
	const struct lode_upload_taker *taker;
	struct lode_upload_refusal *refusal;
	struct lode_cursor upload;
	uint64_t unpacked; /* bytes so far */
	uint32_t streams;
};

/* What one stream is made of. */
struct part {
	struct reading *reading;
	const struct lode_upload_options *options;
	const char *format;
	char digest[33];
	int is_upload;
};

/* ---- unpacking ---- */

static int refuse_size(const struct reading *reading)
{
	return lode_upload_refuse(reading->refusal, TOO_LARGE,
				  "the upload is more than %llu MiB when it is unpacked; send less at a time",
				  (unsigned long long)(reading->limits->unpacked >> 20));
}

static int unpack_into(struct reading *reading, struct lode_unpacker *unpacker, struct lode_cursor packed,
		       struct lode_buffer *content)
{
	struct lode_unpack_step step = { .in = packed.next, .in_left = lode_cursor_left(&packed), .last = 1 };
	int code = 1;

	while (code > 0) {
		size_t room = content->size < (1u << 16) ? 1u << 16 : content->size;

		if (reading->unpacked + content->size > reading->limits->unpacked)
			return refuse_size(reading);
		step.out = (unsigned char *)lode_buffer_room(content, room);
		if (!step.out)
			return lode_fail_memory(&reading->refusal->error);
		step.out_left = room;
		code = lode_unpack(unpacker, &step, &reading->refusal->error);
		content->size += room - step.out_left;
	}
	if (code == LODE_BAD_INPUT)
		reading->refusal->status = BAD_REQUEST;
	return code;
}

/* One layer. 1: it was packed. */
static int unpack(struct reading *reading, struct lode_cursor bytes, struct lode_buffer *content)
{
	enum lode_packing packing = lode_packing_guess(bytes.next, lode_cursor_left(&bytes));
	struct lode_unpacker *unpacker;
	int code;

	if (packing == LODE_PACKING_NONE)
		return 0;
	code = lode_unpacker_create(&unpacker, packing, NAME, &reading->refusal->error);
	if (code < 0)
		return code;
	code = unpack_into(reading, unpacker, bytes, content);
	lode_unpacker_destroy(unpacker);
	reading->unpacked += content->size;
	return code < 0 ? code : 1;
}

/* ---- streams ---- */

static int check_names(const struct lode_strings *strings, const struct reading *reading)
{
	for (size_t i = 0; i < strings->count; i++)
		if (strings->items[i].length > reading->limits->name)
			return lode_upload_refuse(reading->refusal, CANNOT_READ,
						  "a name in it is longer than %u bytes", reading->limits->name);
	return 0;
}

static int check_limits(const struct lode_stream *stream, const struct reading *reading)
{
	const struct lode_upload_limits *limits = reading->limits;
	const struct {
		uint64_t count, limit;
		const char *what;
	} counts[] = {
		{ lode_stream_event_count(stream), limits->events, "events" },
		{ stream->dictionary->frames.count, limits->frames, "functions" },
		{ stream->attribute_count, limits->attributes, "attributes" },
		{ stream->symptom_count, limits->symptoms, "symptoms" },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i].count > counts[i].limit)
			return lode_upload_refuse(reading->refusal, CANNOT_READ,
						  "a stream in it has more than %llu %s",
						  (unsigned long long)counts[i].limit, counts[i].what);
	return check_names(&stream->dictionary->frames.strings, reading);
}

/* A text for a stream: its id, or LODE_NONE. */
static uint32_t string_of(struct lode_stream *stream, const char *text)
{
	return lode_strings_add(&stream->dictionary->frames.strings, text, strlen(text));
}

static int set_label(struct lode_stream *stream, const char *label)
{
	const char *value = strchr(label, '=');
	char *key = value ? lode_strndup(label, (size_t)(value - label)) : NULL;
	int code = key ? lode_stream_set_text(stream, key, value + 1) : value ? LODE_SYSTEM : 0;

	lode_free(key);
	return code;
}

/* What the sender says of it. */
static int adjust(struct lode_stream *stream, const struct lode_upload_options *options)
{
	const char *const *label = options->labels;
	int code = 0;

	if (options->name)
		stream->name = string_of(stream, options->name);
	if (options->host)
		stream->host = string_of(stream, options->host);
	for (; !code && label && *label; label++)
		code = set_label(stream, *label);
	return code || stream->name == LODE_NONE || stream->host == LODE_NONE ? LODE_SYSTEM : 0;
}

static int take_stream(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	const struct part *part = context;
	const struct lode_upload_options *options = part->options;
	struct reading *reading = part->reading;
	const struct lode_stream_id parts = {
		.digest = part->digest,
		.ordinal = ordinal,
		.format = part->format,
		.name = options->name,
		.host = options->host,
		.attributes = options->labels,
		.kind_is_wait = options->kind_is_wait,
		.unit_ns = options->unit_ns > 0 ? options->unit_ns : 1,
	};
	char id[33];
	int code;

	(void)error;
	if (++reading->streams > reading->limits->streams)
		return lode_upload_refuse(reading->refusal, CANNOT_READ, "it has more than %u streams",
					  reading->limits->streams);
	if (adjust(stream, options) < 0)
		return lode_fail_memory(&reading->refusal->error);
	code = check_limits(stream, reading);
	if (!code)
		code = lode_stream_id(&parts, id, &reading->refusal->error);
	if (!code)
		code = reading->taker->take(reading->taker->context, stream, id, part->is_upload, reading->refusal);
	return code;
}

/* ---- contents ---- */

static int load_stream(struct part *part, struct lode_cursor bytes, struct lode_stream *stream)
{
	static const unsigned all[LODE_EVENT_TYPES] = { LODE_ALL_COLUMNS, LODE_ALL_COLUMNS, LODE_ALL_COLUMNS };
	struct lode_error *error = &part->reading->refusal->error;
	struct lode_store *store;
	int code = lode_store_open_memory(&store, NAME, bytes.next, lode_cursor_left(&bytes), error);

	if (code)
		return code;
	code = lode_store_head(store, stream, error);
	if (!code)
		code = lode_store_load_events(store, stream, all, error);
	lode_store_close(store);
	return code;
}

static int read_stream_file(struct part *part, struct lode_cursor bytes)
{
	const struct lode_upload_options *options = part->options;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	part->format = "lode";
	part->is_upload = bytes.next == part->reading->upload.next && !options->name && !options->host &&
			  !options->labels;
	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(&part->reading->refusal->error);
	lode_stream_init(&stream, &dictionary);
	code = load_stream(part, bytes, &stream);
	if (!code)
		code = take_stream(part, &stream, 0, NULL);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static int read_other_file(struct part *part, struct lode_input *input)
{
	const struct lode_upload_options *options = part->options;
	const struct lode_import_options how = {
		.format = options->form == LODE_UPLOAD_OTLP ? "otlp" : options->format,
		.unit_ns = options->unit_ns,
		.kind_is_wait = options->kind_is_wait,
		.jobs = 1,
		.no_symbols = 1,
		.cache = "",
		.file_name = NAME,
	};
	const struct lode_import_sink sink = { take_stream, part };
	struct lode_error *error = &part->reading->refusal->error;
	const struct lode_importer *importer = lode_import_choose(input, &how, error);
	struct lode_error own = { "" };
	int code;

	if (!importer)
		return LODE_BAD_INPUT;
	part->format = importer->name;
	code = importer->read(input, &how, &sink, &own);
	/* A refusal of the sink is there already, and says more. */
	if (code && !error->text[0])
		*error = own;
	return code;
}

/* A file that is not packed any more. */
static int read_content(struct reading *reading, struct lode_cursor bytes,
			const struct lode_upload_options *options)
{
	struct part part = { .reading = reading, .options = options };
	struct lode_error *error = &reading->refusal->error;
	struct lode_input *input;
	int code;

	code = lode_input_lines(&input, NAME, bytes.next, lode_cursor_left(&bytes), 0, error);
	if (!code)
		code = lode_input_digest(input, part.digest, error);
	if (!code && lode_cursor_left(&bytes) >= 8 && memcmp(bytes.next, STREAM_MAGIC, 8) == 0)
		code = read_stream_file(&part, bytes);
	else if (!code)
		code = read_other_file(&part, input);
	lode_input_close(input);
	return code;
}

/* Takes off a layer, and goes on with what is in it. */
static int read_layers(struct reading *reading, struct lode_cursor bytes,
		       const struct lode_upload_options *options, unsigned layers, lode_upload_part_taker *read)
{
	struct lode_buffer content = { 0 };
	int code = layers ? unpack(reading, bytes, &content) : 0;

	if (code == 0)
		code = read(reading, bytes, options);
	else if (code > 0)
		code = read_layers(reading, lode_cursor(content.bytes ? content.bytes : "", content.size), options,
				   layers - 1, read);
	lode_buffer_release(&content);
	return code;
}

static int read_plain_part(void *context, struct lode_cursor bytes, const struct lode_upload_options *options)
{
	return read_content(context, bytes, options);
}

static int read_part(void *context, struct lode_cursor bytes, const struct lode_upload_options *options)
{
	return read_layers(context, bytes, options, MAX_LAYERS, read_plain_part);
}

static int read_wrapped(void *context, struct lode_cursor bytes, const struct lode_upload_options *options)
{
	struct reading *reading = context;

	return lode_upload_each_part(bytes, options, read_part, reading, reading->refusal);
}

static int read_symbols(void *context, struct lode_cursor bytes, const struct lode_upload_options *options)
{
	struct reading *reading = context;
	struct lode_symbol_extract symbols;
	int code;

	(void)options;
	code = lode_symbol_extract_make(&symbols, bytes.next, lode_cursor_left(&bytes), &reading->refusal->error);
	if (!code)
		code = reading->taker->take_symbols(reading->taker->context, &symbols, reading->refusal);
	lode_symbol_extract_release(&symbols);
	return code;
}

int lode_upload_read(struct lode_cursor upload, const struct lode_upload_options *options,
		     const struct lode_upload_limits *limits, const struct lode_upload_taker *taker,
		     struct lode_upload_refusal *refusal)
{
	struct reading reading = { .limits = limits, .taker = taker, .refusal = refusal, .upload = upload };
	int is_wrapped = options->form == LODE_UPLOAD_PYROSCOPE || options->form == LODE_UPLOAD_MULTIPART;
	int is_symbols = options->form == LODE_UPLOAD_SYMBOLS;
	int code;

	*refusal = (struct lode_upload_refusal){ .status = 0 };
	code = read_layers(&reading, upload, options, is_wrapped ? 1 : MAX_LAYERS,
			   is_wrapped   ? read_wrapped
			   : is_symbols ? read_symbols
					: read_plain_part);
	if (!code && !is_symbols && !reading.streams)
		code = lode_upload_refuse(refusal, CANNOT_READ, "there is no stream in it");
	if (code && !refusal->status)
		refusal->status = code == LODE_SYSTEM ? OUR_FAULT : CANNOT_READ;
	return code;
}
