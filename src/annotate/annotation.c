/* Annotation: see annotation.h. */
#include "annotate/annotation.h"

#include "annotate/disassembly.h"
#include "base/memory.h"
#include "symbols/elf.h"

#include <stdio.h>
#include <string.h>

/* Lines and bytes of one function: more are a macro's, or a damaged file's. */
#define MAX_LINES 20000u
#define MAX_BYTES (4u << 20)

struct making {
	struct lode_annotation *annotation;
	const struct lode_annotation_options *options;
	const struct lode_module *module;
	const char *module_name;
	const char *path; /* of the module; "" */
	struct lode_symbolizer *symbolizer;
	struct lode_image *image; /* NULL: the function is none of a binary */
	struct lode_symbol symbol;
	int has_symbol;
	/* What the line table says. */
	const char *source;
	const char *folder; /* of a relative one; NULL */
	uint32_t first;
	uint32_t last;
	uint8_t *shown; /* by line of the costs: an instruction has them */
	struct lode_error *error;
};

/* ---- what the function is ---- */

/* The lines that were seen, too: some may be outside of the function's own code, as those of calls that were inlined. */
static void widen(struct making *making)
{
	const struct lode_line_costs *costs = &making->annotation->costs;

	for (size_t i = 0; i < costs->lines.count; i++) {
		uint32_t line = costs->lines.items[i].line;

		if (!line)
			continue;
		if (!making->first || line < making->first)
			making->first = line;
		if (line > making->last)
			making->last = line;
	}
	if (making->last >= making->first + MAX_LINES)
		making->last = making->first + MAX_LINES - 1;
}

/* The function begins where its code does; lines of other files are of what was inlined. */
static int see_row(void *context, const struct lode_source_row *row)
{
	struct making *making = context;

	if (!row->line || !row->file)
		return 0;
	if (!making->source) {
		making->source = row->file;
		making->folder = row->folder;
		making->first = making->last = row->line;
	}
	if (strcmp(row->file, making->source) != 0)
		return 0;
	if (row->line > making->last)
		making->last = row->line;
	return 0;
}

static int find_in_binary(struct making *making)
{
	const struct lode_strings *strings = &making->annotation->dictionary->frames.strings;
	const char *build_id = lode_strings_get(strings, making->module->build_id);
	int code = lode_symbolizer_create(&making->symbolizer, &making->options->symbols, making->error);

	if (code)
		return code;
	making->image = lode_symbolizer_binary(making->symbolizer, making->path, build_id);
	if (!making->image)
		return lode_fail_memory(making->error);
	making->has_symbol = lode_image_named(making->image, making->annotation->costs.function, &making->symbol);
	if (making->has_symbol && making->symbol.size)
		lode_image_source_rows(making->image, making->symbol.start,
				       making->symbol.start + making->symbol.size, see_row, making);
	return 0;
}

/* `/a/b/../c.c` as `/a/c.c`. */
static void leave_out_detours(char *path)
{
	char *end = path, *component = path;

	while (*component) {
		char *next = component + 1 + strcspn(component + 1, "/");
		size_t length = (size_t)(next - component);

		if (length == 3 && !memcmp(component, "/..", 3)) {
			while (end > path && *--end != '/')
				;
		} else if (length != 2 || memcmp(component, "/.", 2) != 0) {
			memmove(end, component, length);
			end += length;
		}
		component = next;
	}
	*end = '\0';
}

/* The path of the source, whole where that is known. */
static int keep_source(struct making *making)
{
	int is_whole = *making->source == '/' || !making->folder || *making->folder != '/';
	char *path = is_whole ? lode_strdup(making->source) : lode_format("%s/%s", making->folder, making->source);

	if (path && *path == '/')
		leave_out_detours(path);
	making->annotation->source = path ? lode_arena_text(&making->annotation->arena, path, strlen(path)) : NULL;
	making->source = making->annotation->source;
	lode_free(path);
	return making->source ? 0 : lode_fail_memory(making->error);
}

static int find_function(struct making *making)
{
	int is_file = making->module->kind == LODE_KIND_USER || making->module->kind == LODE_KIND_LIBRARY;
	int code = 0;

	/* A script, whose name may be all that is known. */
	if (lode_source_is_named(making->path))
		making->source = making->path;
	else if (!*making->path && lode_source_is_named(making->module_name))
		making->source = making->module_name;
	else if (is_file && *making->path)
		code = find_in_binary(making);
	if (!code)
		widen(making);
	return !code && making->source ? keep_source(making) : code;
}

/* ---- rows ---- */

static const struct lode_line_cost *cost_of(const struct making *making, uint32_t line)
{
	return line ? lode_line_costs_at(&making->annotation->costs, line) : NULL;
}

static int add_row(struct making *making, uint32_t line, uint64_t address, const char *text, size_t length,
		   const struct lode_line_cost *cost)
{
	struct lode_annotation *annotation = making->annotation;
	const char *copy = lode_arena_text(&annotation->arena, text, length);

	if (!copy || LODE_PUSH(&annotation->rows, (struct lode_annotation_row){ line, address, copy, cost }) < 0)
		return lode_fail_memory(making->error);
	return 0;
}

static int add_source(struct making *making, struct lode_source_text *text)
{
	uint32_t context = making->options->context;
	size_t first = making->first > context ? making->first - context : 1, last = (size_t)making->last + context;
	int code = 0;

	for (size_t line = first; !code && line <= last && line <= text->lines.count; line++)
		code = add_row(making, (uint32_t)line, 0, text->lines.items[line - 1].text,
			       text->lines.items[line - 1].length, cost_of(making, (uint32_t)line));
	making->annotation->kind = LODE_ANNOTATION_SOURCE;
	making->annotation->file = text->path;
	text->path = NULL;
	return code;
}

static int why_no_source(struct making *making, const char *format, const char *what)
{
	snprintf(making->annotation->why_no_source, sizeof(making->annotation->why_no_source), format, what);
	return 0;
}

static int show_source(struct making *making)
{
	struct lode_source_text text;
	int code;

	if (!making->source && making->module->kind != LODE_KIND_USER && making->module->kind != LODE_KIND_LIBRARY)
		return why_no_source(making, "%s has no source here", making->module_name);
	if (!making->source && making->image && !lode_image_file(making->image))
		return why_no_source(
			making, "the file of %s was not found on this machine; name its folder with --symbol-path",
			making->module_name);
	if (!making->source)
		return why_no_source(
			making, "%s has no line tables here: build it with -g, install its debug package, or use --debuginfod",
			making->module_name);
	code = lode_source_text_find(&text, making->source, &making->options->places, making->error);
	if (!code && !text.path)
		why_no_source(making, "%s was not found here; name the folder of the sources with --source-path",
			      making->source);
	else if (!code && !making->first)
		why_no_source(making, "it is not known where in %s the function is", making->source);
	else if (!code)
		code = add_source(making, &text);
	lode_source_text_release(&text);
	return code;
}

/* The first instruction of a line has its cost. */
static const struct lode_line_cost *cost_of_first(struct making *making, uint32_t line)
{
	const struct lode_line_cost *cost = cost_of(making, line);
	size_t place = cost ? (size_t)(cost - making->annotation->costs.lines.items) : 0;

	if (!cost || making->shown[place])
		return NULL;
	making->shown[place] = 1;
	return cost;
}

static int see_instruction(void *context, const struct lode_instruction *instruction)
{
	struct making *making = context;
	char text[256];
	uint32_t line = 0;
	int length = snprintf(text, sizeof(text), "%-8s %s", instruction->name, instruction->values);

	if (!lode_image_lines(making->image, instruction->address, &line, 1))
		line = 0;
	while (length > 0 && (size_t)length < sizeof(text) && text[length - 1] == ' ')
		length--;
	return add_row(making, line, instruction->address, text,
		       (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1,
		       cost_of_first(making, line));
}

static int why_no_code(struct making *making, const char *format, const char *what)
{
	snprintf(making->annotation->why_no_code, sizeof(making->annotation->why_no_code), format, what);
	return 0;
}

/* Instructions are no more than a help: what keeps them from being shown is told, but is no error. */
static int show_code(struct making *making)
{
	const char *file = lode_image_file(making->image);
	size_t size = making->symbol.size < MAX_BYTES ? (size_t)making->symbol.size : MAX_BYTES;
	struct lode_error error = { "" };
	struct lode_elf elf;
	char *bytes;
	int code = 0;

	if (!file || lode_elf_open(&elf, file) < 0)
		return why_no_code(
			making, "the file of %s was not found on this machine; name its folder with --symbol-path",
			making->module_name);
	bytes = lode_alloc(size + 1);
	making->shown = lode_calloc(making->annotation->costs.lines.count + 1, 1);
	if (!bytes || !making->shown) {
		code = lode_fail_memory(making->error);
	} else if (lode_elf_initial_bytes(&elf, making->symbol.start, bytes, size)) {
		code = lode_disassemble(elf.header.e_machine, bytes, size, making->symbol.start, see_instruction,
					making, &error);
		if (code == LODE_SYSTEM)
			lode_fail(making->error, code, "%s", error.text);
		else if (code < 0)
			why_no_code(making, "%s", error.text);
	} else {
		why_no_code(making, "the code is not in %s", file);
	}
	if (!code && making->annotation->rows.count) {
		making->annotation->kind = LODE_ANNOTATION_CODE;
		making->annotation->file = lode_strdup(file);
	}
	lode_free(bytes);
	lode_free(making->shown);
	lode_elf_close(&elf);
	return code == LODE_SYSTEM ? code : 0;
}

static int show_lines(struct making *making)
{
	const struct lode_line_costs *costs = &making->annotation->costs;
	int code = 0;

	for (size_t i = 0; !code && i < costs->lines.count; i++)
		code = add_row(making, costs->lines.items[i].line, 0, "", 0, &costs->lines.items[i]);
	return code;
}

static int show(struct making *making)
{
	int wants_code = making->options->prefers_code, code = 0;

	if (!wants_code)
		code = show_source(making);
	if (!code && !making->annotation->rows.count && making->has_symbol)
		code = show_code(making);
	else if (!code && wants_code)
		why_no_code(making, "there is no symbol of this name for %s", making->module_name);
	if (!code && wants_code && !making->annotation->rows.count)
		code = show_source(making);
	if (!code && !making->annotation->rows.count)
		code = show_lines(making);
	return code;
}

static void say_why_no_lines(struct lode_annotation *annotation)
{
	for (size_t i = 0; i < annotation->costs.lines.count; i++)
		if (annotation->costs.lines.items[i].line)
			return;
	snprintf(annotation->why_no_lines, sizeof(annotation->why_no_lines),
		 "its frames have no lines: record with 'lode record --lines'");
}

int lode_annotation_make(const struct lode_area *area, const char *pattern,
			 const struct lode_annotation_options *options, struct lode_annotation *annotation,
			 struct lode_error *error)
{
	struct making making = { .annotation = annotation, .options = options, .error = error };
	const struct lode_frames *frames = &area->dictionary.frames;
	int code;

	memset(annotation, 0, sizeof(*annotation));
	annotation->dictionary = &area->dictionary;
	code = lode_line_costs_find(area, pattern, &annotation->costs, error);
	if (code)
		return code;
	making.module = &frames->modules[annotation->costs.module];
	making.module_name = lode_strings_get(&frames->strings, making.module->name);
	making.path = lode_strings_get(&frames->strings, making.module->path);
	say_why_no_lines(annotation);
	code = find_function(&making);
	if (!code)
		code = show(&making);
	lode_symbolizer_destroy(making.symbolizer);
	return code;
}

void lode_annotation_release(struct lode_annotation *annotation)
{
	lode_line_costs_release(&annotation->costs);
	lode_free(annotation->file);
	lode_free(annotation->rows.items);
	lode_arena_release(&annotation->arena);
	memset(annotation, 0, sizeof(*annotation));
}
