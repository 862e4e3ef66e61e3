/*
 * Older versions of OpenTelemetry's profiles. The format was changed without a mark of its version, so that fields
 * with the same number mean different things:
 *
 *	1.7          a sample is a range of its profile's locations, with a value of each type; attributes of the
 *	             dictionary have their keys as text; entry 0 of a table is an entry like others (async-profiler
 *	             4.1 writes this one)
 *	1.8 and 1.9  stacks are in the dictionary; values of a sample are before its attributes
 *	1.10 on      attributes of a sample are before its values; keys and texts may be in the dictionary
 *
 * Data of an older version is rewritten as the newest one before it is read.
 */
#ifndef LODE_IMPORT_OTLP_OLDER_H
#define LODE_IMPORT_OTLP_OLDER_H

#include "import/protobuf/otlp_tables.h"

enum lode_otlp_version { LODE_OTLP_NEWEST, LODE_OTLP_1_8, LODE_OTLP_1_7 };

/* By wire types that only one version has; the newest where nothing tells. */
enum lode_otlp_version lode_otlp_version(struct lode_cursor data);
/*
 * Writes data of an older version as the newest into `rewritten`, the caller's to release; only entry 0 of tables stays
 * (lode_otlp_tables.from_zero). `tables` has the dictionary of the data, and options for choosing among
 * several types of values. Returns 0, or a negative code with a sentence.
 */
int lode_otlp_rewrite(struct lode_otlp_tables *tables, enum lode_otlp_version version, struct lode_cursor data,
		      struct lode_buffer *rewritten);

#endif
