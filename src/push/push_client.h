/* Talks to a collector over HTTP, one request at a time, with libcurl, which is loaded on first use. */
#ifndef LODE_PUSH_PUSH_CLIENT_H
#define LODE_PUSH_PUSH_CLIENT_H

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>

struct lode_push_client;

/* What a collector said. */
struct lode_push_answer {
	long status;          /* of HTTP; 0: there was no answer */
	unsigned retry_after; /* s; 0: not said */
	char text[512];       /* why not, in words */
};

/*
 * `url` is the collector's address (http://HOST:PORT, https://HOST, unix:PATH), `token` its token or NULL. The caller
 * frees it. LODE_USAGE for an address that is none.
 */
int lode_push_client_make(struct lode_push_client **client, const char *url, const char *token,
			  struct lode_error *error);
void lode_push_client_free(struct lode_push_client *client);

/* Sends a file; `name` is that of its stream, NULL: as in the file. Returns 0 with an answer, or a negative code. */
int lode_push_client_send(struct lode_push_client *client, const char *path, const char *name,
			  struct lode_push_answer *answer, struct lode_error *error);
/* The same with bytes, to `address`, which begins with a slash. */
int lode_push_client_post(struct lode_push_client *client, const char *address, const void *bytes, size_t size,
			  struct lode_push_answer *answer, struct lode_error *error);
/* Asks for what is at `address`; appends it to `body`, at most LODE_PUSH_BODY bytes. */
int lode_push_client_get(struct lode_push_client *client, const char *address, struct lode_buffer *body,
			 struct lode_push_answer *answer, struct lode_error *error);
#define LODE_PUSH_BODY (1u << 20)

#endif
