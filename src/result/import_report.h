/*
 * What lode import did, and its JSON.
 */
#ifndef LODE_RESULT_IMPORT_REPORT_H
#define LODE_RESULT_IMPORT_REPORT_H

#include "import/import_files.h"
#include "mine/import_matches.h"
#include "result/fields.h"

struct lode_import_report {
	const struct lode_import_files *files;
	const struct lode_import_matching *matching;
	const struct lode_notes *notes;
};

extern const struct lode_fields lode_import_fields;

void lode_import_json(const struct lode_import_report *report, struct lode_buffer *buffer);

#endif
