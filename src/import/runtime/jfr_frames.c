/*
 * Stacks of a Java Flight Recorder file: see jfr_frames.h.
 *
 * Each distinct stack and method of a chunk is made once: the constant's memo keeps it.
 *
 * The names of classes that the virtual machine makes for lambdas hold an address or a
 * number that differs from run to run; it is left out, so that the same method joins.
 */
#include "import/runtime/jfr_frames.h"

#include "import/module_name.h"

#include <string.h>

void lode_jfr_frames_release(struct lode_jfr_frames *frames)
{
	lode_buffer_release(&frames->text);
	lode_free(frames->frames);
	lode_free(frames->stacks);
	memset(frames, 0, sizeof(*frames));
}

/* ---- methods ---- */

static int has_text(const struct lode_buffer *buffer, const char *text)
{
	return buffer->size && memmem(buffer->bytes, buffer->size, text, strlen(text)) != NULL;
}

/* Cuts `$$Lambda$14+0x0000000800c03000.123`, `LambdaForm$MH.0x000000080012` and the like before what varies. */
static void drop_varying(struct lode_buffer *name)
{
	char *lambda = memmem(name->bytes, name->size, "$$Lambda", 8), *number;

	if (lambda) {
		name->size = (size_t)(lambda + 8 - name->bytes);
		return;
	}
	number = memmem(name->bytes, name->size, "0x0000", 6);
	if (number && number > name->bytes && strchr("+./", number[-1]))
		name->size = (size_t)(number - 1 - name->bytes);
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

/* The name of a method's class, in `text`: of Java with dots for slashes. */
static void read_class(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
		       const struct lode_jfr_value *type)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];

	lode_buffer_clear(&frames->text);
	if (lode_jfr_value_read(chunk, type, fields))
		lode_jfr_text(chunk, &fields[LODE_JFR_NAME], &frames->text);
}

/* `text` holds the name of the class. */
static uint32_t add_java(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			 const struct lode_jfr_value *name)
{
	if (frames->text.size) {
		drop_varying(&frames->text);
		for (size_t i = 0; i < frames->text.size; i++)
			if (frames->text.bytes[i] == '/')
				frames->text.bytes[i] = '.';
		lode_buffer_byte(&frames->text, '.');
	}
	lode_jfr_text(chunk, name, &frames->text);
	if (frames->text.failed)
		return LODE_NONE;
	return lode_frames_add(&frames->dictionary->frames, 0, frames->text.size ? frames->text.bytes : "[unknown]",
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

static uint32_t make_method(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_value *method, const struct lode_jfr_value *type)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
	enum code code = read_type(frames, chunk, type);

	lode_jfr_value_read(chunk, method, fields);
	read_class(frames, chunk, &fields[LODE_JFR_TYPE]);
	if (code >= CPP || (code == NATIVE && is_library(&frames->text)))
		return add_native(frames, chunk, &fields[LODE_JFR_NAME], code == KERNEL);
	return add_java(frames, chunk, &fields[LODE_JFR_NAME]);
}

static uint32_t find_method(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_value *fields)
{
	struct lode_jfr_constant *constant =
		lode_jfr_constant_of(chunk, &fields[LODE_JFR_METHOD], LODE_JFR_METHODS);

	if (!constant)
		return lode_frames_add(&frames->dictionary->frames, 0, "[unknown]", 9);
	if (constant->memo == LODE_NONE)
		constant->memo = make_method(frames, chunk, &fields[LODE_JFR_METHOD], &fields[LODE_JFR_TYPE]);
	return constant->memo;
}

/* ---- stacks ---- */

/* Native methods in which a thread waits for something outside of it. */
static int blocks(const struct lode_jfr_frames *frames, uint32_t frame)
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

/* Reads the frames, leaf first, up to the limit. Returns how many, or LODE_NONE when memory has run out. */
static uint32_t read_frames(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			    const struct lode_jfr_value *value)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS] = { { 0 } };
	struct lode_cursor list;
	uint64_t count = lode_jfr_list(chunk, value, &list);
	uint32_t read = 0;

	if (count > LODE_STACK_DEPTH_LIMIT) {
		count = LODE_STACK_DEPTH_LIMIT;
		frames->cut++;
	}
	if (count && lode_grow(&frames->frames, &frames->frame_capacity, count, sizeof(*frames->frames)) < 0)
		return LODE_NONE;
	while (read < count && lode_jfr_object_again(chunk, &chunk->classes[value->class_], &list, fields)) {
		uint32_t frame = find_method(frames, chunk, fields);

		if (frame == LODE_NONE)
			return LODE_NONE;
		frames->frames[read++] = frame;
	}
	return read;
}

static int make_stack(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
		      const struct lode_jfr_value *value, uint32_t *stack, int *flags)
{
	struct lode_jfr_value fields[LODE_JFR_SLOTS];
	uint32_t count;

	*stack = 0;
	*flags = 0;
	if (!lode_jfr_value_read(chunk, value, fields))
		return 0;
	count = read_frames(frames, chunk, &fields[LODE_JFR_FRAMES]);
	if (count == LODE_NONE)
		return LODE_SYSTEM;
	for (uint32_t i = count; i-- && *stack != LODE_NONE;)
		*stack = lode_stack_tree_child(&frames->dictionary->tree, *stack, frames->frames[i]);
	*flags = (fields[LODE_JFR_TRUNCATED].number ? LODE_JFR_STACK_TRUNCATED : 0) |
		 (count && blocks(frames, frames->frames[0]) ? LODE_JFR_STACK_BLOCKS : 0);
	return *stack == LODE_NONE ? LODE_SYSTEM : 0;
}

int lode_jfr_frames_stack(struct lode_jfr_frames *frames, struct lode_jfr_chunk *chunk,
			  const struct lode_jfr_value *value, uint32_t *stack, int *flags)
{
	struct lode_jfr_constant *constant = lode_jfr_constant_of(chunk, value, LODE_JFR_STACK_TRACES);

	*stack = 0;
	*flags = 0;
	if (!constant)
		return 0;
	if (constant->memo == LODE_NONE) {
		if (make_stack(frames, chunk, value, stack, flags) < 0 || frames->stack_count >= LODE_NONE - 1 ||
		    lode_grow(&frames->stacks, &frames->stack_capacity, frames->stack_count + 1,
			      sizeof(*frames->stacks)) < 0)
			return LODE_SYSTEM;
		frames->stacks[frames->stack_count].stack = *stack;
		frames->stacks[frames->stack_count].flags = *flags;
		constant->memo = (uint32_t)frames->stack_count++;
	}
	*stack = frames->stacks[constant->memo].stack;
	*flags = frames->stacks[constant->memo].flags;
	return 0;
}
