/* The result of lode annotate as text: costs to the left of each line. */
#ifndef LODE_TEXT_ANNOTATE_TEXT_H
#define LODE_TEXT_ANNOTATE_TEXT_H

#include "result/annotate_report.h"
#include "text/look.h"

void lode_annotate_text(const struct lode_annotate_report *report, const struct lode_look *look,
			struct lode_buffer *buffer);

#endif
