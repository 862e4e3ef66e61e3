/*
 * The result of an explanation (explain/explain.h): its JSON, and the words that text, graph
 * and page share. All append to a buffer, which remembers when memory ran out. Names come
 * from the table that was explained.
 */
#ifndef LODE_RESULT_EXPLAIN_REPORT_H
#define LODE_RESULT_EXPLAIN_REPORT_H

#include "explain/explain.h"
#include "result/fields.h"
#include "scope/area.h"

struct lode_explain_report {
	const struct lode_explain_input *input;
	const struct lode_explanation *explanation;
	const struct lode_area *area; /* whose streams, or symptoms, the rows are; NULL: rows of a table */
	unsigned width;               /* columns of text */
	int ascii;                    /* no other characters in text */
	int for_page;
	struct lode_written page; /* for a page: what its JSON has besides (page/explain_page.h) */
};

void lode_explain_json(const struct lode_explain_report *report, struct lode_buffer *buffer);

/* ---- words that all of them use ---- */

/* The column that names a feature. */
const char *lode_explain_feature(const struct lode_explain_report *report, uint32_t feature);
/*
 * What holds on one side of a node: `f0 = 1`, `memmove > 4 samples`, `color is not red`.
 * Control characters are escaped.
 */
void lode_explain_test(const struct lode_explain_report *report, const struct lode_tree_node *node, int yes,
		       struct lode_buffer *buffer);
/* The same where it is `known` that the value is not missing. */
void lode_explain_bound(const struct lode_explain_report *report, const struct lode_tree_node *node, int yes,
			int known, struct lode_buffer *buffer);
/* What holds for the rows of a leaf: all tests on its way together. */
void lode_explain_way(const struct lode_explain_report *report, uint32_t leaf, struct lode_buffer *buffer);
/* The distribution over functions of a leaf's rows, by their x and y: `92% 0, 8% 1`. */
void lode_explain_distribution(const struct lode_tree *tree, uint32_t leaf, struct lode_buffer *buffer);
/* A function of x: `12.3 ms + 0.8 ms·size`. */
void lode_explain_function(const struct lode_explain_report *report, const struct lode_function *function,
			   struct lode_buffer *buffer);
/* The k-th term of a function, from 1: `size`, `size^2`, `size*log2(size)`. */
void lode_explain_term(const struct lode_explain_report *report, const struct lode_function *function, unsigned k,
		       struct lode_buffer *buffer);
/* Four digits that count, without an exponent where that is readable. */
void lode_explain_number(double number, struct lode_buffer *buffer);
/* The unit of a column: what its name says (`time_ms`, `time (ms)`), of a corpus what it counts; or "". */
const char *lode_explain_unit(const struct lode_explain_report *report, uint32_t column);
/* A value of y: as a number, nanoseconds as a time (`171.9 ms`). */
void lode_explain_y(const struct lode_explain_report *report, double y, struct lode_buffer *buffer);

/* ---- what both pictures of x against y need ---- */

struct lode_explain_frame {
	double least_x, most_x, least_y, most_y;
	int logarithmic; /* y is better shown so */
};

void lode_explain_frame(const struct lode_explanation *explanation, struct lode_explain_frame *frame);
/* The first input of a row. */
double lode_explain_x(const struct lode_explanation *explanation, size_t row);
/* The value at x of a function with one input. */
double lode_explain_value(const struct lode_explanation *explanation, const struct lode_function *function,
			  double x);

#endif
