/* The result of lode coverage as text: tables and a chart. */
#ifndef LODE_TEXT_COVERAGE_TEXT_H
#define LODE_TEXT_COVERAGE_TEXT_H

#include "result/coverage_report.h"
#include "text/look.h"

/* `top`: rows of each table. */
void lode_coverage_text(const struct lode_coverage_report *report, const struct lode_look *look, size_t top,
			struct lode_buffer *buffer);

#endif
