/*
 * Annotation: the source of a function, or its instructions, with what each line costs. Where neither is found the lines that were seen
 * are all there is.
 */
#ifndef LODE_ANNOTATE_ANNOTATION_H
#define LODE_ANNOTATE_ANNOTATION_H

#include "annotate/line_costs.h"
#include "annotate/source_text.h"
#include "symbols/symbols.h"

enum lode_annotation_kind {
	LODE_ANNOTATION_LINES,  /* numbers of lines, without text */
	LODE_ANNOTATION_SOURCE, /* lines of a file */
	LODE_ANNOTATION_CODE,   /* instructions */
};

/* A line, or an instruction. */
struct lode_annotation_row {
	uint32_t line;                     /* 0: not known */
	uint64_t address;                  /* of an instruction, in the binary */
	const char *text;                  /* "" without source */
	const struct lode_line_cost *cost; /* of the line; of instructions the first of a line has it. NULL: none */
};

struct lode_annotation_options {
	struct lode_symbols_options symbols;
	struct lode_source_places places;
	uint32_t context; /* lines shown before and behind the function */
	int prefers_code; /* instructions, also where there is source */
};

struct lode_annotation {
	struct lode_line_costs costs;
	const struct lode_dictionary *dictionary; /* the area's */
	enum lode_annotation_kind kind;
	const char *source; /* the source file as the compiler or the interpreter knew it; NULL: not known */
	char *file;         /* what is shown: the file that was found; NULL: none */
	LODE_ARRAY(struct lode_annotation_row) rows;
	struct lode_arena arena;
	char why_no_source[512]; /* a sentence; "" where there is source, or it was not wanted */
	char why_no_code[1024];  /* the same of instructions, which were wanted or looked for */
	char why_no_lines[256];  /* why nothing has a cost; "" where something has */
};

/* `area` must outlive it. Returns 0, LODE_USAGE where no function fits, or LODE_SYSTEM. Release it in either case. */
int lode_annotation_make(const struct lode_area *area, const char *pattern,
			 const struct lode_annotation_options *options, struct lode_annotation *annotation,
			 struct lode_error *error);
void lode_annotation_release(struct lode_annotation *annotation);

#endif
