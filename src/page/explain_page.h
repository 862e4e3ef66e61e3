/* What only the page of an explanation has. */
#ifndef LODE_PAGE_EXPLAIN_PAGE_H
#define LODE_PAGE_EXPLAIN_PAGE_H

#include "result/explain_report.h"

/* Writes an object: names of the columns, and the words of the text. */
void lode_explain_page_json(const struct lode_explain_report *report, struct lode_json *json);

#endif
