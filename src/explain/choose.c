/*
 * Choosing: see choose.h.
 *
 * Clustering x and y alone can split one noisy function in two and miss the
 * difference between two quiet ones; only together with the tree is it clear what
 * belongs together. So each start has more functions than are wanted. They settle
 * together with the tree, and then the two that are most alike are merged, again
 * and again, down to one; on the way each number of clusters gets a theory. Starts
 * are K-linear clusterings from tubes of several widths (or the spectral
 * clustering), the number of clusters itself where it is given, and the leaves of
 * a tree of regressions. What is found at last may still split, where the rows of a
 * leaf want a function of their own. Starts are worked on in parallel, each with its own
 * results, which are compared in a fixed order.
 */
#include "explain/choose.h"

#include "base/parallel.h"
#include "explain/regressions.h"
#include "explain/spectral.h"

#include <math.h>
#include <string.h>

/* Functions to start with beyond those that are wanted, and where any number is. */
#define MORE	  3
#define START_ALL 8
#define LEAVES	  12

void lode_choice_release(struct lode_choice *choice)
{
	for (unsigned k = 0; k <= LODE_MOST_CLUSTERS; k++)
		lode_theory_release(&choice->theories[k]);
}

/* Takes the theory over when it is shorter than what is there, or releases it. */
static void keep(struct lode_choice *choice, struct lode_theory *theory)
{
	struct lode_theory *place = &choice->theories[theory->clusters];

	if (!place->clusters || theory->length < place->length - LODE_LENGTHS_DIFFER) {
		lode_theory_release(place);
		*place = *theory;
	} else {
		lode_theory_release(theory);
	}
}

/* Merges down to one cluster and keeps every step. */
static int merge_down(const struct lode_world *world, struct lode_theory *theory, unsigned least,
		      struct lode_choice *choice, struct lode_error *error)
{
	int code = 0;

	while (code == 0 && theory->clusters > least) {
		struct lode_theory merged;

		code = lode_theory_merge(world, theory, &merged, error);
		keep(choice, theory);
		if (code < 0)
			return code;
		*theory = merged;
	}
	keep(choice, theory);
	return code;
}

/* ---- starts ---- */

struct start {
	enum { FROM_TUBE, FROM_SPECTRAL, FROM_REGRESSIONS, FROM_NOTHING } kind;
	unsigned clusters;
	unsigned tube;
	int merge; /* down, or as it is */
};

struct search {
	const struct lode_world *world;
	const struct lode_choose_options *options;
	struct start starts[2 * LODE_TUBES + 6];
	size_t count;
	struct lode_choice *found; /* one a start */
	int *codes;
	struct lode_error *errors;
};

static int cluster(const struct search *search, const struct start *start, struct lode_theory *theory,
		   struct lode_error *error)
{
	const struct lode_points *points = search->world->points;
	struct lode_clustering clustering = { .clusters = 0 };
	int code;

	if (start->kind == FROM_SPECTRAL) {
		code = lode_spectral(points, start->clusters, search->options->seed + start->tube, &clustering, error);
	} else {
		code = lode_klinear_start(points, start->clusters, start->tube, search->options->seed, &clustering,
					  error);
		if (code == 0)
			code = lode_klinear_run(points, &clustering, error);
	}
	theory->clusters = clustering.clusters;
	memcpy(theory->functions, clustering.functions, sizeof(theory->functions));
	lode_clustering_release(&clustering);
	return code;
}

static int begin(const struct search *search, const struct start *start, struct lode_theory *theory,
		 struct lode_error *error)
{
	memset(theory, 0, sizeof(*theory));
	switch (start->kind) {
	case FROM_NOTHING:
		theory->clusters = 1;
		return lode_regressions_start(search->world, 1, theory, error);
	case FROM_REGRESSIONS:
		return lode_regressions_start(search->world, start->clusters, theory, error);
	default:
		return cluster(search, start, theory, error);
	}
}

static void run_start(void *context, size_t i)
{
	struct search *search = context;
	const struct start *start = &search->starts[i];
	unsigned least = search->options->clusters ? search->options->clusters : 1;
	struct lode_theory theory;
	int code = begin(search, start, &theory, &search->errors[i]);

	if (code == 0)
		code = lode_theory_settle(search->world, &theory, &search->errors[i]);
	if (code == 0) {
		if (start->merge)
			code = merge_down(search->world, &theory, least, &search->found[i], &search->errors[i]);
		else
			keep(&search->found[i], &theory);
	}
	search->codes[i] = code;
}

static void add_start(struct search *search, struct start start)
{
	if (start.clusters > search->world->points->rows)
		start.clusters = (unsigned)search->world->points->rows;
	search->starts[search->count++] = start;
}

static void plan(struct search *search)
{
	unsigned clusters = search->options->clusters, many = clusters ? clusters + MORE : START_ALL;
	int spectral = search->options->method == LODE_METHOD_SPECTRAL;

	if (many > LODE_MOST_CLUSTERS)
		many = LODE_MOST_CLUSTERS;
	if (clusters == 1) {
		add_start(search, (struct start){ FROM_NOTHING, 1, 0, 0 });
		return;
	}
	for (unsigned tube = 0; tube < (spectral ? 2 : LODE_TUBES); tube++) {
		add_start(search, (struct start){ spectral ? FROM_SPECTRAL : FROM_TUBE, many, tube, 1 });
		if (clusters)
			add_start(search, (struct start){ spectral ? FROM_SPECTRAL : FROM_TUBE, clusters, tube, 0 });
	}
	add_start(search, (struct start){ FROM_REGRESSIONS, LEAVES > many ? LEAVES : many, 0, 1 });
}

static int collect(struct search *search, struct lode_choice *choice, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < search->count; i++) {
		if (search->codes[i] < 0 && code == 0) {
			code = search->codes[i];
			if (error)
				*error = search->errors[i];
		}
		for (unsigned k = 1; k <= LODE_MOST_CLUSTERS; k++)
			if (search->found[i].theories[k].clusters)
				keep(choice, &search->found[i].theories[k]);
		memset(&search->found[i], 0, sizeof(search->found[i]));
	}
	return code;
}

int lode_choose(const struct lode_world *world, const struct lode_choose_options *options,
		struct lode_choice *choice, struct lode_error *error)
{
	struct search search = { .world = world, .options = options };
	int code;

	memset(choice, 0, sizeof(*choice));
	if (options->method == LODE_METHOD_SPECTRAL)
		lode_spectral_prepare();
	plan(&search);
	search.found = lode_calloc(search.count, sizeof(*search.found));
	search.codes = lode_calloc(search.count, sizeof(*search.codes));
	search.errors = lode_calloc(search.count, sizeof(*search.errors));
	if (search.found && search.codes && search.errors) {
		lode_parallel(options->jobs, search.count, run_start, &search);
		code = collect(&search, choice, error);
	} else {
		code = lode_fail_memory(error);
	}
	lode_free(search.found);
	lode_free(search.codes);
	lode_free(search.errors);
	if (code < 0)
		lode_choice_release(choice);
	return code;
}

/* ---- taking ---- */

/* Moves the labels of a theory of this world along. */
static void take(struct lode_choice *choice, unsigned k, struct lode_theory *theory)
{
	*theory = choice->theories[k];
	memset(&choice->theories[k], 0, sizeof(choice->theories[k]));
}

int lode_choice_take(const struct lode_world *world, struct lode_choice *choice, unsigned clusters,
		     struct lode_theory *theory, struct lode_error *error)
{
	unsigned best = 0;
	int code;

	memset(theory, 0, sizeof(*theory));
	for (unsigned k = 1; k <= LODE_MOST_CLUSTERS; k++) {
		const struct lode_theory *other = &choice->theories[k];

		if (other->clusters &&
		    (!best || other->length < choice->theories[best].length - LODE_LENGTHS_DIFFER))
			best = k;
	}
	if (clusters) {
		if (choice->theories[clusters].clusters)
			take(choice, clusters, theory);
		return 0;
	}
	take(choice, best, theory);
	code = lode_theory_split(world, theory, error);
	if (code == 0)
		code = lode_theory_merge_near(world, theory, error);
	if (code < 0)
		lode_theory_release(theory);
	return code;
}
