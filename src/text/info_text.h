/* The result of lode info as text. */
#ifndef LODE_TEXT_INFO_TEXT_H
#define LODE_TEXT_INFO_TEXT_H

#include "result/info_report.h"
#include "text/look.h"

struct lode_info_style {
	const struct lode_look *look;
	int all; /* lists are not cut */
	int ascii;
	int pictures; /* time lines are there */
};

/* How many slices the pictures of streams and of threads have on this terminal. */
size_t lode_info_slices(const struct lode_look *look);
/* Entries of a list of `count` that are shown. */
size_t lode_info_shown(const struct lode_info_style *style, size_t count, size_t usual);

#define LODE_INFO_STREAMS 20
#define LODE_INFO_TOP     10

void lode_info_text(const struct lode_info *info, const char *path, const size_t *busiest,
		    const struct lode_info_style *style, struct lode_buffer *buffer);

#endif
