/*
 * The id of an imported stream: what makes the same file twice one stream.
 */
#ifndef LODE_IMPORT_STREAM_ID_H
#define LODE_IMPORT_STREAM_ID_H

#include "base/error.h"

/* Everything that decides which stream comes out of an import. */
struct lode_stream_id {
	const char *digest;                 /* of the unpacked input, 32 digits */
	unsigned ordinal;                   /* of the stream in the input */
	const char *format;                 /* importer's name */
	const char *name;                   /* NULL: not given */
	const char *host;                   /* NULL: not given */
	const char *const *attributes;      /* KEY=VALUE, in any order, NULL-terminated; or NULL */
	const char *const *symptom_markers; /* the same */
	int kind_is_wait;
	double unit_ns;
};

/*
 * Writes the id, 32 hexadecimal digits and a NUL. The same parts give the same
 * id, on every machine and in every version. Returns 0 or LODE_SYSTEM.
 */
int lode_stream_id(const struct lode_stream_id *parts, char id[33], struct lode_error *error);

#endif
