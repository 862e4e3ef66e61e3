/* What lode import did, for people. */
#ifndef LODE_TEXT_IMPORT_TEXT_H
#define LODE_TEXT_IMPORT_TEXT_H

#include "result/import_report.h"

enum lode_import_line {
	LODE_IMPORT_NEW,   /* a stream that was added */
	LODE_IMPORT_KNOWN, /* one that was there already, or how long reading took */
	LODE_IMPORT_MATCH, /* how many new streams a signature matches */
	LODE_IMPORT_WARNING,
};

/* Makes the lines, without line ends, and hands each to `say`. */
void lode_import_text(const struct lode_import_report *report,
		      void (*say)(void *context, enum lode_import_line kind, const char *text), void *context);

#endif
