/* What lode symbolize named in a stream. */
#ifndef LODE_RESULT_SYMBOLIZE_REPORT_H
#define LODE_RESULT_SYMBOLIZE_REPORT_H

#include "result/fields.h"

struct lode_symbolize_report {
	const char *id;
	const char *name;
	uint64_t named;
	uint64_t unnamed;
	uint64_t left;
};

extern const struct lode_fields lode_symbolize_fields;

#endif
