/*
 * The signatures of a corpus and where they match, as lode signatures shows them, and their JSON.
 */
#ifndef LODE_RESULT_SIGNATURES_REPORT_H
#define LODE_RESULT_SIGNATURES_REPORT_H

#include "mine/signatures.h"
#include "result/fields.h"

struct lode_signatures_report {
	const struct lode_signatures *signatures;
	const char *state; /* only those in this one; NULL: all */
};

/* The next that is to be shown, from number `i` on; NULL behind the last. `i` is moved behind it. */
const struct lode_signature *lode_signatures_report_next(const struct lode_signatures_report *report, size_t *i);

extern const struct lode_fields lode_signatures_fields;

void lode_signatures_json(const struct lode_signatures_report *report, struct lode_buffer *buffer);

#endif
