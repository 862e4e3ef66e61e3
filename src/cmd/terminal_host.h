/* The command line as the host of a task (tasks/host.h): progress bar, signals, MPI, standard output and error. */
#ifndef LODE_CMD_TERMINAL_HOST_H
#define LODE_CMD_TERMINAL_HOST_H

#include "cmd/line_editor.h"
#include "cmd/live_page.h"
#include "cmd/progress_line.h"

struct lode_terminal_host {
	struct lode_host host;
	struct lode_bar bar;
	int status_fd;         /* where a status is drawn; -1: nowhere */
	unsigned status_lines; /* lines above the cursor that are part of it */
	uint64_t status_at;    /* when it was */
	struct lode_live_page page;
	struct lode_line_editor *editor; /* NULL: nothing was asked yet */
};

/* `host` must not move afterwards. */
struct lode_host *lode_terminal_host_init(struct lode_terminal_host *host);

#endif
