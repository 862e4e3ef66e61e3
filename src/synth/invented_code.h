/*
 * Invented code: modules full of functions that call one another, and the stacks
 * that walks through them give.
 *
 * A module is a grid: `levels` rows of `width` functions; a function calls three of
 * the next row, one of them mostly. A walk begins somewhere in the first row and
 * goes down. So walks share long beginnings, some calls are as good as certain, and
 * most are rare: what function weights look at.
 *
 * Failures (memory) mark the code; the builder checks once, at the end.
 */
#ifndef LODE_SYNTH_INVENTED_CODE_H
#define LODE_SYNTH_INVENTED_CODE_H

#include "synth/synth_names.h"
#include "trace/dictionary.h"

enum lode_synth_module_id {
	LODE_SYNTH_APP,    /* the program that people complain about */
	LODE_SYNTH_CORE,   /* its library */
	LODE_SYNTH_WIDGET, /* UI toolkit */
	LODE_SYNTH_CANVAS, /* drawing */
	LODE_SYNTH_STORE,  /* data base, in another style */
	LODE_SYNTH_NET,    /* network */
	LODE_SYNTH_OTHER,  /* the first of the other programs */
	LODE_SYNTH_MODULES = LODE_SYNTH_OTHER + 12,
};

#define LODE_SYNTH_OTHERS (LODE_SYNTH_MODULES - LODE_SYNTH_OTHER)
#define LODE_SYNTH_LEVELS 8

struct lode_synth_module {
	const char *name;
	enum lode_synth_style style;
	uint32_t width;
	uint32_t *frames; /* by level, then by place in it */
};

struct lode_synth_code {
	struct lode_dictionary dictionary; /* of all invented stacks */
	struct lode_synth_names names;
	struct lode_random random;
	struct lode_synth_module modules[LODE_SYNTH_MODULES];
	uint8_t *emulated; /* by node: the process is a 32-bit one, which 64-bit hosts emulate */
	size_t emulated_capacity;
	int emulating; /* nodes that are made now are such */
	int failed;
};

/* Modules have 2 * `breadth` functions a level. Returns 0 or LODE_SYSTEM; release in either case. */
int lode_synth_code_init(struct lode_synth_code *code, uint64_t seed, uint32_t breadth);
void lode_synth_code_release(struct lode_synth_code *code);

/* The stack `node` with `frame` called from it. */
uint32_t lode_synth_push(struct lode_synth_code *code, uint32_t node, uint32_t frame);
/*
 * The frame of the `*length` bytes at the start of `text` up to `;`, a module and a
 * function; without a module it is in `*module`, the one before. LODE_NONE: failed.
 */
uint32_t lode_synth_frame(struct lode_synth_code *code, const char *text, size_t *length, uint32_t *module);
/* The same for such frames with `;` between them. */
uint32_t lode_synth_path(struct lode_synth_code *code, uint32_t node, const char *frames);
/* The same for a walk through the first rows of a module: `least` to `most` of them. */
uint32_t lode_synth_walk(struct lode_synth_code *code, uint32_t node, enum lode_synth_module_id module,
			 unsigned least, unsigned most);
/* The frame of a new function that nothing else calls. */
uint32_t lode_synth_function(struct lode_synth_code *code, const char *module, enum lode_synth_style style,
			     const char *verb, const char *last);

#endif
