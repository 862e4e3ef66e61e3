/* The page of a server: its frame, and a list of the data that it may ask for. */
#ifndef LODE_SERVE_OVERVIEW_H
#define LODE_SERVE_OVERVIEW_H

#include "serve/answers.h"
#include "serve/jobs.h"

struct lode_growing_result;

struct lode_overview {
	const char *title;
	const char *data;                    /* the address that its data is under */
	const char *corpus;                  /* its folder */
	const char *symptom;                 /* what it asks with at first: a rule; NULL: none */
	struct lode_growing_result *growing; /* not NULL: instead of a corpus */
};

enum MHD_Result lode_answer_overview(const struct lode_exchange *exchange, const struct lode_overview *overview);
/* Starts the analyses that it shows first: they are done, or on their way, when a browser asks. */
void lode_overview_begin(struct lode_jobs *jobs, const char *corpus, const char *symptom);

#endif
