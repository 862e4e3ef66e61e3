/*
 * The host of a task: the program that runs it. The command line draws progress, prints and
 * handles signals (cmd/terminal_host.h); a program that uses the library does none of this
 * and gets results and messages as values (library/).
 */
#ifndef LODE_TASKS_HOST_H
#define LODE_TASKS_HOST_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/progress.h"
#include "text/look.h"
#include "store/corpus_deal.h"

struct lode_call;
struct lode_host;

/* A file descriptor that people may be reading. */
struct lode_terminal {
	int fd;
	unsigned height; /* lines; 0 when it is no terminal */
	struct lode_look look;
};

/* The part of a command that several processes divide. Both return 0 or a negative code. */
struct lode_shared_work {
	/* Makes this process's share of the streams and keeps it next to the corpus. */
	int (*keep)(void *context, const struct lode_job_rank *rank, struct lode_error *error);
	/* When all have kept theirs: puts all streams together, in the first process. `rank` NULL: there is no other. */
	int (*join)(void *context, const struct lode_job_rank *rank, struct lode_error *error);
	void *context;
};

/* Several processes that run the same command under MPI, as cmd/ranks.h. */
struct lode_host_job {
	int (*launched)(void);
	void (*expect)(unsigned times);
	int (*helps)(void);
	int (*share)(struct lode_corpus *corpus, const struct lode_shared_work *work, struct lode_error *error);
	const struct lode_job_rank *(*served)(void);
};

/* What a request to stop does. */
enum lode_stop {
	LODE_STOP_AT_ONCE,
	LODE_STOP_SOON,      /* the work sees it in its progress, and has a tenth of a second to end cleanly */
	LODE_STOP_WHEN_DONE, /* the same without a limit: for what must not be lost, such as a recording */
};

/* Work without a known end goes on: what a terminal shows of it now, and how much is done. */
struct lode_status {
	const char *phase; /* "recording" */
	const char *unit;  /* "events" */
	uint64_t done;
	void (*line)(void *context,
		     struct lode_buffer *line); /* appends what people see; only called where they do */
	/* Instead of `line`, if not NULL: appends lines that are drawn again and again, `most` at most; returns how many. */
	unsigned (*drawing)(void *context, const struct lode_look *look, unsigned most, struct lode_buffer *lines);
	void *context;
};

/* A result that people watch in a browser while it is made. */
struct lode_shown_result {
	const char *block; /* the view of the page that shows it */
	const char *title;
	uint16_t port;                                           /* 0: any */
	void (*append)(void *context, struct lode_buffer *json); /* appends it as it is now */
	void *context;
};

/* Shows such a result, as cmd/live_page.h; one at a time. */
struct lode_host_page {
	/* Fails where the program has no server or no page; before anything is begun. */
	int (*check)(struct lode_error *error);
	/* Begins to serve and says where. `shown` must stay; its texts are copied, but for `block`. */
	int (*open)(struct lode_host *host, const struct lode_call *call, const struct lode_shown_result *shown,
		    struct lode_error *error);
	/* Called often; shows what there is a few times a second, with `last` at once and for good. */
	int (*update)(struct lode_host *host, int last, struct lode_error *error);
	/* Goes on serving until a signal asks to stop. */
	void (*stay)(struct lode_host *host, const struct lode_call *call);
	/* Also of one that was not opened. */
	void (*close)(struct lode_host *host);
};

/* Commands that a task starts: as a process that is about to become one, and pid (0: it has ended). */
struct lode_host_commands {
	void (*restore)(const struct lode_host *host);
	void (*started)(int pid);
};

/* Sends the streams of a corpus to a collector, as cmd/push_process.h. */
struct lode_host_pusher {
	int (*check)(const char *url, struct lode_error *error);
	int (*send)(const char *corpus, const char *url, struct lode_error *error);
};

/* A line that a user is asked for. */
struct lode_question {
	const char *prompt;
	const char *(*word)(size_t i); /* what can be completed, by number; NULL behind the last */
};

/* What tasks may write into a corpus that they only read. */
enum lode_keep {
	LODE_KEEP_ALL,     /* kept work (store/map_cache.h), and the last result of a mine */
	LODE_KEEP_CACHE,   /* kept work alone */
	LODE_KEEP_NOTHING, /* kept work is used where it is there, and left as it is */
};

struct lode_host {
	enum lode_keep keep;
	int collects; /* takes results as a whole, also those that could be written while they are made */
	/* Long work begins; returns its progress, which also reports requests to stop. */
	const struct lode_progress *(*begin)(struct lode_host *host, const struct lode_call *call);
	/* Something else is about to be written: the progress bar must go. */
	void (*pause)(struct lode_host *host);
	void (*hold)(struct lode_host *host, enum lode_stop stop);
	/* Called often. */
	void (*status)(struct lode_host *host, const struct lode_call *call, const struct lode_status *status);
	/* The signal that asked to stop; 0: none did. */
	int (*stopped)(struct lode_host *host);
	/* Takes a result that no option sends to a file. A buffer that failed is an error. */
	int (*show)(struct lode_host *host, const struct lode_call *call, const struct lode_buffer *results,
		    struct lode_error *error);
	/* Takes a message for the user, without a line end. */
	void (*say)(struct lode_host *host, const struct lode_call *call, enum lode_style style, const char *text);
	/* Asks for a line and returns it without its end, for the caller to free; NULL: there are no more. NULL: nobody can be asked. */
	char *(*ask)(struct lode_host *host, const struct lode_call *call, const struct lode_question *question);
	/* Forgets a request to stop what is over by now. Goes with `ask`. */
	void (*go_on)(struct lode_host *host);
	const struct lode_host_job *job;           /* NULL: a process by itself */
	const struct lode_host_commands *commands; /* NULL: there is nothing to do */
	const struct lode_host_pusher *pusher;     /* NULL: it cannot */
	const struct lode_host_page *page;         /* NULL: it shows none */
};

/* Shows the user a sentence; cut at 1 KB. */
void lode_call_say(const struct lode_call *call, enum lode_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of a line that was made before, which is released; one that failed is left out. */
void lode_call_say_line(const struct lode_call *call, enum lode_style style, struct lode_buffer *line);
int lode_call_show(const struct lode_call *call, const struct lode_buffer *results, struct lode_error *error);

/* The functions of `job`; without one this process is alone, and shared work is to join what it has itself. */
int lode_host_launched(const struct lode_host *host);
void lode_host_expect(const struct lode_host *host, unsigned times);
int lode_host_helps(const struct lode_host *host);
int lode_host_share(const struct lode_host *host, struct lode_corpus *corpus, const struct lode_shared_work *work,
		    struct lode_error *error);
const struct lode_job_rank *lode_host_served(const struct lode_host *host);

#endif
