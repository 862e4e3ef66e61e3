/* Programs that had the processors while recorded threads were ready, in words. */
#ifndef LODE_RESULT_MACHINE_WORDS_H
#define LODE_RESULT_MACHINE_WORDS_H

#include "result/finding_words.h"
#include "trace/throttled.h"

/*
 * Adds those that the threads of a finding were behind, which the recorder counted for all threads of a name together, as
 * lode_neighbours_add.
 */
void lode_finding_neighbours(const struct lode_finding_source *source, const struct lode_finding *finding,
			     int with_recorded, struct lode_neighbours *neighbours);
/* Appends the names of those that had a tenth of `time` at least: "cc1, ninja". */
void lode_neighbours_words(const struct lode_neighbours *neighbours, uint64_t time, struct lode_buffer *buffer);
/*
 * Appends that the machine was busy: which threads were ready meanwhile, for how much of all time, and which programs had the
 * processors that were not recorded. Nothing where there are no such findings. `*cost`: that time.
 */
void lode_machine_sentence(const struct lode_finding_source *source, uint64_t *cost, struct lode_buffer *buffer);

#endif
