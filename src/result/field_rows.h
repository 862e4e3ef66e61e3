/*
 * Rows of tables of fields: only for files with tables (fields.h). TABLE_OF is the struct of the table:
 *
 *	#define TABLE_OF struct lode_mine_place_fields
 *	static const struct lode_field place_rows[] = {
 *		FIELD_WRITTEN_TEXTS(frames, "The stack up to the function that waits."),
 *		FIELD_U64(events, "Waits there."),
 *		FIELD_U64(limit_ns, "The limit; only where there is one.", FIELD_OPTIONAL),
 *	};
 *	static const struct lode_fields place = FIELD_TABLE("MinePlace", place_rows);
 *	#undef TABLE_OF
 *
 * A row is the member, a sentence that tells what it is, and rules. It compiles only if the member has the right type.
 */
#ifndef LODE_RESULT_FIELD_ROWS_H
#define LODE_RESULT_FIELD_ROWS_H

#include "result/fields.h"

/* Where a member of TABLE_OF is; no row unless its type is right. */
#define FIELD_AT(member, type)                                                                                    \
	(offsetof(TABLE_OF, member) +                                                                             \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((TABLE_OF *)0)->member), type) ? 1 : -1]))
#define FIELD_TEXT_AT(member)                                                                                     \
	(offsetof(TABLE_OF, member) + 0 * sizeof(char[sizeof(*((TABLE_OF *)0)->member) == 1 ? 1 : -1]))
/* `...` is what the field is, a sentence, and then rules. */
#define FIELD_ROW(key, kind_of, where, ...)                                                                       \
	{                                                                                                         \
		.name = (key), .length = sizeof(key) - 1, .kind = (kind_of), .offset = (uint16_t)(where),         \
		.what = __VA_ARGS__                                                                               \
	}

/* Values. `_AS`: under another key than the member's name. */
#define FIELD_U64_AS(key, member, ...)    FIELD_ROW(key, LODE_FIELD_U64, FIELD_AT(member, uint64_t), __VA_ARGS__)
#define FIELD_U32_AS(key, member, ...)    FIELD_ROW(key, LODE_FIELD_U32, FIELD_AT(member, uint32_t), __VA_ARGS__)
#define FIELD_I64_AS(key, member, ...)    FIELD_ROW(key, LODE_FIELD_I64, FIELD_AT(member, int64_t), __VA_ARGS__)
#define FIELD_DOUBLE_AS(key, member, ...) FIELD_ROW(key, LODE_FIELD_DOUBLE, FIELD_AT(member, double), __VA_ARGS__)
#define FIELD_BOOL_AS(key, member, ...)   FIELD_ROW(key, LODE_FIELD_BOOL, FIELD_AT(member, int), __VA_ARGS__)
#define FIELD_TEXT_AS(key, member, ...)   FIELD_ROW(key, LODE_FIELD_TEXT, FIELD_TEXT_AT(member), __VA_ARGS__)
#define FIELD_CHARS_AS(key, member, ...)  FIELD_ROW(key, LODE_FIELD_CHARS, offsetof(TABLE_OF, member), __VA_ARGS__)
#define FIELD_U64(member, ...)            FIELD_U64_AS(#member, member, __VA_ARGS__)
#define FIELD_U32(member, ...)            FIELD_U32_AS(#member, member, __VA_ARGS__)
#define FIELD_I64(member, ...)            FIELD_I64_AS(#member, member, __VA_ARGS__)
#define FIELD_DOUBLE(member, ...)         FIELD_DOUBLE_AS(#member, member, __VA_ARGS__)
#define FIELD_BOOL(member, ...)           FIELD_BOOL_AS(#member, member, __VA_ARGS__)
#define FIELD_CHARS(member, ...)          FIELD_CHARS_AS(#member, member, __VA_ARGS__)
#define FIELD_TEXT(member, ...)           FIELD_TEXT_AS(#member, member, __VA_ARGS__)

/* Objects; `table` is a struct lode_fields. A part is no object by itself: its fields are fields of this one. */
#define FIELD_OBJECT_AS(key, kind_of, member, table, ...)                                                         \
	FIELD_ROW(key, kind_of, offsetof(TABLE_OF, member), __VA_ARGS__, .fields = &(table))
#define FIELD_OBJECT(member, table, ...)  FIELD_OBJECT_AS(#member, LODE_FIELD_OBJECT, member, table, __VA_ARGS__)
#define FIELD_POINTER(member, table, ...) FIELD_OBJECT_AS(#member, LODE_FIELD_POINTER, member, table, __VA_ARGS__)
#define FIELD_PART(member, table)         FIELD_OBJECT_AS(#member, LODE_FIELD_PART, member, table, "")

/* All rows of another table of the same struct. */
#define FIELD_ALL_OF(table) FIELD_ROW("", LODE_FIELD_PART, 0, "", .fields = &(table))

/* An object that another table describes as part of the same struct. */
#define FIELD_SAME(key, table, ...) FIELD_ROW(key, LODE_FIELD_OBJECT, 0, __VA_ARGS__, .fields = &(table))

/* A key that is always true, to tell lines from others. */
#define FIELD_TRUE(key, ...) FIELD_ROW(key, LODE_FIELD_TRUE, 0, __VA_ARGS__)
/* A field that is not in the struct, because others add it to what was written. */
#define FIELD_ADDED(key, table, ...)                                                                              \
	FIELD_ROW(key, LODE_FIELD_OBJECT, 0, __VA_ARGS__, .fields = &(table), .rule = LODE_FIELD_OPTIONAL,        \
		  .added = 1)

/* Lists: the member is a struct lode_list. */
#define FIELD_LIST_AS(key, member, kind_of, ...)                                                                  \
	FIELD_ROW(key, kind_of, FIELD_AT(member, struct lode_list), __VA_ARGS__, .shape = LODE_SHAPE_LIST)
#define FIELD_OBJECTS(member, table, ...)                                                                         \
	FIELD_LIST_AS(#member, member, LODE_FIELD_OBJECT, __VA_ARGS__, .fields = &(table))
#define FIELD_TEXTS(member, ...)   FIELD_LIST_AS(#member, member, LODE_FIELD_TEXT, __VA_ARGS__)
#define FIELD_NUMBERS(member, ...) FIELD_LIST_AS(#member, member, LODE_FIELD_U64, __VA_ARGS__)

/* What writes itself: the member is a struct lode_written. Shape and kind tell what it writes. */
#define FIELD_WRITTEN(member, shape_of, kind_of, ...)                                                             \
	FIELD_ROW(#member, kind_of, FIELD_AT(member, struct lode_written), __VA_ARGS__, .shape = (shape_of),      \
		  .written = 1)
#define FIELD_WRITTEN_TEXT(member, ...)    FIELD_WRITTEN(member, LODE_SHAPE_ONE, LODE_FIELD_TEXT, __VA_ARGS__)
#define FIELD_WRITTEN_TEXTS(member, ...)   FIELD_WRITTEN(member, LODE_SHAPE_LIST, LODE_FIELD_TEXT, __VA_ARGS__)
#define FIELD_WRITTEN_NUMBERS(member, ...) FIELD_WRITTEN(member, LODE_SHAPE_LIST, LODE_FIELD_U64, __VA_ARGS__)

/* A row of an object that no struct holds, because code writes it (FIELD_TABLE_BY_HAND): it only describes. */
#define FIELD_BY_HAND(key, shape_of, kind_of, ...)                                                                \
	FIELD_ROW(key, kind_of, 0, __VA_ARGS__, .shape = (shape_of), .written = 1)

/* Rules. */
#define FIELD_OPTIONAL              .rule = LODE_FIELD_OPTIONAL
#define FIELD_OPTIONAL_IF(flag)     .rule = LODE_FIELD_OPTIONAL, .known = 1 + FIELD_AT(flag, int)
#define FIELD_NULLABLE              .rule = LODE_FIELD_NULLABLE
#define FIELD_NULLABLE_UNLESS(flag) .rule = LODE_FIELD_NULLABLE, .known = 1 + FIELD_AT(flag, int)
#define FIELD_DIGITS                .digits = 1
#define FIELD_MAYBE_NULL            .maybe = 1
#define FIELD_AT_LEAST(number)      .least = (number)
#define FIELD_CHOICE(names)         .choice = (names)

#define FIELD_TABLE_BY_HAND(name, table)                                                                          \
	{                                                                                                         \
		.type = (name), .rows = (table), .count = sizeof(table) / sizeof((table)[0])                      \
	}
/* An object that is one of two. */
#define FIELD_EITHER(name, one, other)                                                                            \
	{                                                                                                         \
		.type = (name), .either = { &(one), &(other) }                                                    \
	}
#define FIELD_TABLE(name, table)                                                                                  \
	{                                                                                                         \
		.type = (name), .rows = (table), .count = sizeof(table) / sizeof((table)[0]),                     \
		.size = sizeof(TABLE_OF)                                                                          \
	}

#endif
