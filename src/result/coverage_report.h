/* The result of lode coverage, and its JSON. */
#ifndef LODE_RESULT_COVERAGE_REPORT_H
#define LODE_RESULT_COVERAGE_REPORT_H

#include "base/buffer.h"
#include "mine/coverage.h"
#include "result/fields.h"

/* All that is shown. */
struct lode_coverage_report {
	const struct lode_coverage *coverage;
	const struct lode_area *area;
	const struct lode_signatures *signatures;
};

/* The signature of an item of the coverage, and what it costs. */
const struct lode_signature *lode_coverage_signature(const struct lode_coverage_report *report, size_t item);
uint64_t lode_coverage_cost(const struct lode_covering *item);
const char *lode_coverage_stream(const struct lode_coverage_report *report, uint32_t stream);

extern const struct lode_fields lode_coverage_fields;

void lode_coverage_json(const struct lode_coverage_report *report, struct lode_buffer *buffer);

#endif
