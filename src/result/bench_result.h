/* The result of lode bench as plain values (fields.h); bench_result.c has their table, too. */
#ifndef LODE_RESULT_BENCH_RESULT_H
#define LODE_RESULT_BENCH_RESULT_H

#include "result/checks.h"
#include "result/fields.h"

/* What is known of B against A. */
enum lode_bench_verdict {
	LODE_BENCH_SAME,   /* surely no difference larger than the limit, and maybe none */
	LODE_BENCH_FASTER, /* surely */
	LODE_BENCH_UNSURE,
	LODE_BENCH_SLOWER, /* surely */
	LODE_BENCH_VERDICTS,
};

/* Of one input. Shares are of the time of A: 0.05 is 5 % more. */
struct lode_bench_input {
	const char *input; /* NULL: there is only one */
	enum lode_bench_verdict verdict;
	const char *verdict_name;
	uint64_t pairs;
	uint64_t a_ns; /* medians */
	uint64_t b_ns;
	uint64_t a_cpu_ns;
	uint64_t b_cpu_ns;
	double change;
	int known; /* pairs are enough for an interval: */
	double low;
	double high;
	struct lode_list a_times_ns; /* of each run, in order: of uint64_t */
	struct lode_list b_times_ns;
	struct lode_list a_cpu_times_ns;
	struct lode_list b_cpu_times_ns;
};

/* What makes B slower or faster, by recorded runs. */
struct lode_bench_cause {
	char *frame;
	char *layer;
	char *caller; /* NULL: none */
	int new;
	int64_t delta_ns;
	char *state; /* what threads do longer, or shorter; NULL: not known */
	int64_t state_delta_ns;
};

struct lode_bench_result {
	const char *a;
	const char *b;
	double level;
	double limit;
	const char *measure;             /* "time", "cpu" */
	enum lode_bench_verdict verdict; /* SLOWER where any input is, then UNSURE, then FASTER */
	const char *verdict_name;
	const char *ended; /* why no more runs were made: "decided", "max-time", "pairs" */
	const char *cpus;  /* to which runs were pinned; NULL: to none */
	uint64_t seed;
	uint64_t runs;
	uint64_t took_ns; /* with what was recorded; */
	uint64_t runs_ns; /* the timed runs alone */
	struct lode_bench_input *items;
	size_t count;
	struct lode_list inputs; /* the same */
	uint64_t recorded;       /* runs a side */
	const char *corpus;      /* where they are; NULL: they are not kept */
	int has_cause;
	struct lode_bench_cause cause;
	size_t cause_of;      /* the number of the input whose runs were recorded for it */
	const char *no_cause; /* why there is none; NULL: nothing was recorded, or there is one */
};

extern const struct lode_fields lode_bench_fields;

/* `same`, `faster`, `unsure`, `slower`. */
const char *lode_bench_verdict_name(unsigned verdict);
/* Appends what is known of an input: `slower by 5.2% [3.1%, 7.4%]`, `no difference larger than 1.8%`. */
void lode_bench_words(const struct lode_bench_result *result, const struct lode_bench_input *input,
		      struct lode_buffer *buffer);
/* As a gate: an input is beyond the limit when B is surely slower by more. */
void lode_bench_checks(const struct lode_bench_result *result, struct lode_checks *checks);
void lode_bench_json(const struct lode_bench_result *result, struct lode_buffer *buffer);

#endif
