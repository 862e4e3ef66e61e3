/* Python as a language (language.h): CPython, by the files beside this one. */
#include "process/languages/language.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/proc_files.h"
#include "process/languages/python_lines.h"
#include "process/languages/python_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lode_python_process process_of(const struct lode_language_runtime *runtime)
{
	return (struct lode_python_process){ runtime->binary->data, runtime->bias, runtime->pid };
}

static int read_binary(struct lode_language_binary *binary, const struct lode_elf *elf)
{
	struct lode_python_image *image = lode_calloc(1, sizeof(*image));
	enum lode_python_support support = image ? lode_python_image_read(image, elf) : LODE_PYTHON_NONE;

	if (!image)
		return LODE_SYSTEM;
	binary->data = image;
	binary->is_supported = support == LODE_PYTHON_SUPPORTED;
	binary->code = image->starts[0];
	if (image->version)
		snprintf(binary->version, sizeof(binary->version), "%u.%u", image->version >> 24,
			 image->version >> 16 & 0xff);
	return support != LODE_PYTHON_NONE;
}

/* ---- checking ---- */

/* Threads of a process that are compared with those that its interpreter lists. */
#define THREADS 256

struct numbers {
	uint32_t pid;
	uint64_t items[THREADS];
	size_t count;
};

/* The number of a thread in its innermost PID namespace: the last one of a list. */
static uint64_t innermost_number(uint32_t pid, uint32_t tid)
{
	char text[4096], *at, *end;
	uint64_t number = tid;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/task/%u/status", pid, tid) < 0)
		return tid;
	at = strstr(text, "\nNSpid:");
	for (at = at ? at + strlen("\nNSpid:") : text; *at == '\t'; at = end) {
		uint64_t next = strtoul(at, &end, 10);

		if (end == at)
			break;
		number = next;
	}
	return number;
}

static int note_number(void *context, uint32_t tid)
{
	struct numbers *numbers = context;

	numbers->items[numbers->count++] = innermost_number(numbers->pid, tid);
	return numbers->count == THREADS;
}

static enum lode_language_fit check(const struct lode_process_memory *memory, struct lode_language_runtime *runtime)
{
	struct lode_python_process process = process_of(runtime);
	struct numbers numbers = { .pid = process.pid };
	uint64_t head;

	errno = 0;
	if (!lode_process_memory_read(memory, process.pid, process.image->interpreters + process.bias, &head,
				      sizeof(head)) &&
	    errno == EPERM)
		return LODE_LANGUAGE_REFUSED;
	lode_proc_threads(process.pid, note_number, &numbers);
	return lode_python_fits(memory, &process, numbers.items, numbers.count) ? LODE_LANGUAGE_FITS
										: LODE_LANGUAGE_UNFIT;
}

/* ---- using ---- */

static void describe(const struct lode_language_runtime *runtime, struct lode_language_process *found)
{
	const struct lode_python_image *image = runtime->binary->data;

	found->interpreters = image->interpreters + runtime->bias;
	found->layout = image->layout;
	for (int i = 0; i < LODE_PYTHON_PARTS; i++) {
		found->starts[i] = image->starts[i] ? image->starts[i] + runtime->bias : 0;
		found->ends[i] = image->ends[i] ? image->ends[i] + runtime->bias : 0;
	}
}

static void describe_positions(const struct lode_language_runtime *runtime, struct lode_language_process *found)
{
	const struct lode_python_image *image = runtime->binary->data;

	found->layout.frame_position = image->lines.frame_position;
}

static uint32_t line(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		     uint64_t word, uint64_t position)
{
	struct lode_python_process process = process_of(runtime);

	return lode_python_line(memory, &process, word, position);
}

static int name(const struct lode_process_memory *memory, const struct lode_language_runtime *runtime,
		uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		struct lode_language_facts *facts)
{
	struct lode_python_process process = process_of(runtime);

	return lode_python_name(memory, &process, word, path, function, facts);
}

const struct lode_language_kind lode_language_python = {
	.language = LODE_LANGUAGE_PYTHON,
	.name = "python",
	.title = "CPython",
	.file = "python",
	.not_file = ".cpython-", /* extensions */
	.unfit = "its threads are not where its version has them",
	.known = "3.11 to 3.14, with a global lock",
	.read = read_binary,
	.check = check,
	.describe = describe,
	.describe_positions = describe_positions,
	.read_line = line,
	.read_name = name,
};
