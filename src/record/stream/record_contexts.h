/*
 * Contexts of events: from the numbers that records have to the texts that the kernel side sent before. Of numbers the
 * last few million are remembered, of texts a million distinct ones; events beyond that have no context, and are counted.
 */
#ifndef LODE_RECORD_STREAM_RECORD_CONTEXTS_H
#define LODE_RECORD_STREAM_RECORD_CONTEXTS_H

#include "base/notes.h"
#include "record/bpf/records.h"
#include "trace/dictionary.h"

struct lode_numbered_context {
	uint32_t number; /* 0: none */
	uint32_t text;   /* string */
};

/* A zeroed struct knows none. */
struct lode_record_contexts {
	struct lode_numbered_context *items; /* by the remainder of their number */
	size_t size;                         /* a power of two */
	size_t distinct;                     /* texts that were new */
	uint64_t left_out;                   /* contexts beyond the limit */
	uint64_t forgotten;                  /* events whose context is not known */
};

void lode_record_contexts_release(struct lode_record_contexts *contexts);
/* What a number stands for from now on. Returns 0 or LODE_SYSTEM. */
int lode_record_contexts_add(struct lode_record_contexts *contexts, struct lode_strings *strings,
			     const struct lode_record_context *context);
/* The string for a number; 0: none. */
uint32_t lode_record_contexts_find(struct lode_record_contexts *contexts, uint32_t number);
void lode_record_contexts_note(const struct lode_record_contexts *contexts, struct lode_notes *notes);

#endif
