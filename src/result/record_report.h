/* What lode record recorded, and its JSON. */
#ifndef LODE_RESULT_RECORD_REPORT_H
#define LODE_RESULT_RECORD_REPORT_H

#include "base/buffer.h"
#include "base/notes.h"
#include "result/budget_report.h"
#include "store/corpus.h"

/* How user stacks were found, and how they ended. */
struct lode_user_stacks {
	uint64_t unknown;
	uint64_t whole;
	uint64_t too_deep;
	uint64_t too_large;
	uint64_t broken;
	uint64_t unmapped;
	uint64_t pending;
	uint64_t compat;
	uint64_t guessed;
	uint64_t copied;
	uint64_t lost_copies;
};

struct lode_kernel_stacks {
	uint64_t asked;
	uint64_t checked;
	uint64_t wrong;
};

struct lode_unwind_sizes {
	uint64_t binaries;
	uint64_t rows;
	uint64_t rules;
	uint64_t bytes;
};

struct lode_record_report {
	const struct lode_corpus_entry *entry; /* of the stream */
	const char *corpus;
	uint64_t duration;
	uint64_t preemptions; /* these two are calls of the stream */
	uint64_t system_calls;
	uint64_t lost; /* records */
	int has_symptom_rules;
	int symptoms; /* found by them */
	struct lode_user_stacks user_stacks;
	struct lode_kernel_stacks kernel_stacks;
	struct lode_unwind_sizes unwind_tables;
	long pid;        /* of the command; 0: there was none */
	int exit_status; /* -1: none */
	int signal;      /* that ended it; 0: none */
	struct lode_budget_report budget;
	const struct lode_notes *notes;
};

extern const struct lode_fields lode_record_fields;

void lode_record_json(const struct lode_record_report *report, struct lode_buffer *buffer);

#endif
