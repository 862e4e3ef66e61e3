/* JavaScript as a language (language.h): V8 of Node.js, by the files beside this one. */
#include "base/error.h"
#include "base/memory.h"
#include "process/languages/language.h"
#include "process/languages/v8_names.h"

#include <errno.h>
#include <stdio.h>

static struct lode_v8_process process_of(const struct lode_language_runtime *runtime)
{
	return (struct lode_v8_process){ runtime->binary->data, runtime->pid };
}

static int read_binary(struct lode_language_binary *binary, const struct lode_elf *elf)
{
	struct lode_v8_image *image = lode_calloc(1, sizeof(*image));
	enum lode_v8_support support = image ? lode_v8_image_read(image, elf) : LODE_V8_NONE;

	if (!image)
		return LODE_SYSTEM;
	binary->data = image;
	binary->is_supported = support == LODE_V8_SUPPORTED;
	binary->code = image->code;
	if (image->major)
		snprintf(binary->version, sizeof(binary->version), "%u.%u", image->major, image->minor);
	return support != LODE_V8_NONE;
}

/* There is nothing to compare: each object is checked when it is read. */
static enum lode_language_fit check(const struct lode_process_memory *memory, struct lode_language_runtime *runtime)
{
	unsigned char byte;

	errno = 0;
	if (!lode_process_memory_read(memory, runtime->pid, runtime->binary->code + runtime->bias, &byte,
				      sizeof(byte)) &&
	    errno == EPERM)
		return LODE_LANGUAGE_REFUSED;
	return LODE_LANGUAGE_FITS;
}

static void describe(const struct lode_language_runtime *runtime, struct lode_language_process *found)
{
	const struct lode_v8_image *image = runtime->binary->data;

	found->v8 = image->layout;
}

static int name(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		struct lode_language_facts *facts)
{
	struct lode_v8_process process = process_of(runtime);

	return lode_v8_name(memory, &process, word, path, function, &facts->line);
}

static uint64_t frame_word(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
			   uint64_t record, const struct lode_language_stack *stack)
{
	struct lode_v8_process process = process_of(runtime);
	uint64_t slots = record + (uint64_t)(int64_t)process.image->layout.frame_slots, function, context;

	if (!stack->read(stack->context, slots, &function) || !stack->read(stack->context, slots + 8, &context))
		return 0;
	return lode_v8_word(memory, &process, function, context);
}

const struct lode_language_kind lode_language_javascript = {
	.language = LODE_LANGUAGE_JAVASCRIPT,
	.name = "javascript",
	.title = "V8",
	.file = "node",
	.not_file = ".node", /* addons */
	.unfit = "its memory is not that of its version",
	.known = "those of Node.js 18 and 20 with their v8dbg_ symbols; start it with node --perf-basic-prof",
	.read = read_binary,
	.check = check,
	.describe = describe,
	.read_name = name,
	.frame_word = frame_word,
};
