/*
 * Packing: records, stacks and changes in few bytes, as a flight recorder keeps
 * them. What is packed is read back as it was; only the sequence of a record,
 * which says where it was in its ring, is left out.
 *
 * Numbers are LEB128; what is near its predecessor is its difference to that.
 */
#ifndef LODE_WATCH_PACKED_RECORDS_H
#define LODE_WATCH_PACKED_RECORDS_H

#include "base/cursor.h"
#include "record/bpf/records.h"
#include "record/reader/sideband.h"

/* A record's threads and stacks as small numbers; 0: none. */
struct lode_pack_references {
	uint32_t thread;
	uint32_t waker;
	uint32_t user;
	uint32_t kernel;
	uint32_t waker_user;
	uint32_t waker_kernel;
};

/* The most bytes each can take. */
#define LODE_PACKED_RECORD 144
#define LODE_PACKED_STACK  (32 + 10 * (LODE_RECORD_FRAMES + 1))
#define LODE_PACKED_TEXT   4096 /* of a change; what is longer is cut */
#define LODE_PACKED_CHANGE (160 + LODE_PACKED_TEXT)

/* Each packs into `to` and returns how many bytes it took. `previous`: the end of the record before. */
size_t lode_pack_record(unsigned char *to, const struct lode_record *record,
			const struct lode_pack_references *references, uint64_t previous);
size_t lode_pack_stack(unsigned char *to, const struct lode_record_stack *stack);
size_t lode_pack_change(unsigned char *to, const struct lode_change *change, uint64_t position);

/* Each reads what was packed; threads and stacks of the record are left 0. */
void lode_unpack_record(struct lode_cursor *cursor, struct lode_record *record,
			struct lode_pack_references *references, uint64_t previous);
void lode_unpack_stack(struct lode_cursor *cursor, struct lode_record_stack *stack);
/* `text` has room for LODE_PACKED_TEXT + 1 bytes, and `change` points to it. */
void lode_unpack_change(struct lode_cursor *cursor, struct lode_change *change, char *text, uint64_t *position);

#endif
