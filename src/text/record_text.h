/* What lode record recorded, for people. */
#ifndef LODE_TEXT_RECORD_TEXT_H
#define LODE_TEXT_RECORD_TEXT_H

#include "result/record_report.h"

/* One line, without its end. */
void lode_record_text(const struct lode_record_report *report, struct lode_buffer *line);

#endif
