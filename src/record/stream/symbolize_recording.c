/*
 * Translation: see symbolize_recording.h.
 *
 * Events come in the order of their ends, block by block. For each type the
 * earliest of what was read are written when there are two blocks of them; an
 * event that began before what was written already (a wait longer than the
 * others) is late and kept for the end. So the blocks of a file are in order of
 * time except the last ones, which hold the late events, again in order.
 */
#include "record/stream/symbolize_recording.h"

#include "base/file.h"
#include "base/starts_with.h"
#include "record/budget/calibration.h"
#include "record/stream/object_names.h"
#include "symbols/name_frames.h"
#include "symbols/unnamed_note.h"

#include <stdio.h>
#include <string.h>

/* Functions inlined at one address that are shown. */
#define INLINES 64

/* A row of `inlined_frames`. */
struct inlined {
	size_t first;
	size_t count;
};

struct translation {
	struct lode_record_stacks *stacks;
	const struct lode_record_symbolize_options *options;
	struct lode_store *store;
	struct lode_store_writer *writer;
	struct lode_dictionary raw_dictionary;
	struct lode_stream raw;     /* head of the file that is read */
	struct lode_stream *stream; /* what is made of it */
	struct lode_corpus_entry *entry;
	uint32_t *strings;        /* by string of `raw`; LODE_NONE: not requested */
	uint32_t *frames;         /* by frame of `raw`, as those of `stacks` */
	struct inlined *inlined;  /* by frame of `raw`; NULL when they are not requested */
	uint32_t *inlined_frames; /* of the stream */
	size_t inlined_count;
	size_t inlined_capacity;
	uint32_t *nodes;         /* by node of `raw` */
	unsigned char *seen;     /* by node of the stream: an event has it */
	struct lode_buffer text; /* of a function with its line */
	struct lode_object_names objects;
	struct lode_calibration calibration; /* of a thinned recording */
	struct lode_events block;
	struct lode_events waiting[LODE_EVENT_TYPES];
	struct lode_events late[LODE_EVENT_TYPES];
	uint64_t written_to[LODE_EVENT_TYPES]; /* start of the last event that was written */
	uint64_t unnamed;
};

/* ---- names ---- */

static uint32_t string_of(struct translation *translation, uint32_t string)
{
	struct lode_string text = translation->raw_dictionary.frames.strings.items[string];

	if (translation->strings[string] == LODE_NONE)
		translation->strings[string] =
			lode_strings_add(&translation->stream->dictionary->frames.strings, text.text, text.length);
	return translation->strings[string];
}

static uint32_t copy_module(struct translation *translation, uint32_t number)
{
	const struct lode_frames *from = &translation->stacks->dictionary->frames;
	struct lode_frames *to = &translation->stream->dictionary->frames;
	const struct lode_module *module = &from->modules[number];
	struct lode_string name = from->strings.items[module->name];
	struct lode_string path = from->strings.items[module->path];
	struct lode_string build_id = from->strings.items[module->build_id];
	uint32_t copy = number ? lode_frames_module(to, name.text, name.length) : 0;

	if (copy == LODE_NONE || !number)
		return copy;
	to->modules[copy].kind = module->kind;
	to->modules[copy].language = module->language;
	to->modules[copy].path = lode_strings_add(&to->strings, path.text, path.length);
	to->modules[copy].build_id = lode_strings_add(&to->strings, build_id.text, build_id.length);
	return to->modules[copy].path == LODE_NONE || to->modules[copy].build_id == LODE_NONE ? LODE_NONE : copy;
}

static uint64_t image_address(const struct lode_process_image *image, uint64_t address)
{
	if (image->symbols && lode_process_image_by_offset(image))
		return lode_image_address(image->symbols, address);
	return address;
}

/* The C library: rules know its functions by their names (wait_functions.c, idle.rules). */
static int is_c_library(const char *module)
{
	return lode_starts_with(module, "libc.so") || lode_starts_with(module, "libpthread") ||
	       lode_starts_with(module, "ld-linux");
}

/*
 * The lines at a frame of `stacks`, where they are wanted and known: of the function and of those that are inlined there. Returns how
 * many.
 */
static size_t lines_at(struct translation *translation, uint32_t frame, uint32_t *lines, size_t limit)
{
	const struct lode_record_location *location = &translation->stacks->locations[frame];
	const char *module = lode_frames_module_name(&translation->stacks->dictionary->frames, frame);
	const struct lode_process_image *image;

	if (!translation->options->lines || !translation->options->symbolizer || location->image == LODE_NONE ||
	    is_c_library(module))
		return 0;
	image = &translation->stacks->processes->images->items[location->image];
	if (!image->symbols || !lode_process_image_by_offset(image))
		return 0;
	return lode_image_lines(image->symbols, image_address(image, location->address), lines, limit);
}

/* The name with a line; NULL when memory has run out. */
static const char *with_line(struct translation *translation, const char *name, uint32_t line)
{
	struct lode_buffer *text = &translation->text;

	if (!line)
		return name;
	lode_buffer_clear(text);
	lode_buffer_print(text, "%s:%u", name, line);
	lode_buffer_byte(text, '\0');
	return text->failed ? NULL : text->bytes;
}

/* The name of a location; `text` has room for one without a symbol. */
static const char *name_of(struct translation *translation, uint32_t frame, char text[24])
{
	const struct lode_record_location *location = &translation->stacks->locations[frame];
	const struct lode_process_image *image;
	struct lode_symbol symbol = { 0 };
	uint64_t address;

	if (location->image == LODE_NONE || !translation->options->symbolizer)
		return lode_frames_function(&translation->stacks->dictionary->frames, frame);
	image = &translation->stacks->processes->images->items[location->image];
	address = image_address(image, location->address);
	if (image->symbols && lode_image_find(image->symbols, address, &symbol)) {
		address = symbol.start;
		if (symbol.name)
			return symbol.name;
	}
	translation->unnamed++;
	snprintf(text, 24, "0x%llx", (unsigned long long)address);
	return text;
}

/* The frame of the stream for a frame of `stacks`. */
static uint32_t frame_of(struct translation *translation, uint32_t frame)
{
	char text[24];
	const char *name = name_of(translation, frame, text);
	uint32_t module = copy_module(translation, translation->stacks->dictionary->frames.items[frame].module),
		 line;

	if (name != text && lines_at(translation, frame, &line, 1))
		name = with_line(translation, name, line);
	if (module == LODE_NONE || !name)
		return LODE_NONE;
	return lode_frames_add(&translation->stream->dictionary->frames, module, name, strlen(name));
}

/* The frame of `stacks` that a frame of the file was written from; they read the same. */
static uint32_t original_frame(struct translation *translation, uint32_t frame)
{
	const struct lode_frames *raw = &translation->raw_dictionary.frames;
	struct lode_frames *original = &translation->stacks->dictionary->frames;
	const char *module = lode_frames_module_name(raw, frame), *function = lode_frames_function(raw, frame);
	uint32_t number = raw->items[frame].module ? lode_frames_module(original, module, strlen(module)) : 0;

	return number == LODE_NONE ? LODE_NONE : lode_frames_add(original, number, function, strlen(function));
}

/* ---- inlined functions ---- */

/* The functions inlined at the address of a frame, as frames of the stream, outermost first. */
static int find_inlined(struct translation *translation, uint32_t raw_frame, uint32_t named)
{
	const struct lode_record_location *location =
		&translation->stacks->locations[translation->frames[raw_frame]];
	struct lode_frames *frames = &translation->stream->dictionary->frames;
	struct inlined *inlined = &translation->inlined[raw_frame];
	const struct lode_process_image *image;
	const char *names[INLINES];
	uint32_t lines[INLINES + 1];
	size_t count = 0, known = lines_at(translation, translation->frames[raw_frame], lines, INLINES + 1);

	inlined->first = translation->inlined_count;
	if (location->image == LODE_NONE)
		return 0;
	image = &translation->stacks->processes->images->items[location->image];
	if (image->symbols && lode_process_image_by_offset(image))
		count = lode_image_inlines(image->symbols, image_address(image, location->address), names, INLINES);
	if (lode_grow(&translation->inlined_frames, &translation->inlined_capacity, inlined->first + count,
		      sizeof(uint32_t)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		const char *name = with_line(translation, names[i], i + 1 < known ? lines[i + 1] : 0);
		uint32_t frame = name ? lode_frames_add(frames, frames->items[named].module, name, strlen(name))
				      : LODE_NONE;

		if (frame == LODE_NONE)
			return LODE_SYSTEM;
		translation->inlined_frames[translation->inlined_count++] = frame;
	}
	inlined->count = count;
	return 0;
}

/* The stack `node` with the frame of `raw` called from it, and what is inlined there. */
static uint32_t add_call(struct translation *translation, uint32_t node, uint32_t raw_frame, const uint32_t *frames)
{
	struct lode_stack_tree *tree = &translation->stream->dictionary->tree;
	const struct inlined *inlined = translation->inlined ? &translation->inlined[raw_frame] : NULL;

	node = lode_stack_tree_child(tree, node, frames[raw_frame]);
	for (size_t i = 0; inlined && i < inlined->count && node != LODE_NONE; i++)
		node = lode_stack_tree_child(tree, node, translation->inlined_frames[inlined->first + i]);
	return node;
}

/* ---- stacks ---- */

/*
 * Whether the link register held the caller of the leaf at `leaf`. Without unwind
 * information it did, unless the leaf had made a call already: then it points
 * into the leaf itself.
 */
static int link_holds_caller(struct translation *translation, uint32_t leaf, uint32_t link_frame,
			     uint32_t leaf_frame)
{
	const struct lode_record_location *location = &translation->stacks->locations[leaf];
	const struct lode_process_image *image;
	int answer = -1;

	if (location->image == LODE_NONE)
		return 0;
	image = &translation->stacks->processes->images->items[location->image];
	if (!image->symbols)
		return 0;
	if (lode_process_image_by_offset(image))
		answer = lode_image_link_register(image->symbols, image_address(image, location->address));
	return answer >= 0 ? answer : link_frame != leaf_frame;
}

/*
 * A node whose frame is only from the link register adds nothing by itself; the
 * leaf below it decides.
 */
static uint32_t node_of(struct translation *translation, uint32_t node, const uint32_t *frames)
{
	const struct lode_stack_node *raw = &translation->raw_dictionary.tree.nodes[node];
	const struct lode_stack_node *parent = &translation->raw_dictionary.tree.nodes[raw->parent];
	const struct lode_record_location *locations = translation->stacks->locations;
	struct lode_stack_tree *tree = &translation->stream->dictionary->tree;
	uint32_t above = translation->nodes[raw->parent];

	if (!translation->options->symbolizer) /* for lode symbolize to decide */
		return lode_stack_tree_child(tree, above, frames[raw->frame]);
	if (locations[translation->frames[raw->frame]].link)
		return above;
	if (raw->parent && locations[translation->frames[parent->frame]].link &&
	    link_holds_caller(translation, translation->frames[raw->frame], frames[parent->frame],
			      frames[raw->frame]))
		above = add_call(translation, above, parent->frame, frames);
	return above == LODE_NONE ? LODE_NONE : add_call(translation, above, raw->frame, frames);
}

/* ---- the global lock of CPython ---- */

static int is_python(const struct lode_frames *frames, uint32_t frame)
{
	const char *module = lode_frames_module_name(frames, frame);

	return lode_starts_with(module, "python3") || lode_starts_with(module, "libpython3");
}

/*
 * In a stripped binary the function that waits for the global lock has no name, but is known all the same: it is the only one of the
 * interpreter that waits with pthread_cond_timedwait. `named`: frames of the stream, by frame of `raw`.
 */
static int name_gil_waits(struct translation *translation, uint32_t *named)
{
	static const char name[] = "take_gil";
	const struct lode_stack_tree *tree = &translation->raw_dictionary.tree;
	struct lode_frames *frames = &translation->stream->dictionary->frames;

	for (size_t i = 1; i < tree->count; i++) {
		uint32_t parent = tree->nodes[i].parent, caller = parent ? tree->nodes[parent].frame : LODE_NONE;

		if (!parent ||
		    strcmp(lode_frames_function(frames, named[tree->nodes[i].frame]), "pthread_cond_timedwait") ||
		    !lode_starts_with(lode_frames_function(frames, named[caller]), "0x") ||
		    !is_python(frames, named[caller]))
			continue;
		named[caller] =
			lode_frames_add(frames, frames->items[named[caller]].module, name, sizeof(name) - 1);
		if (named[caller] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Fills `frames` and `nodes`. */
static int translate_stacks(struct translation *translation)
{
	size_t frame_count = translation->raw_dictionary.frames.count;
	size_t node_count = translation->raw_dictionary.tree.count;
	uint32_t *named = lode_calloc(frame_count, sizeof(*named));
	int code = 0;

	translation->frames = lode_calloc(frame_count, sizeof(*translation->frames));
	translation->nodes = lode_calloc(node_count, sizeof(*translation->nodes));
	if (translation->options->inlines && translation->options->symbolizer)
		translation->inlined = lode_calloc(frame_count, sizeof(*translation->inlined));
	if (!named || !translation->frames || !translation->nodes ||
	    (translation->options->inlines && translation->options->symbolizer && !translation->inlined))
		code = LODE_SYSTEM;
	for (size_t i = 0; !code && i < frame_count; i++) {
		translation->frames[i] = original_frame(translation, (uint32_t)i);
		if (translation->frames[i] != LODE_NONE)
			named[i] = frame_of(translation, translation->frames[i]);
		if (translation->frames[i] == LODE_NONE || named[i] == LODE_NONE ||
		    (translation->inlined && find_inlined(translation, (uint32_t)i, named[i]) < 0))
			code = LODE_SYSTEM;
	}
	if (!code && translation->options->symbolizer)
		code = name_gil_waits(translation, named);
	for (size_t i = 1; !code && i < node_count; i++) {
		translation->nodes[i] = node_of(translation, (uint32_t)i, named);
		code = translation->nodes[i] == LODE_NONE ? LODE_SYSTEM : 0;
	}
	lode_free(named);
	return code;
}

/* ---- events ---- */

static const char *raw_text(const struct translation *translation, uint32_t string)
{
	return lode_strings_get(&translation->raw_dictionary.frames.strings, string);
}

static void describe(struct translation *translation, int type, const struct lode_event *event)
{
	struct lode_corpus_entry *entry = translation->entry;
	uint64_t end = lode_add_saturating(lode_add_saturating(event->t, event->cost), event->delay);

	entry->events[type]++;
	entry->cost[type] = lode_add_saturating(entry->cost[type], lode_weighted(event->cost, event->weight));
	entry->first_t = event->t < entry->first_t ? event->t : entry->first_t;
	entry->last_t = end > entry->last_t ? end : entry->last_t;
	entry->stacks += !translation->seen[event->stack];
	translation->seen[event->stack] = 1;
}

/* Writes the first `count` of `events`, which are sorted, and forgets them. */
static int write_events(struct translation *translation, int type, struct lode_events *events, size_t count,
			struct lode_error *error)
{
	struct lode_events *out = &translation->stream->events[type];
	struct lode_events rest = { 0 };
	int code;

	for (size_t i = 0; i < events->count; i++) {
		struct lode_event event = lode_events_get(events, i);

		if (i < count)
			describe(translation, type, &event);
		if (lode_events_add(i < count ? out : &rest, &event) < 0) {
			lode_events_release(&rest);
			return lode_fail_memory(error);
		}
	}
	if (count)
		translation->written_to[type] = out->t[out->count - 1];
	code = lode_store_append(translation->writer, translation->stream, error);
	out->count = 0;
	lode_events_release(events);
	*events = rest;
	return code;
}

static uint32_t multiply(uint32_t weight, uint32_t factor)
{
	uint64_t product = (uint64_t)weight * (factor ? factor : 1);

	return product < UINT32_MAX ? (uint32_t)product : UINT32_MAX;
}

static int translate_event(struct translation *translation, int type, struct lode_event *event)
{
	int late = event->t < translation->written_to[type];

	event->weight = lode_calibration_weight(&translation->calibration, (enum lode_event_type)type, event);
	event->weight = multiply(event->weight ? event->weight : 1, translation->options->stands_for);
	event->stack = translation->nodes[event->stack];
	event->waker_stack = translation->nodes[event->waker_stack];
	event->name = string_of(translation, event->name);
	if (event->object)
		event->object = lode_object_names_find(&translation->objects, event->object,
						       raw_text(translation, event->object), event->stack,
						       &event->holder);
	event->context = string_of(translation, event->context);
	if (event->name == LODE_NONE || event->object == LODE_NONE || event->context == LODE_NONE)
		return LODE_SYSTEM;
	return lode_events_add(late ? &translation->late[type] : &translation->waiting[type], event);
}

static int translate_block(struct translation *translation, size_t i, struct lode_error *error)
{
	int type = (int)lode_store_block(translation->store, i)->type;
	struct lode_events *waiting = &translation->waiting[type];
	int code = lode_store_events(translation->store, i, LODE_ALL_COLUMNS, &translation->block, error);

	if (code)
		return code;
	for (size_t row = 0; row < translation->block.count; row++) {
		struct lode_event event = lode_events_get(&translation->block, row);

		if (translate_event(translation, type, &event) < 0)
			return lode_fail_memory(error);
	}
	if (waiting->count < 2 * LODE_BLOCK_EVENTS)
		return 0;
	if (lode_events_sort(waiting) < 0)
		return lode_fail_memory(error);
	return write_events(translation, type, waiting, waiting->count - LODE_BLOCK_EVENTS, error);
}

static int write_rest(struct translation *translation, struct lode_events *sets, struct lode_error *error)
{
	int code = 0;

	for (int type = 0; !code && type < LODE_EVENT_TYPES; type++) {
		if (lode_events_sort(&sets[type]) < 0)
			return lode_fail_memory(error);
		code = write_events(translation, type, &sets[type], sets[type].count, error);
	}
	return code;
}

/* What the totals of threads say about weights. Needs all events, of which there are few where some were left out. */
static int calibrate(struct translation *translation, struct lode_error *error)
{
	int code = 0, knows = 0;

	for (size_t i = 0; i < translation->raw.thread_count; i++)
		knows |= lode_thread_has_totals(&translation->raw.threads[i]);
	if (!translation->options->calibrates || !knows)
		return 0;
	if (lode_calibration_init(&translation->calibration, &translation->raw) < 0)
		return lode_fail_memory(error);
	for (size_t i = 0; !code && i < lode_store_blocks(translation->store); i++) {
		enum lode_event_type type = lode_store_block(translation->store, i)->type;

		code = lode_store_events(translation->store, i, LODE_ALL_COLUMNS, &translation->block, error);
		for (size_t row = 0; !code && row < translation->block.count; row++) {
			struct lode_event event = lode_events_get(&translation->block, row);

			lode_calibration_see(&translation->calibration, type, &event);
			if (event.object)
				lode_object_names_learn(&translation->objects, raw_text(translation, event.object),
							translation->nodes[event.stack]);
		}
	}
	lode_calibration_settle(&translation->calibration, &translation->raw);
	return code;
}

static int translate_events(struct translation *translation, struct lode_error *error)
{
	int code = calibrate(translation, error);

	for (size_t i = 0; !code && i < lode_store_blocks(translation->store); i++)
		code = translate_block(translation, i, error);
	if (!code)
		code = write_rest(translation, translation->waiting, error);
	if (!code)
		code = write_rest(translation, translation->late, error);
	return code;
}

/* ---- all of it ---- */

static int prepare(struct translation *translation, struct lode_error *error)
{
	const struct lode_record_symbolize_options *options = translation->options;
	struct lode_process_images *images = translation->stacks->processes->images;
	size_t strings = translation->raw_dictionary.frames.strings.count;

	translation->strings = lode_alloc(strings * sizeof(*translation->strings));
	if (!translation->strings)
		return lode_fail_memory(error);
	memset(translation->strings, 0xff, strings * sizeof(*translation->strings));
	if (options->symbolizer && lode_process_images_settle(images, options->symbolizer, options->notes) < 0)
		return lode_fail_memory(error);
	if (lode_stream_copy_head(translation->stream, &translation->raw, NULL) < 0 ||
	    translate_stacks(translation) < 0)
		return lode_fail_memory(error);
	if (!options->symbolizer && lode_stream_set_attribute(translation->stream, LODE_ADDRESSES,
							      LODE_ADDRESSES_VALUE, LODE_ATTRIBUTE_TEXT) < 0)
		return lode_fail_memory(error);
	translation->seen = lode_calloc(translation->stream->dictionary->tree.count, 1);
	if (!translation->seen)
		return lode_fail_memory(error);
	translation->seen[0] = 1; /* no stack */
	if (lode_object_names_init(&translation->objects, translation->stream->dictionary, images) < 0)
		return lode_fail_memory(error);
	if (options->symbolizer)
		lode_note_unnamed(options->notes, translation->unnamed, &translation->stream->dictionary->frames);
	return 0;
}

static void finish_entry(struct translation *translation)
{
	struct lode_corpus_entry *entry = translation->entry;
	const struct lode_strings *strings = &translation->stream->dictionary->frames.strings;

	for (size_t i = 0; i < translation->stream->symptom_count; i++) {
		const struct lode_symptom *symptom = &translation->stream->symptoms[i];

		entry->first_t = symptom->t0 < entry->first_t ? symptom->t0 : entry->first_t;
		entry->last_t = symptom->t1 > entry->last_t ? symptom->t1 : entry->last_t;
	}
	if (entry->first_t > entry->last_t)
		entry->first_t = entry->last_t = 0;
	entry->name = lode_strings_get(strings, translation->stream->name);
	entry->host = lode_strings_get(strings, translation->stream->host);
	entry->threads = translation->stream->thread_count;
	entry->symptoms = translation->stream->symptom_count;
}

static int translate(struct translation *translation, const char *from, const char *to, struct lode_error *error)
{
	int code = lode_store_open(&translation->store, from, error);

	if (!code)
		code = lode_store_head(translation->store, &translation->raw, error);
	if (!code)
		code = prepare(translation, error);
	if (!code)
		code = lode_store_create(&translation->writer, to, lode_file_mode(from),
					 translation->options->jobs, error);
	if (code)
		return code;
	code = translate_events(translation, error);
	if (code) {
		lode_store_abandon(translation->writer);
		return code;
	}
	finish_entry(translation);
	return lode_store_finish(translation->writer, error);
}

static void release(struct translation *translation)
{
	lode_store_close(translation->store);
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		lode_events_release(&translation->waiting[type]);
		lode_events_release(&translation->late[type]);
	}
	lode_calibration_release(&translation->calibration);
	lode_object_names_release(&translation->objects);
	lode_buffer_release(&translation->text);
	lode_events_release(&translation->block);
	lode_stream_release(&translation->raw);
	lode_dictionary_release(&translation->raw_dictionary);
	lode_free(translation->strings);
	lode_free(translation->frames);
	lode_free(translation->inlined);
	lode_free(translation->inlined_frames);
	lode_free(translation->nodes);
	lode_free(translation->seen);
}

int lode_record_symbolize(const char *from, const char *to, struct lode_record_stacks *stacks,
			  const struct lode_record_symbolize_options *options, struct lode_stream *stream,
			  struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct translation translation = { .stacks = stacks, .options = options, .stream = stream, .entry = entry };
	int code;

	if (lode_dictionary_init(&translation.raw_dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&translation.raw, &translation.raw_dictionary);
	entry->first_t = UINT64_MAX;
	code = translate(&translation, from, to, error);
	release(&translation);
	return code;
}
