/*
 * A corpus as a table to be explained: one row per stream, in the order of the area,
 * or per symptom, if the area has rows by symptom.
 *
 * x are attributes of the streams, y is one too or a time; the other columns say
 * what the stream did: in how many events of the area each function occurs, how
 * long it took, what each cluster of mined patterns costs there, or in which states its threads were.
 */
#ifndef LODE_EXPLAIN_CORPUS_TABLE_H
#define LODE_EXPLAIN_CORPUS_TABLE_H

#include "base/progress.h"
#include "explain/explain.h"
#include "scope/area.h"

enum lode_corpus_features {
	LODE_FEATURES_CALLS,    /* events, by function */
	LODE_FEATURES_LATENCY,  /* ns, by function: inferred from the whole stream, callees included */
	LODE_FEATURES_PATTERNS, /* ns, by cluster of mined patterns */
	LODE_FEATURES_STATES,   /* ns, by state of the threads (scope/states.h): of the whole stream */
	LODE_CORPUS_FEATURES,
};

/* "calls", "latency", "patterns", "states". */
const char *lode_corpus_features_name(enum lode_corpus_features features);

struct lode_corpus_table_options {
	const char *x; /* attributes, separated by commas; NULL, by symptom: when they began */
	/*
	 * `delay` (of the symptoms), `run` and `wait` (cost of all such events), `span`
	 * (first to last moment), or an attribute; NULL: delay where there are
	 * symptoms, else span.
	 */
	const char *y;
	enum lode_corpus_features features;
	int by_symptom;                     /* the area's streams are symptoms, see area.h */
	const char *const *where;           /* latency: the area's, */
	const struct lode_idle_rules *idle; /* and what is idle, */
	int include_work_waits;             /* except these */
	unsigned jobs;
	struct lode_notes *notes;
	const struct lode_progress *progress;
};

/*
 * Fills the table and says in `input` which columns are what. A stream without one
 * of the attributes is a row with a missing value. On success the caller releases
 * the table and frees input->auxiliary; `corpus` must outlive the input.
 */
int lode_corpus_table_make(struct lode_corpus *corpus, const struct lode_area *area,
			   const struct lode_corpus_table_options *options, struct lode_data_table *table,
			   struct lode_explain_input *input, struct lode_error *error);

#endif
