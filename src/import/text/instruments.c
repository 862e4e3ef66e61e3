/*
 * Instruments: tables of samples that `xctrace export` writes as XML.
 *
 *	<trace-query-result><node xpath="…"><schema name="time-profile">…</schema>
 *	<row><sample-time id="1">300613208</sample-time><thread id="2" fmt="Main Thread 0x12aa (app, pid: 581)"><tid id="3">4778
 *	</tid><process id="4"><pid id="5">581</pid></process></thread><process ref="4"/><core id="6">0</core>
 *	<thread-state id="7">Running</thread-state><weight id="8">1000000</weight><backtrace id="9"><frame id="10" name="f"
 *	addr="0x1a0"><binary id="11" name="app" load-addr="0x100" path="…"/></frame>…</backtrace></row>…
 *
 * Every element may have an id and be referred to by `ref` later; ids are those of one node. An element is a value
 * that goes to the element around it when it ends, so one loop over tags and a row of open elements does it all, however
 * tables are laid out. Frames come leaf first.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/xml_read.h"
#include "import/module_name.h"
#include "import/import_common.h"
#include "import/symbol_maps.h"

#include <stdio.h>
#include <string.h>

enum kind {
	OTHER,
	NODE,
	SCHEMA,
	ROW,
	TIME,
	THREAD,
	PROCESS,
	TID,
	PID,
	CORE,
	STATE,
	WEIGHT,
	CYCLES,
	BACKTRACE,
	FRAME,
	BINARY,
};

/* What an element says. Which fields have a meaning depends on its kind. */
struct value {
	enum kind kind;
	uint64_t number; /* a time, a weight, a processor, an id of the system; of a binary where it is loaded */
	uint32_t tid;
	uint32_t pid;
	uint32_t name;  /* string, of a thread */
	uint32_t index; /* frame, stack, module */
	uint8_t is_blocked;
};

/* An element that is open. */
struct element {
	struct value value;
	uint64_t id;     /* UINT64_MAX: none */
	uint32_t string; /* of a frame: its name */
	uint64_t address;
	size_t frames; /* of a backtrace: where its frames begin */
	/* of a row */
	uint64_t t;
	uint64_t weight;
	uint32_t stack;
	uint16_t cpu;
	uint8_t seen; /* bits of kinds that it has */
};

#define SEEN_TIME   1
#define SEEN_THREAD 2
#define SEEN_WEIGHT 4

struct definition {
	uint64_t id;
	struct value value;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_xml xml;
	struct element open[LODE_XML_DEPTH + 1];
	struct definition *definitions;
	size_t count;
	size_t capacity;
	struct lode_index index;     /* of definitions */
	LODE_ARRAY(uint32_t) frames; /* of backtraces that are open */
	struct lode_buffer text;
	char schema[64]; /* of the last table */
	uint64_t rows;
	uint64_t incomplete; /* rows without a time, a thread or a weight */
	uint64_t unknown;    /* references to nothing */
	uint64_t bare;       /* rows without a stack */
	uint64_t unnamed;    /* frames without a symbol */
	uint64_t cut;
	uint64_t cycles;
};

static enum kind find_kind(const struct lode_xml *xml)
{
#define KIND(name, kind)                                                                                          \
	{                                                                                                         \
		name, sizeof(name) - 1, kind                                                                      \
	}
	static const struct {
		const char *name;
		size_t length;
		enum kind kind;
	} kinds[] = {
		KIND("frame", FRAME),
		KIND("binary", BINARY),
		KIND("row", ROW),
		KIND("sample-time", TIME),
		KIND("thread", THREAD),
		KIND("process", PROCESS),
		KIND("tid", TID),
		KIND("pid", PID),
		KIND("core", CORE),
		KIND("thread-state", STATE),
		KIND("weight", WEIGHT),
		KIND("cycle-weight", CYCLES),
		KIND("backtrace", BACKTRACE),
		KIND("tagged-backtrace", BACKTRACE),
		KIND("node", NODE),
		KIND("schema", SCHEMA),
	};

#undef KIND

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (xml->name.length == kinds[i].length && memcmp(xml->name.at, kinds[i].name, kinds[i].length) == 0)
			return kinds[i].kind;
	return OTHER;
}

/* ---- ids ---- */

static struct definition *find_definition(struct reader *reader, uint64_t id)
{
	uint64_t hash = lode_hash_u64(id);
	uint32_t found = LODE_INDEX_FIND(i, &reader->index, hash, reader->definitions[i].id == id);

	return found == LODE_NONE ? NULL : &reader->definitions[found];
}

static int define(struct reader *reader, uint64_t id, const struct value *value)
{
	struct definition *definition = find_definition(reader, id);

	if (definition) {
		definition->value = *value;
		return 0;
	}
	return LODE_INDEX_APPEND(&reader->index, lode_hash_u64(id), reader->definitions, reader->count,
				 reader->capacity, (struct definition){ id, *value });
}

static void forget_definitions(struct reader *reader)
{
	reader->count = 0;
	lode_index_release(&reader->index);
	reader->index = (struct lode_index){ 0 };
}

/* ---- beginnings ---- */

static const char *attribute(struct reader *reader, const char *name)
{
	reader->text.size = 0;
	lode_xml_append(&reader->text, lode_xml_attribute(&reader->xml, name));
	lode_buffer_byte(&reader->text, '\0');
	return reader->text.failed ? NULL : reader->text.bytes;
}

static uint64_t hexadecimal(struct reader *reader, const char *name)
{
	struct lode_xml_text text = lode_xml_attribute(&reader->xml, name);
	uint64_t number = 0;

	for (size_t i = 2; i < text.length && i < 18; i++) {
		unsigned c = (unsigned char)text.at[i], letter = (c | 32) - 'a';

		if (c - '0' >= 10 && letter >= 6)
			return 0;
		number = number << 4 | (c - '0' < 10 ? c - '0' : letter + 10);
	}
	return number;
}

/* `Main Thread 0x12aa (app, pid: 581)`: what is before the number. */
static int begin_thread(struct reader *reader, struct value *value)
{
	const char *name = attribute(reader, "fmt"), *end;

	if (!name)
		return LODE_SYSTEM;
	end = strstr(name, " 0x");
	value->name = lode_strings_add(&reader->dictionary.frames.strings, name,
				       end ? (size_t)(end - name) : strlen(name));
	return value->name == LODE_NONE ? LODE_SYSTEM : 0;
}

static int begin_binary(struct reader *reader, struct value *value)
{
	struct lode_frames *frames = &reader->dictionary.frames;
	const char *path = attribute(reader, "path");

	if (path && (!*path || path[0] != '/'))
		path = attribute(reader, "name");
	if (!path)
		return LODE_SYSTEM;
	value->index = lode_module_from_file(frames, path, strlen(path));
	value->number = hexadecimal(reader, "load-addr");
	return value->index == LODE_NONE ? LODE_SYSTEM : 0;
}

static int begin_frame(struct reader *reader, struct element *element)
{
	const char *name = attribute(reader, "name");

	if (!name)
		return LODE_SYSTEM;
	element->string = lode_strings_add(&reader->dictionary.frames.strings, name, strlen(name));
	element->address = hexadecimal(reader, "addr");
	return element->string == LODE_NONE ? LODE_SYSTEM : 0;
}

static int begin(struct reader *reader, struct element *element)
{
	struct lode_xml_text id = lode_xml_attribute(&reader->xml, "id"),
			     reference = lode_xml_attribute(&reader->xml, "ref");
	const char *schema;

	*element = (struct element){ .value = { .kind = find_kind(&reader->xml), .pid = LODE_NO_PID },
				     .id = lode_xml_number(id, UINT64_MAX),
				     .cpu = LODE_NO_CPU,
				     .frames = reader->frames.count };
	if (reference.at) {
		struct definition *definition = find_definition(reader, lode_xml_number(reference, UINT64_MAX));

		if (definition && definition->value.kind == element->value.kind) {
			element->value = definition->value;
			element->id = UINT64_MAX;
			return 1;
		}
		reader->unknown += element->value.kind != OTHER;
		element->value.kind = OTHER;
		return 0;
	}
	switch (element->value.kind) {
	case NODE:
		forget_definitions(reader);
		return 0;
	case SCHEMA:
		schema = attribute(reader, "name");
		if (schema)
			snprintf(reader->schema, sizeof(reader->schema), "%s", schema);
		return schema ? 0 : LODE_SYSTEM;
	case THREAD:
		return begin_thread(reader, &element->value);
	case BINARY:
		return begin_binary(reader, &element->value);
	case FRAME:
		return begin_frame(reader, element);
	default:
		return 0;
	}
}

/* ---- ends ---- */

/* A frame without a name is called by its address; then its offset in its module names it. */
static int end_frame(struct reader *reader, struct element *element)
{
	struct lode_frames *frames = &reader->dictionary.frames;
	const char *name = lode_strings_get(&frames->strings, element->string), *known;
	uint32_t module = element->value.index;
	uint64_t base = element->value.number;
	char text[24];

	if (name[0] == '0' && name[1] == 'x' && element->address >= base && module) {
		const char *module_name = lode_strings_get(&frames->strings, frames->modules[module].name);

		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(element->address - base));
		known = lode_symbol_maps_find(reader->options->symbol_maps, module_name, element->address - base);
		reader->unnamed += !known;
		name = known ? known : text;
	}
	element->value.index = lode_frames_add(frames, module, name, strlen(name));
	return element->value.index == LODE_NONE ? LODE_SYSTEM : 0;
}

/* The stack of the frames that were collected since the backtrace began. */
static int end_backtrace(struct reader *reader, struct element *element)
{
	size_t count = reader->frames.count - element->frames;
	uint32_t stack = 0;

	if (count > LODE_STACK_DEPTH_LIMIT) {
		reader->cut++;
		count = LODE_STACK_DEPTH_LIMIT;
	}
	while (count-- && stack != LODE_NONE)
		stack = lode_stack_tree_child(&reader->dictionary.tree, stack,
					      reader->frames.items[element->frames + count]);
	reader->frames.count = element->frames;
	if (stack) /* a tagged backtrace has its stack from the one inside */
		element->value.index = stack;
	return stack == LODE_NONE ? LODE_SYSTEM : 0;
}

static int end_row(struct reader *reader, const struct element *row)
{
	struct lode_event event = { .t = row->t,
				    .cost = row->weight,
				    .stack = row->stack,
				    .waker = LODE_NONE,
				    .cpu = row->cpu };

	reader->rows++;
	if (row->seen != (SEEN_TIME | SEEN_THREAD | SEEN_WEIGHT)) {
		reader->incomplete++;
		return 0;
	}
	event.thread = lode_stream_thread(&reader->stream, row->value.pid, row->value.tid);
	if (event.thread == LODE_NONE)
		return LODE_SYSTEM;
	reader->stream.threads[event.thread].name = row->value.name;
	reader->bare += !event.stack;
	return lode_stream_add_event(&reader->stream, row->value.is_blocked ? LODE_WAIT : LODE_RUN, &event);
}

static void give_to_row(struct reader *reader, const struct value *value, struct element *row)
{
	switch (value->kind) {
	case TIME:
		row->t = value->number;
		row->seen |= SEEN_TIME;
		break;
	case THREAD:
		row->value.tid = value->tid;
		row->value.name = value->name;
		row->value.pid = value->pid != LODE_NO_PID ? value->pid : row->value.pid;
		row->seen |= SEEN_THREAD;
		break;
	case PROCESS:
		row->value.pid = value->pid;
		break;
	case CORE:
		row->cpu = value->number < LODE_NO_CPU ? (uint16_t)value->number : LODE_NO_CPU;
		break;
	case STATE:
		row->value.is_blocked = value->is_blocked;
		break;
	case CYCLES:
		reader->cycles++;
		/* fallthrough */
	case WEIGHT:
		row->weight = value->number;
		row->seen |= SEEN_WEIGHT;
		break;
	case BACKTRACE:
		row->stack = value->index;
		break;
	default:
		break;
	}
}

/* A value goes to the element around it. */
static int give(struct reader *reader, const struct value *value, struct element *parent)
{
	struct value *to = &parent->value;

	switch (to->kind) {
	case ROW:
		give_to_row(reader, value, parent);
		return 0;
	case THREAD:
		if (value->kind == TID)
			to->tid = (uint32_t)value->number;
		if (value->kind == PROCESS)
			to->pid = value->pid;
		return 0;
	case PROCESS:
		if (value->kind == PID)
			to->pid = (uint32_t)value->number;
		return 0;
	case FRAME:
		if (value->kind == BINARY) {
			to->index = value->index;
			to->number = value->number;
		}
		return 0;
	case BACKTRACE:
		if (value->kind == BACKTRACE)
			to->index = value->index;
		if (value->kind == FRAME)
			return LODE_PUSH(&reader->frames, value->index);
		return 0;
	default:
		return 0;
	}
}

static int end(struct reader *reader, struct element *element, int is_reference, struct element *parent)
{
	int code = 0;

	if (!is_reference && element->value.kind == FRAME)
		code = end_frame(reader, element);
	else if (!is_reference && element->value.kind == BACKTRACE)
		code = end_backtrace(reader, element);
	else if (element->value.kind == ROW)
		code = end_row(reader, element);
	if (code == 0 && element->id != UINT64_MAX)
		code = define(reader, element->id, &element->value);
	return code == 0 && parent ? give(reader, &element->value, parent) : code;
}

static void parse_words(struct reader *reader, struct value *value)
{
	struct lode_xml_text words = reader->xml.words;

	if (value->kind == STATE)
		value->is_blocked = words.length >= 7 &&
				    (!memcmp(words.at, "Blocked", 7) || !memcmp(words.at, "Waiting", 7));
	else if (value->kind == TIME || value->kind == TID || value->kind == PID || value->kind == CORE ||
		 value->kind == WEIGHT || value->kind == CYCLES)
		value->number = lode_xml_number(words, 0);
}

/* ---- the importer ---- */

static int read_rows(struct reader *reader)
{
	uint8_t is_reference[LODE_XML_DEPTH + 1] = { 0 };
	enum lode_xml_token token;
	uint64_t reported = 0;
	int code = 0;

	while (code >= 0 && (token = lode_xml_next(&reader->xml)) != LODE_XML_END) {
		unsigned depth = reader->xml.depth;

		if (token == LODE_XML_BROKEN)
			return lode_fail(reader->error, LODE_BAD_INPUT,
					 "%s:%zu: %s; export the table again with `xctrace export`",
					 lode_input_name(reader->input), lode_xml_line(&reader->xml),
					 reader->xml.wrong);
		if (token == LODE_XML_OPEN) {
			code = begin(reader, &reader->open[depth]);
			is_reference[depth] = code > 0;
		} else if (token == LODE_XML_WORDS && depth && !is_reference[depth]) {
			parse_words(reader, &reader->open[depth].value);
		} else if (token == LODE_XML_CLOSE) {
			/* what is inside of a reference changes nothing */
			code = end(reader, &reader->open[depth + 1], is_reference[depth + 1],
				   depth && !is_reference[depth] ? &reader->open[depth] : NULL);
		}
		if (code >= 0 && reader->rows - reported >= 65536) {
			reported = reader->rows;
			code = lode_import_progress_at(reader->input, reader->options,
						       (uint64_t)(reader->xml.at - reader->xml.start),
						       (uint64_t)(reader->xml.end - reader->xml.start),
						       reader->error);
			if (code < 0)
				return code;
		}
	}
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

static int note_losses(struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;

	lode_notes_add(notes, reader->incomplete, "rows without a time, a thread or a weight, left out",
		       reader->schema);
	lode_notes_add(notes, reader->unknown, "references to ids that are not defined", NULL);
	lode_notes_add(notes, reader->bare, "samples without a stack", NULL);
	lode_notes_add(notes, reader->unnamed, "addresses without a symbol", NULL);
	lode_notes_add(notes, reader->cut, LODE_CUT_AT_ROOT, NULL);
	lode_notes_add(notes, reader->cycles,
		       "samples of cycles, which are not time: each cycle is counted as 1 ns", reader->schema);
	return reader->cycles
		       ? lode_stream_set_attribute(&reader->stream, "cost_unit", "cycles", LODE_ATTRIBUTE_TEXT)
		       : 0;
}

static int read_table(struct reader *reader, const struct lode_import_sink *sink)
{
	int code = read_rows(reader);

	if (code < 0)
		return code;
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: its table%s%s has no samples with a time, a thread and a weight; export the "
				 "one of the Time Profiler: "
				 "`xctrace export --input X.trace --xpath "
				 "'/trace-toc/run/data/table[@schema=\"time-profile\"]'`",
				 lode_input_name(reader->input), reader->schema[0] ? " " : "", reader->schema);
	if (note_losses(reader) < 0)
		return lode_fail_memory(reader->error);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_instruments(struct lode_input *input, const struct lode_import_options *options,
			    const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader *reader = lode_calloc(1, sizeof(*reader));
	const unsigned char *bytes;
	size_t size;
	int code;

	if (!reader)
		return lode_fail_memory(error);
	reader->input = input;
	reader->options = options;
	reader->error = error;
	code = lode_import_begin(input, &bytes, &size, &reader->stream, &reader->dictionary, error);
	if (code == 0) {
		reader->xml = lode_xml((const char *)bytes, size);
		code = read_table(reader, sink);
		lode_import_end(&reader->stream);
	}
	lode_free(reader->definitions);
	lode_index_release(&reader->index);
	lode_free(reader->frames.items);
	lode_buffer_release(&reader->text);
	lode_free(reader);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return memmem(bytes, size, "<trace-query-result", 19) ? 95 : 0;
}

const struct lode_importer lode_importer_instruments = {
	.name = "instruments",
	.description = "samples of Instruments, exported as XML by xctrace",
	.sniff = sniff,
	.read = read_instruments,
};
