/* What lode record recorded, and its JSON. */
#ifndef LODE_RESULT_RECORD_REPORT_H
#define LODE_RESULT_RECORD_REPORT_H

#include "base/buffer.h"
#include "base/notes.h"
#include "result/budget_report.h"
#include "store/corpus.h"

/* A number with its key; a list of them ends with one without. */
struct lode_named_count {
	const char *name;
	uint64_t count;
};

struct lode_record_report {
	const struct lode_corpus_entry *entry; /* of the stream */
	const char *corpus;
	uint64_t duration;
	uint64_t preemptions; /* these two are calls of the stream */
	uint64_t system_calls;
	uint64_t lost; /* records */
	int has_symptom_rules;
	int symptoms;                            /* found by them */
	struct lode_named_count user_stacks[16]; /* how they were found, and how they ended */
	struct lode_named_count kernel_stacks[4];
	struct lode_named_count unwind_tables[5];
	long pid;        /* of the command; 0: there was none */
	int exit_status; /* -1: none */
	int signal;      /* that ended it; 0: none */
	struct lode_budget_report budget;
	const struct lode_notes *notes;
};

void lode_record_json(const struct lode_record_report *report, struct lode_buffer *buffer);

#endif
