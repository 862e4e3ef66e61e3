/*
 * The blocks of a report: what each view of its page shows.
 */
#ifndef LODE_TASKS_REPORT_BLOCKS_H
#define LODE_TASKS_REPORT_BLOCKS_H

#include "page/page_stacks.h"
#include "tasks/source.h"

struct lode_report_settings {
	struct lode_area_settings area;
	uint64_t streams;
	const char *title;
	const char *block; /* only this one, as it is */
	const char *output;
};

struct lode_report_making {
	const struct lode_call *call;
	const struct lode_report_settings *settings;
	const char *path;
	struct lode_work *work;
	struct lode_buffer page;
	struct lode_page_stacks stacks; /* of all blocks of a page */
	size_t left_out;                /* streams without a timeline: more than were requested */
	size_t too_large;               /* and those that do not fit */
	struct lode_error *error;
};

/* Each appends its blocks to the page, or to what is written instead of one. Return 0 or a negative code. */
int lode_report_info(struct lode_report_making *making, const struct lode_source *source,
		     const struct lode_corpus_list *list);
/* Clusters, of the kinds of events that there are. */
int lode_report_mine(struct lode_report_making *making, const struct lode_corpus_list *list);
int lode_report_profile(struct lode_report_making *making, struct lode_source *source);
/* The timeline of the stream `id`; NULL: of those with the longest delays. */
int lode_report_streams(struct lode_report_making *making, struct lode_source *source,
			const struct lode_corpus_list *list, const char *id);
/* The stacks that blocks share; after all of them. */
int lode_report_stacks(struct lode_report_making *making, const struct lode_source *source);
/* What other commands make: symptoms, latency, coverage, where they have something to show. */
int lode_report_views(struct lode_report_making *making, const struct lode_source *source,
		      const struct lode_corpus_list *list);

#endif
