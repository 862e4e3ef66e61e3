/* What only the page of an explanation has. */
#ifndef LODE_PAGE_EXPLAIN_PAGE_H
#define LODE_PAGE_EXPLAIN_PAGE_H

#include "result/explain_report.h"

/* The field `page` of its result: names of the columns, and the words of the text. The report must outlive it. */
struct lode_written lode_explain_page(const struct lode_explain_report *report);

#endif
