/* The result of a hunt as text. */
#ifndef LODE_TEXT_HUNT_TEXT_H
#define LODE_TEXT_HUNT_TEXT_H

#include "result/hunt_report.h"

/* What was found, what was not examined and why, and the search history graph. */
void lode_hunt_text(const struct lode_hunt_report *report, struct lode_buffer *buffer);

#endif
