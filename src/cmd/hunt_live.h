/* lode hunt --serve: the search history graph in the browser while it grows. */
#ifndef LODE_CMD_HUNT_LIVE_H
#define LODE_CMD_HUNT_LIVE_H

#include "cmd/commands.h"
#include "result/hunt_report.h"

struct lode_server;
struct lode_growing_result;

struct lode_hunt_live {
	struct lode_server *server; /* NULL: nothing is served, and the other functions do nothing */
	struct lode_growing_result *live;
	uint64_t published; /* when, on the clock of lode_now */
};

/* Fails where the program has no server or no page. For --serve; before anything is begun. */
int lode_hunt_live_check(struct lode_error *error);
/* Begins to serve and says where. `port` 0: 7070, or a free one where that is taken. */
int lode_hunt_live_open(struct lode_hunt_live *live, const struct lode_call *call, const char *target,
			uint16_t port, struct lode_error *error);
/* Shows what there is, a few times a second; with `last` at once and for good. */
int lode_hunt_live_update(struct lode_hunt_live *live, const struct lode_hunt_report *report, int last,
			  struct lode_error *error);
/* Goes on serving until a signal asks to stop. */
void lode_hunt_live_stay(struct lode_hunt_live *live, const struct lode_call *call);
void lode_hunt_live_close(struct lode_hunt_live *live);

#endif
