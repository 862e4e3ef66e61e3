/* JSON that was written, read back by an independent parser. */
#ifndef LODE_TESTS_JSON_TREE_H
#define LODE_TESTS_JSON_TREE_H

#include "cmocka_all.h"

#include <yajl/yajl_tree.h>

static inline yajl_val parse(const char *text)
{
	char message[512];
	yajl_val tree = yajl_tree_parse(text, message, sizeof(message));

	if (!tree)
		fail_msg("%s", message);
	return tree;
}

static inline yajl_val get(yajl_val object, const char *key)
{
	const char *path[] = { key, NULL };
	yajl_val value = yajl_tree_get(object, path, yajl_t_any);

	if (!value)
		fail_msg("%s is missing", key);
	return value;
}

static inline size_t length_of(yajl_val array)
{
	assert_true(YAJL_IS_ARRAY(array));
	return YAJL_GET_ARRAY(array)->len;
}

static inline yajl_val item(yajl_val array, size_t i)
{
	assert_true(i < length_of(array));
	return YAJL_GET_ARRAY(array)->values[i];
}

static inline const char *text_at(yajl_val object, const char *key)
{
	yajl_val value = get(object, key);

	assert_true(YAJL_IS_STRING(value));
	return YAJL_GET_STRING(value);
}

#endif
