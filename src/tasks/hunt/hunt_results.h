/*
 * What a hunt leaves behind: the files and the corpus that --output names, and what is shown at the end.
 */
#ifndef LODE_TASKS_HUNT_RESULTS_H
#define LODE_TASKS_HUNT_RESULTS_H

#include "tasks/hunt/hunt.h"
#include "hunt/hunt_archive.h"

struct lode_hunt_results {
	const struct lode_call *call;
	struct lode_hunt_outputs outputs;
	struct lode_hunt_report report; /* its search is set when there is one */
	struct lode_corpus *corpus;     /* NULL: samples are not kept */
	struct lode_hunt_archive *archive;
	struct lode_buffer steps; /* lines of JSON, for a file */
};

/* Finds out what is to be written, and whether it can be. Release in either case. */
int lode_hunt_results_init(struct lode_hunt_results *results, const struct lode_call *call,
			   struct lode_error *error);
/* Opens the corpus, if samples are to be kept. */
int lode_hunt_results_open(struct lode_hunt_results *results, struct lode_error *error);
/* An experiment has changed. */
void lode_hunt_results_changed(struct lode_hunt_results *results, uint32_t experiment);
/* Writes the files and the corpus. */
int lode_hunt_results_write(struct lode_hunt_results *results, struct lode_error *error);
/* Writes to standard output what was found. */
int lode_hunt_results_show(struct lode_hunt_results *results, struct lode_error *error);
void lode_hunt_results_release(struct lode_hunt_results *results);

#endif
