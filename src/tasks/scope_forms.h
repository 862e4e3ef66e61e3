/* The options of lode scope, and the forms in which it writes its result. */
#ifndef LODE_TASKS_SCOPE_FORMS_H
#define LODE_TASKS_SCOPE_FORMS_H

#include "result/scope_walk.h"
#include "tasks/analysis.h"
#include "tasks/source.h"

struct lode_scope_settings {
	struct lode_area_settings area; /* scope, symptoms, where, idle_rules, jobs */
	struct lode_option_list streams;
	uint64_t top;
	int all;
	const char *without; /* a pattern */
	const char *cpus;
	struct lode_result_settings result;
};

/* What the forms get: streams that are looked at while they are written. */
struct lode_scope_streams {
	struct lode_source source;
	struct lode_symptom_rules rules;
	struct lode_corpus_list list;
	struct lode_scope_walk walk;
};

extern const struct lode_form lode_scope_forms[];

#endif
