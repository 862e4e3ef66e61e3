/*
 * Types in TSDL: integers, enumerations, floating point numbers, strings, structures, variants, arrays and sequences, as
 * far as LTTng, perf and barectf write them.
 */
#ifndef LODE_IMPORT_CTF_TSDL_TYPES_H
#define LODE_IMPORT_CTF_TSDL_TYPES_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "import/kernel/ctf/ctf_types.h"
#include "import/kernel/ctf/tsdl_tokens.h"

/* A type that has a name. */
struct lode_tsdl_alias {
	const char *name; /* `struct x` and `enum x` with the word before it */
	const struct lode_ctf_type *type;
};

struct lode_tsdl_parser {
	struct lode_tsdl_tokens tokens;
	struct lode_arena arena; /* holds all that was parsed */
	struct lode_error *why;
	int code; /* the first failure: 1 for what is not understood, or LODE_SYSTEM */
	int big;  /* the trace's byte order */
	unsigned depth;
	uint32_t slots;    /* in use */
	const char *clock; /* its name; NULL: none yet */
	LODE_ARRAY(struct lode_tsdl_alias) aliases;
};

/* Notes a failure; all that follow are ignored. Returns NULL. */
void *lode_tsdl_not_understood(struct lode_tsdl_parser *parser, const char *what);
/* Steps over the word, or fails. */
int lode_tsdl_expect(struct lode_tsdl_parser *parser, const char *word);
/* The name or text that is next, in the arena; NULL after a failure. */
char *lode_tsdl_word(struct lode_tsdl_parser *parser, int quoted);
/* The number that is next, in two's complement where it is negative. */
uint64_t lode_tsdl_number(struct lode_tsdl_parser *parser);
/* A type, with or without a name, or NULL after a failure. */
const struct lode_ctf_type *lode_tsdl_type(struct lode_tsdl_parser *parser);
/* `typealias TYPE := NAME`, and `struct NAME { … }` or `enum NAME … { … }` by themselves, without the semicolon. */
void lode_tsdl_alias(struct lode_tsdl_parser *parser);

#endif
