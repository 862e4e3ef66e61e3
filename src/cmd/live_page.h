/* A page in the browser that shows a result while it grows (`lode hunt --serve`): struct lode_host_page of the command line. */
#ifndef LODE_CMD_LIVE_PAGE_H
#define LODE_CMD_LIVE_PAGE_H

#include "tasks/command.h"

struct lode_server;
struct lode_growing_result;

struct lode_live_page {
	const struct lode_shown_result *shown;
	struct lode_server *server; /* NULL: nothing is served, and update, stay and close do nothing */
	struct lode_growing_result *result;
	uint64_t published; /* when, on the clock of lode_now */
};

int lode_live_page_check(struct lode_error *error);
int lode_live_page_open(struct lode_live_page *page, const struct lode_call *call,
			const struct lode_shown_result *shown, struct lode_error *error);
int lode_live_page_update(struct lode_live_page *page, int last, struct lode_error *error);
void lode_live_page_stay(struct lode_live_page *page, const struct lode_call *call);
void lode_live_page_close(struct lode_live_page *page);

#endif
