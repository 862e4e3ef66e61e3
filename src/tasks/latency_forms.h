/* The forms in which lode latency writes its result: contexts for people, programs and other tools, or single calls. */
#ifndef LODE_TASKS_LATENCY_FORMS_H
#define LODE_TASKS_LATENCY_FORMS_H

#include "tasks/latency_options.h"
#include "result/latency_report.h"

struct lode_latency_command_settings {
	struct lode_latency_settings latency;
	int instances;
};

/* What the forms get. */
struct lode_latency_inferred {
	struct lode_latency_reading reading;
	struct lode_latency_report report; /* of contexts */
};

/* As lode_analysis_command.forms_of. */
const struct lode_form *lode_latency_forms(const void *settings);
/* The choices of --format. */
const char *lode_latency_form_choice(size_t i);
/* Whether it needs no contexts: single calls are written as they are found. */
int lode_latency_form_is_flat(const struct lode_form *form);
/* Refuses options that a form has no use for. */
int lode_latency_form_check(const struct lode_latency_command_settings *settings, const struct lode_form *form,
			    struct lode_error *error);

#endif
