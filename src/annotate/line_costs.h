/*
 * What the lines of a function cost: of the functions of an area that fit a pattern the one that takes most, and the time at each of
 * its lines, where recordings have lines in their frames (`app!parse:123`).
 */
#ifndef LODE_ANNOTATE_LINE_COSTS_H
#define LODE_ANNOTATE_LINE_COSTS_H

#include "base/array.h"
#include "base/text_list.h"
#include "scope/area.h"

/* Time, by LODE_RUN and LODE_WAIT, in ns. */
struct lode_line_cost {
	uint32_t line;                  /* 0: frames without one */
	uint64_t self[LODE_AREA_KINDS]; /* of events that are at the line, */
	uint64_t total[LODE_AREA_KINDS]; /* or in something that it calls: an event counts once, however often it is in its stack */
};

struct lode_line_costs {
	uint32_t module;                         /* of the area's dictionary */
	char *function;                          /* without a line */
	LODE_ARRAY(struct lode_line_cost) lines; /* in order */
	struct lode_line_cost all;               /* of the function */
	uint64_t whole[LODE_AREA_KINDS];         /* of the area */
	struct lode_text_list others;            /* more functions that fit, the costliest first; not all */
	size_t other_count;                      /* all of them */
};

/*
 * `pattern`: a function, or module!function; * and ? stand for anything. LODE_USAGE where none fits. Release the costs in either
 * case.
 */
int lode_line_costs_find(const struct lode_area *area, const char *pattern, struct lode_line_costs *costs,
			 struct lode_error *error);
/* That of a line; NULL: none. */
struct lode_line_cost *lode_line_costs_at(const struct lode_line_costs *costs, uint32_t line);
void lode_line_costs_release(struct lode_line_costs *costs);

#endif
