/*
 * Fields: what a result consists of, one table a struct and one row a member. From the tables come
 *
 * - the JSON of a result (lode_fields_write),
 * - its schema, docs/schema/NAME.json, and
 * - the types of the page, web/src/results.ts; `ninja -C build schema` writes both (tools/schema).
 *
 * A result is a struct of plain values: numbers, texts, structs inside it, and lists. Its members have the names that
 * JSON has. One function fills it; text, JSON and page show what is in it and count nothing again. Tables have
 * the rows of field_rows.h and files of their own; results.c lists the results.
 *
 * Results may be larger than memory should be: a list makes its items one by one, and what was written leaves after
 * each (lode_fields_flow).
 *
 * Tables are constant: any number of threads may use them.
 */
#ifndef LODE_RESULT_FIELDS_H
#define LODE_RESULT_FIELDS_H

#include "base/json.h"
#include "base/output.h"

enum lode_field_kind {
	LODE_FIELD_U64,
	LODE_FIELD_U32,
	LODE_FIELD_I64,
	LODE_FIELD_DOUBLE,  /* null where it is not finite */
	LODE_FIELD_BOOL,    /* an int */
	LODE_FIELD_TEXT,    /* const char * */
	LODE_FIELD_CHARS,   /* a text inside the struct, an array of char */
	LODE_FIELD_TRUE,    /* nothing in the struct */
	LODE_FIELD_SCALAR,  /* a text, a number or a truth value; only lode_written knows which */
	LODE_FIELD_OBJECT,  /* a struct inside this one, with a table of its own */
	LODE_FIELD_POINTER, /* the same, elsewhere; NULL: there is none */
	LODE_FIELD_PART,    /* a struct inside this one whose fields are fields of this object */
};

/* What holds items of the kind that the row says. */
enum lode_field_shape {
	LODE_SHAPE_ONE,
	LODE_SHAPE_LIST,
	LODE_SHAPE_LISTS, /* a list of lists */
	LODE_SHAPE_MAP,   /* an object whose keys are data */
};

/* When there is no value: its flag (`known`) is 0, or without a flag the value is NULL or 0. */
enum lode_field_rule {
	LODE_FIELD_ALWAYS,
	LODE_FIELD_OPTIONAL, /* then there is no key either */
	LODE_FIELD_NULLABLE, /* then it is null */
};

struct lode_fields;

struct lode_field {
	const char *name;
	const char *what;                 /* a sentence, for the schema and the page's types */
	const struct lode_fields *fields; /* of objects */
	/* The texts that there are, by number; NULL behind the last. NULL: any text. */
	const char *(*choice)(unsigned number);
	uint16_t length; /* of the name */
	uint16_t offset; /* in the struct */
	uint16_t known;  /* 1 + where the int is that says whether there is a value; 0: the value says so itself */
	uint8_t kind;
	uint8_t shape;
	uint8_t rule;
	uint8_t written; /* the member is a struct lode_written */
	uint8_t maybe;   /* items of a list or map, or the number, may be null */
	uint8_t digits;  /* a text of digits alone */
	uint8_t added;   /* not in the struct: others add it */
	uint8_t least;   /* the smallest that a number can be, where it is not 0 */
};

struct lode_fields {
	const char *type; /* on the page, unique: `MineCluster` */
	const struct lode_field *rows;
	uint16_t count;
	uint16_t size;                       /* of the struct; 0: code writes the object by hand */
	const struct lode_fields *either[2]; /* not NULL: no rows; an object is one of these, and code chooses which */
};

/* The largest struct that an item of a list may be. */
#define LODE_FIELDS_ITEM 1024

/* A list: an array of values, or what makes them. */
struct lode_list {
	size_t count;
	const void *from; /* the array; with `make`, what it needs to know */
	size_t first;     /* for `make` */
	/* Fills `item`, item `i` as a struct of its table, or as one value. Returns 1, 0 to leave it out, or LODE_SYSTEM. */
	int (*make)(const struct lode_list *list, size_t i, void *item);
};

/* A value that writes itself, where a table would be slow or the shape is data. The row describes it all the same. */
struct lode_written {
	/* Returns 0, or a negative code that ends the writing: without a sentence in the error, memory has run out. */
	int (*write)(const struct lode_written *self, struct lode_json *json);
	const void *from; /* these four are for `write` */
	const void *with;
	size_t first;
	size_t count;
};

/* ---- writing ---- */

/* Appends an object: the struct at `value`, as its table says. Memory that ran out marks the buffer. */
void lode_fields_write(const struct lode_fields *fields, const void *value, struct lode_json *json);
/* The fields alone, into an object that was begun. */
void lode_fields_members(const struct lode_fields *fields, const void *value, struct lode_json *json);
/* Appends an object as a line. */
void lode_fields_line(const struct lode_fields *fields, const void *value, struct lode_buffer *buffer);
/* The same, and what is written leaves after each item of a list. Returns 0 or the code of the output. */
int lode_fields_flow(const struct lode_fields *fields, const void *value, struct lode_output *output,
		     struct lode_error *error);

/* A list of what is in an array. */
static inline struct lode_list lode_list_of(const void *array, size_t count)
{
	return (struct lode_list){ .count = count, .from = array };
}

#endif
