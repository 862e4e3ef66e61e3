/*
 * What threads did (scope/activity.h), as tables for people.
 */
#ifndef LODE_TEXT_ACTIVITY_TEXT_H
#define LODE_TEXT_ACTIVITY_TEXT_H

#include "base/buffer.h"
#include "scope/activity.h"

/*
 * The shares of states, ns by state, in all of them, largest first, as `running 20%, lock 3%`; those below half a percent are left
 * out.
 */
void lode_state_shares_text(const uint64_t ns[LODE_STATES], struct lode_buffer *buffer);
/* The first `most` processes (0: all), a line each: their time, and the shares of the states that occur. */
void lode_states_text(const struct lode_state_table *table, size_t most, struct lode_buffer *buffer);
/* The first `most` loops (0: all): how many requests, and how long they took. */
void lode_requests_text(const struct lode_loop_table *table, size_t most, struct lode_buffer *buffer);

#endif
