/* Sums by type of event, as fields of results. */
#ifndef LODE_RESULT_EVENT_FIELDS_H
#define LODE_RESULT_EVENT_FIELDS_H

#include "result/fields.h"
#include "trace/events.h"

struct lode_event_sums {
	uint64_t of[LODE_EVENT_TYPES];
};

extern const struct lode_fields lode_event_counts_fields; /* how many there are */
extern const struct lode_fields lode_event_costs_fields;  /* what they take, in ns */

struct lode_event_sums lode_event_sums(const uint64_t of[LODE_EVENT_TYPES]);

#endif
