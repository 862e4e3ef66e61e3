/*
 * Symbols for a collector: which it lacks of the programs on this machine, and sending those. Nothing is kept for later: what
 * could not be sent is still lacking when the next call asks.
 */
#ifndef LODE_CMD_PUSH_SYMBOLS_H
#define LODE_CMD_PUSH_SYMBOLS_H

#include "base/text_list.h"
#include "push/push_client.h"

struct lode_push_symbols {
	struct lode_push_client *client;
	int (*stops)(void *context); /* asked between files */
	void (*tell)(void *context, const char *sentence);
	void *context;
	struct lode_text_list asked; /* build-ids of programs in streams, each once */
	uint64_t programs, sent;     /* that were asked about, and of these; start as 0 */
	uint64_t refused; /* files whose symbols cannot be sent, or are not taken; others are sent all the same */
	struct lode_error refusal; /* of the first; others are told */
};

/* Whether a file is a program, a library or a debug file (ELF). */
int lode_push_symbols_takes(const char *path);
/*
 * Sends the symbols of a file, or of its debug file. Returns 0, also where they are refused; LODE_BAD_INPUT when the collector
 * lets this sender send none, LODE_SYSTEM when it gives no answer.
 */
int lode_push_symbols_of_file(struct lode_push_symbols *symbols, const char *path, struct lode_error *error);
/* The same for the programs and libraries in a stream file, as far as they are on this machine and have symbols. */
int lode_push_symbols_of_stream(struct lode_push_symbols *symbols, const char *path, struct lode_error *error);
void lode_push_symbols_release(struct lode_push_symbols *symbols);

#endif
