/* Java as a language (language.h): HotSpot, by the files beside this one. */
#include "process/languages/language.h"

#include "base/error.h"
#include "base/memory.h"
#include "process/languages/hotspot_lines.h"

#include <errno.h>
#include <stdio.h>

static int read_binary(struct lode_language_binary *binary, const struct lode_elf *elf)
{
	struct lode_hotspot_image *image = lode_calloc(1, sizeof(*image));
	int support = image ? lode_hotspot_image_read(image, elf) : LODE_SYSTEM;

	binary->data = image;
	if (support < 0)
		return support;
	binary->is_supported = support == LODE_HOTSPOT_SUPPORTED;
	binary->code = image->code;
	if (image->version)
		snprintf(binary->version, sizeof(binary->version), "%u", image->version);
	return support != LODE_HOTSPOT_NONE;
}

static enum lode_language_fit check(const struct lode_process_memory *memory, struct lode_language_runtime *runtime)
{
	const struct lode_hotspot_image *image = runtime->binary->data;
	struct lode_hotspot *hotspot = lode_calloc(1, sizeof(*hotspot));
	enum lode_hotspot_state state;
	uint64_t word;

	if (!hotspot)
		return LODE_LANGUAGE_EARLY;
	errno = 0;
	if (!lode_process_memory_read(memory, runtime->pid, image->rows[0] + runtime->bias, &word, sizeof(word)) &&
	    errno == EPERM) {
		lode_free(hotspot);
		return LODE_LANGUAGE_REFUSED;
	}
	state = lode_hotspot_read(hotspot, memory, image, runtime->bias, runtime->pid);
	if (state == LODE_HOTSPOT_READY) {
		runtime->data = hotspot;
		return LODE_LANGUAGE_FITS;
	}
	lode_free(hotspot);
	return state == LODE_HOTSPOT_EARLY ? LODE_LANGUAGE_EARLY : LODE_LANGUAGE_UNFIT;
}

static void describe(const struct lode_language_runtime *runtime, struct lode_language_process *found)
{
	const struct lode_hotspot *hotspot = runtime->data;

	if (hotspot)
		found->hotspot = hotspot->code;
}

static void describe_positions(const struct lode_language_runtime *runtime, struct lode_language_process *found)
{
	struct lode_hotspot *hotspot = runtime->data;

	if (hotspot)
		hotspot->code.sends_bytecodes = found->hotspot.sends_bytecodes = 1;
}

static uint32_t read_line(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
			  uint64_t word, uint64_t position)
{
	return runtime->data ? lode_hotspot_position_line(runtime->data, memory, word, position) : 0;
}

static int name(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		struct lode_language_facts *facts)
{
	facts->line = 0;
	return runtime->data &&
	       lode_hotspot_name(runtime->data, memory, word, runtime->wants_lines, path, function);
}

static int leave(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		 const struct lode_language_stack *stack, struct lode_unwind_state *state, uint64_t *word,
		 uint64_t *position)
{
	return runtime->data ? lode_hotspot_leave(runtime->data, memory, stack, state, word, position)
			     : LODE_LANGUAGE_NOT_ITS_CODE;
}

const struct lode_language_kind lode_language_java = {
	.language = LODE_LANGUAGE_JAVA,
	.name = "java",
	.title = "HotSpot",
	.file = "libjvm.so",
	.not_file = ".debug",
	.unfit = "what it says of its code and its structs makes no sense",
	.known = "OpenJDK 17 to 21",
	.read = read_binary,
	.check = check,
	.describe = describe,
	.describe_positions = describe_positions,
	.read_line = read_line,
	.read_name = name,
	.leave = leave,
};
