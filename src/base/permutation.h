/*
 * Permutation test: whether two groups of streams differ by more than chance.
 */
#ifndef LODE_BASE_PERMUTATION_H
#define LODE_BASE_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

/*
 * p-value of the difference of the means of two groups of streams, zeros among
 * them (permutation test, two-sided): (far splits + 1) / (rounds + 1), or over all
 * splits where there are no more than `rounds`. 1 when a group is empty; -1 when
 * memory has run out.
 */
double lode_permutation_p(const uint64_t *left, size_t left_count, const uint64_t *right, size_t right_count,
			  unsigned rounds);

#endif
