/*
 * One stream's share of the area: the map step of area.h. Private to scope.
 */
#ifndef LODE_SCOPE_AREA_STREAM_H
#define LODE_SCOPE_AREA_STREAM_H

#include "scope/area.h"
#include "scope/area_visit.h"
#include "store/map_cache.h"
#include "scope/symptoms.h"

/* What the options mean, read once for all streams. */
struct lode_area_plan {
	const struct lode_area_options *options;
	struct lode_symptom_claims *claims; /* scopes of symptoms: which of several streams one counts in */
	enum lode_scope scope;              /* never auto */
	struct lode_symptom_rules rules;
	unsigned kinds; /* 1 << LODE_RUN | 1 << LODE_WAIT */
	uint64_t from;  /* --time; from the stream's start where `relative` */
	uint64_t to;
	int relative;
	int keep; /* the events themselves are wanted, too */
	/* In place of rows: gets each stream with its symptoms, and `visit_result`. NULL: rows are wanted. */
	int (*visit)(void *context, const struct lode_area_visit *visit, void *result, struct lode_error *error);
	void *visit_context;
	void *visit_result;
};

/* How the time of critical paths is accounted for. */
struct lode_area_account {
	uint64_t unknown;
	uint64_t running;
	uint64_t waiting;
	uint64_t idling;
	uint64_t ready;
};

/* An event in the area, idle ones left out. */
struct lode_area_kept {
	uint64_t t;
	uint64_t cost;
	uint32_t stack;
	uint32_t thread;
};

struct lode_area_kept_list {
	struct lode_area_kept *items;
	size_t count;
	size_t capacity;
};

/* What one stream adds. Rows have stacks of its own dictionary; `stream` is 0, or with by_symptom the symptom. */
struct lode_area_partial {
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* head */
	int wanted;                /* --where lets it in; otherwise only its occurrences count */
	int unread;   /* not 0: its file is damaged or gone; the code, and nothing else is there but */
	char *reason; /* the sentence */
	struct lode_area_rows rows[LODE_AREA_KINDS];
	struct lode_area_rows idle[LODE_AREA_KINDS];
	struct lode_area_rows work;
	struct lode_chains chains;
	struct lode_area_kept_list kept[LODE_AREA_KINDS]; /* where the plan says so, in order of time */
	uint64_t *occurrences;                            /* by node */
	uint64_t input_events[LODE_AREA_KINDS];
	uint64_t recorded_events[LODE_AREA_KINDS];
	uint64_t input_cost[LODE_AREA_KINDS];
	uint64_t symptoms;
	uint64_t repeated; /* symptoms that count in another stream, or twice here, left out */
	uint64_t delay;
	uint64_t longest_delay;
	struct lode_area_account account;
	struct lode_area_symptom *each; /* with by_symptom: `symptoms` of them */
	struct lode_area_account *each_account;
};

/* Frees what it holds. */
static inline void lode_area_rows_release(struct lode_area_rows *rows)
{
	lode_free(rows->items);
	lode_free(rows->spreads);
}

/* What `options` mean for the streams of `list`; release in either case (zeroed before). */
int lode_area_plan_make(struct lode_area_plan *plan, const struct lode_area_options *options,
			const struct lode_corpus_list *list, struct lode_error *error);
void lode_area_plan_release(struct lode_area_plan *plan);

/*
 * Fills `partial`; the caller releases it in either case. A stream that cannot be read is left out
 * (unread_streams.h) and `unread` says so, unless options are strict.
 */
int lode_area_stream_if_readable(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
				 struct lode_area_partial *partial, struct lode_error *error);
void lode_area_partial_release(struct lode_area_partial *partial);
/* The key of what the plan makes of the stream (area_cache.h): 1; 0 where nothing is kept, or the stream cannot be read. */
int lode_area_stream_key(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry,
			 struct lode_map_key *key);
/*
 * Makes it for the cache of the corpus alone, unless it is there, which takes a fraction of the time of reading it. What
 * fails is left to who reads it.
 */
void lode_area_stream_keep(const struct lode_area_plan *plan, const struct lode_corpus_entry *entry);

#endif
