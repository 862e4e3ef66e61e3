/*
 * Explaining a table: why some rows (runs) have a large y for their x and others
 * not, as a few functions of x and a small tree over the other columns that says
 * which rows follow which (a discriminant regression tree).
 *
 * Input struct → options struct, with a check that explains itself → result
 * struct. The same seed gives the same answer, on any number of threads.
 */
#ifndef LODE_EXPLAIN_EXPLAIN_H
#define LODE_EXPLAIN_EXPLAIN_H

#include "base/notes.h"
#include "explain/model/model_selection.h"
#include "explain/table/table.h"

struct lode_explain_input {
	const struct lode_data_table *table;
	const char *name; /* of the table, for messages */
	uint32_t x[LODE_MAX_INPUTS];
	unsigned inputs;
	uint32_t y;
	unsigned char *auxiliary; /* one byte a column: it may be in the tree */
	const char *unit;         /* of all auxiliary columns: "ns", "samples"; NULL: see their names */
	int counts;               /* auxiliary columns hold whole numbers */
};

enum lode_tree_kind { LODE_TREE_CART, LODE_TREE_OPTIMAL };

struct lode_explain_options {
	unsigned clusters; /* 0: as many as give the shortest description */
	int smallest;      /* the paper's Algorithm 1: as few as max_error allows, at most `clusters` where above 0
		       */
	enum lode_method method;
	enum lode_family family;
	enum lode_tree_kind tree;
	unsigned depth;         /* of an optimal tree, at most 4 */
	double max_error;       /* bound on the error, 0: none */
	int max_error_relative; /* the bound is on the relative error, not on the mean square */
	unsigned folds;         /* of the cross-validation, 0: none */
	uint64_t seed;
	unsigned jobs;
	struct lode_notes *notes; /* may be NULL */
};

struct lode_explained_cluster {
	struct lode_function function;
	size_t size;      /* rows that the tree gives it */
	double r2;        /* of its function over these rows */
	double share;     /* of all rows */
	double typical_y; /* median */
};

/* What the same search finds where there is nothing to find (explain_evidence.c). */
struct lode_chance {
	unsigned tables;  /* of chance that were searched, 0: there was no need */
	unsigned as_good; /* where it saved as much */
	int doubted;      /* in too many of them */
};

/* Why only one function is reported though several describe y shorter. */
enum lode_withdrawn {
	LODE_WITHDRAWN_NONE,
	LODE_WITHDRAWN_CHANCE, /* chance finds as much */
	LODE_WITHDRAWN_CURVE,  /* one curve describes it shorter still */
	LODE_WITHDRAWN_CUT,    /* a column cuts what has no gap */
};

struct lode_explanation {
	size_t rows;       /* that took part */
	uint32_t *row_of;  /* their numbers in the table */
	size_t left_out;   /* rows without x or y */
	size_t copies;     /* rows that equal others and do not count; they take no part */
	uint32_t *copy_of; /* by row of the table: the row that it is a copy of, or LODE_NONE; NULL: no copies
			    */
	unsigned clusters; /* fastest first */
	struct lode_explained_cluster cluster[LODE_MAX_CLUSTERS];
	struct lode_points points; /* x and y, for the functions */
	struct lode_features features;
	struct lode_tree tree; /* `sizes` count rows by what their y says alone */
	int explained;         /* the tree separates the clusters, or there is only one */
	uint32_t *assigned;    /* each row's cluster by the tree; by x and y alone where it is not explained */
	uint32_t *nearest;     /* each row's cluster by its x and y alone */
	size_t *confusion;     /* clusters × clusters: by x and y alone, by the tree */
	double agreement;      /* share of rows where both agree */
	double accuracy;       /* the same for rows that the tree had not seen: cross-validated; NaN: no folds */
	double r2;             /* of the whole, and cross-validated */
	double validated_r2;
	double mean_square;        /* error of the whole */
	double distribution_error; /* the same of the paper's prediction: each leaf's functions by their
				      shares */
	double clustering_error;   /* smallest: what max_error bounds, each row by its nearest function; else
				      NaN */
	double relative_error;     /* root of the mean square of (y - f) / f; NaN where f is not above 0 */
	double length;             /* of the description, in nats */
	struct lode_chance chance; /* of what is reported, or of what was withdrawn */
	enum lode_withdrawn withdrawn;
	uint32_t withdrawn_feature; /* cut: the feature at the root */
	int within;                 /* explained, and the error is within the bound, where there is one */
};

/* Defaults: clusters chosen, K-linear, linear functions, CART, 10 folds. */
void lode_explain_defaults(struct lode_explain_options *options);
/* The options as people write them: `K`, `auto`, `smallest`, `smallest:B`; a mean square error or a share
 * (`5%`). */
int lode_explain_clusters(const char *text, struct lode_explain_options *options, struct lode_error *error);
int lode_explain_max_error(const char *text, struct lode_explain_options *options, struct lode_error *error);
/* Whether the options make sense: 0, or LODE_USAGE with a sentence. */
int lode_explain_check(const struct lode_explain_options *options, struct lode_error *error);
/*
 * Names of columns to the input struct: `x` (comma-separated) and `y`; all other
 * columns are auxiliary. `auxiliary` is then the caller's to free.
 */
int lode_explain_columns(struct lode_explain_input *input, const struct lode_data_table *table, const char *name,
			 const char *x, const char *y, struct lode_error *error);
int lode_explain(const struct lode_explain_input *input, const struct lode_explain_options *options,
		 struct lode_explanation *explanation, struct lode_error *error);
void lode_explanation_release(struct lode_explanation *explanation);

#endif
