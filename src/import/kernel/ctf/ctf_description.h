/*
 * What the metadata of a CTF 1.8 trace says: streams, events, the clock, and some of the environment.
 */
#ifndef LODE_IMPORT_CTF_DESCRIPTION_H
#define LODE_IMPORT_CTF_DESCRIPTION_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "import/kernel/ctf/ctf_types.h"

struct lode_ctf_event_class {
	uint64_t stream;
	uint64_t id;
	const char *name;
	const struct lode_ctf_type *context; /* or NULL */
	const struct lode_ctf_type *payload; /* or NULL */
};

struct lode_ctf_stream_class {
	uint64_t id;
	const struct lode_ctf_type *packet_context; /* or NULL */
	const struct lode_ctf_type *event_header;
	const struct lode_ctf_type *event_context; /* or NULL */
	const struct lode_ctf_event_class *events; /* those of the stream, in order of their ids */
	size_t event_count;
};

struct lode_ctf_description {
	struct lode_arena arena;
	int big;
	const struct lode_ctf_type *packet_header;        /* or NULL */
	uint32_t slots;                                   /* for values that other fields need */
	LODE_ARRAY(struct lode_ctf_stream_class) streams; /* in order of their ids */
	LODE_ARRAY(struct lode_ctf_event_class) events;
	const char *host; /* or NULL */
	const char *kernel;
	uint64_t frequency; /* of the clock, in Hz */
	int64_t origin;     /* its 0, in nanoseconds since 1970 */
};

/*
 * Reads the text of metadata (lode_ctf_metadata_text). Returns 0; 1 for what it does not know, with the reason in `why`;
 * or LODE_SYSTEM. Release it in any case.
 */
int lode_ctf_describe(struct lode_ctf_description *description, const char *text, size_t size,
		      struct lode_error *why);
void lode_ctf_description_release(struct lode_ctf_description *description);

struct lode_ctf_stream_class *lode_ctf_find_stream(const struct lode_ctf_description *description, uint64_t id);
const struct lode_ctf_event_class *lode_ctf_find_event(const struct lode_ctf_stream_class *stream, uint64_t id);
/* Nanoseconds since 1970 of a value of the clock; 0 before that and where they do not fit. */
uint64_t lode_ctf_nanoseconds(const struct lode_ctf_description *description, uint64_t ticks);

#endif
