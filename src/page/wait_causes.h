/*
 * Why the threads of a stream did not run, for its timeline on the page: the state of each wait, what it was for, and who
 * had the processor while a thread was ready.
 */
#ifndef LODE_PAGE_WAIT_CAUSES_H
#define LODE_PAGE_WAIT_CAUSES_H

#include "result/scope_report.h"

/* Texts of events, each once, in the order in which they are met. */
struct lode_page_texts {
	uint32_t *strings;
	size_t count;
	uint32_t *places; /* by string: its place above plus 1; 0: none */
};

/* A zeroed struct is empty. */
struct lode_page_causes {
	uint8_t *states;                    /* by wait: enum lode_state */
	struct lode_page_texts objects;     /* of waits */
	struct lode_page_texts contexts;    /* of waits and runs */
	uint32_t *behind[LODE_EVENT_TYPES]; /* by wait and by call: a thread or LODE_NONE; NULL: never known */
	uint32_t preemption;                /* the name of calls that are preemptions; LODE_NONE: there are none */
};

/* For a report whose symptoms have all been found. Release it in either case. */
int lode_page_causes_make(struct lode_page_causes *causes, const struct lode_scope_report *report,
			  struct lode_error *error);
void lode_page_causes_release(struct lode_page_causes *causes);
/* Whether call `i` is a preemption that took time. */
int lode_page_causes_preempted(const struct lode_page_causes *causes, const struct lode_stream *stream, size_t i);

#endif
