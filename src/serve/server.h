/*
 * The server behind `lode serve` and `lode hunt --serve`: the page, and under /api/ the data it shows, for whoever
 * started it (access.h). What is under /api/ of a corpus is an analysis that runs as a job (jobs.h); docs/api.md
 * describes it.
 */
#ifndef LODE_SERVE_SERVER_H
#define LODE_SERVE_SERVER_H

#include "base/error.h"
#include "serve/routes.h"

#include <stdint.h>

struct lode_server;
struct lode_growing_result;
struct lode_collector;

struct lode_server_options {
	const char *title;                /* of the page */
	uint16_t port;                    /* of the loopback interface; 0 takes a free one */
	const char *socket_path;          /* not NULL: a Unix socket instead of a port */
	const char *token_file;           /* has the token; NULL: a random one */
	const char *listen;               /* not NULL: an address of any interface; needs `tokens` */
	const char *tokens;               /* not NULL: a file of tokens (tokens.h), by which others may ask */
	struct lode_collector *collector; /* not NULL: takes uploads; the caller's, ends after the server */
	const char *keep, *keep_sums;     /* of a collector: ages, as lode prune has them; NULL: for ever */
	struct lode_route_sources sources;
	const char *symptom; /* what the page asks with at first: a rule; NULL: none */
};

/* Begins to serve a corpus. On success the caller ends it. */
int lode_server_start(struct lode_server **server, const char *corpus, const struct lode_server_options *options,
		      struct lode_error *error);
/* The same for one result that is still being made, which must outlive the server. */
int lode_server_start_growing(struct lode_server **server, struct lode_growing_result *growing,
			      const struct lode_server_options *options, struct lode_error *error);
/* Where it is: the address with its token, or the path of its socket. */
const char *lode_server_address(const struct lode_server *server);
/* The same address with a token for one visit (access.h), for the caller to free; NULL: there is none. */
char *lode_server_address_once(struct lode_server *server);
/* Ends what is running, and frees it. */
void lode_server_end(struct lode_server *server);

#endif
