/*
 * Names of Python functions: see python_names.h.
 *
 * A code object that a walk in the kernel saw may be gone by now, and its memory may hold anything. Its type tells: it
 * must be that of code objects, and those of its texts must look like texts.
 */
#include "process/languages/python_names.h"

#include "base/utf8.h"

#include <string.h>

/* Bytes and characters of a text that are read. */
#define TEXT_BYTES      2048
#define TEXT_CHARACTERS 448
/* Most texts are shorter. */
#define SHORT_BYTES 160
/* Where all versions have the flags of a code object (co_flags), and those of coroutines, generators that are awaited, and async generators. */
#define CODE_FLAGS      48
#define COROUTINE_FLAGS 0x380

uint64_t lode_python_word_at(const unsigned char *bytes, size_t size, uint32_t offset)
{
	uint64_t word = 0;

	if (size >= sizeof(word) && offset <= size - sizeof(word))
		memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* A character of `width` bytes. */
static uint32_t character_at(const unsigned char *bytes, uint32_t width, size_t i)
{
	uint32_t code = 0;

	memcpy(&code, bytes + i * width, width);
	return code;
}

/* What would change how a line reads is left out. */
static void add_character(struct lode_buffer *buffer, uint32_t code)
{
	if (code < 0x20 || code == 0x7f || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
		lode_buffer_text(buffer, "?");
	else
		lode_utf8_append(buffer, code);
}

/* Appends a text object. Returns 1, or 0 when it is none. */
static int add_text(const struct lode_process_memory *memory, const struct lode_python_process *process,
		    uint64_t text, struct lode_buffer *buffer)
{
	const struct lode_python_objects *objects = &process->image->objects;
	unsigned char bytes[TEXT_BYTES];
	size_t size = text ? memory->read(memory->context, process->pid, text, bytes, SHORT_BYTES) : 0;
	uint64_t length = lode_python_word_at(bytes, size, objects->text_length);
	uint32_t state = (uint32_t)lode_python_word_at(bytes, size, objects->text_state) >> 2;
	uint32_t width = state & 7, start = state >> 4 & 1 ? objects->text_ascii : objects->text_other;

	/* Text that is not compact is in other memory; CPython makes no names like that. */
	if (!(state >> 3 & 1) || (width != 1 && width != 2 && width != 4) || !length || size <= start)
		return 0;
	if (length > TEXT_CHARACTERS)
		length = TEXT_CHARACTERS;
	if (length * width > size - start)
		size = memory->read(memory->context, process->pid, text, bytes, start + length * width);
	if (size < start || length * width > size - start)
		return 0;
	for (size_t i = 0; i < length; i++)
		add_character(buffer, character_at(bytes + start, width, i));
	lode_buffer_add(buffer, "", 1);
	return !buffer->failed;
}

int lode_python_code(const struct lode_process_memory *memory, const struct lode_python_process *process,
		     uint64_t word, struct lode_python_code *code)
{
	const struct lode_python_objects *objects = &process->image->objects;

	code->size = memory->read(memory->context, process->pid, word & LODE_LANGUAGE_ADDRESS, code->bytes,
				  sizeof(code->bytes));
	code->filename = lode_python_word_at(code->bytes, code->size, objects->code_filename);
	code->name = lode_python_word_at(code->bytes, code->size, objects->code_name);
	code->line = (uint32_t)lode_python_word_at(code->bytes, code->size, objects->code_line);
	/* Else another one took its place. */
	return lode_python_word_at(code->bytes, code->size, objects->object_type) ==
		       process->image->code_type + process->bias &&
	       lode_python_check(code->filename, code->name, code->line) == lode_language_check_of(word);
}

int lode_python_name(const struct lode_process_memory *memory, const struct lode_python_process *process,
		     uint64_t word, struct lode_buffer *path, struct lode_buffer *function,
		     struct lode_language_facts *facts)
{
	struct lode_python_code code;

	if (!lode_python_code(memory, process, word, &code))
		return 0;
	facts->line = code.line;
	facts->is_coroutine = (lode_python_word_at(code.bytes, code.size, CODE_FLAGS) & COROUTINE_FLAGS) != 0;
	return add_text(memory, process, code.filename, path) && add_text(memory, process, code.name, function);
}
