/*
 * JSON reader: walks a document in place, without building a tree.
 *
 * lode_json_check reads the whole text once and finds every mistake. After that a
 * value is just the place where it starts, and walking needs no memory and no
 * further checks: every string, number and bracket is known to end inside the
 * text. A document of a gigabyte costs two or three passes over its bytes, and
 * nesting cannot use up the stack.
 *
 * The text must outlive the values. Any number of threads may read one document.
 */
#ifndef LODE_BASE_JSON_READ_H
#define LODE_BASE_JSON_READ_H

#include "base/buffer.h"
#include "base/error.h"

/* Arrays and objects inside one another. */
#define LODE_JSON_DEPTH 4096

/* Where a value starts in a checked text. `at` is NULL for a value that is not there. */
struct lode_json_value {
	const char *at;
};

enum lode_json_kind {
	LODE_JSON_ABSENT,
	LODE_JSON_NULL,
	LODE_JSON_FALSE,
	LODE_JSON_TRUE,
	LODE_JSON_NUMBER,
	LODE_JSON_TEXT,
	LODE_JSON_ARRAY,
	LODE_JSON_OBJECT,
};

/*
 * Checks that `text` is one array or object, with nothing but white space around
 * it, and gives it as `root`. A mistake is LODE_BAD_INPUT, with the sentence
 * `NAME:LINE: what is wrong`.
 */
int lode_json_check(const char *name, const char *text, size_t size, struct lode_json_value *root,
		    struct lode_error *error);

enum lode_json_kind lode_json_kind(struct lode_json_value value);

/*
 * Steps through an array or an object:
 *
 *	struct lode_json_walk walk = lode_json_walk(array);
 *	while (lode_json_item(&walk, &item)) ...
 *
 * A value that is no array (no object) has no items (no members).
 */
struct lode_json_walk {
	const char *at;  /* the next item or member; NULL: no more */
	const char *end; /* behind the value, once all of it was walked; else NULL */
};

struct lode_json_walk lode_json_walk(struct lode_json_value value);
int lode_json_item(struct lode_json_walk *walk, struct lode_json_value *item);
/* The same of an array of numbers, each with what lode_json_double_or and lode_json_u64_or make of it, in one pass. */
int lode_json_item_double(struct lode_json_walk *walk, struct lode_json_value *item, double otherwise,
			  double *number);
int lode_json_item_u64(struct lode_json_walk *walk, struct lode_json_value *item, uint64_t otherwise,
		       uint64_t *number);
int lode_json_member(struct lode_json_walk *walk, struct lode_json_value *key, struct lode_json_value *value);
/* The same with the key as lode_json_plain_text gives it, for many small objects. */
int lode_json_member_text(struct lode_json_walk *walk, const char **key, size_t *length,
			  struct lode_json_value *value);
/*
 * The same in two steps, for large arrays of small objects: look at an item, walk through it, then
 * pass it with what that walk has found out about its end.
 */
int lode_json_peek(const struct lode_json_walk *walk, struct lode_json_value *item);
void lode_json_pass(struct lode_json_walk *walk, const struct lode_json_walk *inner);
/* The same for members of an object. `value` is that of lode_json_peek_member. */
int lode_json_peek_member(const struct lode_json_walk *walk, struct lode_json_value *key,
			  struct lode_json_value *value);
void lode_json_pass_member(struct lode_json_walk *walk, struct lode_json_value value,
			   const struct lode_json_walk *inner);
/* Number of items of an array. */
size_t lode_json_count(struct lode_json_value array);
/* The member of an object with this key (the first one); an absent value when there is none. */
struct lode_json_value lode_json_get(struct lode_json_value object, const char *key);
/*
 * The members with these keys in one pass, for objects that are large: `values`
 * gets one value a key, absent where there is none. Returns the walk, done, for lode_json_pass.
 */
struct lode_json_walk lode_json_get_all(struct lode_json_value object, const char *const keys[],
					struct lode_json_value values[], size_t count);

/* Whether the value is this text. */
int lode_json_is_text(struct lode_json_value value, const char *text);
/*
 * The bytes of a text as they are written, without the quotes, and how many;
 * NULL for a value that is no text or has escapes, which lode_json_text_to resolves.
 */
const char *lode_json_plain_text(struct lode_json_value value, size_t *length);
/* Appends a text with its escapes resolved; nothing for other values. Half a surrogate pair becomes U+FFFD. */
void lode_json_text_to(struct lode_json_value value, struct lode_buffer *buffer);
/* How many bytes the value takes as it is written, from its first to its last; 0 for an absent one. */
size_t lode_json_length(struct lode_json_value value);

/* A number, or `otherwise` for any other value. */
double lode_json_double_or(struct lode_json_value value, double otherwise);
/* A whole number that fits, or `otherwise`: for ids and indices. */
uint64_t lode_json_u64_or(struct lode_json_value value, uint64_t otherwise);

#endif
