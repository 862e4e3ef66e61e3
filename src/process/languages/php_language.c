/* PHP as a language (language.h), by the files beside this one. */
#include "base/error.h"
#include "base/memory.h"
#include "process/languages/language.h"
#include "process/languages/php_names.h"

#include <errno.h>
#include <stdio.h>

static int read_binary(struct lode_language_binary *binary, const struct lode_elf *elf)
{
	struct lode_php_image *image = lode_calloc(1, sizeof(*image));
	enum lode_php_support support = image ? lode_php_image_read(image, elf) : LODE_PHP_NONE;

	if (!image)
		return LODE_SYSTEM;
	binary->data = image;
	binary->is_supported = support == LODE_PHP_SUPPORTED;
	binary->code = image->starts[0];
	if (image->major)
		snprintf(binary->version, sizeof(binary->version), "%u.%u", image->major, image->minor);
	return support != LODE_PHP_NONE;
}

/* Between two requests there is no frame to compare: what describes a function is checked when it is read. */
static enum lode_language_fit check(const struct lode_process_memory *memory, struct lode_language_runtime *runtime)
{
	const struct lode_php_image *image = runtime->binary->data;
	uint64_t frame;

	errno = 0;
	if (!lode_process_memory_read(memory, runtime->pid, image->frame + runtime->bias, &frame, sizeof(frame)) &&
	    errno == EPERM)
		return LODE_LANGUAGE_REFUSED;
	return LODE_LANGUAGE_FITS;
}

static void describe(const struct lode_language_runtime *runtime, struct lode_language_process *found)
{
	const struct lode_php_image *image = runtime->binary->data;

	found->interpreters = image->frame + runtime->bias;
	found->layout = image->layout;
	for (int i = 0; i < LODE_PYTHON_PARTS; i++) {
		found->starts[i] = image->starts[i] ? image->starts[i] + runtime->bias : 0;
		found->ends[i] = image->ends[i] ? image->ends[i] + runtime->bias : 0;
	}
}

static int name(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		struct lode_language_facts *facts)
{
	return lode_php_name(memory, runtime->binary->data, runtime->pid, word, path, function, facts);
}

static int runs_code(const struct lode_language_runtime *runtime, uint64_t address)
{
	const struct lode_php_image *image = runtime->binary->data;
	uint64_t at = address - runtime->bias;

	for (int i = 0; i < LODE_PYTHON_PARTS; i++)
		if (at - image->starts[i] < image->ends[i] - image->starts[i])
			return 1;
	return 0;
}

const struct lode_language_kind lode_language_php = {
	.language = LODE_LANGUAGE_PHP,
	.name = "php",
	.title = "PHP",
	.file = "php",
	.not_file = ".php", /* phars, mapped */
	.unfit = "its memory is not that of its version",
	.known = "8.0 to 8.4 without threads",
	.read = read_binary,
	.check = check,
	.describe = describe,
	.read_name = name,
	.runs_code = runs_code,
};
