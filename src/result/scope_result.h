/*
 * A symptom and what kept its thread from being done earlier, as plain values (fields.h), and the page's list of the
 * longest. Members have the names of the JSON, which scope_fields.c describes. Parts of a scope may be millions: they
 * write themselves (scope_json.c).
 */
#ifndef LODE_RESULT_SCOPE_RESULT_H
#define LODE_RESULT_SCOPE_RESULT_H

#include "result/frame_facts.h"
#include "result/timeline.h"

struct lode_scope_result_thread {
	uint32_t tid;
	const char *name; /* NULL: not known */
	uint64_t parts;
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t ready_ns;
	struct lode_timeline_fields timeline;
};

struct lode_scope_thread_name {
	uint32_t tid;
	const char *name;
};

/* Of the page alone. */
struct lode_scope_thread_names {
	struct lode_list threads; /* of struct lode_scope_thread_name */
};

/* A control group that used up its quota. */
struct lode_scope_throttled {
	const char *cgroup;
	uint64_t time_ns;
};

/* Another host whose threads may be on the path. */
struct lode_scope_host {
	const char *host;
	const char *stream; /* id */
	int64_t offset_ns;
	uint64_t error_ns;
	double drift_ppm;
	uint64_t exchanges;
	uint64_t waits;
	uint32_t first_tid;
};

struct lode_scope_symptom {
	const char *stream;
	const char *id;
	const char *name; /* NULL: it has none */
	int has_pid;
	uint32_t pid;
	uint32_t tid;
	const char *thread; /* NULL: not known */
	uint64_t t0;
	uint64_t t1;
	const char *scope;
	uint64_t events;
	uint64_t edges;
	struct lode_written path;
	struct lode_written steps; /* none unless it is a critical path */
	struct lode_written states;
	int is_path;
	uint64_t running_kernel_ns;
	int is_stolen;
	double stolen_percent;
	int is_throttled;
	struct lode_scope_throttled throttled;
	uint64_t unknown_ns;
	int thinned;
	int has_hosts;
	struct lode_list hosts; /* of struct lode_scope_host */
	uint64_t threads_total;
	struct lode_list threads; /* of struct lode_scope_result_thread */
	struct lode_scope_thread_names facts;
};

struct lode_scope_stacks {
	struct lode_written names;
	struct lode_written nodes;
	struct lode_frame_facts facts;
};

struct lode_scope_page_result {
	uint64_t symptoms_total;
	struct lode_written symptoms;
	struct lode_scope_stacks stacks;
};

extern const struct lode_fields lode_scope_fields;              /* a symptom: a line */
extern const struct lode_fields lode_scope_page_symptom_fields; /* the same for a page: stacks are numbers */
extern const struct lode_fields lode_scope_page_fields;         /* struct lode_scope_page_result */

#endif
