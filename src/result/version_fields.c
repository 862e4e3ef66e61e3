/* The fields of `lode version --json`: see version_report.h. */
#include "result/version_report.h"

#include "result/field_rows.h"

#define TABLE_OF struct lode_library_versions
static const struct lode_field library_rows[] = {
	FIELD_TEXT(zstd, "Zstandard."),
	FIELD_TEXT(zlib, "zlib."),
	FIELD_TEXT(liblzma, "liblzma."),
	FIELD_TEXT(sqlite, "SQLite."),
};
static const struct lode_fields libraries = FIELD_TABLE("LibraryVersions", library_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_version_report
static const struct lode_field version_rows[] = {
	FIELD_TEXT(version, "Version."),
	FIELD_U64(stream_file_version, "Version of stream files it writes."),
	FIELD_TEXTS(imports, "Formats it reads."),
	FIELD_TEXTS(exports, "Formats it writes."),
	FIELD_BOOL(recorder, "lode record is built in."),
	FIELD_BOOL(page, "The page is built in."),
	FIELD_BOOL(server, "lode serve is built in."),
	FIELD_BOOL(push, "lode push is built in."),
	FIELD_OBJECT(libraries, libraries, "Versions of libraries."),
};
const struct lode_fields lode_version_fields = FIELD_TABLE("VersionResult", version_rows);
#undef TABLE_OF
