/* The result of lode info as text. */
#ifndef LODE_TEXT_INFO_TEXT_H
#define LODE_TEXT_INFO_TEXT_H

#include "result/info_report.h"
#include "text/look.h"

struct lode_info_style {
	const struct lode_look *look;
	int all; /* lists are not cut */
	int ascii;
	int pictures; /* with timelines */
};

/* Draws the timelines, where the style has them, and writes it. `path` is what people call it. */
int lode_info_text(struct lode_info *info, const char *path, const struct lode_info_style *style,
		   const struct lode_progress *progress, struct lode_buffer *buffer, struct lode_error *error);

#endif
