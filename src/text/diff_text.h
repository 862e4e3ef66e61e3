/* The result of lode diff as text. */
#ifndef LODE_TEXT_DIFF_TEXT_H
#define LODE_TEXT_DIFF_TEXT_H

#include "text/look.h"
#include "result/diff_report.h"

/*
 * Appends the root cause, the heat map and the paths. Of paths with the same hottest function
 * only the first is shown, and of deep stacks only what matters, unless `all_frames`.
 */
void lode_diff_text(const struct lode_diff_report *report, int all_frames, const struct lode_look *look,
		    struct lode_buffer *buffer);

#endif
