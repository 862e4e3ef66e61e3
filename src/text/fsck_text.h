/* What lode fsck found, as text. */
#ifndef LODE_TEXT_FSCK_TEXT_H
#define LODE_TEXT_FSCK_TEXT_H

#include "result/fsck_report.h"
#include "text/look.h"

void lode_fsck_text(const struct lode_fsck_report *report, const struct lode_look *look,
		    struct lode_buffer *buffer);

#endif
