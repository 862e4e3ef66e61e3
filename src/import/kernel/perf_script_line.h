/*
 * The lines of `perf script`: parsed, not interpreted. Nothing is copied:
 * all spans point into the line.
 */
#ifndef LODE_IMPORT_PERF_SCRIPT_LINE_H
#define LODE_IMPORT_PERF_SCRIPT_LINE_H

#include "import/sched.h"
#include "import/text_span.h"
#include "trace/stream.h"

/*
 * `comm pid/tid [cpu] misc time: period event: trace`; comm, pid, cpu, misc, period and event may be missing,
 * and with lode_script_header_read_timeless the time.
 */
struct lode_script_header {
	struct lode_span comm;
	uint32_t pid; /* LODE_NO_PID: unknown */
	uint32_t tid;
	uint16_t cpu; /* LODE_NO_CPU: unknown */
	uint64_t t;
	int has_period;
	uint64_t period;
	struct lode_span event; /* empty: unknown */
	struct lode_span trace; /* what the event says */
};

/* Whether the line is the header of a sample; then parses it. */
int lode_script_header_read(const char *line, size_t length, struct lode_script_header *header);

/*
 * The same for a line without a time (perf script -F -time), which must have an event: it is recognized by that alone
 * from other lines, so that it is to be asked only where no line has a time. `t` becomes 0.
 */
int lode_script_header_read_timeless(const char *line, size_t length, struct lode_script_header *header);

/* `address symbol+0xoffset (dso)`; the offset is left out of the symbol. */
struct lode_script_frame {
	struct lode_span address; /* hexadecimal digits */
	struct lode_span symbol;  /* empty: unknown */
	struct lode_span dso;     /* empty: unknown */
	int inlined;
	struct lode_span key; /* what distinguishes this frame from others: with the address only if it matters */
};

/* Whether the line is a frame; then parses it. */
int lode_script_frame_read(const char *line, size_t length, struct lode_script_frame *frame);

/* What sched_switch says. */
struct lode_script_switch {
	uint32_t previous; /* tids */
	uint32_t next;
	struct lode_span state; /* "S", "R+", … */
	struct lode_span next_comm;
};

/* Both understand the fields (`prev_pid=12`) and the short form (`comm:12 [120] S ==> …`). */
int lode_script_switch_read(struct lode_span trace, struct lode_script_switch *result);
/* The thread that sched_waking or sched_wakeup is about. */
int lode_script_waking_read(struct lode_span trace, uint32_t *target, struct lode_span *comm);

/* What a state in letters ("S", "R+", "Z", …) says. */
enum lode_switch_state lode_script_state(struct lode_span state);

#endif
