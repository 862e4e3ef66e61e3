/*
 * The scopes of a stream's symptoms, for people and programs: a stream loaded, its
 * symptoms listed, and for each the events that belong to it.
 *
 * Scopes are made together with the stream as long as they are not too large, so
 * that several streams can be made ready at a time, and one by one when they are
 * requested beyond that: a stream may have thousands of symptoms, each with all of
 * its events in the graph.
 */
#ifndef LODE_RESULT_SCOPE_REPORT_H
#define LODE_RESULT_SCOPE_REPORT_H

#include "base/output.h"
#include "scope/host_joins.h"
#include "scope/idle.h"
#include "scope/processors.h"
#include "scope/scope.h"
#include "scope/symptoms.h"
#include "scope/wait_kinds.h"
#include "store/corpus.h"

struct lode_scope_options {
	enum lode_scope scope;
	const struct lode_symptom_rules *rules; /* none: the symptoms of the streams */
	const char *const *where;               /* where.h */
	const struct lode_idle_rules *idle;     /* which wakers are interrupts */
	const struct lode_host_joins *joins;    /* streams of other hosts; NULL: none are joined */
	int all_streams;                        /* events of streams without symptoms are loaded, too */
};

/* One symptom and the events that belong to it. */
struct lode_scope_found {
	struct lode_symptom symptom;
	struct lode_parts parts;
	struct lode_parts stepped; /* of a critical path: the waits it stepped into */
	struct lode_scope_result result;
	uint64_t events;              /* how many the parts belong to */
	uint64_t states[LODE_STATES]; /* ns of a critical path; they add up to its length */
	uint64_t in_kernel;           /* of these, running in the kernel */
	int made;
};

struct lode_scope_report {
	const struct lode_scope_options *options;
	const struct lode_corpus_entry *entry;
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* with threads of other hosts, where it is joined with them */
	struct lode_joined_hosts hosts;
	struct lode_idle_stacks *idle;
	struct lode_scope_index *index;
	struct lode_wait_kinds *kinds;
	struct lode_processors *processors;
	uint32_t *holders;              /* by wait (lode_wait_holders); NULL: none is known */
	struct lode_scope_found *items; /* by symptom */
	size_t count;
	int wanted; /* 0: `where` leaves the stream out, and nothing was loaded */
};

/* Loads the stream of `entry`. Release it in either case. May be called from several threads. */
int lode_scope_report_make(struct lode_scope_report *report, const struct lode_corpus_entry *entry,
			   const struct lode_scope_options *options, struct lode_error *error);
void lode_scope_report_release(struct lode_scope_report *report);
/* Symptom `i`, made if it is not yet. */
int lode_scope_report_find(struct lode_scope_report *report, size_t i, struct lode_error *error);
/* Forgets what was found for symptom `i`. */
void lode_scope_report_forget(struct lode_scope_report *report, size_t i);

/* The thread that held what a wait was for; LODE_NONE: unknown. */
static inline uint32_t lode_scope_holder(const struct lode_scope_report *report, uint32_t wait)
{
	return report->holders ? report->holders[wait] : LODE_NONE;
}

/* Of a part that is ready: the thread that had the processor for at least half of it; LODE_NONE: none is known to. */
uint32_t lode_scope_behind(const struct lode_scope_report *report, const struct lode_part *part);

/* Writes one object per symptom and line. */
int lode_scope_json(struct lode_scope_report *report, struct lode_output *output, struct lode_error *error);
/*
 * Writes the object of symptom `i` for a page: stacks are numbers, `shared` of those here (scope_longest.h
 * writes them once for all symptoms); `facts` has names of threads.
 */
int lode_scope_page_symptom(struct lode_scope_report *report, size_t i, const uint32_t *shared,
			    struct lode_output *output, struct lode_error *error);

#endif
