/*
 * PerfView: stacks saved as XML (`.perfView.xml`).
 *
 *	<StackWindow><StackSource><Frames><Frame ID="0">module!function</Frame>…</Frames>
 *	<Stacks><Stack ID="0" CallerID="-1" FrameID="3"/>…</Stacks>
 *	<Samples><Sample ID="0" Time="12.345" StackID="7" Metric="1"/>…</Samples>
 *
 * Times and metrics are milliseconds; a metric of 1 is left out. Frames that PerfView puts in say whose a sample is and
 * what it did: `Process64 name (PID)` and `Thread (TID)` at the root, `BLOCKED_TIME`, `CPU_TIME` and the like at the leaf.
 * The counts in the file are not trusted: tables grow with what is there.
 */
#include "base/array.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "base/xml_read.h"
#include "import/import_common.h"

#include <stdlib.h>
#include <string.h>

enum frame_kind { NOT_DEFINED, FUNCTION, PROCESS, THREAD, CPU, BLOCKED, PSEUDO };

struct frame {
	uint32_t frame;
	uint32_t number; /* pid or tid */
	uint32_t name;   /* string, of a process */
	enum frame_kind kind;
};

enum resolve_state { UNDEFINED, UNRESOLVED, ON_THE_WAY, RESOLVED };

struct stack {
	uint32_t caller; /* LODE_NONE: none */
	uint32_t frame;
	uint32_t node;
	uint32_t depth;
	uint32_t pid;
	uint32_t tid;
	uint32_t process; /* string */
	uint8_t state;
	uint8_t is_blocked;
};

struct sample {
	uint64_t t;
	uint64_t cost;
	uint32_t stack;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_xml xml;
	LODE_ARRAY(struct frame) frames;
	LODE_ARRAY(struct stack) stacks;
	LODE_ARRAY(struct sample) samples;
	uint32_t *path; /* stacks whose callers are being resolved */
	size_t path_capacity;
	struct lode_buffer text;
	size_t limit; /* ids beyond are wrong: every entry takes some bytes */
	uint64_t unknown;
	uint64_t negative;
	uint64_t cut;
};

/* ---- frames ---- */

/* The number in `… (123) …`, or LODE_NO_PID. */
static uint32_t number_in(const char *text)
{
	const char *bracket = strchr(text, '(');
	char *end;
	unsigned long number = bracket ? strtoul(bracket + 1, &end, 10) : 0;

	return bracket && end > bracket + 1 && *end == ')' && number < UINT32_MAX ? (uint32_t)number : LODE_NO_PID;
}

static enum frame_kind kind_of(const char *text)
{
	if ((lode_starts_with(text, "Process ") || lode_starts_with(text, "Process64 ") ||
	     lode_starts_with(text, "Process32 ")) &&
	    number_in(text) != LODE_NO_PID)
		return PROCESS;
	if (lode_starts_with(text, "Thread (") && number_in(text) != LODE_NO_PID)
		return THREAD;
	if (!strcmp(text, "BLOCKED_TIME") || lode_starts_with(text, "LAST_BLOCK") || !strcmp(text, "READIED_TIME") ||
	    !strcmp(text, "NETWORK_TIME") || !strcmp(text, "DISK_TIME") || !strcmp(text, "HARD_FAULT"))
		return BLOCKED;
	if (!strcmp(text, "CPU_TIME") || !strcmp(text, "UNMANAGED_CODE_TIME"))
		return CPU;
	return !strcmp(text, "(Non-Activities)") || !strcmp(text, "Threads") || !strcmp(text, "ROOT") ? PSEUDO
												      : FUNCTION;
}

/* `c:\path\module!function` without the path. */
static uint32_t parse_frame(struct reader *reader, const char *text)
{
	const char *mark = strchr(text, '!'), *slash = mark ? memrchr(text, '\\', (size_t)(mark - text)) : NULL;

	if (slash)
		text = slash + 1;
	return lode_frames_parse(&reader->dictionary.frames, text, strlen(text));
}

static int check_id(struct reader *reader, uint64_t id)
{
	if (id >= reader->limit)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s:%zu: the id %llu is beyond what a file of this size can hold",
				 lode_input_name(reader->input), lode_xml_line(&reader->xml),
				 (unsigned long long)id);
	return 0;
}

/* The name of a process: the word behind `Process64`. */
static uint32_t process_name(struct reader *reader, const char *text)
{
	const char *name = strchr(text, ' ') + 1, *end = strstr(name, " (");

	return lode_strings_add(&reader->dictionary.frames.strings, name,
				end ? (size_t)(end - name) : strlen(name));
}

static int add_frame(struct reader *reader, uint64_t id, struct lode_xml_text words, int is_raw)
{
	struct frame frame = { .number = LODE_NO_PID };
	int code = check_id(reader, id);

	if (code < 0)
		return code;
	reader->text.size = 0;
	if (is_raw)
		lode_buffer_add(&reader->text, words.at, words.length);
	else
		lode_xml_append(&reader->text, words);
	lode_buffer_byte(&reader->text, '\0');
	if (reader->text.failed)
		return lode_fail_memory(reader->error);
	frame.kind = kind_of(reader->text.bytes);
	if (frame.kind == PROCESS || frame.kind == THREAD)
		frame.number = number_in(reader->text.bytes);
	frame.name = frame.kind == PROCESS ? process_name(reader, reader->text.bytes) : 0;
	frame.frame = frame.kind == FUNCTION ? parse_frame(reader, reader->text.bytes) : 0;
	if (frame.frame == LODE_NONE || frame.name == LODE_NONE ||
	    !LODE_PLACE(&reader->frames, id, (struct frame){ 0 }))
		return lode_fail_memory(reader->error);
	reader->frames.items[id] = frame;
	return 0;
}

/* ---- stacks and samples ---- */

static uint64_t number_of(struct reader *reader, const char *name)
{
	return lode_xml_number(lode_xml_attribute(&reader->xml, name), UINT64_MAX);
}

static int add_stack(struct reader *reader)
{
	uint64_t id = number_of(reader, "ID"), caller = number_of(reader, "CallerID"),
		 frame = number_of(reader, "FrameID");
	int code;

	if (id == UINT64_MAX || frame >= LODE_NONE) {
		reader->unknown++;
		return 0;
	}
	code = check_id(reader, id);
	if (code < 0)
		return code;
	if (!LODE_PLACE(&reader->stacks, id, (struct stack){ 0 }))
		return lode_fail_memory(reader->error);
	reader->stacks.items[id] = (struct stack){ .caller = caller < LODE_NONE ? (uint32_t)caller : LODE_NONE,
						   .frame = (uint32_t)frame,
						   .state = UNRESOLVED };
	return 0;
}

/* Milliseconds with up to six digits behind the point, as nanoseconds. Returns 0 for what is none. */
static int read_milliseconds(struct lode_xml_text text, uint64_t *ns)
{
	uint64_t scale = 1000000;
	size_t i = 0;

	*ns = 0;
	for (; i < text.length && (unsigned char)(text.at[i] - '0') < 10; i++)
		if (__builtin_mul_overflow(*ns, 10, ns) ||
		    __builtin_add_overflow(*ns, (uint64_t)(text.at[i] - '0'), ns))
			return 0;
	if (!i || __builtin_mul_overflow(*ns, scale, ns))
		return 0;
	if (i < text.length && text.at[i] == '.')
		for (i++; i < text.length && (unsigned char)(text.at[i] - '0') < 10; i++)
			*ns = lode_add_saturating(*ns, (uint64_t)(text.at[i] - '0') * (scale /= 10));
	return i == text.length;
}

static int add_sample(struct reader *reader)
{
	struct lode_xml_text metric = lode_xml_attribute(&reader->xml, "Metric");
	struct sample sample = { .cost = 1000000 };
	uint64_t stack = number_of(reader, "StackID");

	if (stack >= LODE_NONE || !read_milliseconds(lode_xml_attribute(&reader->xml, "Time"), &sample.t) ||
	    (metric.at && !read_milliseconds(metric, &sample.cost))) {
		reader->negative++;
		return 0;
	}
	sample.stack = (uint32_t)stack;
	if (LODE_PUSH(&reader->samples, sample) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

/* ---- from entries to nodes ---- */

/* A stack whose caller is resolved. */
static int resolve_one(struct reader *reader, struct stack *stack)
{
	const struct stack *caller = stack->caller == LODE_NONE ? NULL : &reader->stacks.items[stack->caller];
	const struct frame none = { .kind = PSEUDO }, *frame = stack->frame < reader->frames.count
								       ? &reader->frames.items[stack->frame]
								       : &none;

	stack->node = caller ? caller->node : 0;
	stack->depth = caller ? caller->depth : 0;
	stack->pid = frame->kind == PROCESS ? frame->number : caller ? caller->pid : LODE_NO_PID;
	stack->process = frame->kind == PROCESS ? frame->name : caller ? caller->process : 0;
	stack->tid = frame->kind == THREAD ? frame->number : caller ? caller->tid : 0;
	stack->is_blocked = frame->kind == BLOCKED || (frame->kind != CPU && caller && caller->is_blocked);
	stack->state = RESOLVED;
	if (frame->kind != FUNCTION)
		return 0;
	if (stack->depth == LODE_STACK_DEPTH_LIMIT) {
		reader->cut++;
		return 0;
	}
	stack->depth++;
	stack->node = lode_stack_tree_child(&reader->dictionary.tree, stack->node, frame->frame);
	return stack->node == LODE_NONE ? lode_fail_memory(reader->error) : 0;
}

/* Callers first, with an explicit path instead of recursion; a stack that is its own caller is an error. */
static int resolve(struct reader *reader, uint32_t id)
{
	size_t depth = 0;
	int code = 0;

	while (code == 0) {
		struct stack *stack = id < reader->stacks.count ? &reader->stacks.items[id] : NULL;

		if (!stack || stack->state == UNDEFINED)
			return lode_fail(reader->error, LODE_BAD_INPUT,
					 "%s: names the stack %u, which it does not define; the file is damaged",
					 lode_input_name(reader->input), id);
		if (stack->state == ON_THE_WAY)
			return lode_fail(reader->error, LODE_BAD_INPUT,
					 "%s: the stack %u is its own caller; the file is damaged",
					 lode_input_name(reader->input), id);
		if (stack->state == UNRESOLVED && stack->caller != LODE_NONE) {
			if (LODE_APPEND(reader->path, depth, reader->path_capacity, id) < 0)
				return lode_fail_memory(reader->error);
			stack->state = ON_THE_WAY;
			id = stack->caller;
			continue;
		}
		if (stack->state == UNRESOLVED)
			code = resolve_one(reader, stack);
		while (code == 0 && depth)
			code = resolve_one(reader, &reader->stacks.items[reader->path[--depth]]);
		break;
	}
	return code;
}

static int replay_sample(struct reader *reader, const struct sample *sample)
{
	struct lode_event event = { .t = sample->t, .cost = sample->cost, .waker = LODE_NONE, .cpu = LODE_NO_CPU };
	const struct stack *stack;
	int code = resolve(reader, sample->stack);

	if (code < 0)
		return code;
	stack = &reader->stacks.items[sample->stack];
	event.stack = stack->node;
	event.thread = lode_stream_thread(&reader->stream, stack->pid, stack->tid);
	if (lode_stream_add_event(&reader->stream, stack->is_blocked ? LODE_WAIT : LODE_RUN, &event) < 0)
		return lode_fail_memory(reader->error);
	reader->stream.threads[event.thread].name = stack->process;
	return 0;
}

/* ---- the importer ---- */

static int read_entries(struct reader *reader)
{
	struct lode_xml_text words = { "", 0 };
	enum lode_xml_token token;
	uint64_t frame = UINT64_MAX, count = 0;
	int code = 0, is_raw = 0;

	while (code == 0 && (token = lode_xml_next(&reader->xml)) != LODE_XML_END) {
		if (token == LODE_XML_BROKEN)
			return lode_fail(reader->error, LODE_BAD_INPUT,
					 "%s:%zu: %s; save the stacks again in PerfView",
					 lode_input_name(reader->input), lode_xml_line(&reader->xml),
					 reader->xml.wrong);
		if (token == LODE_XML_OPEN && lode_xml_is(&reader->xml, "Sample"))
			code = add_sample(reader);
		else if (token == LODE_XML_OPEN && lode_xml_is(&reader->xml, "Stack"))
			code = add_stack(reader);
		else if (token == LODE_XML_OPEN && lode_xml_is(&reader->xml, "Frame")) {
			frame = number_of(reader, "ID");
			words = (struct lode_xml_text){ "", 0 };
		} else if (token == LODE_XML_WORDS && frame != UINT64_MAX) {
			words = reader->xml.words;
			is_raw = reader->xml.is_raw;
		} else if (token == LODE_XML_CLOSE && frame != UINT64_MAX) {
			code = add_frame(reader, frame, words, is_raw);
			frame = UINT64_MAX;
		}
		if (code == 0 && (++count & 0xfffff) == 0)
			code = lode_import_progress_at(reader->input, reader->options,
						       (uint64_t)(reader->xml.at - reader->xml.start),
						       (uint64_t)(reader->xml.end - reader->xml.start),
						       reader->error);
	}
	return code;
}

static int read_stacks(struct reader *reader, const struct lode_import_sink *sink)
{
	struct lode_notes *notes = reader->options->notes;
	int code = read_entries(reader);

	for (size_t i = 0; code == 0 && i < reader->samples.count; i++)
		code = replay_sample(reader, &reader->samples.items[i]);
	if (code < 0)
		return code;
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: has no samples; save a view of CPU or thread time in PerfView",
				 lode_input_name(reader->input));
	lode_notes_add(notes, reader->unknown, "stacks without a number or a frame, left out", NULL);
	lode_notes_add(notes, reader->negative, "samples without a time or a stack, or below 0, left out", NULL);
	lode_notes_add(notes, reader->cut, LODE_CUT_AT_LEAF, NULL);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int read_perfview(struct lode_input *input, const struct lode_import_options *options,
			 const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader reader = { .input = input, .options = options, .error = error };
	const unsigned char *bytes;
	size_t size;
	int code = lode_import_begin(input, &bytes, &size, &reader.stream, &reader.dictionary, error);

	if (code < 0)
		return code;
	reader.xml = lode_xml((const char *)bytes, size);
	reader.limit = size / 8;
	code = read_stacks(&reader, sink);
	lode_free(reader.frames.items);
	lode_free(reader.stacks.items);
	lode_free(reader.samples.items);
	lode_free(reader.path);
	lode_buffer_release(&reader.text);
	lode_import_end(&reader.stream);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return memmem(bytes, size, "<StackWindow", 12) || memmem(bytes, size, "<StackSource", 12) ? 90 : 0;
}

const struct lode_importer lode_importer_perfview = {
	.name = "perfview",
	.description = "stacks saved by PerfView as XML",
	.sniff = sniff,
	.read = read_perfview,
};
