/*
 * JSON writer: takes care of commas and nesting, so that callers only provide
 * values. Writes into a lode_buffer. Text that is not valid UTF-8 is written
 * with U+FFFD in place of the wrong bytes.
 */
#ifndef LODE_BASE_JSON_H
#define LODE_BASE_JSON_H

#include "base/buffer.h"
#include "base/utf8.h"

/* Begins with its buffer and zeros: `struct lode_json json = { .buffer = buffer };`. */
struct lode_json {
	struct lode_buffer *buffer;
	unsigned depth;
	uint64_t filled; /* bit d: something was written at depth d already (up to 64 deep) */
	int after_key;   /* the next thing is a value, no comma */
};

void lode_json_object(struct lode_json *json);
void lode_json_object_end(struct lode_json *json);
void lode_json_array(struct lode_json *json);
void lode_json_array_end(struct lode_json *json);
void lode_json_key(struct lode_json *json, const char *key);
/* A key of `length` bytes that needs no escapes: most are written in a source file. */
void lode_json_plain_key(struct lode_json *json, const char *key, size_t length);
/* The same with its value, faster than both by themselves. */
void lode_json_plain_key_u64(struct lode_json *json, const char *key, size_t length, uint64_t number);
void lode_json_text(struct lode_json *json, const char *text);
void lode_json_text_n(struct lode_json *json, const char *text, size_t length);
void lode_json_u64(struct lode_json *json, uint64_t number);
void lode_json_i64(struct lode_json *json, int64_t number);
/* Shortest text that reads back as the same number; null for NaN and infinities. */
void lode_json_double(struct lode_json *json, double number);
void lode_json_bool(struct lode_json *json, int yes);
void lode_json_null(struct lode_json *json);
/* A value that is JSON already, such as a number as it was found. */
void lode_json_raw(struct lode_json *json, const char *value, size_t length);
/* A text that was made in a buffer, which is empty afterwards; memory that ran out marks the writer's buffer. */
void lode_json_take(struct lode_json *json, struct lode_buffer *text);
/* `"key":"text"`, `"key":number`, `"key":[` and the like: key and value in one call. */
void lode_json_key_object(struct lode_json *json, const char *key);
void lode_json_key_array(struct lode_json *json, const char *key);
void lode_json_key_double(struct lode_json *json, const char *key, double number);
void lode_json_key_bool(struct lode_json *json, const char *key, int yes);
void lode_json_key_text(struct lode_json *json, const char *key, const char *text);
void lode_json_key_u64(struct lode_json *json, const char *key, uint64_t number);
/* Whether all of `text` is a number as JSON writes it, so that it may be written unquoted (lode_json_raw). */
int lode_json_is_number(const char *text);
/* A line end between top-level values (JSON lines). */
void lode_json_line(struct lode_json *json);

#endif
