/* The views of a report that other commands make: symptoms, latency, coverage. */
#ifndef LODE_TASKS_REPORT_VIEWS_H
#define LODE_TASKS_REPORT_VIEWS_H

#include "base/buffer.h"
#include "base/progress.h"
#include "tasks/area_options.h"
#include "tasks/command.h"

struct lode_report_view {
	const char *block; /* of the page */
	const struct lode_command *command;
	const char *const *words; /* options that it is always called with; NULL-terminated */
};

extern const struct lode_report_view lode_report_symptoms;
extern const struct lode_report_view lode_report_latency;
extern const struct lode_report_view lode_report_coverage;

/*
 * Runs the command of a view on the corpora of a call and appends what it writes to `json`. `area`: which
 * streams and events; what the command does not know is left out.
 */
int lode_report_view_make(const struct lode_report_view *view, const struct lode_call *call,
			  const struct lode_area_settings *area, const struct lode_progress *progress,
			  struct lode_buffer *json, struct lode_error *error);

#endif
