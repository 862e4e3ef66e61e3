/* What fixing something would gain, in words. */
#ifndef LODE_TEXT_GAIN_TEXT_H
#define LODE_TEXT_GAIN_TEXT_H

#include "result/gain_result.h"
#include "text/look.h"

/* The result of lode scope --without: the answer first. */
void lode_gain_text(const struct lode_gain_report *report, const struct lode_look *look,
		    struct lode_buffer *buffer);

/* Appends ` (at least 180ms, at most 230ms; 95%: 190ms to 222ms)`, as far as these differ from the gain. */
void lode_gain_range_text(const struct lode_gain *gain, struct lode_buffer *buffer);
/* Appends lines that say how far the replay can be trusted; each begins with `lead`. */
void lode_gain_trust_text(const struct lode_gains *gains, uint32_t cpus, const char *lead,
			  struct lode_buffer *buffer);

#endif
