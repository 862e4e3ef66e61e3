/*
 * Words of TSDL, the language in which CTF 1.8 describes a trace: names, numbers, texts and marks. Comments and
 * white space are skipped.
 */
#ifndef LODE_IMPORT_CTF_TSDL_TOKENS_H
#define LODE_IMPORT_CTF_TSDL_TOKENS_H

#include <stddef.h>
#include <stdint.h>

enum lode_tsdl_kind {
	LODE_TSDL_END,
	LODE_TSDL_NAME,
	LODE_TSDL_NUMBER,
	LODE_TSDL_TEXT, /* between quotes, which are not part of it */
	LODE_TSDL_MARK, /* one character, or := or ... */
	LODE_TSDL_BAD,  /* no word of the language */
};

struct lode_tsdl_token {
	enum lode_tsdl_kind kind;
	const char *text;
	size_t length;
	uint64_t number; /* its magnitude */
};

struct lode_tsdl_tokens {
	const char *next;
	const char *end;
	unsigned line;
	struct lode_tsdl_token token; /* the one that was read last */
};

/* Starts at the first token. `text` must outlive it. */
void lode_tsdl_start(struct lode_tsdl_tokens *tokens, const char *text, size_t size);
void lode_tsdl_advance(struct lode_tsdl_tokens *tokens);
/* Whether the token is this name or mark. */
int lode_tsdl_at(const struct lode_tsdl_tokens *tokens, const char *word);
/* Steps over it if so. */
int lode_tsdl_skip(struct lode_tsdl_tokens *tokens, const char *word);

#endif
