/*
 * Findings as plain values (fields.h): what text, page, agents and alerts show. Members have the names of the JSON, which
 * findings_fields.c describes.
 */
#ifndef LODE_RESULT_FINDINGS_RESULT_H
#define LODE_RESULT_FINDINGS_RESULT_H

#include "mine/finding_streams.h"
#include "result/fields.h"
#include "result/finding_words.h"

struct lode_finding_who {
	const char *process; /* "" where it is unknown, as the other names */
	const char *thread;
};

struct lode_finding_object {
	const char *kind; /* "lock", "file", ... */
	const char *name;
};

/* A thread on the way from who waits to where the time went. */
struct lode_finding_step {
	struct lode_finding_who who;
	const char *state;
	int has_object;
	struct lode_finding_object object;
	int has_holder;
	struct lode_finding_who holder;
	struct lode_written frame; /* where it waits; of the last step the finding's */
	int has_frame;
};

struct lode_finding_call {
	struct lode_written frame;
	uint64_t cost_ns;
};

struct lode_finding_example {
	const char *stream;
	const char *stream_id;
	const char *host;
	uint64_t cost_ns;
	uint64_t slowest_ns;
	uint64_t t;
	uint32_t tid;
};

/* Examples of a finding, at most. */
#define LODE_FINDING_EXAMPLES 5

struct lode_finding_result {
	const char *id;
	const char *kind;
	struct lode_written sentence;
	struct lode_written sentence_parts;
	struct lode_finding_who who; /* the first of the chain */
	const char *state;           /* where the time went to in the end */
	int has_object;
	struct lode_finding_object object; /* what the first waits for */
	int has_holder;
	struct lode_finding_who holder;
	int has_frame;
	struct lode_written frame;
	int has_caller;
	struct lode_written caller;
	struct lode_list callees; /* of struct lode_finding_call */
	int has_context;
	const char *context;
	uint64_t context_ns;
	uint64_t cost_ns;
	double share;
	uint64_t place_ns;
	uint64_t per_symptom_ns;
	uint64_t symptoms;
	uint64_t events;
	uint64_t streams;
	uint64_t hosts;
	struct lode_list chain;    /* of struct lode_finding_step */
	struct lode_list examples; /* of struct lode_finding_example */
	struct lode_written by_stream;
	uint64_t by_stream_left_out;
};

/* What the lists of one finding are made from. */
struct lode_finding_seen {
	struct lode_finding_streams streams;
	size_t slowest[LODE_FINDING_EXAMPLES];
	size_t examples;
};

/* What the threads of processes of one name did. */
struct lode_finding_states {
	const char *process;
	uint64_t running_ns;
	uint64_t ready_ns;
	struct lode_written waiting_ns;
	uint64_t idle_ns;
};

/* That the machine was busy. */
struct lode_finding_machine {
	struct lode_written sentence;
	uint64_t ready_ns;
	double share;
};

/* A part of a result. */
struct lode_findings_result {
	int any; /* they were asked for */
	int is_busy;
	struct lode_finding_machine machine;
	struct lode_list states; /* of struct lode_finding_states */
	struct lode_list findings;
	uint64_t explained_ns;
	uint64_t total_ns;
	int has_symptoms;
	struct lode_written symptom_word;
	int has_gpus; /* the symptoms are all that GPUs did */
	uint64_t gpus_ran_ns;
	int has_hint;
	const char *hint;
	struct lode_finding_source source; /* from here on: what the list is made from */
	uint32_t *links;                   /* of the chains of all findings, one after the other */
	size_t *starts;                    /* of each finding's, and the end */
	struct lode_finding_seen *places;  /* of each finding */
	size_t place_count;
	size_t most_streams; /* that a finding lists */
};

extern const struct lode_fields lode_findings_part_fields;

/*
 * `findings` NULL: there are none. A finding lists its costs in `most_streams` streams. It does not move. Returns 0 or
 * LODE_SYSTEM; release it in either case.
 */
int lode_findings_result_make(struct lode_findings_result *result, const struct lode_area *area,
			      const struct lode_findings *findings, size_t top, size_t most_streams);
void lode_findings_result_release(struct lode_findings_result *result);

#endif
