/* The options of lode explain: their table, their check, and what they ask for. */
#ifndef LODE_TASKS_EXPLAIN_OPTIONS_H
#define LODE_TASKS_EXPLAIN_OPTIONS_H

#include "tasks/analysis.h"
#include "tasks/area_options.h"
#include "explain/corpus_table.h"

struct lode_explain_settings {
	const char *x;
	const char *y;
	const char *clusters;
	const char *method;
	const char *functions;
	const char *tree;
	uint64_t depth;
	const char *max_error;
	uint64_t folds;
	uint64_t seed;
	const char *features;
	const char *rows;
	struct lode_area_settings area;
	struct lode_result_settings result;
};

extern const struct lode_option lode_explain_table[];
/* How the result is written. */
extern const struct lode_form lode_explain_forms[];

/* Checks the settings, for a table or a corpus, and fills the options of the explanation. */
int lode_explain_settle(const struct lode_explain_settings *settings, int is_corpus,
			struct lode_explain_options *how, struct lode_error *error);
/* Which rows a corpus gives, and `where` to look for them. */
struct lode_corpus_table_options lode_explain_corpus_rows(const struct lode_explain_settings *settings,
							  struct lode_area_settings *where);

#endif
