/* The result of lode latency as text. */
#ifndef LODE_TEXT_LATENCY_TEXT_H
#define LODE_TEXT_LATENCY_TEXT_H

#include "text/look.h"
#include "result/latency_report.h"

/* Appends the contexts of the report; of deep stacks only what matters unless `all_frames`. */
void lode_latency_text(const struct lode_latency_report *report, int all_frames, const struct lode_look *look,
		       struct lode_buffer *buffer);

#endif
