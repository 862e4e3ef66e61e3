/*
 * Layers: which part of a running program a function belongs to, and whether that is
 * internal or external, as the paper's Table 2 has it.
 */
#ifndef LODE_LATENCY_CODE_LAYER_H
#define LODE_LATENCY_CODE_LAYER_H

#include "trace/dictionary.h"

/* Where a function's code comes from. */
enum lode_layer {
	LODE_LAYER_PROGRAM, /* the main binary */
	LODE_LAYER_JIT,     /* code the program generated at run time */
	LODE_LAYER_LIBRARY,
	LODE_LAYER_PLUGIN, /* a library that a program opens when it wants to */
	LODE_LAYER_KERNEL,
	LODE_LAYER_UNKNOWN,
	LODE_LAYERS,
};

/* "program", "jit", "library", "plug-in", "kernel", "unknown". */
const char *lode_layer_name(enum lode_layer layer);
/*
 * The layer of a module. A plug-in is distinguished from a library by its name: what is linked is
 * found by a version in its name (`libz.so.1`), what is opened is not (`mod_ssl.so`),
 * and `libNAME.so` is one in a folder of plug-ins or modules.
 */
enum lode_layer lode_layer_of(const struct lode_frames *frames, uint32_t module);
/* Whether it is part of the program, as the paper's Table 2 has it. */
static inline int lode_layer_is_internal(enum lode_layer layer)
{
	return layer == LODE_LAYER_PROGRAM || layer == LODE_LAYER_JIT;
}

/* The same in words that go on a sentence: "internal, in the program itself", "external, in a plug-in". */
const char *lode_layer_words(enum lode_layer layer);

/*
 * Shares own latencies (by node, ns) among the layers; time in the kernel and in the C
 * library counts for the layer of the function it is spent for. Returns 0 or LODE_SYSTEM.
 */
int lode_layer_sums(const struct lode_dictionary *dictionary, const uint64_t *own, size_t node_count,
		    uint64_t sums[LODE_LAYERS]);

/* The layer of a node's function. */
enum lode_layer lode_layer_of_node(const struct lode_dictionary *dictionary, uint32_t node);
/* Whether a node's function is of the kernel or of the C library, which work for their callers. */
int lode_layer_is_machinery(const struct lode_dictionary *dictionary, uint32_t node);
/*
 * The function that time in `node` is spent for: `node` itself or, where that is
 * machinery, the last function above it that is not; `node` where there is none.
 */
uint32_t lode_stack_who(const struct lode_dictionary *dictionary, uint32_t node);

#endif
