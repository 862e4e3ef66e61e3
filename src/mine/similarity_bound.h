/*
 * A bound of Sim that no alignment is needed for: of eight patterns (rows) against
 * one other (column) at a time. What it rules out cannot be as similar as asked; what
 * it leaves may be.
 */
#ifndef LODE_MINE_SIMILARITY_BOUND_H
#define LODE_MINE_SIMILARITY_BOUND_H

#include "mine/similar_names.h"

#define LODE_BOUND_LANES 8

/* What the weight of a function in its pattern is made of, and the weight inside a segment. */
struct lode_similarity_weight {
	double uni;
	double forward;
	double backward;
	double inner;
};

/* One frame of a pattern, as the bound sees it. */
struct lode_bound_frame {
	uint32_t frame;    /* numbered from 0 among the patterns' frames */
	uint32_t name;     /* in lode_names */
	uint32_t before;   /* number of the pair with the frame before it; 0: it is the first */
	uint32_t after;    /* number of the pair with the frame behind it; 0: it is the last */
	float uni;         /* weight at most */
	float less_before; /* of that, when the frame before it matches, too */
	float less_after;  /* when the frame behind it does; 0 where that is not certain */
	float half_inner;  /* half its weight at least */
	uint8_t is_single; /* its frame occurs only once in the pattern */
	uint8_t is_final;  /* the name of the frame behind it does not occur again further on */
};

/* All patterns, prepared. Threads share it. */
struct lode_bound_patterns {
	struct lode_bound_frame *frames; /* parallel to the patterns' frames */
	size_t frame_count;              /* different frames */
	size_t pair_count;               /* different pairs, and 1 */
};

/* Returns 0 or LODE_SYSTEM. `weights` are parallel to the patterns' frames. Release in either case. */
int lode_bound_patterns_make(struct lode_bound_patterns *bounds, const struct lode_patterns *patterns,
			     const struct lode_names *names, const struct lode_similarity_weight *weights);
void lode_bound_patterns_release(struct lode_bound_patterns *bounds);

/* One thread's eight rows. */
struct lode_bound;

/* NULL when memory has run out. */
struct lode_bound *lode_bound_make(const struct lode_bound_patterns *patterns, size_t names);
void lode_bound_free(struct lode_bound *bound);

/* Forgets the rows. */
void lode_bound_clear(struct lode_bound *bound);
/* Enters a row; its frames begin at `first` among those of all patterns. */
void lode_bound_add_row(struct lode_bound *bound, size_t lane, size_t first, uint32_t length);
/* Frame `at` of the row in `lane` is nearer than 1 to a name. Each name but once for a frame. 0 or LODE_SYSTEM. */
int lode_bound_add_near(struct lode_bound *bound, size_t lane, size_t at, struct lode_near_name near);
/* The rows, as bits, whose Sim to the column may be `similarity` or more. */
unsigned lode_bound_possible(const struct lode_bound *bound, size_t first, uint32_t length, double similarity);

#endif
