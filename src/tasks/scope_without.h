/* lode scope --without PATTERN: how much earlier symptoms would have ended without the events of a pattern. */
#ifndef LODE_TASKS_SCOPE_WITHOUT_H
#define LODE_TASKS_SCOPE_WITHOUT_H

#include "tasks/scope_forms.h"

extern const struct lode_form lode_scope_without_forms[];

int lode_scope_without(struct lode_analysis *analysis, struct lode_error *error);

#endif
