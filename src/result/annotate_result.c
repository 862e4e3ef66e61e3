/* The result of lode annotate as JSON: see annotate_report.h. */
#include "result/annotate_report.h"

#include "base/memory.h"
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/unread_fields.h"

#include <stdio.h>

char *lode_annotate_function(const struct lode_annotate_report *report)
{
	const struct lode_line_costs *costs = &report->annotation->costs;
	const struct lode_frames *frames = &report->annotation->dictionary->frames;
	const char *module = lode_strings_get(&frames->strings, frames->modules[costs->module].name);

	return lode_format("%s%s%s", module, *module ? "!" : "", costs->function);
}

struct row_fields {
	uint64_t line;
	const char *address;
	const char *text;
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t total_run_ns;
	uint64_t total_wait_ns;
	char hexadecimal[24]; /* of `address` */
};

#define TABLE_OF struct row_fields
static const struct lode_field row_rows[] = {
	FIELD_U64(line, "Number of the line; none where it is not known.", FIELD_OPTIONAL),
	FIELD_TEXT(address, "Of an instruction, in the binary: `0x1a2c`.", FIELD_OPTIONAL),
	FIELD_TEXT(text, "The line, or the instruction."),
	FIELD_U64(run_ns, "CPU time at this line.", FIELD_OPTIONAL),
	FIELD_U64(wait_ns, "Waiting at this line.", FIELD_OPTIONAL),
	FIELD_U64(total_run_ns, "CPU time, with what the line calls.", FIELD_OPTIONAL),
	FIELD_U64(total_wait_ns, "Waiting, with what the line calls.", FIELD_OPTIONAL),
};
static const struct lode_fields row_fields = FIELD_TABLE("AnnotateRow", row_rows);
#undef TABLE_OF

struct annotate_fields {
	const char *function;
	const char *path;
	const char *build_id;
	const char *source;
	const char *file;
	const char *kind;
	const char *scope;
	uint64_t streams;
	struct lode_unread_part unread;
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t total_run_ns;
	uint64_t total_wait_ns;
	uint64_t whole_run_ns;
	uint64_t whole_wait_ns;
	struct lode_list others;
	uint64_t other_count;
	const char *why_no_source;
	const char *why_no_code;
	const char *why_no_lines;
	struct lode_list rows;
};

static const char *kind_choice(unsigned number)
{
	static const char *const kinds[] = { "lines", "source", "code" };

	return number < sizeof(kinds) / sizeof(*kinds) ? kinds[number] : NULL;
}

#define TABLE_OF struct annotate_fields
static const struct lode_field annotate_rows[] = {
	FIELD_TEXT(function, "The function, `module!function`."),
	FIELD_TEXT(path, "File of its module, as recorded; empty where it is not known."),
	FIELD_TEXT(build_id, "Of that file; empty where it has none."),
	FIELD_TEXT(source, "Its source file, as the compiler or the interpreter knew it.", FIELD_OPTIONAL),
	FIELD_TEXT(file, "The file that is shown: source, or the binary.", FIELD_OPTIONAL),
	FIELD_TEXT(kind, "What rows are: lines of the source, instructions, or lines without text.",
		   FIELD_CHOICE(kind_choice)),
	FIELD_TEXT(scope, "Which events count.", FIELD_CHOICE(lode_choice_scope)),
	FIELD_U64(streams, "Streams."),
	FIELD_PART(unread, lode_unread_part_fields),
	FIELD_U64(run_ns, "CPU time of the function itself."),
	FIELD_U64(wait_ns, "Waiting of the function itself."),
	FIELD_U64(total_run_ns, "CPU time, with what it calls."),
	FIELD_U64(total_wait_ns, "Waiting, with what it calls."),
	FIELD_U64(whole_run_ns, "CPU time of everything."),
	FIELD_U64(whole_wait_ns, "Waiting of everything."),
	FIELD_TEXTS(others, "Other functions that fit, the costliest first; five at most."),
	FIELD_U64(other_count, "How many others fit."),
	FIELD_TEXT(why_no_source, "Why there is no source.", FIELD_OPTIONAL),
	FIELD_TEXT(why_no_code, "Why there are no instructions, which were wanted or looked for.", FIELD_OPTIONAL),
	FIELD_TEXT(why_no_lines, "Why no line has a cost.", FIELD_OPTIONAL),
	FIELD_OBJECTS(rows, row_fields, "Lines or instructions, in order."),
};
const struct lode_fields lode_annotate_fields = FIELD_TABLE("AnnotateResult", annotate_rows);
#undef TABLE_OF

static int make_row(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_annotation *annotation = list->from;
	const struct lode_annotation_row *row = &annotation->rows.items[i];
	struct row_fields *fields = item;

	*fields = (struct row_fields){ .line = row->line, .text = row->text };
	if (row->address) {
		snprintf(fields->hexadecimal, sizeof(fields->hexadecimal), "0x%llx",
			 (unsigned long long)row->address);
		fields->address = fields->hexadecimal;
	}
	if (row->cost) {
		fields->run_ns = row->cost->self[LODE_RUN];
		fields->wait_ns = row->cost->self[LODE_WAIT];
		fields->total_run_ns = row->cost->total[LODE_RUN];
		fields->total_wait_ns = row->cost->total[LODE_WAIT];
	}
	return 1;
}

static const char *unless_empty(const char *text)
{
	return *text ? text : NULL;
}

void lode_annotate_json(const struct lode_annotate_report *report, struct lode_buffer *buffer)
{
	const struct lode_annotation *annotation = report->annotation;
	const struct lode_line_costs *costs = &annotation->costs;
	const struct lode_frames *frames = &annotation->dictionary->frames;
	const struct lode_module *module = &frames->modules[costs->module];
	char *function = lode_annotate_function(report);
	struct annotate_fields result = {
		.function = function,
		.path = lode_strings_get(&frames->strings, module->path),
		.build_id = lode_strings_get(&frames->strings, module->build_id),
		.source = annotation->source,
		.file = annotation->file,
		.kind = kind_choice(annotation->kind),
		.scope = lode_scope_name(report->area->scope),
		.streams = report->area->stream_count,
		.unread = lode_unread_part(&report->area->unread),
		.run_ns = costs->all.self[LODE_RUN],
		.wait_ns = costs->all.self[LODE_WAIT],
		.total_run_ns = costs->all.total[LODE_RUN],
		.total_wait_ns = costs->all.total[LODE_WAIT],
		.whole_run_ns = costs->whole[LODE_RUN],
		.whole_wait_ns = costs->whole[LODE_WAIT],
		.others = lode_list_of(costs->others.items, costs->others.count),
		.other_count = costs->other_count,
		.why_no_source = unless_empty(annotation->why_no_source),
		.why_no_code = unless_empty(annotation->why_no_code),
		.why_no_lines = unless_empty(annotation->why_no_lines),
		.rows = { .count = annotation->rows.count, .from = annotation, .make = make_row },
	};

	if (function)
		lode_fields_line(&lode_annotate_fields, &result, buffer);
	else
		buffer->failed = 1;
	lode_free(function);
}
