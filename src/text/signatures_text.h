/* The signatures of a corpus as text. */
#ifndef LODE_TEXT_SIGNATURES_TEXT_H
#define LODE_TEXT_SIGNATURES_TEXT_H

#include "result/signatures_report.h"
#include "text/look.h"

void lode_signatures_text(const struct lode_signatures_report *report, const struct lode_look *look,
			  struct lode_buffer *buffer);

#endif
