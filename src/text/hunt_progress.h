/*
 * A hunt while it goes on, as text: a line for each verdict, or the search history graph
 * as a tree that is drawn again a few times a second.
 */
#ifndef LODE_TEXT_HUNT_PROGRESS_H
#define LODE_TEXT_HUNT_PROGRESS_H

#include "result/hunt_report.h"
#include "text/look.h"

/* Appends `  1.2s true  app!main uses the CPU 98.0% (found from samples)`; nothing where the change is no news. */
void lode_hunt_news(const struct lode_hunt_report *report, uint32_t experiment, struct lode_buffer *buffer);

/*
 * Appends the tree: what is true, runs or waits; what was false is counted. At most `most`
 * lines, each cut to the look's width and clearing the rest of its line. Returns how many.
 */
unsigned lode_hunt_drawing(const struct lode_hunt_report *report, const struct lode_look *look, unsigned most,
			   struct lode_buffer *buffer);

#endif
