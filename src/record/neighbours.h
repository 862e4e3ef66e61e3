/* Which programs had the processors that recorded threads waited for (bpf/neighbours.bpf.h). */
#ifndef LODE_RECORD_NEIGHBOURS_H
#define LODE_RECORD_NEIGHBOURS_H

#include "record/bpf/records.h"
#include "record/recorder.h"

struct lode_neighbour {
	struct lode_record_neighbours names;
	uint64_t time; /* ns */
};

/* Fills `items` with the `room` pairs with most time, those first. Returns how many there are. */
size_t lode_recorder_neighbours(const struct lode_recorder *recorder, struct lode_neighbour *items, size_t room);

#endif
