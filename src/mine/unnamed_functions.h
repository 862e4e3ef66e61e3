/*
 * Functions without a name in findings: what a reader cannot understand, and where names may come from.
 */
#ifndef LODE_MINE_UNNAMED_FUNCTIONS_H
#define LODE_MINE_UNNAMED_FUNCTIONS_H

#include "mine/findings.h"

enum lode_unnamed_runtime {
	LODE_UNNAMED_NATIVE,
	LODE_UNNAMED_JIT, /* of a runtime that is not known */
	LODE_UNNAMED_JAVA,
	LODE_UNNAMED_NODE,
};

/* The function without a name that costs most, in the module where such functions do. */
struct lode_unnamed_function {
	uint32_t frame; /* LODE_NONE: all functions of the findings have names */
	uint32_t after; /* the innermost caller that has one; LODE_NONE: none is known */
	uint64_t cost;  /* of all findings that show one of this module */
	enum lode_unnamed_runtime runtime;
};

/* Looks at the place, the caller and the callees of each finding. Returns 0 or LODE_SYSTEM. */
int lode_unnamed_function_find(struct lode_unnamed_function *unnamed, const struct lode_findings *findings,
			       const struct lode_area *area);

#endif
