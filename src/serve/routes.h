/*
 * Routes: from an address under /api/ to the command that answers it.
 */
#ifndef LODE_SERVE_ROUTES_H
#define LODE_SERVE_ROUTES_H

#include "base/error.h"
#include "base/text_list.h"

/* The option that asks for what the page draws besides the result. */
#define LODE_ROUTE_PAGE_DATA "page-data"

struct lode_route {
	const char *name;           /* behind /api/; with a `/` at its end: an id follows */
	const char *description;    /* one line, for tools that ask what there is */
	const char *const *words;   /* of the command; "@" means the corpus, "%" the id */
	const char *const *options; /* that may be given, NULL-terminated */
	const char *type;           /* of what it answers */
};

/* Where a server reads sources of functions. */
struct lode_route_sources {
	const char *const *folders; /* NULL-terminated; NULL: none */
	int folders_only; /* streams come from others: where they say that sources are, nothing is read */
};

/* All routes, the last one without a name. */
extern const struct lode_route lode_routes[];

/* The route of `name`, and its id ("" where it has none); NULL when there is none. */
const struct lode_route *lode_route_find(const char *name, const char **id);
/* Begins the words of a route. LODE_USAGE when the id is none. */
int lode_route_begin(const struct lode_route *route, const char *corpus, const char *id,
		     struct lode_text_list *words, struct lode_error *error);
/* Adds where sources are, if the route shows any. Returns 0 or LODE_SYSTEM. */
int lode_route_sources(const struct lode_route *route, const struct lode_route_sources *sources,
		       struct lode_text_list *words, struct lode_error *error);
/* Adds an option, as `--key=value` or `--key`. LODE_USAGE with a sentence when the route has no such option. */
int lode_route_option(const struct lode_route *route, const char *key, const char *value,
		      struct lode_text_list *words, struct lode_error *error);

#endif
