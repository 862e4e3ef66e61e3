/* What a recording with a budget took, for people. */
#ifndef LODE_TEXT_BUDGET_TEXT_H
#define LODE_TEXT_BUDGET_TEXT_H

#include "base/buffer.h"
#include "result/budget_report.h"

/* One line, without its end; there must be a budget. */
void lode_budget_text(const struct lode_budget_report *report, struct lode_buffer *line);

#endif
