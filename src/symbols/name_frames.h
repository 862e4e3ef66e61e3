/*
 * Naming: functions of a stream that are still addresses get their names, from
 * the binaries of its modules.
 *
 * Two kinds of addresses are understood. Streams recorded without symbols say so
 * with the attribute LODE_ADDRESSES: functions are file offsets, `0xOFFSET`;
 * `0xOFFSET?` is what the link register held, which may be the leaf's caller;
 * `0xOFFSET@NUMBER` is in a file that shares its name with another one, and stays
 * as it is, because the stream knows the first one only. In all other streams
 * `0xADDRESS` is an address of the ELF file.
 */
#ifndef LODE_SYMBOLS_NAME_FRAMES_H
#define LODE_SYMBOLS_NAME_FRAMES_H

#include "symbols/symbols.h"
#include "trace/stream.h"

#define LODE_ADDRESSES       "addresses"
#define LODE_ADDRESSES_VALUE "file offsets"

struct lode_naming {
	uint64_t named;   /* functions that got a name */
	uint64_t unnamed; /* and those whose binary was looked for and has none, or is not there */
	uint64_t left;    /* that no binary can name: generated at run time, or in files that share a name */
};

/* What naming would do, by the frames alone: no events are needed. Returns 0 or LODE_SYSTEM. */
int lode_naming_count(const struct lode_stream *stream, struct lode_symbolizer *symbolizer,
		      struct lode_naming *naming);
/*
 * Fills `named` (empty, over its own empty dictionary) with what `stream`
 * holds, whose events it takes over. Returns 0 or LODE_SYSTEM.
 */
int lode_naming_apply(struct lode_stream *stream, struct lode_symbolizer *symbolizer, struct lode_stream *named,
		      struct lode_naming *naming);

#endif
