/* The result of lode annotate, and its JSON. */
#ifndef LODE_RESULT_ANNOTATE_REPORT_H
#define LODE_RESULT_ANNOTATE_REPORT_H

#include "annotate/annotation.h"
#include "result/fields.h"

/* All that is shown. */
struct lode_annotate_report {
	const struct lode_annotation *annotation;
	const struct lode_area *area;
};

/* `app!parse`, for the caller to free; NULL when memory has run out. */
char *lode_annotate_function(const struct lode_annotate_report *report);

extern const struct lode_fields lode_annotate_fields;

void lode_annotate_json(const struct lode_annotate_report *report, struct lode_buffer *buffer);

#endif
