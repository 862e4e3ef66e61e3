/* lode latency for people: private to the command. */
#ifndef LODE_CMD_LATENCY_H
#define LODE_CMD_LATENCY_H

#include "cmd/terminal.h"
#include "result/latency_report.h"

/* Appends the contexts of the report; of deep stacks only what matters unless `all_frames`. */
void lode_latency_text(const struct lode_latency_report *report, int all_frames,
		       const struct lode_terminal *terminal, struct lode_buffer *buffer);

#endif
