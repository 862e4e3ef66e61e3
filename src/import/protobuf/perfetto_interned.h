/*
 * Interned data of Perfetto's traces: strings, frames and call stacks that a sequence of packets
 * defines once and names by number. A sequence may forget all of it and begin again.
 *
 * Definitions stay where they are in the trace; a call stack becomes a stack of the dictionary when
 * it is first used.
 */
#ifndef LODE_IMPORT_PERFETTO_INTERNED_H
#define LODE_IMPORT_PERFETTO_INTERNED_H

#include "base/array.h"
#include "base/hash_index.h"
#include "import/json_profile.h"
#include "import/protobuf/protobuf.h"

/* Kinds of definitions: the numbers of their fields in InternedData. */
enum lode_perfetto_kind {
	LODE_PERFETTO_CATEGORY = 1,
	LODE_PERFETTO_EVENT_NAME = 2,
	LODE_PERFETTO_FUNCTION = 5,
	LODE_PERFETTO_FRAME = 6,
	LODE_PERFETTO_CALLSTACK = 7,
	LODE_PERFETTO_BUILD_ID = 16,
	LODE_PERFETTO_PATH = 17,
	LODE_PERFETTO_MAPPING = 19,
};

struct lode_perfetto_definition {
	uint64_t iid;
	uint32_t sequence;
	uint32_t generation; /* of the sequence, when it was defined */
	uint8_t kind;
	uint32_t made; /* the module, frame or stack that it is; LODE_NONE: not made yet */
	struct lode_cursor message;
};

struct lode_perfetto_interned {
	struct lode_json_import *import;
	int is_lode; /* paths are as our exporter writes them */
	LODE_ARRAY(struct lode_perfetto_definition);
	struct lode_index index;
	uint32_t *chain;
	size_t chain_capacity;
	uint64_t missing; /* numbers that nothing defines */
	uint64_t cut;     /* stacks too deep */
};

/* A sequence of packets, as far as what it interns goes. */
struct lode_perfetto_scope {
	uint32_t sequence;
	uint32_t generation;
};

/* A struct with only `import` set is empty. */
void lode_perfetto_interned_release(struct lode_perfetto_interned *interned);
/* Takes over an InternedData message. All return 0 or LODE_SYSTEM with a sentence. */
int lode_perfetto_intern(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
			 struct lode_cursor data);
/* The text of a category or name; empty when it is not defined. */
struct lode_cursor lode_perfetto_text(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope,
				      enum lode_perfetto_kind kind, uint64_t iid);
/* The stack that a call stack is; 0 when it is not defined. */
int lode_perfetto_stack(struct lode_perfetto_interned *interned, struct lode_perfetto_scope scope, uint64_t iid,
			uint32_t *stack);

#endif
