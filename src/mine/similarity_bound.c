/*
 * A bound of Sim: see similarity_bound.h.
 *
 * Sim is m / (m + r), the weight of the matches by the weight of all. With more than m
 * in place of m and less than r in place of r it can only be higher.
 *
 * More than m: the weights of the column's frames that the row has, too. The weight of
 * a match is Uni * (forward + backward) / 2, where `forward` is below 1 only if the
 * frames before match as well, and `backward` only if those behind do:
 *
 *	- before: the way back (alignment.c) always matches equal frames, so if the row
 *	  has the frame once, and the frame before it is that of the column, they match;
 *	- behind: let y follow the match in both. If y were not matched with y, the frames
 *	  behind the match would be left out on one side up to some z, and z aligned
 *	  with the other side's y. Matching y with y and leaving out z instead is
 *	  cheaper by Sub(y, z), so the alignment was not the cheapest unless Sub is 0. So
 *	  y matches y unless its name occurs again further on, in either of the two.
 *
 * Less than r: a frame that the other pattern has not is left out, which costs at
 * least its weight inside a segment, or substituted, which costs Sub / 2 of that for
 * each of the two. So each costs at least half its weight times Sub of the nearest
 * name of the other. For the column's frames this is looked up by name. For the row's
 * frames it is half the weight of all, less what each name of the column can take away.
 *
 * A frame of the column that the row has not, next to one that it has: when that one
 * matches, the segment ends there, and the weight is higher. When it does not match,
 * the matches are less by what it was counted with. Either way Sim is lower; the
 * smaller of the two counts, of the latter half, since a frame has two neighbours.
 *
 * Of 8 rows all this is side by side in vectors, or in bits where it is yes or no.
 */
#include "mine/similarity_bound.h"

#include "base/error.h"
#include "base/hash_index.h"
#include "base/memory.h"

#include <string.h>

#define LANES LODE_BOUND_LANES

typedef float vector __attribute__((vector_size(16)));

union floats {
	vector half[2];
	float lane[LANES];
};

/* ---- the patterns ---- */

/* Numbers keys from `next` on. */
struct numbering {
	struct lode_index index;
	uint64_t *keys; /* by number */
	size_t capacity;
	size_t next;
};

static uint32_t number_of(struct numbering *numbering, uint64_t key)
{
	uint64_t hash = lode_hash_bytes(&key, sizeof(key));
	size_t probe = 0;
	uint32_t number;

	while ((number = lode_index_next(&numbering->index, hash, &probe)) != LODE_NONE)
		if (numbering->keys[number] == key)
			return number;
	if (LODE_INDEX_APPEND(&numbering->index, hash, numbering->keys, numbering->next, numbering->capacity,
			      key) < 0)
		return LODE_NONE;
	return (uint32_t)numbering->next - 1;
}

static void release_numbering(struct numbering *numbering)
{
	lode_index_release(&numbering->index);
	lode_free(numbering->keys);
}

static int number_frames(struct lode_bound_frame *frames, const uint32_t *ids, uint32_t length,
			 struct numbering *singles, struct numbering *pairs)
{
	for (uint32_t i = 0; i < length; i++) {
		frames[i].frame = number_of(singles, ids[i]);
		if (frames[i].frame == LODE_NONE)
			return LODE_SYSTEM;
		if (!i)
			continue;
		frames[i].before = number_of(pairs, (uint64_t)ids[i - 1] << 32 | ids[i]);
		frames[i - 1].after = frames[i].before;
		if (frames[i].before == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Patterns are short, so each frame is compared with each behind it; of very long ones nothing is claimed. */
#define LONGEST 1024

static void mark_repetition(struct lode_bound_frame *frames, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		frames[i].is_single = frames[i].is_final = length <= LONGEST;
	for (uint32_t i = 0; i < length && length <= LONGEST; i++)
		for (uint32_t j = i + 1; j < length; j++) {
			if (frames[i].frame == frames[j].frame)
				frames[i].is_single = frames[j].is_single = 0;
			if (i && frames[i].name == frames[j].name)
				frames[i - 1].is_final = 0;
		}
}

static void weigh(struct lode_bound_frame *frames, const struct lode_similarity_weight *weights, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		const struct lode_similarity_weight *weight = &weights[i];

		frames[i].uni = (float)weight->uni;
		frames[i].less_before = (float)(weight->uni * (1 - weight->forward) / 2);
		frames[i].less_after = frames[i].is_final ? (float)(weight->uni * (1 - weight->backward) / 2) : 0;
		frames[i].half_inner = (float)(weight->inner / 2);
	}
}

int lode_bound_patterns_make(struct lode_bound_patterns *bounds, const struct lode_patterns *patterns,
			     const struct lode_names *names, const struct lode_similarity_weight *weights)
{
	struct numbering singles = { .next = 0 }, pairs = { .next = 1 };
	int code = 0;

	bounds->frames = lode_calloc(patterns->frame_count, sizeof(*bounds->frames));
	if (!bounds->frames)
		return LODE_SYSTEM;
	for (size_t i = 0; i < patterns->frame_count; i++)
		bounds->frames[i].name = names->of[i];
	for (size_t i = 0; i < patterns->count && !code; i++) {
		const struct lode_pattern *pattern = &patterns->items[i];
		struct lode_bound_frame *frames = bounds->frames + pattern->first;

		code = number_frames(frames, patterns->frames + pattern->first, pattern->length, &singles, &pairs);
		mark_repetition(frames, pattern->length);
		weigh(frames, weights + pattern->first, pattern->length);
	}
	bounds->frame_count = singles.next;
	bounds->pair_count = pairs.next;
	release_numbering(&singles);
	release_numbering(&pairs);
	return code;
}

void lode_bound_patterns_release(struct lode_bound_patterns *bounds)
{
	lode_free(bounds->frames);
	memset(bounds, 0, sizeof(*bounds));
}

/* ---- eight rows ---- */

/* What a name in the column means for the rows. */
struct near_row {
	union floats sub;  /* to the nearest frame of each row */
	union floats less; /* that the rows' own frames cost at least */
	uint32_t name;
};

struct row {
	size_t first;
	uint32_t length;
};

struct lode_bound {
	const struct lode_bound_patterns *patterns;
	struct row rows[LANES];
	unsigned bits;       /* of the lanes that hold a row */
	uint32_t longest;    /* of the rows */
	union floats own;    /* what the rows' frames cost at least when nothing is near */
	uint8_t *has_frame;  /* by frame: rows that have it */
	uint8_t *has_before; /* by pair: rows that have it, the second frame only there */
	uint8_t *has_after;  /* by pair: the first frame only there, the name of the second not again */
	uint32_t *near_of;   /* by name: its place in `near` and 1; 0: nothing is near */
	struct near_row *near;
	size_t near_count;
	size_t near_capacity;
	union floats of_bits[1 << LANES]; /* 1 where the bit is set, else 0 */
};

struct lode_bound *lode_bound_make(const struct lode_bound_patterns *patterns, size_t names)
{
	struct lode_bound *bound = lode_calloc(1, sizeof(*bound));

	if (!bound)
		return NULL;
	bound->patterns = patterns;
	bound->has_frame = lode_calloc(patterns->frame_count, 1);
	bound->has_before = lode_calloc(patterns->pair_count, 1);
	bound->has_after = lode_calloc(patterns->pair_count, 1);
	bound->near_of = lode_calloc(names, sizeof(*bound->near_of));
	for (unsigned bits = 0; bits < 1 << LANES; bits++)
		for (unsigned k = 0; k < LANES; k++)
			bound->of_bits[bits].lane[k] = (float)(bits >> k & 1);
	if (!bound->has_frame || !bound->has_before || !bound->has_after || !bound->near_of) {
		lode_bound_free(bound);
		return NULL;
	}
	return bound;
}

void lode_bound_free(struct lode_bound *bound)
{
	if (!bound)
		return;
	lode_free(bound->has_frame);
	lode_free(bound->has_before);
	lode_free(bound->has_after);
	lode_free(bound->near_of);
	lode_free(bound->near);
	lode_free(bound);
}

void lode_bound_clear(struct lode_bound *bound)
{
	for (unsigned k = 0; k < LANES; k++) {
		const struct lode_bound_frame *frames = bound->patterns->frames + bound->rows[k].first;

		for (uint32_t i = 0; i < bound->rows[k].length; i++) {
			bound->has_frame[frames[i].frame] = 0;
			bound->has_before[frames[i].before] = 0;
			bound->has_after[frames[i].after] = 0;
		}
		bound->rows[k].length = 0;
	}
	for (size_t i = 0; i < bound->near_count; i++)
		bound->near_of[bound->near[i].name] = 0;
	bound->near_count = 0;
	bound->bits = 0;
	bound->longest = 0;
	memset(&bound->own, 0, sizeof(bound->own));
}

void lode_bound_add_row(struct lode_bound *bound, size_t lane, size_t first, uint32_t length)
{
	const struct lode_bound_frame *frames = bound->patterns->frames + first;
	uint8_t bit = (uint8_t)(1u << lane);

	bound->rows[lane] = (struct row){ first, length };
	bound->bits |= bit;
	bound->longest = length > bound->longest ? length : bound->longest;
	for (uint32_t i = 0; i < length; i++) {
		bound->has_frame[frames[i].frame] |= bit;
		if (i && frames[i].is_single)
			bound->has_before[frames[i].before] |= bit;
		if (i + 1 < length && frames[i].is_single && frames[i].is_final)
			bound->has_after[frames[i].after] |= bit;
		bound->own.lane[lane] += frames[i].half_inner;
	}
}

static struct near_row *near_row_of(struct lode_bound *bound, uint32_t name)
{
	struct near_row *row;

	if (bound->near_of[name])
		return &bound->near[bound->near_of[name] - 1];
	if (LODE_GROW(bound->near, bound->near_capacity, bound->near_count + 1) < 0)
		return NULL;
	row = &bound->near[bound->near_count++];
	bound->near_of[name] = (uint32_t)bound->near_count;
	row->name = name;
	row->sub = bound->of_bits[(1 << LANES) - 1];
	memset(&row->less, 0, sizeof(row->less));
	return row;
}

int lode_bound_add_near(struct lode_bound *bound, size_t lane, size_t at, struct lode_near_name near)
{
	struct near_row *row = near_row_of(bound, near.name);
	float sub = (float)near.sub / LODE_SUB_UNITS;

	if (!row)
		return LODE_SYSTEM;
	if (sub < row->sub.lane[lane])
		row->sub.lane[lane] = sub;
	row->less.lane[lane] += (1 - sub) * bound->patterns->frames[bound->rows[lane].first + at].half_inner;
	return 0;
}

/* ---- a column ---- */

/* Sums over the frames of a column, for each row. */
struct sums {
	union floats matched; /* at most */
	union floats rest;    /* of the column's frames, at least */
	union floats own;     /* of the row's frames, at least */
};

static inline void add(union floats *sum, const union floats *numbers, float factor)
{
	for (int k = 0; k < 2; k++)
		sum->half[k] += numbers->half[k] * factor;
}

static inline void add_smaller(union floats *sum, const union floats *a, float factor, const union floats *b,
			       float other_factor, const union floats *where)
{
	for (int k = 0; k < 2; k++) {
		vector one = a->half[k] * factor, other = b->half[k] * other_factor;

		for (int i = 0; i < 4; i++)
			one[i] = one[i] < other[i] ? one[i] : other[i];
		sum->half[k] += one * where->half[k];
	}
}

/* A frame of the column, and what it means for the rows. */
struct place {
	const struct lode_bound_frame *frame;
	uint8_t has;             /* rows that have it */
	const union floats *sub; /* of the nearest frame of each row */
	union floats matched;    /* what it was counted with */
};

static void add_place(const struct lode_bound *bound, struct place *place, struct sums *sums)
{
	const struct lode_bound_frame *frame = place->frame;
	uint32_t near = bound->near_of[frame->name];

	place->has = bound->has_frame[frame->frame];
	place->sub = near ? &bound->near[near - 1].sub : &bound->of_bits[(1 << LANES) - 1];
	add(&sums->rest, place->sub, frame->half_inner);
	if (near)
		add(&sums->own, &bound->near[near - 1].less, -1);
	if (!place->has)
		return;
	memset(&place->matched, 0, sizeof(place->matched));
	add(&place->matched, &bound->of_bits[place->has], frame->uni);
	add(&place->matched, &bound->of_bits[bound->has_before[frame->before]], -frame->less_before);
	add(&place->matched, &bound->of_bits[bound->has_after[frame->after]], -frame->less_after);
	add(&sums->matched, &place->matched, 1);
}

/* `worth`: what a weight less among the matches is in weight more of the rest. */
static void add_column(const struct lode_bound *bound, const struct lode_bound_frame *frames, uint32_t length,
		       float worth, struct sums *sums)
{
	struct place places[2];

	for (uint32_t j = 0; j < length; j++) {
		struct place *here = &places[j % 2], *before = &places[1 - j % 2];
		unsigned edge;

		here->frame = &frames[j];
		add_place(bound, here, sums);
		if (!j)
			continue;
		if ((edge = before->has & ~here->has))
			add_smaller(&sums->rest, here->sub, here->frame->less_before / 2, &before->matched, worth,
				    &bound->of_bits[edge]);
		if ((edge = here->has & ~before->has))
			add_smaller(&sums->rest, before->sub, before->frame->less_after / 2, &here->matched, worth,
				    &bound->of_bits[edge]);
	}
}

unsigned lode_bound_possible(const struct lode_bound *bound, size_t first, uint32_t length, double similarity)
{
	struct sums sums = { .own = bound->own };
	float total = (float)(length + bound->longest), share = (float)similarity;
	/* Numbers are at most 1 each, four of them a frame: far more than what rounding can make of them. */
	float slack = 2e-6f * (total + 4) * (total + 4);
	unsigned possible = 0;

	add_column(bound, bound->patterns->frames + first, length, (1 - share) / share / 2, &sums);
	for (unsigned k = 0; k < LANES; k++) {
		float rest = sums.rest.lane[k] + (sums.own.lane[k] > 0 ? sums.own.lane[k] : 0);

		if (sums.matched.lane[k] * (1 - share) + slack >= rest * share)
			possible |= 1u << k;
	}
	return possible & bound->bits;
}
