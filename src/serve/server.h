/*
 * The server behind `lode serve`: the page, and under /api/ the data it shows, for
 * this machine only. Everything under /api/ is an analysis that runs as a job
 * (jobs.h); docs/api.md describes it.
 */
#ifndef LODE_SERVE_SERVER_H
#define LODE_SERVE_SERVER_H

#include "base/error.h"

#include <stdint.h>

struct lode_server;
struct lode_growing_result;

/*
 * Begins to serve `corpus` on a port of the loopback interface; 0 takes a free one.
 * `title` is the page's. On success the caller ends it.
 */
int lode_server_start(struct lode_server **server, const char *corpus, const char *title, uint16_t port,
		      struct lode_error *error);
/* The same for one result that is still being made, which must outlive the server. */
int lode_server_start_growing(struct lode_server **server, struct lode_growing_result *growing, const char *title,
			      uint16_t port, struct lode_error *error);
/* The port it has. */
uint16_t lode_server_port(const struct lode_server *server);
/* Ends what is running, and frees it. */
void lode_server_end(struct lode_server *server);

#endif
