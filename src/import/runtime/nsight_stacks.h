/*
 * Call chains and samples of Nsight Systems. A chain is a row for each frame, the innermost has depth 0.
 */
#ifndef LODE_IMPORT_NSIGHT_STACKS_H
#define LODE_IMPORT_NSIGHT_STACKS_H

#include "import/frame_memo.h"
#include "import/runtime/nsight_tables.h"

struct lode_nsight_chain {
	uint64_t id;
	uint32_t stack;
};

struct lode_nsight_frame {
	uint64_t id;
	uint32_t depth;
	uint32_t frame;
};

/* The chains of one table, by id. */
struct lode_nsight_chains {
	struct lode_dictionary *dictionary;
	LODE_ARRAY(struct lode_nsight_chain);
	LODE_ARRAY(struct lode_nsight_frame) frames;
	uint64_t cut;
};

/* A struct with only `dictionary` set is empty. Returns 0 or a negative code with a sentence. */
int lode_nsight_chains_load(struct lode_nsight_chains *chains, struct lode_nsight_file *file, const char *table);
/* The stack of a chain; 0: there is none. */
uint32_t lode_nsight_chain_stack(const struct lode_nsight_chains *chains, uint64_t id);
void lode_nsight_chains_release(struct lode_nsight_chains *chains);

struct lode_nsight_sample {
	uint64_t t;
	uint64_t chain;
	uint32_t thread;
	uint16_t cpu;
};

struct lode_nsight_samples {
	LODE_ARRAY(struct lode_nsight_sample);
};

/*
 * Adds the samples as runs, each of which counts as the usual time between two of a thread, or as what the options say, and marks
 * their threads in `sampled`. Returns 0 or LODE_SYSTEM.
 */
int lode_nsight_samples_add(struct lode_nsight_samples *samples, const struct lode_nsight_chains *chains,
			    struct lode_stream *stream, const struct lode_import_options *options,
			    uint8_t *sampled);

#endif
