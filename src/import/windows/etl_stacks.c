/*
 * Stacks of a trace of Windows: see etl_stacks.h.
 *
 * Rows of addresses are kept once each (a "row"); stacks refer to rows, by number or by key. When all is read, keys
 * are resolved and the stacks sorted by thread and time, those of the kernel and those of programs apart.
 */
#include "import/windows/etl_stacks.h"

#include "base/array.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "import/import_common.h"

#include <stdlib.h>
#include <string.h>

enum { STACK = 32, KEY_MADE = 34, KEY_GIVEN_UP, KEY_AT_END, KERNEL_BY_KEY, USER_BY_KEY };

/* Addresses, the leaf first. */
struct row {
	size_t first;
	uint32_t count;
};

struct key {
	uint64_t key;
	uint64_t t;
	uint32_t row;
	int is_made; /* it holds from t on; otherwise until t */
};

struct reference {
	uint64_t t; /* of the event that it belongs to */
	uint64_t written;
	uint64_t key; /* 0: `row` */
	uint32_t tid;
	uint32_t row;
};

struct references {
	LODE_ARRAY(struct reference);
};

/* A stack that was requested. */
struct known {
	uint32_t kernel; /* row, or LODE_NONE */
	uint32_t user;
	uint32_t pid;
	uint32_t node;
};

struct lode_etl_stacks {
	struct lode_etl_code *code;
	unsigned pointer_size;
	LODE_ARRAY(uint64_t) addresses;
	LODE_ARRAY(struct row) rows;
	struct lode_index row_index;
	LODE_ARRAY(struct key) keys;
	struct references kernel;
	struct references user;
	LODE_ARRAY(struct known) known;
	struct lode_index known_index;
	uint64_t lost; /* stacks whose key is not in the trace */
	uint64_t cut;
};

struct lode_etl_stacks *lode_etl_stacks_create(struct lode_etl_code *code, unsigned pointer_size)
{
	struct lode_etl_stacks *stacks = lode_calloc(1, sizeof(*stacks));

	if (stacks) {
		stacks->code = code;
		stacks->pointer_size = pointer_size;
	}
	return stacks;
}

void lode_etl_stacks_destroy(struct lode_etl_stacks *stacks)
{
	if (!stacks)
		return;
	lode_free(stacks->addresses.items);
	lode_free(stacks->rows.items);
	lode_free(stacks->keys.items);
	lode_free(stacks->kernel.items);
	lode_free(stacks->user.items);
	lode_free(stacks->known.items);
	lode_index_release(&stacks->row_index);
	lode_index_release(&stacks->known_index);
	lode_free(stacks);
}

/* ---- taking ---- */

/* Kernel addresses are the upper half. */
static int is_kernel(const struct lode_etl_stacks *stacks, uint64_t address)
{
	return stacks->pointer_size == 8 ? address >> 63 != 0 : address >> 31 != 0;
}

static uint64_t read_pointer(const struct lode_etl_stacks *stacks, struct lode_cursor *data)
{
	return stacks->pointer_size == 8 ? lode_cursor_u64(data) : lode_cursor_u32(data);
}

/* Appends the addresses of `data`, up to the depth that Lode keeps: a root that is cut off is counted. */
static int add_addresses(struct lode_etl_stacks *stacks, struct lode_cursor data)
{
	size_t count = lode_cursor_left(&data) / stacks->pointer_size;

	if (count > LODE_STACK_DEPTH_LIMIT) {
		count = LODE_STACK_DEPTH_LIMIT;
		stacks->cut++;
	}
	if (LODE_RESERVE(&stacks->addresses, count) < 0)
		return LODE_SYSTEM;
	while (count--) {
		uint64_t address = read_pointer(stacks, &data);

		/* short stacks are filled with zeros, and one may have a frame without an address */
		if (address)
			stacks->addresses.items[stacks->addresses.count++] = address;
	}
	return 0;
}

/* The row of the addresses behind `first`, which are dropped when there is one like it. LODE_NONE: memory. */
static uint32_t settle_row(struct lode_etl_stacks *stacks, size_t first)
{
	struct row row = { first, (uint32_t)(stacks->addresses.count - first) };
	const uint64_t *addresses = stacks->addresses.items;
	size_t size = row.count * sizeof(*addresses);
	uint64_t hash = row.count ? lode_hash_bytes(addresses + first, size) : 0;
	uint32_t id = LODE_INDEX_FIND(i, &stacks->row_index, hash,
				      stacks->rows.items[i].count == row.count &&
					      (!size || memcmp(addresses + stacks->rows.items[i].first,
							       addresses + first, size) == 0));

	if (id != LODE_NONE) {
		stacks->addresses.count = first;
		return id;
	}
	if (LODE_INDEX_PUSH(&stacks->row_index, hash, &stacks->rows, row) < 0)
		return LODE_NONE;
	return (uint32_t)stacks->rows.count - 1;
}

static uint32_t add_row(struct lode_etl_stacks *stacks, struct lode_cursor data)
{
	size_t first = stacks->addresses.count;

	return add_addresses(stacks, data) < 0 ? LODE_NONE : settle_row(stacks, first);
}

static int decode_key(struct lode_etl_stacks *stacks, uint64_t t, struct lode_cursor data, int is_made)
{
	struct key key = { .key = read_pointer(stacks, &data), .t = t, .is_made = is_made };

	if (data.failed)
		return 0;
	key.row = add_row(stacks, data);
	if (key.row == LODE_NONE || LODE_PUSH(&stacks->keys, key) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* A stack that begins in the kernel is the kernel's, also where it goes on in the program (before Windows 8). */
static int decode_stack(struct lode_etl_stacks *stacks, unsigned type, uint64_t t, struct lode_cursor data)
{
	struct reference reference = { .written = t, .t = lode_cursor_u64(&data) };
	struct references *references;
	int kernel = type == KERNEL_BY_KEY;

	lode_cursor_u32(&data); /* process */
	reference.tid = lode_cursor_u32(&data);
	if (type == STACK) {
		struct lode_cursor first = data;

		kernel = is_kernel(stacks, read_pointer(stacks, &first));
		reference.row = first.failed ? 0 : add_row(stacks, data);
		data = first;
		if (reference.row == LODE_NONE)
			return LODE_SYSTEM;
	} else {
		reference.key = read_pointer(stacks, &data);
		reference.row = LODE_NONE;
	}
	if (data.failed)
		return 0;
	references = kernel ? &stacks->kernel : &stacks->user;
	return LODE_PUSH(references, reference);
}

int lode_etl_stacks_take(struct lode_etl_stacks *stacks, unsigned type, uint64_t t, struct lode_cursor data)
{
	switch (type) {
	case KEY_MADE:
	case KEY_GIVEN_UP:
	case KEY_AT_END:
		return decode_key(stacks, t, data, type == KEY_MADE);
	case STACK:
	case KERNEL_BY_KEY:
	case USER_BY_KEY:
		return decode_stack(stacks, type, t, data);
	default:
		return 0;
	}
}

/* ---- keys ---- */

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->t > b->t) - (a->t < b->t);
}

/* The first entry of `key` at or behind `t`, or behind all. */
static size_t find_key(const struct lode_etl_stacks *stacks, uint64_t key, uint64_t t)
{
	return LODE_BISECT(i, 0, stacks->keys.count,
			   stacks->keys.items[i].key < key ||
				   (stacks->keys.items[i].key == key && stacks->keys.items[i].t < t));
}

/* The addresses of a key come when it is next given up; where that is missing, the last time it was made counts. */
static uint32_t resolve_key(const struct lode_etl_stacks *stacks, uint64_t key, uint64_t t)
{
	size_t at = find_key(stacks, key, t);

	if (at < stacks->keys.count && stacks->keys.items[at].key == key && !stacks->keys.items[at].is_made)
		return stacks->keys.items[at].row;
	if (at < stacks->keys.count && stacks->keys.items[at].key == key && stacks->keys.items[at].t == t)
		return stacks->keys.items[at].row;
	return at && stacks->keys.items[at - 1].key == key && stacks->keys.items[at - 1].is_made
		       ? stacks->keys.items[at - 1].row
		       : LODE_NONE;
}

/* Stacks with a key that is not in the trace are dropped. */
static void resolve(struct lode_etl_stacks *stacks, struct references *references)
{
	size_t kept = 0;

	for (size_t i = 0; i < references->count; i++) {
		struct reference *item = &references->items[i];

		if (item->row == LODE_NONE)
			item->row = resolve_key(stacks, item->key, item->written);
		stacks->lost += item->row == LODE_NONE;
		if (item->row != LODE_NONE)
			references->items[kept++] = *item;
	}
	references->count = kept;
}

static int compare_references(const void *left, const void *right)
{
	const struct reference *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	if (a->written != b->written)
		return a->written < b->written ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

void lode_etl_stacks_finish(struct lode_etl_stacks *stacks)
{
	if (stacks->keys.count)
		qsort(stacks->keys.items, stacks->keys.count, sizeof(*stacks->keys.items), compare_keys);
	resolve(stacks, &stacks->kernel);
	resolve(stacks, &stacks->user);
	if (stacks->kernel.count)
		qsort(stacks->kernel.items, stacks->kernel.count, sizeof(*stacks->kernel.items),
		      compare_references);
	if (stacks->user.count)
		qsort(stacks->user.items, stacks->user.count, sizeof(*stacks->user.items), compare_references);
}

/* ---- asking ---- */

/* The last stack of the thread that belongs to an event at or before `t`, the first of those of one event; or NULL. */
static const struct reference *find_reference(const struct references *references, uint32_t tid, uint64_t t)
{
	size_t low = LODE_BISECT(i, 0, references->count,
				 references->items[i].tid < tid ||
					 (references->items[i].tid == tid && references->items[i].t <= t));
	if (!low || references->items[low - 1].tid != tid)
		return NULL;
	for (low--; low && references->items[low - 1].tid == tid &&
		    references->items[low - 1].t == references->items[low].t;)
		low--;
	return &references->items[low];
}

static uint32_t push_row(struct lode_etl_stacks *stacks, uint32_t stack, uint32_t row, uint32_t pid, int has_callee)
{
	const uint64_t *addresses = stacks->addresses.items + stacks->rows.items[row].first;

	for (uint32_t i = stacks->rows.items[row].count; i-- && stack != LODE_NONE;) {
		uint32_t frame = lode_etl_code_frame(stacks->code, pid, addresses[i], i > 0 || has_callee);

		stack = lode_stack_tree_child(&stacks->code->dictionary->tree, stack, frame);
	}
	return stack;
}

static uint32_t make_node(struct lode_etl_stacks *stacks, const struct known *known)
{
	uint32_t stack = 0, depth = 0;

	if (known->user != LODE_NONE) {
		depth = stacks->rows.items[known->user].count;
		stack = push_row(stacks, stack, known->user, known->pid, known->kernel != LODE_NONE);
	}
	if (known->kernel == LODE_NONE || stack == LODE_NONE)
		return stack;
	if (depth + stacks->rows.items[known->kernel].count > LODE_STACK_DEPTH_LIMIT) {
		stacks->cut++;
		stack = 0;
	}
	return push_row(stacks, stack, known->kernel, known->pid, 0);
}

static uint32_t node_of(struct lode_etl_stacks *stacks, struct known known)
{
	uint64_t hash = lode_hash_u64(((uint64_t)known.kernel << 32 | known.user) ^ lode_hash_u64(known.pid));
	uint32_t id;

	id = LODE_INDEX_FIND(i, &stacks->known_index, hash,
			     stacks->known.items[i].kernel == known.kernel &&
				     stacks->known.items[i].user == known.user &&
				     stacks->known.items[i].pid == known.pid);
	if (id != LODE_NONE)
		return stacks->known.items[id].node;
	known.node = make_node(stacks, &known);
	if (known.node == LODE_NONE || LODE_INDEX_PUSH(&stacks->known_index, hash, &stacks->known, known) < 0)
		return LODE_NONE;
	return known.node;
}

/* Whether a row of the kernel goes on in the program. */
static int is_whole(const struct lode_etl_stacks *stacks, uint32_t row)
{
	const struct row *item = &stacks->rows.items[row];

	return item->count && !is_kernel(stacks, stacks->addresses.items[item->first + item->count - 1]);
}

uint32_t lode_etl_stacks_find(struct lode_etl_stacks *stacks, uint64_t t, uint32_t tid, uint32_t pid)
{
	const struct reference *kernel = find_reference(&stacks->kernel, tid, t);
	const struct reference *user = find_reference(&stacks->user, tid, t);
	struct known known = { .kernel = LODE_NONE, .user = LODE_NONE, .pid = pid };

	if (kernel && kernel->t == t)
		known.kernel = kernel->row;
	if (user &&
	    (user->t == t || (known.kernel != LODE_NONE && user->written >= t && !is_whole(stacks, known.kernel))))
		known.user = user->row;
	return known.kernel == LODE_NONE && known.user == LODE_NONE ? 0 : node_of(stacks, known);
}

uint32_t lode_etl_stacks_single(struct lode_etl_stacks *stacks, uint64_t address, uint32_t pid)
{
	uint32_t frame = lode_etl_code_frame(stacks->code, pid, address, 0);

	return lode_stack_tree_child(&stacks->code->dictionary->tree, 0, frame);
}

void lode_etl_stacks_report(const struct lode_etl_stacks *stacks)
{
	struct lode_notes *notes = stacks->code->options->notes;

	lode_notes_add(notes, stacks->lost, "stacks written as keys whose addresses are not in the trace", NULL);
	lode_notes_add(notes, stacks->cut, LODE_CUT_AT_ROOT, NULL);
}
