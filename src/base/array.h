/*
 * Array: items of one type that grow at the end. Where memory runs out the array is
 * marked, and from then on it does not grow: code that fills it can check each time, or
 * once at the end, as with a buffer.
 *
 *	struct table {
 *		LODE_ARRAY(struct row) rows;  table->rows.items[i], table->rows.count
 *	};
 *	struct rows {
 *		LODE_ARRAY(struct row);       rows->items[i], rows->count
 *		struct lode_index index;
 *	};
 *
 * A zeroed one is empty. lode_free(array.items) releases it.
 */
#ifndef LODE_BASE_ARRAY_H
#define LODE_BASE_ARRAY_H

#include "base/hash_index.h"
#include "base/memory.h"

#define LODE_ARRAY(type)                                                                                          \
	struct {                                                                                                  \
		type *items;                                                                                      \
		size_t count;                                                                                     \
		size_t capacity;                                                                                  \
		int failed; /* memory ran out, and something is missing */                                        \
	}

/* Room for `needed` items in all; `items` points to the pointer. Returns whether there is. */
static inline int lode_array_room(void *items, size_t *capacity, size_t needed, size_t item_size, int *failed)
{
	if (!*failed && lode_grow(items, capacity, needed, item_size) == 0)
		return 1;
	*failed = 1;
	return 0;
}

static inline int lode_array_code(int is_done)
{
	return is_done ? 0 : LODE_SYSTEM;
}

#define LODE_ARRAY_ROOM(array, needed)                                                                            \
	lode_array_room(&(array)->items, &(array)->capacity, (needed), sizeof(*(array)->items), &(array)->failed)

/* Makes room for `more` items behind the last. Returns 0 or LODE_SYSTEM. */
#define LODE_RESERVE(array, more) lode_array_code(LODE_ARRAY_ROOM(array, (array)->count + (size_t)(more)))

/* Appends a value. Returns 0 or LODE_SYSTEM. */
#define LODE_PUSH(array, ...)                                                                                     \
	lode_array_code(((array)->count < (array)->capacity || LODE_ARRAY_ROOM(array, (array)->count + 1)) &&     \
			(((array)->items[(array)->count] = (__VA_ARGS__)), ++(array)->count))

/*
 * A pointer to item `number`; the items that are missing up to it get the value. NULL when memory has run out. For what is
 * known by the numbers of something else.
 */
#define LODE_PLACE(array, number, ...)                                                                            \
	__extension__({                                                                                           \
		size_t number_ = (number);                                                                        \
		if ((array)->count <= number_ && LODE_ARRAY_ROOM(array, number_ + 1))                             \
			while ((array)->count <= number_)                                                         \
				(array)->items[(array)->count++] = (__VA_ARGS__);                                 \
		(array)->count > number_ ? &(array)->items[number_] : NULL;                                       \
	})

/*
 * Appends a value and adds its place under `hash` to an index of the array. Returns 0, or LODE_SYSTEM, also when the
 * array has all the items that ids can number.
 */
#define LODE_INDEX_PUSH(index, hash, array, ...)                                                                  \
	lode_array_code((array)->count < LODE_NONE - 1 && LODE_ARRAY_ROOM(array, (array)->count + 1) &&           \
			lode_index_insert((index), (hash), (uint32_t)(array)->count) == 0 &&                      \
			(((array)->items[(array)->count] = (__VA_ARGS__)), ++(array)->count))

#endif
