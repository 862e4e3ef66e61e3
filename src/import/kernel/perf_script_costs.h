/*
 * What the samples of `perf script` cost, where the text does not say it in nanoseconds.
 *
 * A period of cycles becomes time at the rate of the counter (count_rate.h). A sample without a period costs, in
 * this order: what --unit says; one sampling period, where `perf script --header` printed the frequency; else the
 * commonest distance between neighbours on one CPU, which is the period of a CPU that has work. The last is a guess:
 * where no CPU is busy for two periods on end, nothing in the text shows the period, and a note says so.
 */
#ifndef LODE_IMPORT_PERF_SCRIPT_COSTS_H
#define LODE_IMPORT_PERF_SCRIPT_COSTS_H

#include "base/array.h"
#include "import/import.h"

/* Numbers of run events. */
struct lode_script_runs {
	LODE_ARRAY(size_t);
};

struct lode_script_costs {
	struct lode_script_runs bare;    /* without a period */
	struct lode_script_runs counted; /* whose cost is a count until the end */
	uint64_t frequency;              /* that the header says; 0: none */
	int is_mixed;                    /* the header says several */
};

/* A zeroed struct is empty. */
void lode_script_costs_release(struct lode_script_costs *costs);
/* Remembers a run of the stream. Returns 0 or LODE_SYSTEM. */
int lode_script_runs_add(struct lode_script_runs *runs, size_t run);
/* Reads a comment of the text: it may be the part of the header that describes an event. */
void lode_script_costs_comment(struct lode_script_costs *costs, const char *line, size_t length);
/*
 * Sets the cost of all runs that were remembered, before the stream is sorted. `timeless`: the samples have no
 * times, so no rate can be found. Notes what was assumed for `name`, the input. Returns 0 or LODE_SYSTEM.
 */
int lode_script_costs_settle(const struct lode_script_costs *costs, struct lode_stream *stream, int timeless,
			     const char *name, const struct lode_import_options *options);

#endif
