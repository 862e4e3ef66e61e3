/*
 * Symptom markers: which slices and markers of a profile are symptoms. A person names
 * them (`--symptom-markers NAME`), because most markers are just structure.
 */
#ifndef LODE_IMPORT_SYMPTOM_MARKERS_H
#define LODE_IMPORT_SYMPTOM_MARKERS_H

#include "import/import.h"

/* Whether `name` matches one of the patterns (`*`, `?`, `[…]`) that the options give. */
int lode_symptom_marker(const struct lode_import_options *options, const char *name);

/*
 * Says how many spans with a name (`what`, such as "asynchronous slices") were not imported
 * where no symptom markers were given, and how to get them.
 */
void lode_symptom_markers_note(const struct lode_import_options *options, uint64_t count, const char *what);

#endif
