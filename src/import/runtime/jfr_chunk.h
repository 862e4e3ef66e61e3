/*
 * A chunk of a Java Flight Recorder file: its classes and constant pools.
 *
 * A file is a sequence of chunks, each whole by itself. A chunk has a header, events, one
 * metadata event that says of what fields the classes are made, and checkpoint events
 * with the constants (threads, stacks, methods, names) that other events name by
 * class and key. Everything is read by the metadata, so all versions and all
 * writers' own events are understood. Nothing is copied: a constant is the place in the
 * file where it is, and is parsed when it is requested.
 */
#ifndef LODE_IMPORT_JFR_CHUNK_H
#define LODE_IMPORT_JFR_CHUNK_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/hash_index.h"

#define LODE_JFR_HEADER 68

/* The fields that we use, by name, for all classes. */
enum lode_jfr_slot {
	LODE_JFR_START_TIME,
	LODE_JFR_DURATION,
	LODE_JFR_EVENT_THREAD,
	LODE_JFR_SAMPLED_THREAD,
	LODE_JFR_STACK_TRACE,
	LODE_JFR_STATE,
	LODE_JFR_SAMPLES,
	LODE_JFR_PREVIOUS_OWNER,
	LODE_JFR_NOTIFIER,
	LODE_JFR_SAMPLING_PERIOD,
	LODE_JFR_FRAMES,
	LODE_JFR_TRUNCATED,
	LODE_JFR_METHOD,
	LODE_JFR_TYPE,
	LODE_JFR_NAME,
	LODE_JFR_DESCRIPTION,
	LODE_JFR_STRING,
	LODE_JFR_OS_NAME,
	LODE_JFR_OS_THREAD_ID,
	LODE_JFR_JAVA_NAME,
	LODE_JFR_JAVA_THREAD_ID,
	LODE_JFR_PID,
	LODE_JFR_ID,
	LODE_JFR_VALUE,
	LODE_JFR_SLOTS,
	LODE_JFR_NO_SLOT = LODE_JFR_SLOTS,
};

/* Classes whose constants are kept. */
enum lode_jfr_pool {
	LODE_JFR_NO_POOL,
	LODE_JFR_THREADS,
	LODE_JFR_CLASSES,
	LODE_JFR_STRINGS,
	LODE_JFR_STACK_TRACES,
	LODE_JFR_METHODS,
	LODE_JFR_SYMBOLS,
	LODE_JFR_FRAME_TYPES,
	LODE_JFR_THREAD_STATES,
	LODE_JFR_POOLS,
};

/* A field's value: a number, a key of the pool of `class_`, or the place of a text, an object or a list. */
struct lode_jfr_value {
	uint64_t number;
	uint32_t class_;
	struct lode_cursor at; /* next is NULL where it is a number or a key */
};

struct lode_jfr_field {
	uint32_t class_; /* LODE_NONE: one that the metadata does not have */
	uint64_t class_id;
	uint8_t slot;
	uint8_t is_list;
	uint8_t is_pooled;
};

struct lode_jfr_class {
	uint64_t id;
	const char *name;
	uint32_t first; /* of its fields */
	uint32_t count;
	uint8_t kind;    /* primitive, text or object: see jfr_chunk.c */
	uint8_t packed;  /* if not 0, objects are exactly this many packed numbers */
	uint8_t pool;    /* enum lode_jfr_pool */
	uint8_t is_text; /* objects are one text and nothing else, as symbols are */
	int32_t use;     /* for the caller, 0 at first */
};

struct lode_jfr_constant {
	uint64_t key;
	const unsigned char *at;
	uint32_t class_;
	uint32_t memo; /* for the caller, LODE_NONE at first */
};

struct lode_jfr_chunk {
	uint64_t number;            /* from 1 on */
	const unsigned char *bytes; /* of the chunk */
	uint64_t size;
	uint64_t start_ns;
	uint64_t start_ticks;
	uint64_t ticks_per_second;
	uint64_t checkpoint;
	uint64_t metadata;
	int compressed;
	uint64_t budget; /* fields that may still be read: what is declared may be more than what is there */
	const unsigned char *described; /* the metadata that the classes are of; NULL: none */
	size_t described_size;
	int described_compressed;
	struct lode_arena arena;
	const char **strings; /* of the metadata, NUL-terminated */
	size_t string_count;
	size_t string_capacity;
	struct lode_jfr_class *classes;
	size_t class_count;
	size_t class_capacity;
	struct lode_index class_index; /* by id */
	struct lode_jfr_field *fields;
	size_t field_count;
	size_t field_capacity;
	struct lode_jfr_constant *constants;
	size_t constant_count;
	size_t constant_capacity;
	struct lode_index constant_index;
};

/*
 * Reads the header of the chunk that begins with `bytes`. Returns 0, or LODE_BAD_INPUT with a
 * sentence without the file's name. `size` becomes 0 for a chunk that was never finished.
 * `chunk` is zeroed, or a chunk before it in the same file, whose bytes are still there: its tables are used again.
 */
int lode_jfr_chunk_header(struct lode_jfr_chunk *chunk, const unsigned char *bytes, size_t size,
			  struct lode_error *error);
/*
 * Reads metadata and constant pools of a chunk whose header was read and whose `size` bytes are
 * there. Returns 0 or a negative code with a sentence; release it behind the last chunk in either case. Classes are new,
 * with a `use` of 0, unless the chunk before has the same metadata.
 */
int lode_jfr_chunk_open(struct lode_jfr_chunk *chunk, struct lode_error *error);
void lode_jfr_chunk_release(struct lode_jfr_chunk *chunk);

/* The next event of the chunk from `*at` on, as a cursor behind its class. Returns 1, 0 at the end, -1: damaged. */
int lode_jfr_event_next(const struct lode_jfr_chunk *chunk, uint64_t *at, uint64_t *class_id,
			struct lode_cursor *event);
/* The class with this id, or NULL. */
struct lode_jfr_class *lode_jfr_class_find(const struct lode_jfr_chunk *chunk, uint64_t id);
/*
 * Reads an object of a class. The values are zeroed, or those of an object of the same class, which are replaced.
 * Returns whether it was whole.
 */
int lode_jfr_object_again(struct lode_jfr_chunk *chunk, const struct lode_jfr_class *class_,
			  struct lode_cursor *cursor, struct lode_jfr_value values[LODE_JFR_SLOTS]);
/* The constant of this pool that a value names, or NULL: only there its memo means what the caller put into it. */
struct lode_jfr_constant *lode_jfr_constant_of(const struct lode_jfr_chunk *chunk,
					       const struct lode_jfr_value *value, enum lode_jfr_pool pool);
/* Reads a constant, or the object itself where the value holds one. Returns whether it was there. */
int lode_jfr_value_read(struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value,
			struct lode_jfr_value values[LODE_JFR_SLOTS]);
/* Reads a constant that was found. Returns whether it was whole. */
int lode_jfr_constant_read(struct lode_jfr_chunk *chunk, const struct lode_jfr_constant *constant,
			   struct lode_jfr_value values[LODE_JFR_SLOTS]);
/* How many items a list has, and `list` before the first; 0 for what is no list. */
uint64_t lode_jfr_list(const struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value,
		       struct lode_cursor *list);
/* Appends a text as UTF-8, following constants. Nothing for what is no text. */
void lode_jfr_text(struct lode_jfr_chunk *chunk, const struct lode_jfr_value *value, struct lode_buffer *buffer);
/* A time of the chunk in nanoseconds since 1970, and a length of time. */
uint64_t lode_jfr_time(const struct lode_jfr_chunk *chunk, uint64_t ticks);
uint64_t lode_jfr_duration(const struct lode_jfr_chunk *chunk, uint64_t ticks);

#endif
