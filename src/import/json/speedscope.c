/*
 * speedscope's own file format (https://www.speedscope.app/file-format-schema.json):
 * a list of profiles over one table of frames.
 *
 * A profile becomes a separate thread, called by the profile's name. A sampled
 * profile has stacks with weights, which tile its time; an evented one opens and
 * closes frames, and each stretch between two such moments is a run of the stack
 * that is open. What `lode export --format speedscope` wrote has two profiles a
 * thread, `NAME, running` and `NAME, waiting`, which become one thread again.
 */
#include "base/array.h"
#include "base/memory.h"
#include "import/frame_memo.h"
#include "import/import_common.h"
#include "import/json_profile.h"

#include <string.h>

struct reading {
	struct lode_json_import import;
	struct lode_frame_memo stacks; /* what a sample's text is as a stack: most come again and again */
	uint32_t *frames;              /* the file's frames as ours */
	size_t frame_count;
	int is_lode; /* written by `lode export` */
	uint64_t profiles;
	uint64_t read;  /* profiles that count time */
	uint64_t bytes; /* profiles that count bytes */
	uint64_t unitless;
	uint64_t unmatched; /* frames that close without being open */
	uint64_t unclosed;  /* and the other way round */
	uint64_t cut;       /* stacks too deep */
};

/* The members of a profile: its lists can be long, so they are looked up in one pass. */
enum member { TYPE, NAME, UNIT, START, END, SAMPLES, WEIGHTS, EVENTS, MEMBERS };

static const char *const members[MEMBERS] = { "type",     "name",    "unit",    "startValue",
					      "endValue", "samples", "weights", "events" };

/* The profile being read. */
struct profile {
	struct lode_json_value member[MEMBERS];
	uint32_t thread;
	enum lode_event_type type;
	double unit;
	uint64_t t; /* up to where its time is read */
};

static int fail(struct reading *reading, const char *what)
{
	return lode_fail(reading->import.error, LODE_BAD_INPUT, "%s: profile %llu: %s",
			 lode_input_name(reading->import.input), (unsigned long long)reading->profiles, what);
}

/* ---- frames ---- */

static int add_frame(struct reading *reading, struct lode_json_value frame)
{
	const char *name = lode_json_string(lode_json_get(frame, "name"), &reading->import.text);
	const char *file = lode_json_string(lode_json_get(frame, "file"), &reading->import.file);
	uint32_t id = LODE_NONE;

	if (name && file)
		id = lode_json_frame(&reading->import.dictionary.frames, name, file);
	if (id == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	reading->frames[reading->frame_count++] = id;
	return 0;
}

static int read_frames(struct reading *reading, struct lode_json_value shared)
{
	struct lode_json_value list = lode_json_get(shared, "frames"), frame;
	struct lode_json_walk walk = lode_json_walk(list);
	int code = 0;

	if (lode_json_kind(list) != LODE_JSON_ARRAY)
		return lode_json_reject(
			&reading->import,
			"there is no list of frames (`shared.frames`); is it a file of speedscope?");
	reading->frames = lode_realloc(NULL, lode_json_count(list) + 1, sizeof(*reading->frames));
	if (!reading->frames)
		return lode_fail_memory(reading->import.error);
	while (code == 0 && lode_json_item(&walk, &frame))
		code = add_frame(reading, frame);
	return code;
}

/* ---- events ---- */

static int add_event(struct reading *reading, struct profile *profile, uint64_t cost, uint32_t stack)
{
	struct lode_event event = {
		.t = profile->t,
		.cost = cost,
		.thread = profile->thread,
		.stack = stack,
		.waker = LODE_NONE,
		.cpu = LODE_NO_CPU,
	};

	if (lode_stream_add_event(&reading->import.stream, profile->type, &event) < 0)
		return lode_fail_memory(reading->import.error);
	profile->t = lode_add_saturating(profile->t, cost);
	return 0;
}

/* The stack with one more frame on it. A frame beyond the limit is left out. */
static int push(struct reading *reading, uint32_t parent, uint32_t depth, struct lode_json_value index,
		uint32_t *stack)
{
	uint64_t frame = lode_json_u64_or(index, UINT64_MAX);

	if (frame >= reading->frame_count)
		return fail(reading, "a stack names a frame that is not in `shared.frames`");
	if (depth >= LODE_STACK_DEPTH_LIMIT) {
		reading->cut++;
		*stack = parent;
		return 0;
	}
	*stack = lode_stack_tree_child(&reading->import.dictionary.tree, parent, reading->frames[frame]);
	return *stack == LODE_NONE ? lode_fail_memory(reading->import.error) : 0;
}

static int make_stack(struct reading *reading, struct lode_json_value sample, uint32_t *stack)
{
	struct lode_json_walk walk = lode_json_walk(sample);
	struct lode_json_value index;
	int code = 0;

	*stack = 0;
	for (uint32_t depth = 0; code == 0 && depth <= LODE_STACK_DEPTH_LIMIT && lode_json_item(&walk, &index);
	     depth++)
		code = push(reading, *stack, depth, index, stack);
	return code;
}

static int find_stack(struct reading *reading, struct lode_json_value sample, uint32_t *stack)
{
	size_t length = lode_json_length(sample);
	uint64_t hash = lode_hash_bytes(sample.at, length);
	int code;

	*stack = lode_frame_memo_find(&reading->stacks, sample.at, length, hash);
	if (*stack != LODE_NONE)
		return 0;
	code = make_stack(reading, sample, stack);
	if (code == 0 && lode_frame_memo_add(&reading->stacks, sample.at, length, hash, *stack) < 0)
		code = lode_fail_memory(reading->import.error);
	return code;
}

static int read_sampled(struct reading *reading, struct profile *profile)
{
	struct lode_json_walk samples = lode_json_walk(profile->member[SAMPLES]);
	struct lode_json_walk weights = lode_json_walk(profile->member[WEIGHTS]);
	struct lode_json_value sample, weight;
	uint32_t stack;
	uint64_t cost;
	int code = 0;

	while (code == 0 && lode_json_item(&samples, &sample)) {
		if (!lode_json_item(&weights, &weight))
			return fail(reading, "there are fewer weights than samples");
		if (lode_json_ns(weight, profile->unit, &cost) < 0)
			return fail(reading, "a weight is not a number, or below 0, or too large");
		code = find_stack(reading, sample, &stack);
		if (code == 0)
			code = add_event(reading, profile, cost, stack);
	}
	return code;
}

/* ---- evented profiles ---- */

/* The frames that are open: the stack after each of them was opened. */
struct opened {
	uint64_t frame; /* as the file numbers it */
	uint32_t stack;
};

struct open_frames {
	LODE_ARRAY(struct opened);
	uint32_t *times; /* by frame of the file: how often it is open, so that closed ones are not searched for */
};

static uint32_t top(const struct open_frames *open)
{
	return open->count ? open->items[open->count - 1].stack : 0;
}

static int open_frame(struct reading *reading, struct open_frames *open, struct lode_json_value frame)
{
	uint32_t stack;
	int code = push(reading, top(open), (uint32_t)open->count, frame, &stack);

	if (code < 0)
		return code;
	if (LODE_RESERVE(open, 1) < 0)
		return lode_fail_memory(reading->import.error);
	open->items[open->count].frame = lode_json_u64_or(frame, 0);
	open->times[open->items[open->count].frame]++;
	open->items[open->count++].stack = stack;
	return 0;
}

/* Closes the innermost open frame of this number; those that were opened in it end with it. */
static void close_frame(struct reading *reading, struct open_frames *open, struct lode_json_value value)
{
	uint64_t frame = lode_json_u64_or(value, UINT64_MAX);
	if (frame >= reading->frame_count || !open->times[frame]) {
		reading->unmatched++;
		return;
	}
	while (open->items[open->count - 1].frame != frame) {
		open->times[open->items[--open->count].frame]--;
		reading->unclosed++;
	}
	open->times[open->items[--open->count].frame]--;
}

static int read_step(struct reading *reading, struct profile *profile, struct open_frames *open,
		     struct lode_json_value step)
{
	struct lode_json_value type = lode_json_get(step, "type"), frame = lode_json_get(step, "frame");
	uint64_t t;
	int code;

	if (lode_json_ns(lode_json_get(step, "at"), profile->unit, &t) < 0)
		return fail(reading, "an event has no time (`at`), or one below 0 or too large");
	if (t < profile->t)
		return fail(reading, "the events are not in order of time");
	code = open->count && t > profile->t ? add_event(reading, profile, t - profile->t, top(open)) : 0;
	profile->t = t;
	if (code < 0)
		return code;
	if (lode_json_is_text(type, "O"))
		return open_frame(reading, open, frame);
	if (!lode_json_is_text(type, "C"))
		return fail(reading, "an event neither opens (`O`) nor closes (`C`) a frame");
	close_frame(reading, open, frame);
	return 0;
}

static int read_evented(struct reading *reading, struct profile *profile)
{
	struct lode_json_walk walk = lode_json_walk(profile->member[EVENTS]);
	struct open_frames open = { 0 };
	struct lode_json_value step;
	uint64_t end;
	int code = 0;

	open.times = lode_calloc(reading->frame_count + 1, sizeof(*open.times));
	if (!open.times)
		return lode_fail_memory(reading->import.error);
	while (code == 0 && lode_json_item(&walk, &step))
		code = read_step(reading, profile, &open, step);
	reading->unclosed += open.count;
	if (code == 0 && open.count && lode_json_ns(profile->member[END], profile->unit, &end) == 0 &&
	    end > profile->t)
		code = add_event(reading, profile, end - profile->t, top(&open));
	lode_free(open.items);
	lode_free(open.times);
	return code;
}

/* ---- profiles ---- */

static int same_name(const struct reading *reading, uint32_t thread, uint32_t name)
{
	return thread < reading->import.stream.thread_count && reading->import.stream.threads[thread].name == name;
}

/* The thread of a profile: a new one, or that of the runs when these are its waits. */
static int find_thread(struct reading *reading, struct profile *profile)
{
	const char *text = lode_json_string(profile->member[NAME], &reading->import.text);
	uint32_t name, thread = 0;

	if (!text)
		return lode_fail_memory(reading->import.error);
	profile->type = LODE_RUN;
	if (reading->is_lode && lode_text_drop_end(reading->import.text.bytes, ", waiting"))
		profile->type = LODE_WAIT;
	else if (reading->is_lode)
		lode_text_drop_end(reading->import.text.bytes, ", running");
	name = lode_strings_add(&reading->import.dictionary.frames.strings, text, strlen(text));
	if (name == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	if (profile->type == LODE_WAIT)
		while (thread < reading->import.stream.thread_count && !same_name(reading, thread, name))
			thread++;
	if (profile->type == LODE_RUN || !same_name(reading, thread, name))
		thread = lode_stream_thread(&reading->import.stream, LODE_NO_PID, (uint32_t)reading->profiles);
	if (thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	reading->import.stream.threads[thread].name = name;
	profile->thread = thread;
	return 0;
}

/* Nanoseconds of one value; 0 for what is no time. */
static double unit_of(struct reading *reading, struct lode_json_value unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "nanoseconds", 1 }, { "microseconds", 1e3 }, { "milliseconds", 1e6 }, { "seconds", 1e9 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (lode_json_is_text(unit, units[i].name))
			return units[i].ns;
	if (lode_json_is_text(unit, "bytes")) {
		reading->bytes++;
		return 0;
	}
	reading->unitless++;
	return reading->import.options->unit_ns > 0 ? reading->import.options->unit_ns : 1;
}

static int read_profile(struct reading *reading, struct lode_json_value object)
{
	struct profile profile = { .t = 0 };
	int code;

	lode_json_get_all(object, members, profile.member, MEMBERS);
	profile.unit = unit_of(reading, profile.member[UNIT]);
	reading->profiles++;
	if (profile.unit == 0)
		return 0;
	reading->read++;
	if (profile.member[START].at && lode_json_ns(profile.member[START], profile.unit, &profile.t) < 0)
		return fail(reading, "it starts at a time below 0, or one too large");
	code = find_thread(reading, &profile);
	if (code < 0)
		return code;
	if (lode_json_is_text(profile.member[TYPE], "sampled"))
		return read_sampled(reading, &profile);
	if (lode_json_is_text(profile.member[TYPE], "evented"))
		return read_evented(reading, &profile);
	return fail(reading, "its type is neither `sampled` nor `evented`");
}

static void add_notes(const struct reading *reading)
{
	struct lode_notes *notes = reading->import.options->notes;

	lode_notes_add(notes, reading->bytes, "profiles of bytes, which are not time, left out", NULL);
	if (!(reading->import.options->unit_ns > 0))
		lode_notes_add(
			notes, reading->unitless,
			"profiles whose values have no unit: one counts as a nanosecond; set it with --unit", NULL);
	lode_notes_add(notes, reading->unmatched, "frames that close without being open, ignored", NULL);
	lode_notes_add(notes, reading->unclosed, "frames that are never closed: they end with their caller", NULL);
	lode_notes_add(notes, reading->cut, LODE_CUT_AT_LEAF, NULL);
}

static int read_document(void *context, struct lode_json_value root)
{
	struct reading *reading = context;
	static const char *const keys[] = { "shared", "profiles", "exporter" };
	struct lode_json_value parts[3], profile;
	struct lode_json_walk walk;
	int code;

	lode_json_get_all(root, keys, parts, 3);
	walk = lode_json_walk(parts[1]);
	reading->is_lode = lode_json_is_text(parts[2], "lode");
	code = read_frames(reading, parts[0]);
	while (code == 0 && lode_json_item(&walk, &profile))
		code = read_profile(reading, profile);
	if (code < 0)
		return code;
	if (!reading->read)
		return lode_json_reject(&reading->import,
					reading->bytes ? "all of its profiles count bytes; Lode analyses time"
						       : "it has no profiles (`profiles`)");
	add_notes(reading);
	return 0;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	if (!size || (bytes[0] != '{' && bytes[0] != ' ' && bytes[0] != '\n'))
		return 0;
	if (lode_sniff_has(bytes, size, "speedscope.app/file-format-schema.json"))
		return 100;
	return strstr(name, ".speedscope.json") ? 60 : 0;
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };
	int code = lode_json_import_run(&reading.import, read_document, &reading, sink);

	lode_frame_memo_release(&reading.stacks);
	lode_free(reading.frames);
	return code;
}

const struct lode_importer lode_importer_speedscope = {
	.name = "speedscope",
	.description = "speedscope JSON, sampled and evented profiles",
	.sniff = sniff,
	.read = read_input,
};
