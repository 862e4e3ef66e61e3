/* The fields of profile.proto, and whether bytes begin like such a message. */
#ifndef LODE_IMPORT_PPROF_FIELDS_H
#define LODE_IMPORT_PPROF_FIELDS_H

#include <stddef.h>

/* Field numbers of profile.proto. */
enum profile_field {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING = 6,
	DROP_FRAMES = 7,
	KEEP_FRAMES = 8,
	TIME = 9,
	DURATION = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	COMMENT = 13,
	DEFAULT_TYPE = 14,
	DOC_URL = 15,
};

/* As in struct lode_importer. */
int lode_pprof_sniff(const unsigned char *bytes, size_t size, const char *name);

#endif
