/* lode coverage: what its files share. */
#ifndef LODE_CMD_COVERAGE_H
#define LODE_CMD_COVERAGE_H

#include "cmd/terminal.h"
#include "mine/coverage.h"

/* All that is shown. */
struct lode_coverage_report {
	const struct lode_coverage *coverage;
	const struct lode_area *area;
	const struct lode_signatures *signatures;
};

void lode_coverage_text(const struct lode_coverage_report *report, const struct lode_terminal *out,
			size_t top, struct lode_buffer *buffer);
void lode_coverage_json(const struct lode_coverage_report *report, struct lode_buffer *buffer);

#endif
