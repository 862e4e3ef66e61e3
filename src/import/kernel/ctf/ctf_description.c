/*
 * The metadata of a CTF 1.8 trace: see ctf_description.h.
 *
 * It is a list of blocks: types with names (tsdl_types.h), `trace`, `clock`, `env`, and any number of `stream` and `event`.
 * What is read here is what LTTng, perf and barectf write; the rest is left to libbabeltrace2.
 */
#include "import/kernel/ctf/ctf_description.h"

#include "base/memory.h"
#include "import/kernel/ctf/tsdl_types.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_FIELDS    256 /* that may occupy nothing */
#define FREQUENCY_LIMIT (UINT64_MAX / 1000000000)

struct reader {
	struct lode_tsdl_parser parser;
	struct lode_ctf_description *description;
	int has_trace;
	uint64_t offset; /* of the clock, in its ticks */
	int64_t offset_s;
};

/* Adds them to `*t`, which they may overflow. */
static int add_nanoseconds(int64_t *t, uint64_t ticks, uint64_t frequency)
{
	uint64_t seconds, rest, all;

	if (frequency == 1000000000) /* as LTTng's is */
		return __builtin_add_overflow(*t, ticks, t);
	seconds = ticks / frequency;
	rest = ticks % frequency * 1000000000 / frequency;
	return __builtin_mul_overflow(seconds, (uint64_t)1000000000, &all) ||
	       __builtin_add_overflow(all, rest, &all) || __builtin_add_overflow(*t, all, t);
}

/* A block's settings, each called by its name: `a.b` with the points. */
typedef void setting_reader(struct reader *reader, const char *name, void *what);

/* ---- values ---- */

static void skip_value(struct lode_tsdl_parser *parser)
{
	if (parser->tokens.token.kind == LODE_TSDL_NUMBER || lode_tsdl_at(&parser->tokens, "-"))
		lode_tsdl_number(parser);
	else
		lode_tsdl_word(parser, 1);
}

/* `NAME.NAME…` into `name` */
static void read_setting_name(struct lode_tsdl_parser *parser, char *name, size_t size)
{
	size_t length = 0;

	do {
		const char *word = lode_tsdl_word(parser, 0);
		size_t more = word ? strlen(word) : size;

		if (length + more + 2 > size) {
			lode_tsdl_not_understood(parser, "the name is too long");
			break;
		}
		if (length)
			name[length++] = '.';
		memcpy(name + length, word, more);
		length += more;
	} while (lode_tsdl_skip(&parser->tokens, "."));
	name[length] = '\0';
}

/* `{ NAME = VALUE; NAME := TYPE; … };` */
static void read_block(struct reader *reader, setting_reader *read, void *what)
{
	struct lode_tsdl_parser *parser = &reader->parser;
	char name[200];

	lode_tsdl_expect(parser, "{");
	while (!parser->code && !lode_tsdl_skip(&parser->tokens, "}")) {
		if (lode_tsdl_at(&parser->tokens, "typealias") || lode_tsdl_at(&parser->tokens, "struct") ||
		    lode_tsdl_at(&parser->tokens, "typedef"))
			lode_tsdl_not_understood(parser, "a type has a name within a block");
		read_setting_name(parser, name, sizeof(name));
		if (!parser->code)
			read(reader, name, what);
		lode_tsdl_expect(parser, ";");
	}
}

static uint64_t number_setting(struct lode_tsdl_parser *parser)
{
	lode_tsdl_expect(parser, "=");
	return parser->code ? 0 : lode_tsdl_number(parser);
}

static void type_setting(struct lode_tsdl_parser *parser, const struct lode_ctf_type **type)
{
	lode_tsdl_expect(parser, ":=");
	if (*type)
		lode_tsdl_not_understood(parser, "it is described twice");
	*type = lode_tsdl_type(parser);
	if (*type && (*type)->kind != LODE_CTF_STRUCT)
		lode_tsdl_not_understood(parser, "it is no structure");
}

static void other_setting(struct lode_tsdl_parser *parser)
{
	lode_tsdl_expect(parser, "=");
	if (!parser->code)
		skip_value(parser);
}

/* ---- blocks ---- */

static void read_trace_setting(struct reader *reader, const char *name, void *what)
{
	struct lode_tsdl_parser *parser = &reader->parser;

	(void)what;
	if (!strcmp(name, "packet.header")) {
		type_setting(parser, &reader->description->packet_header);
	} else if (!strcmp(name, "major") || !strcmp(name, "minor")) {
		if (number_setting(parser) != (name[1] == 'a' ? 1 : 8))
			lode_tsdl_not_understood(parser, "it is of another version of CTF");
	} else {
		other_setting(parser);
	}
}

static void read_environment_setting(struct reader *reader, const char *name, void *what)
{
	struct lode_tsdl_parser *parser = &reader->parser;
	const char **where = !strcmp(name, "hostname")         ? &reader->description->host
			     : !strcmp(name, "kernel_release") ? &reader->description->kernel
							       : NULL;

	(void)what;
	lode_tsdl_expect(parser, "=");
	if (where && parser->tokens.token.kind == LODE_TSDL_TEXT)
		*where = lode_tsdl_word(parser, 1);
	else if (!parser->code)
		skip_value(parser);
}

static void read_clock_setting(struct reader *reader, const char *name, void *what)
{
	struct lode_ctf_description *description = reader->description;
	struct lode_tsdl_parser *parser = &reader->parser;

	(void)what;
	if (!strcmp(name, "name")) {
		lode_tsdl_expect(parser, "=");
		parser->clock = lode_tsdl_word(parser, 1);
	} else if (!strcmp(name, "freq")) {
		description->frequency = number_setting(parser);
	} else if (!strcmp(name, "offset")) {
		reader->offset = number_setting(parser);
	} else if (!strcmp(name, "offset_s")) {
		reader->offset_s = (int64_t)number_setting(parser);
	} else {
		other_setting(parser);
	}
}

static void read_clock(struct reader *reader)
{
	struct lode_tsdl_parser *parser = &reader->parser;
	uint64_t frequency;

	if (parser->clock)
		lode_tsdl_not_understood(parser, "there are several clocks");
	read_block(reader, read_clock_setting, NULL);
	frequency = reader->description->frequency;
	if (!parser->clock || !frequency || frequency > FREQUENCY_LIMIT)
		lode_tsdl_not_understood(parser, "the clock has no name, or its frequency is not possible");
	else if (__builtin_mul_overflow(reader->offset_s, 1000000000, &reader->description->origin) ||
		 reader->offset > INT64_MAX ||
		 add_nanoseconds(&reader->description->origin, reader->offset, frequency))
		lode_tsdl_not_understood(parser, "the offset of the clock is too large");
}

static void read_stream_setting(struct reader *reader, const char *name, void *what)
{
	struct lode_ctf_stream_class *stream = what;
	struct lode_tsdl_parser *parser = &reader->parser;

	if (!strcmp(name, "id"))
		stream->id = number_setting(parser);
	else if (!strcmp(name, "packet.context"))
		type_setting(parser, &stream->packet_context);
	else if (!strcmp(name, "event.header"))
		type_setting(parser, &stream->event_header);
	else if (!strcmp(name, "event.context"))
		type_setting(parser, &stream->event_context);
	else
		other_setting(parser);
}

static void read_stream(struct reader *reader)
{
	struct lode_ctf_description *description = reader->description;
	struct lode_ctf_stream_class stream = { 0 };

	read_block(reader, read_stream_setting, &stream);
	if (LODE_PUSH(&description->streams, stream) < 0)
		reader->parser.code = lode_fail_memory(reader->parser.why);
}

static void read_event_setting(struct reader *reader, const char *name, void *what)
{
	struct lode_ctf_event_class *event = what;
	struct lode_tsdl_parser *parser = &reader->parser;

	if (!strcmp(name, "id")) {
		event->id = number_setting(parser);
	} else if (!strcmp(name, "stream_id")) {
		event->stream = number_setting(parser);
	} else if (!strcmp(name, "context")) {
		type_setting(parser, &event->context);
	} else if (!strcmp(name, "fields")) {
		type_setting(parser, &event->payload);
	} else if (!strcmp(name, "name")) {
		lode_tsdl_expect(parser, "=");
		event->name = lode_tsdl_word(parser, 1);
	} else {
		other_setting(parser);
	}
}

static void read_event(struct reader *reader)
{
	struct lode_ctf_description *description = reader->description;
	struct lode_ctf_event_class event = { .name = "" };

	read_block(reader, read_event_setting, &event);
	if (LODE_PUSH(&description->events, event) < 0)
		reader->parser.code = lode_fail_memory(reader->parser.why);
}

static void ignore_setting(struct reader *reader, const char *name, void *what)
{
	(void)name;
	(void)what;
	other_setting(&reader->parser);
}

static void read_any(struct reader *reader)
{
	struct lode_tsdl_tokens *tokens = &reader->parser.tokens;

	if (lode_tsdl_skip(tokens, "event")) {
		read_event(reader);
	} else if (lode_tsdl_skip(tokens, "stream")) {
		read_stream(reader);
	} else if (lode_tsdl_skip(tokens, "clock")) {
		read_clock(reader);
	} else if (lode_tsdl_skip(tokens, "env")) {
		read_block(reader, read_environment_setting, NULL);
	} else if (lode_tsdl_skip(tokens, "callsite")) {
		read_block(reader, ignore_setting, NULL);
	} else if (lode_tsdl_skip(tokens, "trace")) {
		if (reader->has_trace++)
			lode_tsdl_not_understood(&reader->parser, "there are two traces");
		read_block(reader, read_trace_setting, NULL);
	} else {
		lode_tsdl_alias(&reader->parser);
	}
	lode_tsdl_expect(&reader->parser, ";");
}

/* ---- the byte order ---- */

/* It is in the block `trace`, which may come behind types that need it. */
static void find_byte_order(struct lode_tsdl_parser *parser)
{
	struct lode_tsdl_tokens tokens = parser->tokens;
	int depth = 0, in_trace = 0, found = 0;

	while (tokens.token.kind != LODE_TSDL_END && tokens.token.kind != LODE_TSDL_BAD && !found) {
		if (depth == 0 && lode_tsdl_at(&tokens, "trace"))
			in_trace = 1;
		depth += lode_tsdl_at(&tokens, "{") - lode_tsdl_at(&tokens, "}");
		if (depth == 0 && lode_tsdl_at(&tokens, "}"))
			in_trace = 0;
		if (in_trace && depth == 1 && lode_tsdl_skip(&tokens, "byte_order")) {
			lode_tsdl_skip(&tokens, "=");
			parser->big = lode_tsdl_at(&tokens, "be") || lode_tsdl_at(&tokens, "network");
			found = parser->big || lode_tsdl_at(&tokens, "le");
		}
		lode_tsdl_advance(&tokens);
	}
	if (!found)
		lode_tsdl_not_understood(parser, "the trace has no byte order");
}

/* ---- all of it ---- */

static int compare_events(const void *a, const void *b)
{
	const struct lode_ctf_event_class *left = a, *right = b;

	if (left->stream != right->stream)
		return left->stream < right->stream ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

static int compare_streams(const void *a, const void *b)
{
	const struct lode_ctf_stream_class *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

struct lode_ctf_stream_class *lode_ctf_find_stream(const struct lode_ctf_description *description, uint64_t id)
{
	const struct lode_ctf_stream_class wanted = { .id = id };

	return description->streams.count ? bsearch(&wanted, description->streams.items,
						    description->streams.count, sizeof(wanted), compare_streams)
					  : NULL;
}

static uint64_t fields_of(const struct lode_ctf_type *type)
{
	return type ? type->fields : 0;
}

static uint64_t bits_of(const struct lode_ctf_type *type)
{
	return type ? type->min_bits : 0;
}

static int has_clock(const struct lode_ctf_type *type)
{
	return type && type->has_clock;
}

/* Whether the times of packets are of the clock, and nothing else is. */
static int is_plain_context(const struct lode_ctf_type *context)
{
	for (uint32_t i = 0; context && i < context->member_count; i++) {
		const struct lode_ctf_member *member = &context->members[i];
		int is_time = member->role == LODE_CTF_ROLE_BEGIN || member->role == LODE_CTF_ROLE_END;

		if (is_time ? !member->type->clock : member->type->has_clock)
			return 0;
	}
	return 1;
}

static const char *trouble_with_stream(const struct lode_ctf_stream_class *stream)
{
	if (!stream->event_header || !stream->event_header->has_clock)
		return "events of a stream have no time";
	return has_clock(stream->event_context) || !is_plain_context(stream->packet_context)
		       ? "the times of packets are not of the clock, or other fields are"
		       : NULL;
}

static const char *trouble_with_event(const struct lode_ctf_stream_class *stream,
				      const struct lode_ctf_event_class *event)
{
	uint64_t fields, bits;

	if (!stream)
		return "an event is of no stream";
	if (has_clock(event->context) || has_clock(event->payload))
		return "fields besides the times of events and packets are of the clock";
	fields = fields_of(stream->event_header) + fields_of(stream->event_context) + fields_of(event->context) +
		 fields_of(event->payload);
	bits = bits_of(stream->event_header) + bits_of(stream->event_context) + bits_of(event->context) +
	       bits_of(event->payload);
	return fields > bits + SPARE_FIELDS ? "an event has more fields than data" : NULL;
}

static const char *trouble_with_events(struct lode_ctf_description *description)
{
	const char *trouble = NULL;

	for (size_t i = 0; !trouble && i < description->events.count; i++) {
		struct lode_ctf_event_class *event = &description->events.items[i];
		struct lode_ctf_stream_class *stream = lode_ctf_find_stream(description, event->stream);

		trouble = trouble_with_event(stream, event);
		if (trouble)
			break;
		if (i && compare_events(event - 1, event) == 0)
			return "two events have the same number";
		if (!stream->event_count++)
			stream->events = event;
	}
	return trouble;
}

static const char *trouble_with(struct lode_ctf_description *description, const struct reader *reader)
{
	const char *trouble = reader->has_trace && description->streams.count ? NULL : "it describes no streams";

	if (has_clock(description->packet_header))
		return "the header of packets is of the clock";
	for (size_t i = 0; !trouble && i < description->streams.count; i++) {
		trouble = trouble_with_stream(&description->streams.items[i]);
		if (i && description->streams.items[i - 1].id == description->streams.items[i].id)
			trouble = "two streams have the same number";
	}
	return trouble ? trouble : trouble_with_events(description);
}

int lode_ctf_describe(struct lode_ctf_description *description, const char *text, size_t size,
		      struct lode_error *why)
{
	struct reader reader = { .parser = { .why = why }, .description = description };
	const char *trouble;

	*description = (struct lode_ctf_description){ .frequency = 1000000000 };
	lode_tsdl_start(&reader.parser.tokens, text, size);
	find_byte_order(&reader.parser);
	while (!reader.parser.code && reader.parser.tokens.token.kind != LODE_TSDL_END)
		read_any(&reader);
	lode_free(reader.parser.aliases.items);
	description->arena = reader.parser.arena;
	description->big = reader.parser.big;
	description->slots = reader.parser.slots;
	if (reader.parser.code)
		return reader.parser.code;
	if (description->events.count)
		qsort(description->events.items, description->events.count, sizeof(*description->events.items),
		      compare_events);
	if (description->streams.count)
		qsort(description->streams.items, description->streams.count, sizeof(*description->streams.items),
		      compare_streams);
	trouble = trouble_with(description, &reader);
	if (!trouble)
		return 0;
	lode_fail(why, LODE_BAD_INPUT, "%s", trouble);
	return 1;
}

void lode_ctf_description_release(struct lode_ctf_description *description)
{
	lode_free(description->streams.items);
	lode_free(description->events.items);
	lode_arena_release(&description->arena);
	memset(description, 0, sizeof(*description));
}

const struct lode_ctf_event_class *lode_ctf_find_event(const struct lode_ctf_stream_class *stream, uint64_t id)
{
	const struct lode_ctf_event_class wanted = { .stream = stream->id, .id = id };

	/* Most number their events without gaps. */
	if (id < stream->event_count && stream->events[id].id == id)
		return &stream->events[id];
	return stream->event_count
		       ? bsearch(&wanted, stream->events, stream->event_count, sizeof(wanted), compare_events)
		       : NULL;
}

uint64_t lode_ctf_nanoseconds(const struct lode_ctf_description *description, uint64_t ticks)
{
	int64_t t = description->origin;

	if (add_nanoseconds(&t, ticks, description->frequency))
		return 0;
	return t > 0 ? (uint64_t)t : 0;
}
