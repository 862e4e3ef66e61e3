/*
 * From the model's stacks to a stream's: the same frames in the stream's dictionary,
 * with what only its host has put between them.
 *
 *	64-bit hosts      run the program in emulation: a block of frames is between
 *	                  its user code and each system call
 *	scanned hosts     have a scanner in the file system: a block of frames before
 *	                  each look-up of a file
 *
 * A stack is translated when it is first met, so a stream holds what it uses.
 */
#ifndef LODE_SYNTH_EMULATION_H
#define LODE_SYNTH_EMULATION_H

#include "synth/model.h"

struct lode_synth_translator {
	const struct lode_synth_model *model;
	struct lode_dictionary *dictionary; /* the stream's */
	uint32_t *nodes;                    /* by node of the model; LODE_NONE: not met yet */
	uint32_t *frames;                   /* by frame of the model */
	int emulates;
	int scans;
};

/* Returns 0 or LODE_SYSTEM; release in either case. */
int lode_synth_translator_init(struct lode_synth_translator *translator, const struct lode_synth_model *model,
			       struct lode_dictionary *dictionary);
void lode_synth_translator_release(struct lode_synth_translator *translator);
/* The stream's node for one of the model that was not met yet; LODE_NONE when memory has run out. */
uint32_t lode_synth_translate_new(struct lode_synth_translator *translator, uint32_t node);

static inline uint32_t lode_synth_translate(struct lode_synth_translator *translator, uint32_t node)
{
	uint32_t known = translator->nodes[node];

	return known != LODE_NONE ? known : lode_synth_translate_new(translator, node);
}

#endif
