/*
 * OpenTelemetry's profiles in JSON, as protobuf: the JSON form of a protobuf message says the same with
 * names in place of numbers, so one reader serves both. And what both begin with.
 */
#ifndef LODE_IMPORT_OTLP_JSON_H
#define LODE_IMPORT_OTLP_JSON_H

#include "base/buffer.h"
#include "base/error.h"

/* Whether the bytes begin as JSON does. */
int lode_otlp_is_json(const unsigned char *bytes, size_t size);
/* As `sniff` of an importer. */
int lode_otlp_sniff(const unsigned char *bytes, size_t size);
/* Appends the document as a ProfilesData. Members that are not known are left out. Returns 0 or a negative code. */
int lode_otlp_encode(const char *name, const unsigned char *bytes, size_t size, struct lode_buffer *encoded,
		     struct lode_error *error);

#endif
