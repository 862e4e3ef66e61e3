/*
 * Stacks of a Java Flight Recorder file: see jfr_frames.h.
 *
 * Each distinct stack and method of a chunk is made once: the constant's memo keeps it. Stacks hold the same few methods
 * again and again, and most have the callers of the stack before: recent methods are found without their constant, and
 * only what is below the common callers is looked up in the tree.
 *
 * Methods are frames as the recorder has them (process/languages/java_names.h).
 */
#include "import/runtime/jfr_frames.h"

#include "import/module_name.h"
#include "import/runtime/jfr_packed.h"
#include "process/languages/java_names.h"

#include <string.h>

/* Longer names of classes are not kept. */
#define PREFIX_LIMIT 65536

void lode_jfr_frames_release(struct lode_jfr_frames *frames)
{
	lode_buffer_release(&frames->text);
	lode_buffer_release(&frames->file);
	lode_buffer_release(&frames->prefixes);
	lode_free(frames->frames);
	lode_free(frames->path);
	lode_free(frames->waits);
	lode_free(frames->stacks);
	memset(frames, 0, sizeof(*frames));
}

/* ---- methods ---- */

static int has_text(const struct lode_buffer *buffer, const char *text)
{
	return buffer->size && memmem(buffer->bytes, buffer->size, text, strlen(text)) != NULL;
}

/* What a frame's type says. A native method of Java is native too, but its class is no library. */
enum code { JAVA, NATIVE, CPP, KERNEL };

static enum code read_type(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			   const struct lode_jfr_value *type)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];

	lode_buffer_clear(&frames->text);
	if (lode_jfr_value_read(chunk, type, fields))
		lode_jfr_text(chunk, &fields[LODE_JFR_DESCRIPTION], &frames->text);
	return has_text(&frames->text, "Kernel")   ? KERNEL
	       : has_text(&frames->text, "C++")    ? CPP
	       : has_text(&frames->text, "Native") ? NATIVE
						   : JAVA;
}

/* Whether `text` is what async-profiler has in place of a class: a library, `[vdso]`, or nothing. */
static int is_library(const struct lode_buffer *text)
{
	return !text->size || has_text(text, ".so") || has_text(text, "[");
}

/* The name of a method's class, in `text`. */
static void read_class(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
		       const struct lode_jfr_value *type)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];

	lode_buffer_clear(&frames->text);
	if (lode_jfr_value_read(chunk, type, fields))
		lode_jfr_text(chunk, &fields[LODE_JFR_NAME], &frames->text);
}

/* The module of a class, which `text` has the name of; 0 where it has none. Then `text` is how names of its methods begin. */
static uint32_t make_class(struct lode_jfr_frames *frames)
{
	struct lode_frames *table = &frames->dictionary->frames;
	size_t known = table->module_count;
	struct lode_buffer function = { 0 };
	uint32_t module = LODE_NONE;
	const char *slash;

	if (!frames->text.size)
		return 0;
	lode_buffer_clear(&frames->file);
	lode_java_names((struct lode_java_class){ frames->text.bytes, frames->text.size }, NULL, 0, &frames->file,
			&function);
	lode_buffer_byte(&function, '.');
	if (!frames->file.failed && !function.failed) {
		slash = memrchr(frames->file.bytes, '/', frames->file.size);
		slash = slash ? slash + 1 : frames->file.bytes;
		module = lode_frames_module(table, slash, (size_t)(frames->file.bytes + frames->file.size - slash));
	}
	if (module != LODE_NONE && table->module_count > known) {
		table->modules[module].path =
			lode_strings_add(&table->strings, frames->file.bytes, frames->file.size);
		if (table->modules[module].path == LODE_NONE)
			module = LODE_NONE;
	}
	lode_buffer_clear(&frames->text);
	lode_buffer_add(&frames->text, function.size ? function.bytes : "", function.size);
	lode_buffer_release(&function);
	return module;
}

/* What is kept of a class, before the name as it begins the names of its methods. */
struct prefix {
	uint32_t module;
	uint32_t size;
};

/* Reads a class into `text`, and returns its module; made once for each class. LODE_NONE when memory has run out. */
static uint32_t read_prefix(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_value *type)
{
	struct lode_jfr_constant *constant = lode_jfr_constant_of(chunk, type, LODE_JFR_CLASSES);
	struct prefix prefix;

	if (constant && constant->memo != LODE_NONE) {
		lode_buffer_clear(&frames->text);
		memcpy(&prefix, frames->prefixes.bytes + constant->memo, sizeof(prefix));
		lode_buffer_add(&frames->text, frames->prefixes.bytes + constant->memo + sizeof(prefix),
				prefix.size);
		return prefix.module;
	}
	read_class(frames, chunk, type);
	prefix.module = make_class(frames);
	if (!constant || frames->text.failed || prefix.module == LODE_NONE || frames->text.size > PREFIX_LIMIT ||
	    frames->prefixes.size > LODE_NONE - 2 * PREFIX_LIMIT)
		return prefix.module;
	prefix.size = (uint32_t)frames->text.size;
	constant->memo = (uint32_t)frames->prefixes.size;
	lode_buffer_add(&frames->prefixes, &prefix, sizeof(prefix));
	lode_buffer_add(&frames->prefixes, frames->text.size ? frames->text.bytes : "", prefix.size);
	if (frames->prefixes.failed)
		constant->memo = LODE_NONE;
	return prefix.module;
}

static uint32_t add_java(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk, uint32_t module,
			 const struct lode_jfr_value *name)
{
	lode_jfr_text(chunk, name, &frames->text);
	if (frames->text.failed || module == LODE_NONE)
		return LODE_NONE;
	return lode_frames_add(&frames->dictionary->frames, module,
			       frames->text.size ? frames->text.bytes : "[unknown]",
			       frames->text.size ? frames->text.size : 9);
}

static uint32_t add_native(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			   const struct lode_jfr_value *name, int kernel)
{
	struct lode_frames *table = &frames->dictionary->frames;
	uint32_t module = kernel ? lode_module_from_file(table, "[kernel]", 8)
				 : lode_module_from_file(table, frames->text.size ? frames->text.bytes : "",
							 frames->text.size);

	lode_buffer_clear(&frames->text);
	lode_jfr_text(chunk, name, &frames->text);
	if (module == LODE_NONE || frames->text.failed)
		return LODE_NONE;
	return lode_frames_add(table, module, frames->text.size ? frames->text.bytes : "[unknown]",
			       frames->text.size ? frames->text.size : 9);
}

static enum code find_type(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			   const struct lode_jfr_value *type)
{
	struct lode_jfr_constant *constant = lode_jfr_constant_of(chunk, type, LODE_JFR_FRAME_TYPES);

	if (!constant)
		return read_type(frames, chunk, type);
	if (constant->memo == LODE_NONE)
		constant->memo = read_type(frames, chunk, type);
	return (enum code)constant->memo;
}

static uint32_t make_method(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_constant *method, const struct lode_jfr_value *type)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
	enum code code = find_type(frames, chunk, type);

	lode_jfr_constant_read(chunk, method, fields);
	if (code != JAVA) {
		read_class(frames, chunk, &fields[LODE_JFR_TYPE]);
		if (code >= CPP || is_library(&frames->text))
			return add_native(frames, chunk, &fields[LODE_JFR_NAME], code == KERNEL);
	}
	return add_java(frames, chunk, read_prefix(frames, chunk, &fields[LODE_JFR_TYPE]), &fields[LODE_JFR_NAME]);
}

static uint32_t find_method(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_value *fields)
{
	struct lode_jfr_constant *constant =
		lode_jfr_constant_of(chunk, &fields[LODE_JFR_METHOD], LODE_JFR_METHODS);

	if (!constant)
		return lode_frames_add(&frames->dictionary->frames, 0, "[unknown]", 9);
	if (constant->memo == LODE_NONE)
		constant->memo = make_method(frames, chunk, constant, &fields[LODE_JFR_TYPE]);
	return constant->memo;
}

/* ---- frames ---- */

/* A list of frames that is being read. */
struct frame_list {
	const struct lode_jfr_class *class_;
	struct lode_cursor at;
	unsigned packed; /* if not 0, a frame is this many packed numbers, and the first is its method */
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
};

static struct lode_jfr_recent *recent_of(struct lode_jfr_frames *frames, uint64_t bytes)
{
	return &frames->recent[bytes * 0x9e3779b97f4a7c15u >> (64 - LODE_JFR_RECENT_BITS)];
}

/* The keys of another chunk or class mean other methods. */
static void begin_round(struct lode_jfr_frames *frames, const struct lode_jfr_chunk *chunk, uint32_t class_)
{
	if (frames->round_chunk == chunk->number && frames->round_class == class_)
		return;
	if (frames->round_chunk != chunk->number)
		lode_buffer_clear(&frames->prefixes);
	frames->round_chunk = chunk->number;
	frames->round_class = class_;
	if (++frames->round)
		return;
	memset(frames->recent, 0, sizeof(frames->recent));
	frames->round = 1;
}

/*
 * Reads frames of `packed` numbers whose methods are recent ones, up to the first that is not so, or needs a closer look.
 * Returns how many.
 */
static inline __attribute__((always_inline)) uint32_t recall_packed(struct lode_jfr_frames *frames,
								    struct lode_cursor *cursor, unsigned packed,
								    uint32_t *ids, uint32_t count)
{
	const unsigned char *at = cursor->next, *end = cursor->end;
	uint32_t read = 0, round = frames->round;
	uint64_t word, bytes = 0;

	for (; read < count && end - at >= (ptrdiff_t)sizeof(word); read++) {
		const struct lode_jfr_recent *recent;
		unsigned size;

		memcpy(&word, at, sizeof(word));
		size = lode_jfr_first_bytes(word, packed, &bytes);
		recent = recent_of(frames, bytes);
		if (!size || recent->bytes != bytes || recent->round != round)
			break;
		ids[read] = recent->frame;
		at += size;
	}
	cursor->next = at;
	return read;
}

static uint32_t recall_frames(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			      struct frame_list *list, uint32_t *ids, uint32_t count)
{
	uint32_t read;

	if (!list->packed)
		return 0;
	if (count > chunk->budget / list->packed)
		count = (uint32_t)(chunk->budget / list->packed);
	if (list->packed == 4) /* method, line, index and type: what all recorders write */
		read = recall_packed(frames, &list->at, 4, ids, count);
	else
		read = recall_packed(frames, &list->at, list->packed, ids, count);
	chunk->budget -= (uint64_t)read * list->packed;
	return read;
}

/* Reads the next frame whole. Returns 0 where it is damaged, and *frame LODE_NONE when memory has run out. */
static int read_frame(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk, struct frame_list *list,
		      uint32_t *frame)
{
	uint64_t word, bytes = 0;
	int is_short = 0;

	if (list->packed && lode_cursor_left(&list->at) >= sizeof(word)) {
		memcpy(&word, list->at.next, sizeof(word));
		is_short = lode_jfr_first_bytes(word, list->packed, &bytes) != 0;
	}
	if (!lode_jfr_object_again(chunk, list->class_, &list->at, list->fields))
		return 0;
	*frame = find_method(frames, chunk, list->fields);
	if (is_short)
		*recent_of(frames, bytes) = (struct lode_jfr_recent){ bytes, frames->round, *frame };
	return 1;
}

/* ---- stacks ---- */

/* Reads the frames, leaf first, up to the limit. Returns how many, or LODE_NONE when memory has run out. */
static uint32_t read_frames(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_value *value)
{
	struct frame_list list;
	uint64_t count = lode_jfr_list(chunk, value, &list.at);
	uint32_t read = 0;

	if (!count)
		return 0;
	if (count > LODE_STACK_DEPTH_LIMIT) {
		count = LODE_STACK_DEPTH_LIMIT;
		frames->cut++;
	}
	if (lode_grow(&frames->frames, &frames->frame_capacity, count, sizeof(*frames->frames)) < 0)
		return LODE_NONE;
	list.class_ = &chunk->classes[value->class_];
	list.packed = list.class_->packed && chunk->fields[list.class_->first].slot == LODE_JFR_METHOD
			      ? list.class_->packed
			      : 0;
	begin_round(frames, chunk, value->class_);
	memset(list.fields, 0, sizeof(list.fields));
	while (read < count) {
		uint32_t frame;

		read += recall_frames(frames, chunk, &list, frames->frames + read, (uint32_t)count - read);
		if (read == count || !read_frame(frames, chunk, &list, &frame))
			break;
		if (frame == LODE_NONE)
			return LODE_NONE;
		frames->frames[read++] = frame;
	}
	return read;
}

/* The node of the `count` frames that were read; LODE_NONE when memory has run out. */
static uint32_t add_stack(struct lode_jfr_frames *frames, uint32_t count)
{
	struct lode_jfr_path *path;
	uint32_t depth = 0, node;

	if (lode_grow(&frames->path, &frames->path_capacity, (size_t)count + 1, sizeof(*frames->path)) < 0)
		return LODE_NONE;
	path = frames->path;
	while (depth < count && depth < frames->path_depth && path[depth].frame == frames->frames[count - 1 - depth])
		depth++;
	node = depth ? path[depth - 1].node : 0;
	for (; depth < count && node != LODE_NONE; depth++) {
		uint32_t frame = frames->frames[count - 1 - depth];

		node = lode_stack_tree_child(&frames->dictionary->tree, node, frame);
		path[depth] = (struct lode_jfr_path){ frame, node };
	}
	frames->path_depth = node == LODE_NONE ? 0 : depth;
	return node;
}

static int make_stack(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
		      const struct lode_jfr_value *value, uint32_t *stack, int *truncated)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
	uint32_t count;

	*stack = 0;
	*truncated = 0;
	if (!lode_jfr_value_read(chunk, value, fields))
		return 0;
	count = read_frames(frames, chunk, &fields[LODE_JFR_FRAMES]);
	if (count == LODE_NONE)
		return LODE_SYSTEM;
	*stack = add_stack(frames, count);
	*truncated = fields[LODE_JFR_TRUNCATED].number != 0;
	return *stack == LODE_NONE ? LODE_SYSTEM : 0;
}

int lode_jfr_frames_stack(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			  const struct lode_jfr_value *value, uint32_t *stack, int *truncated)
{
	struct lode_jfr_constant *constant = lode_jfr_constant_of(chunk, value, LODE_JFR_STACK_TRACES);

	*stack = 0;
	*truncated = 0;
	if (!constant)
		return 0;
	if (constant->memo == LODE_NONE) {
		if (make_stack(frames, chunk, value, stack, truncated) < 0 || frames->stack_count >= LODE_NONE - 1 ||
		    LODE_APPEND(frames->stacks, frames->stack_count, frames->stack_capacity,
				(struct lode_jfr_stack){ *stack, *truncated }) < 0)
			return LODE_SYSTEM;
		constant->memo = (uint32_t)frames->stack_count - 1;
	}
	*stack = frames->stacks[constant->memo].stack;
	*truncated = frames->stacks[constant->memo].truncated;
	return 0;
}

/* Native methods in which a thread waits for something outside of it. */
static int is_wait(const struct lode_jfr_frames *frames, uint32_t frame)
{
	static const char *const methods[] = { "poll",      "epollWait", "wait",   "accept",
					       "accept0",   "read",      "read0",  "socketRead0",
					       "readBytes", "park",      "sleep",  "select",
					       "connect",   "connect0",  "wait0",  "sleep0",
					       "poll0",     "pollArray", "kevent", "waitForProcessExit0" };
	const char *name = lode_frames_function(&frames->dictionary->frames, frame), *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (!strcmp(name, methods[i]))
			return 1;
	return 0;
}

int lode_jfr_frames_waits(struct lode_jfr_frames *frames, uint32_t stack)
{
	size_t frame = frames->dictionary->tree.nodes[stack].frame;

	if (!stack)
		return 0;
	if (frame >= frames->waits_count) {
		if (lode_grow(&frames->waits, &frames->waits_capacity, frame + 1, sizeof(*frames->waits)) < 0)
			return LODE_SYSTEM;
		memset(frames->waits + frames->waits_count, 0, frame + 1 - frames->waits_count);
		frames->waits_count = frame + 1;
	}
	if (!frames->waits[frame])
		frames->waits[frame] = is_wait(frames, (uint32_t)frame) ? 2 : 1;
	return frames->waits[frame] == 2;
}
