/*
 * An opened stream file. Private to the store: the reader fills it from the
 * footer, the checker from a scan of the whole file.
 */
#ifndef LODE_STORE_STORE_FILE_H
#define LODE_STORE_STORE_FILE_H

#include "store/store_codec.h"
#include "store/store_format.h"
#include "store/store_tables.h"

#include <stdatomic.h>

/*
 * A codec that is not in use at the moment: its scratch memory is kept from block to
 * block. Threads that find it taken make one of their own.
 */
struct lode_spare_codec {
	_Atomic(struct lode_codec *) codec;
};

/* One block, where it is and what it holds. */
struct lode_block {
	uint64_t offset;
	struct lode_block_header header;
};

/* Translates the file's ids into those of the dictionary it was read into. */
struct lode_id_map {
	uint32_t *ids; /* from `implied` on; LODE_NONE: lost */
	size_t count;
	size_t capacity;
	size_t implied; /* ids below this are the same in file and memory */
	int identity;   /* all of them do */
};

struct lode_store {
	struct lode_map map;
	int is_memory; /* the map is somebody else's */
	char *path;
	struct lode_block *blocks; /* all but the footer, in file order */
	size_t block_count;
	size_t block_capacity;
	struct lode_store_block *events; /* the blocks of events */
	size_t *event_blocks;            /* and their numbers in `blocks` */
	size_t event_count;
	struct lode_spare_codec *spare;
	int salvage; /* gaps in the dictionary are filled with [lost] */
	struct lode_id_map strings, modules, frames, nodes, threads;
	uint16_t *depths; /* of nodes */
	size_t depth_capacity;
	uint32_t lost_string, lost_frame, lost_node, lost_thread; /* for salvage; LODE_NONE otherwise */
};

/* One block, checked, its columns found and ready to be unpacked. */
struct lode_store_table {
	struct lode_block_header header;
	uint64_t offset;
	struct lode_packed columns[LODE_TABLE_COLUMNS];
	unsigned found; /* bit mask */
};

/* The meaning of a file's id: `lost` where its block is lost, LODE_NONE where it never had one. */
static inline uint32_t lode_id_meaning(const struct lode_id_map *map, uint32_t id, uint32_t lost)
{
	uint32_t result = id < map->implied ? id : id < map->count ? map->ids[id] : LODE_NONE;

	return result == LODE_NONE ? lost : result;
}

/* The sentence for a damaged place, which names `lode fsck`; returns LODE_BAD_INPUT. */
int lode_store_fail(const struct lode_store *store, uint64_t offset, const char *what, struct lode_error *error);
/* Checks the block at `offset` and finds its columns. Returns NULL, or what is wrong. */
const char *lode_table_open(const struct lode_store *store, uint64_t offset, struct lode_store_table *table);
/* Unpacks `count` values of a column. Returns 0, LODE_BAD_INPUT or LODE_SYSTEM. */
int lode_table_unpack(struct lode_codec *codec, const struct lode_store_table *table, unsigned number,
		      void *values, size_t count);

/*
 * Maps the file and checks its header; no blocks yet. With `salvage` a damaged
 * header is no failure, and ids whose blocks are lost will read as [lost].
 */
int lode_store_map(struct lode_store **store, const char *path, int salvage, struct lode_error *error);
/* Whether the file header is whole; what is wrong otherwise goes to `error`. */
int lode_store_check_header(const struct lode_store *store, struct lode_error *error);
/* Adds a block found at `offset`. Returns 0 or LODE_SYSTEM. */
int lode_store_add_block(struct lode_store *store, uint64_t offset, const struct lode_block_header *header);
/* Makes the list of event blocks out of all blocks. Returns 0 or LODE_SYSTEM. */
int lode_store_list_events(struct lode_store *store);

#endif
