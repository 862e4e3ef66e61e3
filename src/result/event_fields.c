/* Sums by type of event, as fields of results: see event_fields.h. */
#include "result/event_fields.h"

#include "result/field_rows.h"

#include <string.h>

#define TABLE_OF struct lode_event_sums
static const struct lode_field count_rows[] = {
	FIELD_U64_AS("run", of[LODE_RUN], "CPU samples"),
	FIELD_U64_AS("wait", of[LODE_WAIT], "waits"),
	FIELD_U64_AS("call", of[LODE_CALL], "system events"),
};
const struct lode_fields lode_event_counts_fields = FIELD_TABLE("EventCounts", count_rows);

static const struct lode_field cost_rows[] = {
	FIELD_U64_AS("run", of[LODE_RUN], "CPU time in ns"),
	FIELD_U64_AS("wait", of[LODE_WAIT], "waiting in ns"),
	FIELD_U64_AS("call", of[LODE_CALL], "0: system events have no cost"),
};
const struct lode_fields lode_event_costs_fields = FIELD_TABLE("EventCosts", cost_rows);
#undef TABLE_OF

struct lode_event_sums lode_event_sums(const uint64_t of[LODE_EVENT_TYPES])
{
	struct lode_event_sums sums;

	memcpy(sums.of, of, sizeof(sums.of));
	return sums;
}
