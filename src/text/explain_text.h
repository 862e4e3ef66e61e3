/* The result of an explanation as text. */
#ifndef LODE_TEXT_EXPLAIN_TEXT_H
#define LODE_TEXT_EXPLAIN_TEXT_H

#include "result/explain_report.h"

/* Which rows cluster `k` has, and how slow they are, in words. */
void lode_explain_sentence(const struct lode_explain_report *report, unsigned k, struct lode_buffer *buffer);
/* The text without its picture in characters. */
void lode_explain_summary(const struct lode_explain_report *report, struct lode_buffer *buffer);
void lode_explain_text(const struct lode_explain_report *report, struct lode_buffer *buffer);
/* Why an explanation is not within the bound that was requested, in a line without its end. */
void lode_explain_warning(const struct lode_explanation *explanation, const struct lode_explain_options *how,
			  struct lode_buffer *buffer);

#endif
