/*
 * A profile for the page: the stack tree of a corpus with what each stack cost, running,
 * waiting, waiting for work and idle (web/src/views/profile.tsx shows it).
 */
#ifndef LODE_PAGE_PROFILE_PAGE_H
#define LODE_PAGE_PROFILE_PAGE_H

#include "page/page_stacks.h"
#include "scope/area.h"

/*
 * Appends the columns of an area that holds both kinds of events. Stacks that are less
 * than a hundred-thousandth of their kind go to their callers; the head says how many. `shared` as for
 * streams (stream_page.h).
 */
int lode_profile_page(const struct lode_area *area, const struct lode_idle_stacks *idle,
		      struct lode_page_stacks *shared, struct lode_buffer *out, struct lode_error *error);

#endif
