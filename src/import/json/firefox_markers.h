/*
 * Markers of Firefox Profiler's profiles: named stretches of a thread's time. Those that
 * `--symptom-markers` names become symptoms.
 */
#ifndef LODE_IMPORT_FIREFOX_MARKERS_H
#define LODE_IMPORT_FIREFOX_MARKERS_H

#include "import/json_profile.h"

/* Where the columns of a table of markers are; returns the walk over it, done. */
struct lode_json_walk lode_firefox_markers_find(struct lode_json_value markers, struct lode_json_table *table);

/* Where the markers of a thread are, and its strings. */
struct lode_firefox_markers {
	const struct lode_json_table *table;
	const struct lode_json_column *strings;
	uint32_t thread; /* of the stream */
	double first;    /* milliseconds that are 0 in the stream */
	uint64_t count;  /* gets the number of markers with a duration */
	uint64_t open;   /* gets the number of those of which one end is missing */
};

/* Returns 0, or LODE_SYSTEM with a sentence in the import's error. */
int lode_firefox_markers_read(struct lode_json_import *import, struct lode_firefox_markers *markers);

#endif
