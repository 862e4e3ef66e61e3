/* The result of lode mine as text. */
#ifndef LODE_TEXT_MINE_TEXT_H
#define LODE_TEXT_MINE_TEXT_H

#include "result/mine_report.h"
#include "scope/area.h"
#include "text/look.h"

void lode_mine_text(const struct lode_mine_report *report, const struct lode_look *look,
		    struct lode_buffer *buffer);
/* What fixing clusters would gain, before all else; nothing where that was not asked for. */
void lode_mine_gain_list(const struct lode_mine_report *report, const struct lode_look *look,
			 struct lode_buffer *buffer);
/* The same of one cluster, as a line. */
void lode_mine_gain_text(const struct lode_mine_report *report, size_t cluster, struct lode_buffer *buffer);
void lode_compare_text(const struct lode_compare_report *report, const struct lode_look *look,
		       struct lode_buffer *buffer);

/* Events of a pattern or cluster, stream by stream. */
struct lode_mine_events_text {
	const struct lode_area *area;
	const struct lode_look *look;
	struct lode_buffer *buffer;
	uint32_t stream; /* the one that is being listed; LODE_NONE at first */
	uint64_t events; /* of it */
	uint64_t cost;
};

/* For lode_area_events: appends an event of the struct `context`. */
int lode_mine_event_text(void *context, const struct lode_area_event *event);
/* What there is of the last stream besides the events that were shown. */
void lode_mine_events_end(struct lode_mine_events_text *listing);

#endif
