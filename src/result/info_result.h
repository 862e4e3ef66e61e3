/*
 * The result of lode info as plain values (fields.h). Members have the names of the JSON, which info_fields.c
 * describes. Lists make their items from the struct lode_info that the result was made from.
 */
#ifndef LODE_RESULT_INFO_RESULT_H
#define LODE_RESULT_INFO_RESULT_H

#include "result/activity_result.h"
#include "result/event_fields.h"
#include "result/info_report.h"

struct lode_info_result_object {
	const char *object;
	uint64_t waits;
	uint64_t wait_ns;
};

struct lode_info_result_module {
	const char *name;
	const char *kind;
	const char *language;
	const char *path;
	const char *build_id;
	uint64_t run_events;
	uint64_t run_ns;
};

struct lode_info_no_stack {
	uint64_t run_events;
	uint64_t run_ns;
};

/* Which thread, in threads and symptoms. */
struct lode_info_thread_number {
	int has_pid;
	uint32_t pid;
	uint32_t tid;
};

struct lode_info_result_thread {
	struct lode_info_thread_number number;
	const char *name;
	struct lode_event_sums events;
	struct lode_event_sums cost_ns;
	int has_exact;
	struct lode_thread_totals exact;
	int has_timeline;
	struct lode_timeline_fields timeline;
};

struct lode_info_result_symptom {
	struct lode_info_thread_number number;
	const char *name;
	uint64_t t0;
	uint64_t t1;
};

struct lode_info_result_stream {
	const char *id;
	const char *name;
	const char *host;
	const char *source;
	const char *path;
	uint64_t bytes;
	struct lode_event_sums events;
	struct lode_event_sums cost_ns;
	uint64_t first_t;
	uint64_t last_t;
	uint64_t added;
	uint64_t stacks;
	struct lode_written attrs;
	int has_threads;
	struct lode_list threads;  /* of struct lode_info_result_thread */
	struct lode_list symptoms; /* of struct lode_info_result_symptom */
	int has_timeline;
	struct lode_timeline_fields timeline;
};

struct lode_info_result {
	const char *path;
	const char *kind;
	struct lode_event_sums events;
	struct lode_event_sums cost_ns;
	uint64_t bytes;
	uint64_t threads;
	uint64_t symptoms;
	int is_whole; /* events and stacks were read */
	uint64_t stacks;
	uint64_t stack_nodes;
	uint64_t frames;
	struct lode_list modules; /* of struct lode_info_result_module */
	struct lode_info_no_stack no_stack;
	int has_objects;
	struct lode_list objects; /* of struct lode_info_result_object */
	struct lode_activity_result activity;
	struct lode_list streams; /* of struct lode_info_result_stream */
};

extern const struct lode_fields lode_info_fields;

/* `info` and `path`, what people call it, must outlive the result. */
struct lode_info_result lode_info_result_of(const struct lode_info *info, const char *path);

#endif
