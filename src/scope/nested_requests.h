/*
 * Requests that are part of others: a thread waits, in the middle of its request, for a reply, and another thread gives
 * it in a request of its own. That one's time is counted where it was waited for, so it is no symptom by itself. Holders of
 * locks serve nobody and are not meant, nor is an event loop whose turn ends before the reply comes.
 *
 * It is decided for loops (requests.h), not for single requests: a loop is nested in another one if at least half of its
 * requests end a wait within one of the other's. Loops that serve one another in a circle are not nested.
 */
#ifndef LODE_SCOPE_NESTED_REQUESTS_H
#define LODE_SCOPE_NESTED_REQUESTS_H

#include "scope/requests.h"

/*
 * By loop: whether it is nested in one that has LODE_MIN_REQUESTS. Waits with t, cost, thread, waker and, to know locks,
 * objects. The caller frees it; NULL when memory has run out.
 */
uint8_t *lode_requests_nested(const struct lode_requests *requests, const struct lode_stream *stream);

#endif
