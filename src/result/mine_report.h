/*
 * The result of lode mine for people and programs.
 */
#ifndef LODE_RESULT_MINE_REPORT_H
#define LODE_RESULT_MINE_REPORT_H

#include "mine/compare.h"
#include "mine/findings.h"
#include "mine/gain.h"
#include "result/fields.h"

struct lode_mine_report {
	const char *corpus; /* its path */
	const struct lode_area *area;
	const struct lode_mine_options *options;
	const struct lode_mined *mined;
	const struct lode_findings *findings; /* NULL: they were not asked for */
	const char *hint;                     /* what to do about functions without a name; NULL: nothing */
	const struct lode_idle_stacks *idle;  /* the rules, applied to the area's dictionary */
	int only_findings;                    /* nothing was mined */
	int all_frames;                       /* text shows frames that say nothing, too */
	size_t top;                           /* clusters to show; 0: all */
	uint64_t covered;                     /* --new: ns that signatures cover, taken out before mining */
	int only_new;                         /* --new was requested */
	int timing;         /* JSON says how long the steps took; without it equal input gives equal bytes */
	uint64_t read_time; /* ns that collecting the area took */
	const struct lode_gains *gains; /* what fixing clusters would gain; NULL: it was not asked for */
	uint32_t cpus;                  /* of the replay (scope/what_if.h) */
	int for_page;                   /* JSON is for a page: it has the cost of each cluster in all streams */
};

/* How many clusters are shown. */
static inline size_t lode_mine_shown(const struct lode_mine_report *report)
{
	size_t count = report->mined->clusters.count;

	return report->top && report->top < count ? report->top : count;
}

/* Places to look at: the streams where a cluster costs most, at most `most` of them. */
struct lode_mine_example {
	const struct lode_area_stream *stream;
	const struct lode_area_row *row; /* with the costliest event */
	uint64_t cost;                   /* of the cluster in this stream */
	uint64_t events;
};

/* Fills `examples` (room for `most`), costliest first; returns how many there are. */
size_t lode_mine_examples(const struct lode_mine_report *report, size_t cluster, size_t most,
			  struct lode_mine_example *examples);

/*
 * A gap between two frames that all patterns of a cluster share (before the first
 * one, behind the last), and what is there in how many of them.
 */
struct lode_mine_variant {
	size_t gap;             /* before common frame `gap`; the number of common frames: behind the last */
	const uint32_t *frames; /* of the first pattern that has it */
	uint32_t length;        /* 0: nothing is there */
	uint32_t patterns;      /* how many of the cluster's patterns have exactly this there */
	uint64_t cost;          /* of the costliest of them */
};

struct lode_mine_variants {
	struct lode_mine_variant *items; /* by gap; then by cost, largest first */
	size_t count;
	size_t capacity;
};

/*
 * The variants of a cluster; gaps that are always empty are left out. `variants`
 * is zeroed before its first use and reused. Returns 0 or LODE_SYSTEM.
 */
int lode_mine_find_variants(const struct lode_mine_report *report, size_t cluster,
			    struct lode_mine_variants *variants);
void lode_mine_variants_release(struct lode_mine_variants *variants);

/* The symptoms of all streams and, on critical paths, how their time is accounted for. */
struct lode_mine_symptoms {
	int on_critical_paths;
	uint64_t count;
	uint64_t delay;   /* sum of their lengths, */
	uint64_t waiting; /* which is these five */
	uint64_t running;
	uint64_t ready;
	uint64_t idling;
	uint64_t unknown;
};

struct lode_mine_symptoms lode_mine_sum_symptoms(const struct lode_area *area);

/* Where threads waited for work: a place (work_waits.h) and what its waits come to. */
struct lode_mine_place {
	uint32_t place; /* node of the area's dictionary */
	uint64_t events;
	uint64_t cost;
};

struct lode_mine_places {
	struct lode_mine_place *items; /* by cost, largest first, then by text */
	size_t count;
};

/* The places of the area's waits for work; the caller frees `items`. Returns 0 or LODE_SYSTEM. */
int lode_mine_find_places(const struct lode_mine_report *report, struct lode_mine_places *places);

/* Appends the JSON of the contract. */
void lode_mine_json(const struct lode_mine_report *report, struct lode_buffer *buffer);

/* Two corpora side by side. */
struct lode_compare_report {
	const struct lode_mine_report *here;
	const struct lode_mine_report *other;
	const struct lode_comparison *comparison;
	size_t top; /* clusters to show; 0: all */
};

extern const struct lode_fields lode_compare_fields;

void lode_compare_json(const struct lode_compare_report *report, struct lode_buffer *buffer);

/* Events of a pattern or cluster, a line of JSON each. */
struct lode_mine_events_json {
	const struct lode_area *area;
	struct lode_json *json;
};

extern const struct lode_fields lode_mine_event_fields;

/* For lode_area_events: writes an event of the struct `context`. */
int lode_mine_event_json(void *context, const struct lode_area_event *event);

#endif
