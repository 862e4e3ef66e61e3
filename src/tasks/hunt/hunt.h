/* lode hunt: what its files share. hunt_session.c runs it, hunt_options.c reads settings, hunt_view.c shows it while it goes on. */
#ifndef LODE_TASKS_HUNT_H
#define LODE_TASKS_HUNT_H

#include "base/notes.h"
#include "tasks/live/child.h"
#include "result/hunt_report.h"

struct lode_hunt_settings {
	struct lode_option_list pids;
	const char *comm;
	int all; /* text is not the answer alone, and verdicts are told as they come */
	struct lode_option_list hosts;
	const char *ssh;
	uint64_t time;
	const char *cost;
	const char *cpu;
	const char *sync;
	const char *io;
	const char *ready;
	uint64_t small_io;
	const char *deep_threshold;
	const char *strategy;
	const char *unwind;
	const char *languages;
	const char *profile;
	struct lode_option_list outputs;
	const char *name;
	int command_line;
	struct lode_option_list attributes;
	const char *dot;
	const char *html;
	int json;
	int serve;
	uint64_t port;
	int exit_code;
	int agent;
};

extern const struct lode_option lode_hunt_options[];
/* Hunts as the call's settings, a struct lode_hunt_settings, ask for. */
int lode_hunt_run(struct lode_call *call, struct lode_error *error);

/* Checks what was requested and fills the search's options. */
int lode_hunt_options_read(const struct lode_call *call, struct lode_search_options *options,
			   struct lode_error *error);
/* Where results go besides standard output; NULL: nowhere. Texts are the settings'. */
struct lode_hunt_outputs {
	const char *corpus;
	const char *html;
	const char *dot;
	const char *json;
	const char *text;
};

/* Sorts what --output names by its endings; what is a folder, or has no ending of a file, is a corpus. */
int lode_hunt_outputs_read(const struct lode_hunt_settings *settings, struct lode_hunt_outputs *outputs,
			   struct lode_error *error);
/* The numbers of -p; `*pids` is the caller's to free. */
int lode_hunt_pids(const struct lode_hunt_settings *settings, uint32_t **pids, size_t *count,
		   struct lode_error *error);
/* What is hunted, in words; the caller's to free; NULL when memory has run out. */
char *lode_hunt_target(const struct lode_call *call);

/* ---- while it goes on ---- */

struct lode_hunt_view {
	const struct lode_call *call;
	const struct lode_hunt_report *report;
	int json;
	int all;                  /* each verdict is a line where there is no terminal */
	int enabled;              /* something is shown for people */
	struct lode_buffer lines; /* of JSON, or plain ones, until the next flush */
};

void lode_hunt_view_init(struct lode_hunt_view *view, const struct lode_call *call,
			 const struct lode_hunt_report *report, int json, int all);
void lode_hunt_view_release(struct lode_hunt_view *view);
/* For lode_search_create: an experiment has changed. */
void lode_hunt_view_changed(void *view, uint32_t experiment);
/* Shows what there is to show; after each step. */
int lode_hunt_view_update(struct lode_hunt_view *view, struct lode_error *error);

#endif
