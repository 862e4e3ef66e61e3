/* What lode version shows. */
#ifndef LODE_RESULT_VERSION_REPORT_H
#define LODE_RESULT_VERSION_REPORT_H

#include "result/fields.h"

struct lode_library_versions {
	const char *zstd;
	const char *zlib;
	const char *liblzma;
	const char *sqlite;
};

struct lode_version_report {
	const char *version;
	uint64_t stream_file_version;
	struct lode_list imports; /* of const char * */
	struct lode_list exports; /* of const char * */
	int recorder;
	int page;
	int server;
	int push;
	struct lode_library_versions libraries;
};

extern const struct lode_fields lode_version_fields;

#endif
