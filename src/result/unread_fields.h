/* Streams that were left out (store/unread_streams.h), as a field of results. */
#ifndef LODE_RESULT_UNREAD_FIELDS_H
#define LODE_RESULT_UNREAD_FIELDS_H

#include "result/fields.h"
#include "store/unread_streams.h"

struct lode_unread_list {
	uint64_t count;
	struct lode_list first;
};

/* Part of a result: a field `unread_streams`, how many and the first of them; none where there are none. */
struct lode_unread_part {
	int any;
	struct lode_unread_list unread_streams;
};

extern const struct lode_fields lode_unread_part_fields;

struct lode_unread_part lode_unread_part(const struct lode_unread_streams *unread);

#endif
