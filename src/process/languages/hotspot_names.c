/*
 * Names of Java methods, from the memory of their process: see hotspot_process.h.
 *
 * A Method has its name as the number of a constant of its class, and so has the class its source file. Compiled code leads to
 * its Method. All of these may be gone since a walk in the kernel saw them, and other ones there: the word has a
 * check of what was there.
 */
#include "process/languages/hotspot_process.h"

#include "process/languages/hotspot_lines.h"
#include "process/languages/hotspot_scopes.h"

#include <string.h>

struct reading {
	const struct lode_process_memory *memory;
	uint32_t pid;
	int lines; /* whether names of compiled methods get theirs */
};

static int read_bytes(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct reading *reading = context;

	return lode_process_memory_read(reading->memory, reading->pid, address, bytes, size);
}

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	return read_bytes(context, address, word, sizeof(*word));
}

#define LODE_UNWIND_READ(context, address, word)         read_word(context, address, &(word))
#define LODE_HOTSPOT_READ(context, address, bytes, size) read_bytes(context, address, bytes, size)
#define LODE_HOTSPOT_READ_STACK(context, address, word)  read_word(context, address, word)
#define LODE_HOTSPOT_METHOD_WORD                         lode_hotspot_method_word
#define LODE_HOTSPOT_HAS_LINK(state)                     ((state)->signed_returns)
#include "process/unwind_step.h"

#include "process/languages/hotspot_step.h"
#include "process/languages/java_names.h"

/* Bytes of a name. */
#define TEXT_BYTES 512
/* Constants of a class: their numbers have 16 bits. */
#define CONSTANTS 65536

struct text {
	char bytes[TEXT_BYTES];
	size_t size;
};

/* ---- what a Method says ---- */

/* A Symbol: its length in 16 bits, and as many bytes. Returns 1, or 0 when it is none. */
static int read_symbol(const struct lode_hotspot *hotspot, struct reading *reading, uint64_t symbol,
		       struct text *text)
{
	uint16_t length = 0;

	text->size = 0;
	if (!symbol || symbol & 7 ||
	    !read_bytes(reading, symbol + hotspot->offsets[LODE_HOTSPOT_SYMBOL_LENGTH], &length, sizeof(length)))
		return 0;
	text->size = length < TEXT_BYTES ? length : TEXT_BYTES;
	return length &&
	       read_bytes(reading, symbol + hotspot->offsets[LODE_HOTSPOT_SYMBOL_BODY], text->bytes, text->size);
}

/* The text of a constant that is one. */
static int read_constant(const struct lode_hotspot *hotspot, struct reading *reading, uint64_t constants,
			 uint32_t number, struct text *text)
{
	uint32_t count = 0;
	uint64_t symbol;

	text->size = 0;
	return number &&
	       read_bytes(reading, constants + hotspot->offsets[LODE_HOTSPOT_CONSTANTS_LENGTH], &count,
			  sizeof(count)) &&
	       count <= CONSTANTS && number < count &&
	       read_word(reading, constants + hotspot->sizes[LODE_HOTSPOT_CONSTANTS_SIZE] + 8ull * number,
			 &symbol) &&
	       read_symbol(hotspot, reading, symbol, text);
}

struct method {
	struct text name;
	struct text holder; /* `java/util/HashMap$Node` */
	struct text source; /* `HashMap.java`; empty: not known */
};

static int read_method(const struct lode_hotspot *hotspot, struct reading *reading, uint64_t const_method,
		       struct method *method)
{
	const uint32_t *offsets = hotspot->offsets;
	uint64_t constants, holder, symbol;
	uint16_t number = 0, source = 0;

	if (!read_word(reading, const_method + offsets[LODE_HOTSPOT_CONST_CONSTANTS], &constants) ||
	    !read_bytes(reading, const_method + offsets[LODE_HOTSPOT_CONST_NAME], &number, sizeof(number)) ||
	    !read_constant(hotspot, reading, constants, number, &method->name) ||
	    !read_word(reading, constants + offsets[LODE_HOTSPOT_CONSTANTS_HOLDER], &holder) ||
	    !read_word(reading, holder + offsets[LODE_HOTSPOT_KLASS_NAME], &symbol) ||
	    !read_symbol(hotspot, reading, symbol, &method->holder))
		return 0;
	if (!read_bytes(reading, constants + offsets[LODE_HOTSPOT_CONSTANTS_SOURCE], &source, sizeof(source)) ||
	    !read_constant(hotspot, reading, constants, source, &method->source))
		method->source.size = 0;
	return 1;
}

/* ---- texts ---- */

static void add_names(const struct method *method, struct lode_buffer *path, struct lode_buffer *function)
{
	struct lode_java_class holder = { method->holder.bytes, method->holder.size };

	lode_java_names(holder, method->source.bytes, method->source.size, path, function);
	lode_buffer_text(function, ".");
	lode_java_text(function, method->name.bytes, method->name.size);
}

/* ---- words ---- */

/* `line`: 0: without one. */
static int name_method(const struct lode_hotspot *hotspot, struct reading *reading, uint64_t const_method,
		       uint32_t line, struct lode_buffer *path, struct lode_buffer *function)
{
	struct method method;

	if (!read_method(hotspot, reading, const_method, &method))
		return 0;
	add_names(&method, path, function);
	if (line)
		lode_buffer_print(function, ":%u", line);
	lode_buffer_add(path, "", 1);
	lode_buffer_add(function, "", 1);
	return 1;
}

/* The method that was compiled, and before it those that are inlined at `pc`. */
static int name_compiled(const struct lode_hotspot *hotspot, struct reading *reading,
			 const struct lode_hotspot_walk *walk, uint64_t pc, struct lode_buffer *path,
			 struct lode_buffer *function)
{
	struct lode_hotspot_scope scopes[LODE_HOTSPOT_SCOPES];
	uint64_t start = lode_hotspot_field(walk, hotspot->code.blob_code_start), const_method;
	uint32_t count = lode_hotspot_scopes(hotspot, reading->memory, walk->at, start, pc, scopes), line;
	int has_lines = reading->lines && count;

	if (!count)
		scopes[count++].method = lode_hotspot_field(walk, hotspot->code.blob_method);
	for (uint32_t i = 0; i < count; i++) {
		if (!scopes[i].method ||
		    !read_word(reading, scopes[i].method + hotspot->code.method_const, &const_method))
			return 0;
		line = has_lines ? lode_hotspot_line(hotspot, reading->memory, const_method, scopes[i].bytecode)
				 : 0;
		if (!name_method(hotspot, reading, const_method, line, path, function))
			return 0;
	}
	return 1;
}

/* `RuntimeStub - _new_array_Java` is <_new_array_Java>, `StubRoutines (2)` is <StubRoutines>. */
static void name_stub(struct reading *reading, uint64_t address, struct lode_buffer *path,
		      struct lode_buffer *function)
{
	char name[64] = "";
	const char *start, *dash;

	reading->memory->read(reading->memory->context, reading->pid, address, name, sizeof(name) - 1);
	dash = strstr(name, " - ");
	start = dash ? dash + 3 : name;
	lode_buffer_text(path, "libjvm.so");
	lode_buffer_text(function, "<");
	lode_java_text(function, *start ? start : "stub", *start ? strcspn(start, " ") : 4);
	lode_buffer_text(function, ">");
	lode_buffer_add(path, "", 1);
	lode_buffer_add(function, "", 1);
}

static int name_code(const struct lode_hotspot *hotspot, struct reading *reading, uint64_t word,
		     struct lode_buffer *path, struct lode_buffer *function)
{
	uint64_t pc = word & LODE_LANGUAGE_ADDRESS;
	struct lode_hotspot_walk walk;

	/* A return address may be the first byte behind the code. */
	if (!lode_hotspot_read_blob(&hotspot->code, &walk, pc, reading) &&
	    !lode_hotspot_read_blob(&hotspot->code, &walk, pc - 1, reading))
		return 0;
	if (!lode_hotspot_is_compiled(&walk)) {
		name_stub(reading, lode_hotspot_field(&walk, hotspot->code.blob_name), path, function);
		return 1;
	}
	return lode_hotspot_code_word(&hotspot->code, pc, &walk) == word &&
	       name_compiled(hotspot, reading, &walk, pc, path, function);
}

static int name_interpreted(const struct lode_hotspot *hotspot, struct reading *reading, uint64_t word,
			    struct lode_buffer *path, struct lode_buffer *function)
{
	uint64_t method = word & LODE_LANGUAGE_ADDRESS, const_method;

	return lode_hotspot_method_word(&hotspot->code, method, reading) == word &&
	       read_word(reading, method + hotspot->code.method_const, &const_method) &&
	       name_method(hotspot, reading, const_method, 0, path, function);
}

int lode_hotspot_name(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory, uint64_t word,
		      int lines, struct lode_buffer *path, struct lode_buffer *function)
{
	struct reading reading = { memory, hotspot->pid, lines };
	int found = lode_hotspot_is_code(&hotspot->code, word & LODE_LANGUAGE_ADDRESS)
			    ? name_code(hotspot, &reading, word, path, function)
			    : name_interpreted(hotspot, &reading, word, path, function);

	return found && !path->failed && !function->failed;
}
