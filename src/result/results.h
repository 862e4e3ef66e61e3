/*
 * The results that have a table of fields (fields.h): what docs/schema/NAME.json and the page's types are made of.
 */
#ifndef LODE_RESULT_RESULTS_H
#define LODE_RESULT_RESULTS_H

#include "result/fields.h"

/* Kinds of lines that a result may have. */
#define LODE_RESULT_LINES 3

struct lode_described_result {
	const char *name;  /* of the schema's file */
	const char *title; /* where it comes from */
	const char *what;
	const struct lode_fields *lines[LODE_RESULT_LINES]; /* one; of a result in lines, each kind of them */
	const char *line_what[LODE_RESULT_LINES];           /* of several kinds, what each is */
};

extern const struct lode_described_result lode_described_results[];
extern const size_t lode_described_result_count;

#endif
