/*
 * A result that is still being made, for a server to show: its latest state as JSON,
 * with a number that grows with each change, so that no client is sent the same twice.
 * One thread sets it, any number of others read it.
 */
#ifndef LODE_SERVE_GROWING_RESULT_H
#define LODE_SERVE_GROWING_RESULT_H

#include "base/error.h"
#include "serve/shared_result.h"

#include <stdint.h>

struct lode_growing_result;

/* `name` is that of the block the page shows ("hunt"); it must stay. On success the caller frees it. */
int lode_growing_make(struct lode_growing_result **growing, const char *name, struct lode_error *error);
void lode_growing_free(struct lode_growing_result *growing);
const char *lode_growing_name(const struct lode_growing_result *growing);
/*
 * Makes `json`, an object, the latest state; its first field becomes
 * `live`: {"version","running"}.
 */
int lode_growing_set(struct lode_growing_result *growing, const struct lode_buffer *json, int running,
		     struct lode_error *error);
/* The latest state, held for the caller, or NULL if it is `seen`. Returns its number; 0: there is none yet. */
uint64_t lode_growing_get(struct lode_growing_result *growing, uint64_t seen, struct lode_shared_result **latest);

#endif
