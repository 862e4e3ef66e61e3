/*
 * What is in a corpus or a stream file: the facts that `lode info` shows, and their JSON.
 */
#ifndef LODE_RESULT_INFO_REPORT_H
#define LODE_RESULT_INFO_REPORT_H

#include "base/json.h"
#include "base/progress.h"
#include "result/timeline.h"
#include "scope/activity.h"
#include "store/corpus.h"

struct lode_info_thread {
	uint32_t stream; /* index in lode_info.streams */
	uint32_t pid;
	uint32_t tid;
	uint32_t name; /* string */
	uint64_t events[LODE_EVENT_TYPES];
	uint64_t cost[LODE_EVENT_TYPES];
	struct lode_thread_totals totals; /* all 0: not known */
	struct lode_timeline line;        /* of the threads that are pictured */
};

struct lode_info_symptom {
	uint32_t thread; /* index in lode_info.threads */
	uint32_t name;   /* string */
	uint64_t t0;
	uint64_t t1;
};

/* Run time by the module of the function that ran. */
struct lode_info_module {
	uint32_t module; /* in the dictionary */
	uint64_t events;
	uint64_t cost;
};

/* Wait time by what was waited for. */
struct lode_info_object {
	uint32_t object; /* string */
	uint64_t events;
	uint64_t cost;
};

struct lode_info_stream {
	const char *path; /* of its file; owned by the caller */
	const char *id;
	const char *source;
	uint64_t file_size;
	uint32_t name; /* string */
	uint32_t host; /* string */
	uint64_t events[LODE_EVENT_TYPES];
	uint64_t represents[LODE_EVENT_TYPES]; /* sums of their weights */
	uint64_t preemptions;                  /* of the calls */
	uint64_t cost[LODE_EVENT_TYPES];
	uint64_t first_t;
	uint64_t last_t;
	uint64_t added;  /* seconds since 1970, UTC: when it came into the corpus; 0: it is in none */
	uint64_t stacks; /* distinct stacks of its events */
	size_t first_thread, thread_count; /* in lode_info.threads */
	size_t first_symptom, symptom_count;
	size_t first_attribute, attribute_count;
	struct lode_timeline line;
};

struct lode_info {
	int for_page;  /* the threads of streams are left out of the JSON: most of it, and no page shows them */
	int is_brief;  /* no events and stacks were read: what the catalogue and the heads of streams know */
	int is_corpus; /* not a stream file by itself */
	const char *const *where;          /* which streams and threads (where.h), the caller's; NULL: all */
	char *file_id;                     /* of a stream file by itself; else NULL */
	struct lode_dictionary dictionary; /* of all streams */
	struct lode_info_stream *streams;
	size_t stream_count;
	struct lode_info_thread *threads;
	size_t thread_count, thread_capacity;
	struct lode_info_symptom *symptoms;
	size_t symptom_count, symptom_capacity;
	struct lode_attribute *attributes;
	size_t attribute_count, attribute_capacity;
	struct lode_info_module *modules; /* one a module of the dictionary, with the costliest first */
	size_t module_count;
	struct lode_info_object *objects; /* those that were waited for, the costliest first */
	size_t object_count;
	uint64_t no_stack_events; /* run events without a stack, and their cost */
	uint64_t no_stack_cost;
	uint64_t stacks; /* distinct stacks of the events of all streams */
	uint32_t *seen;  /* node: 0, or 1 + the last stream with an event there */
	size_t seen_count;
	const struct lode_activity *activity; /* what threads did, the caller's; NULL: not asked for */
	const struct lode_corpus_list *list;  /* its streams */
	uint64_t events_read;                 /* for progress */
	uint64_t events_total;
};

/*
 * What is in the streams of a list, which must outlive it: in those that fit `where` (where.h; NULL: all), what the threads
 * that fit it did. Reads every event once, of each only the columns needed; `brief` reads none: stacks and modules, sums
 * of threads and timelines are missing then. Release it in either case.
 */
int lode_info_of_streams(struct lode_info *info, const struct lode_corpus_list *list, const char *const *where,
			 int brief, const struct lode_progress *progress, struct lode_error *error);
/* The same for a stream file of `size` bytes by itself, whose name serves as id. */
int lode_info_of_file(struct lode_info *info, const char *path, uint64_t size, const char *const *where,
		      const struct lode_progress *progress, struct lode_error *error);
void lode_info_release(struct lode_info *info);

/* Sums over all streams. */
struct lode_info_totals {
	uint64_t events[LODE_EVENT_TYPES];
	uint64_t represents[LODE_EVENT_TYPES];
	uint64_t cost[LODE_EVENT_TYPES];
	uint64_t all_events;
	uint64_t preemptions; /* of the calls */
	uint64_t bytes;
};

struct lode_info_totals lode_info_sum_up(const struct lode_info *info);

/* Threads by run time, then wait time, then events: a fresh array of indices, the caller's to free; NULL
 * without memory. */
size_t *lode_info_busiest(const struct lode_info *info);
/*
 * Draws the timelines of the first `streams` streams and of the given threads
 * in `slices` slices. Reads the events of the streams concerned once more.
 */
int lode_info_picture(struct lode_info *info, size_t streams, const size_t *threads, size_t thread_count,
		      size_t slices, const struct lode_progress *progress, struct lode_error *error);

/* Draws the timelines and writes it. `path` is what people call it. */
int lode_info_json(struct lode_info *info, const char *path, const struct lode_progress *progress,
		   struct lode_buffer *buffer, struct lode_error *error);

#endif
