/*
 * Names of PHP functions: see php_names.h.
 *
 * What the kernel saw may be gone by now: closures, and functions of scripts that are not cached, are freed with the request, and one
 * struct describes whatever is called by __call at the moment. The check in the word is made of the function's kind and the
 * addresses of its name, class and file; and texts must end where they say.
 */
#include "process/languages/php_names.h"

#include "base/ends_with.h"
#include "process/languages/java_names.h"

#include <string.h>

/* Bytes of a text that are read. */
#define TEXT_BYTES 1024
/* Bytes of a text before its characters: a count, flags, a hash and its length. */
#define TEXT_HEAD   24
#define TEXT_LENGTH 16

/* In a function, whatever its kind, and in a class. */
#define FUNCTION_NAME  8
#define FUNCTION_CLASS 16
#define CLASS_NAME     8
#define MODULE_NAME    32

#define KIND_EVAL 4

#define EVAL_END "eval()'d code"

struct source {
	const struct lode_process_memory *memory;
	const struct lode_php_image *image;
	uint32_t pid;
};

static uint64_t read_word(const struct source *source, uint64_t address)
{
	uint64_t word = 0;

	return lode_process_memory_read(source->memory, source->pid, address, &word, sizeof(word)) ? word : 0;
}

/* Appends bytes up to the first NUL: names of anonymous classes have one before the file. */
static void add_bytes(struct lode_buffer *buffer, const char *bytes, size_t size)
{
	lode_java_text(buffer, bytes, strnlen(bytes, size));
}

/* Reads up to TEXT_BYTES of a text of PHP's. Returns how many there are; 0: it is none. */
static size_t read_text(const struct source *source, uint64_t text, char *bytes)
{
	unsigned char head[TEXT_HEAD];
	uint64_t length;
	size_t wanted;

	if (!text || !lode_process_memory_read(source->memory, source->pid, text, head, sizeof(head)))
		return 0;
	memcpy(&length, head + TEXT_LENGTH, sizeof(length));
	if (!length || length > 1u << 20)
		return 0;
	/* Behind its characters a text has a NUL. */
	wanted = length < TEXT_BYTES ? length + 1 : TEXT_BYTES;
	if (!lode_process_memory_read(source->memory, source->pid, text + TEXT_HEAD, bytes, wanted))
		return 0;
	if (length >= TEXT_BYTES)
		return TEXT_BYTES;
	return bytes[length] ? 0 : length;
}

static int add_text(const struct source *source, uint64_t text, struct lode_buffer *buffer)
{
	char bytes[TEXT_BYTES];
	size_t length = read_text(source, text, bytes);

	add_bytes(buffer, bytes, length);
	return length > 0;
}

/* The file of a function, which for code of an eval is followed by where that is: "page.php(3) : eval()'d code". */
static int add_file(const struct source *source, uint64_t text, struct lode_buffer *path)
{
	char bytes[TEXT_BYTES];
	size_t length = read_text(source, text, bytes);
	const char *eval;

	if (length > strlen(EVAL_END) && lode_bytes_end_with(bytes, length, EVAL_END)) {
		eval = memmem(bytes, length, ") : ", strlen(") : "));
		for (size_t i = eval ? (size_t)(eval - bytes) : 0; i > 0; i--)
			if (bytes[i] == '(') {
				length = i;
				break;
			}
	}
	add_bytes(path, bytes, length);
	return length > 0;
}

/* The extension of a function that is written in C; the engine's own where it does not say. */
static void add_extension(const struct source *source, uint64_t module, struct lode_buffer *path)
{
	uint64_t name = module ? read_word(source, module + MODULE_NAME) : 0;
	char bytes[64];
	size_t size = name ? source->memory->read(source->memory->context, source->pid, name, bytes, sizeof(bytes))
			   : 0;

	lode_buffer_text(path, "php:");
	if (size && *bytes && memchr(bytes, '\0', size))
		add_bytes(path, bytes, size);
	else
		lode_buffer_text(path, "Core");
}

/* Returns 0 when the class or the function's name is none. */
static int add_function(const struct source *source, uint64_t name, uint64_t class, unsigned kind,
			struct lode_buffer *function)
{
	if (!name) {
		lode_buffer_text(function, kind == KIND_EVAL ? "{eval}" : "{main}");
		return 1;
	}
	if (class && !add_text(source, read_word(source, class + CLASS_NAME), function))
		return 0;
	if (class)
		lode_buffer_text(function, "::");
	return add_text(source, name, function);
}

int lode_php_name(const struct lode_process_memory *memory, const struct lode_php_image *image, uint32_t pid,
		  uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		  struct lode_language_facts *facts)
{
	struct source source = { memory, image, pid };
	uint64_t at = word & LODE_LANGUAGE_ADDRESS, name = read_word(&source, at + FUNCTION_NAME),
		 class = read_word(&source, at + FUNCTION_CLASS), file = 0;
	uint32_t first = (uint32_t)read_word(&source, at);
	unsigned kind = first & 0xff;

	if (kind != LODE_PHP_INTERNAL)
		file = read_word(&source, at + image->file);
	if (!kind || lode_php_check(first, name, class, file) != lode_language_check_of(word) ||
	    !add_function(&source, name, class, kind, function))
		return 0;
	if (kind == LODE_PHP_INTERNAL)
		add_extension(&source, read_word(&source, at + image->module), path);
	else if (!add_file(&source, file, path))
		return 0;
	else
		facts->line = (uint32_t)read_word(&source, at + image->line);
	lode_buffer_add(path, "", 1);
	lode_buffer_add(function, "", 1);
	return !path->failed && !function->failed;
}
