/*
 * A pprof profile being written: profile.proto, packed with gzip, piece by piece.
 *
 * A protobuf message is a sequence of fields in any order, so each message is written as
 * soon as it is known and the tables of strings, functions and locations, which are those
 * of the dictionary, come last. protobuf-c would want the whole message in memory first. A
 * module is a mapping, a frame a function and a location without an address.
 */
#ifndef LODE_EXPORT_PPROF_PROFILE_H
#define LODE_EXPORT_PPROF_PROFILE_H

#include "base/output.h"
#include "trace/dictionary.h"

#include <zlib.h>

/* Numbers of the fields. */
enum {
	LODE_PPROF_PROFILE_SAMPLE_TYPE = 1,
	LODE_PPROF_PROFILE_SAMPLE = 2,
	LODE_PPROF_PROFILE_MAPPING = 3,
	LODE_PPROF_PROFILE_LOCATION = 4,
	LODE_PPROF_PROFILE_FUNCTION = 5,
	LODE_PPROF_PROFILE_STRING = 6,
	LODE_PPROF_PROFILE_DURATION = 10,
	LODE_PPROF_PROFILE_PERIOD_TYPE = 11,
	LODE_PPROF_PROFILE_PERIOD = 12,
	LODE_PPROF_PROFILE_DEFAULT_TYPE = 14,

	LODE_PPROF_VALUE_TYPE_TYPE = 1,
	LODE_PPROF_VALUE_TYPE_UNIT = 2,

	LODE_PPROF_SAMPLE_LOCATIONS = 1,
	LODE_PPROF_SAMPLE_VALUES = 2,
	LODE_PPROF_SAMPLE_LABEL = 3,

	LODE_PPROF_LABEL_KEY = 1,
	LODE_PPROF_LABEL_TEXT = 2,
	LODE_PPROF_LABEL_NUMBER = 3,

	LODE_PPROF_MAPPING_ID = 1,
	LODE_PPROF_MAPPING_FILE = 5,
	LODE_PPROF_MAPPING_BUILD_ID = 6,
	LODE_PPROF_MAPPING_HAS_FUNCTIONS = 7,

	LODE_PPROF_LOCATION_ID = 1,
	LODE_PPROF_LOCATION_MAPPING = 2,
	LODE_PPROF_LOCATION_LINE = 4,

	LODE_PPROF_LINE_FUNCTION = 1,

	LODE_PPROF_FUNCTION_ID = 1,
	LODE_PPROF_FUNCTION_NAME = 2,
	LODE_PPROF_FUNCTION_SYSTEM_NAME = 3,
	LODE_PPROF_FUNCTION_FILE = 4,
};

struct lode_pprof {
	struct lode_output *output;
	struct lode_dictionary *dictionary;
	struct lode_buffer message; /* being built */
	struct lode_buffer inner;   /* a message inside it */
	struct lode_buffer plain;   /* on the way into gzip */
	z_stream packer;
	int open;
};

/* Starts over `dictionary`, which may grow until the end. Release in either case. */
int lode_pprof_open(struct lode_pprof *pprof, struct lode_output *output, struct lode_dictionary *dictionary,
		    struct lode_error *error);
/* Writes the tables and the end. The output stays the caller's. */
int lode_pprof_finish(struct lode_pprof *pprof, struct lode_error *error);
void lode_pprof_release(struct lode_pprof *pprof);

/* Numbers are signed there. */
static inline uint64_t lode_pprof_signed(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : number;
}

/* Appends a field to a message. */
void lode_pprof_number(struct lode_buffer *buffer, unsigned field, uint64_t number);
/* Moves the inner message into the one that is being built. */
void lode_pprof_inner(struct lode_pprof *pprof, unsigned field);
/* Moves the message that was built into the profile. */
int lode_pprof_message(struct lode_pprof *pprof, unsigned field, struct lode_error *error);

/* A type of values, strings of the dictionary, as the field `field`. */
int lode_pprof_value_type(struct lode_pprof *pprof, unsigned field, uint32_t type, uint32_t unit,
			  struct lode_error *error);
/* Builds a sample: its stack and values; labels may follow, then
 * lode_pprof_message(LODE_PPROF_PROFILE_SAMPLE). */
void lode_pprof_sample(struct lode_pprof *pprof, uint32_t node, const uint64_t *values, size_t count);

#endif
