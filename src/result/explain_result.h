/*
 * An explanation as plain values (fields.h). Members have the names of the JSON, which explain_fields.c describes.
 */
#ifndef LODE_RESULT_EXPLAIN_RESULT_H
#define LODE_RESULT_EXPLAIN_RESULT_H

#include "result/explain_report.h"
#include "result/unread_fields.h"

struct lode_explain_function_fields {
	double intercept;
	struct lode_written coefficients;
};

struct lode_explain_cluster {
	uint64_t id;
	uint64_t size;
	struct lode_explain_function_fields function;
	double r2;
	double share;
	double spread;
	double median_y;
};

/* A node of the tree is a leaf or a test. */
struct lode_explain_leaf {
	uint64_t cluster;
	struct lode_written distribution;
	struct lode_written counts;
};

struct lode_explain_test_fields {
	struct lode_written feature;
	double threshold;
	const char *unit; /* NULL: none */
	int is_category;
	const char *column;
	const char *value;
	struct lode_written left;
	struct lode_written right;
	struct lode_written counts;
};

struct lode_explain_evidence {
	uint64_t tables;
	uint64_t as_good;
};

struct lode_explain_stream {
	const char *id;
	const char *name;
	int is_symptom;
	const char *symptom;
	uint32_t tid;
	uint64_t t0;
	uint64_t t1;
};

struct lode_explain_points {
	uint64_t left_out;
	struct lode_list x;
	struct lode_list y;
	struct lode_list row;
	struct lode_list cluster;
};

struct lode_explain_curves {
	struct lode_list x;
	struct lode_written y;
};

struct lode_explain_result {
	struct lode_list clusters;
	struct lode_written tree;
	double accuracy;
	double r2;
	uint64_t height;
	uint64_t leaves;
	int cross_validated;
	double validated_r2;
	double agreement;
	double mean_square_error;
	double clustering_error;
	double distribution_error;
	double relative_error;
	int explained;
	int within;
	const char *noise;
	uint64_t rows;
	uint64_t left_out;
	uint64_t copies;
	int has_chance;
	struct lode_explain_evidence chance;
	const char *withdrawn; /* NULL: they were not */
	struct lode_written confusion;
	struct lode_written same;
	struct lode_list constant;
	struct lode_written assignments;
	struct lode_explain_points points;
	struct lode_explain_curves curves;
	int is_corpus;
	struct lode_list streams; /* of struct lode_explain_stream */
	struct lode_unread_part unread;
	struct lode_written page;
};

/* What only the page has: names, and the words of the text. */
struct lode_explain_page {
	const char *name;
	const char *x;
	const char *y;
	uint64_t inputs;
	int logarithmic;
	struct lode_written functions;
	struct lode_written tests;
	struct lode_written sentences;
	struct lode_written text;
};

extern const struct lode_fields lode_explain_fields;
extern const struct lode_fields lode_explain_leaf_fields;
extern const struct lode_fields lode_explain_test_fields;
extern const struct lode_fields lode_explain_page_fields;

/* The rows as points, and at evenly spaced x, what the functions are (of one x). */
struct lode_explain_points lode_explain_points_of(const struct lode_explain_report *report);
struct lode_explain_curves lode_explain_curves_of(const struct lode_explain_report *report);

#endif
