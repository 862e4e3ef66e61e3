/* The forms in which lode diff writes its result, a struct lode_diff_report. */
#ifndef LODE_TASKS_DIFF_FORMS_H
#define LODE_TASKS_DIFF_FORMS_H

#include "result/diff_report.h"
#include "tasks/diff_sides.h"

extern const struct lode_form lode_diff_forms[];
/* Whether the form is of the results of rules, and empty without any. */
int lode_diff_form_needs_gate(const struct lode_form *form);
/* The choices of --format. */
const char *lode_diff_form_choice(size_t i);

#endif
