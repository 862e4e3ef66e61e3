/*
 * Stream: the events of one recording on one host, in memory, under
 * construction or loaded. Importers and the recorder fill one; the store writes
 * it; analyses read it back block by block (store.h) or whole.
 *
 * One thread fills a stream. Several threads each fill a part with a dictionary
 * of its own, and lode_stream_merge joins the parts.
 */
#ifndef LODE_TRACE_STREAM_H
#define LODE_TRACE_STREAM_H

#include "base/error.h"
#include "trace/dictionary.h"
#include "trace/events.h"

#define LODE_NO_PID UINT32_MAX

/* What a thread did in total while it was recorded, as the kernel counts it: exact also where only some events are recorded. */
struct lode_thread_totals {
	uint64_t waits;       /* how often it blocked */
	uint64_t preemptions; /* how often it lost its processor though it could have run */
	uint64_t waited_ns;   /* blocked, in waits that began while it was recorded */
	uint64_t run_ns;
	uint64_t queued_ns; /* in the run queue */
};

struct lode_thread {
	uint32_t pid; /* LODE_NO_PID: unknown */
	uint32_t tid;
	uint32_t name;                    /* string; 0: unknown */
	uint32_t unused;                  /* 0, so that whole structs can be compared */
	struct lode_thread_totals totals; /* all 0: not known */
};

/* Whether they are known. */
static inline int lode_thread_has_totals(const struct lode_thread *thread)
{
	const struct lode_thread_totals *totals = &thread->totals;

	return (totals->waits | totals->preemptions | totals->waited_ns | totals->run_ns | totals->queued_ns) != 0;
}

/* The thread was too slow from t0 to t1. */
struct lode_symptom {
	uint32_t thread;
	uint32_t name; /* string; 0: none */
	uint64_t t0;
	uint64_t t1;
};

/* How the keys of attributes begin that say what a process was started as: its pid follows, the value is the name. */
#define LODE_COMMAND "command "

enum lode_attribute_type {
	LODE_ATTRIBUTE_TEXT,
	LODE_ATTRIBUTE_NUMBER,
	LODE_ATTRIBUTE_BOOL,
};

struct lode_attribute {
	uint32_t key;      /* string */
	uint32_t value;    /* string: the text, or the number as it was written, or "true"/"false" */
	uint8_t type;      /* enum lode_attribute_type */
	uint8_t unused[3]; /* 0, so that whole structs can be compared */
};

struct lode_stream {
	struct lode_dictionary *dictionary; /* not owned */
	uint32_t name;                      /* string */
	uint32_t host;                      /* string; 0: unknown */
	struct lode_attribute *attributes;
	size_t attribute_count;
	size_t attribute_capacity;
	struct lode_thread *threads;
	size_t thread_count;
	size_t thread_capacity;
	struct lode_symptom *symptoms;
	size_t symptom_count;
	size_t symptom_capacity;
	struct lode_events events[LODE_EVENT_TYPES];
	struct lode_index thread_index; /* (pid, tid) */
	struct lode_index tid_index;    /* tid alone, first thread with it */
	int failed;                     /* memory ran out, and something is missing: see below */
};

/*
 * Where memory runs out for a thread, an event, a symptom or an attribute the stream is marked as failed, besides the code
 * or LODE_NONE that is returned. So code that fills a stream may check each time, or once before the stream is used;
 * lode_import_deliver does so for importers.
 */

/* An empty stream over `dictionary`, which must outlive it. Cannot fail. */
void lode_stream_init(struct lode_stream *stream, struct lode_dictionary *dictionary);
void lode_stream_release(struct lode_stream *stream);

/* A random id, for a stream that no file gives one. */
int lode_stream_draw_id(char id[33], struct lode_error *error);

/* The thread (pid, tid), added if new; LODE_NONE when memory has run out. */
uint32_t lode_stream_thread(struct lode_stream *stream, uint32_t pid, uint32_t tid);
/* The thread (pid, tid); LODE_NONE: there is none. */
uint32_t lode_stream_find_thread(const struct lode_stream *stream, uint32_t pid, uint32_t tid);
/* The first thread with this tid, of any process; added without a pid if there is none. */
uint32_t lode_stream_tid(struct lode_stream *stream, uint32_t tid);
/* Whether this is what the kernel runs when there is nothing to run (tid 0, called `swapper`). */
int lode_thread_is_idle_task(const struct lode_stream *stream, const struct lode_thread *thread);
/* The same by thread; the caller frees it. NULL when memory has run out. */
uint8_t *lode_idle_tasks(const struct lode_stream *stream);
/*
 * Adds an event. Returns 0, or LODE_SYSTEM when memory has run out, now or when one of its ids was made: then that
 * is LODE_NONE. A waker and a holder may be LODE_NONE.
 */
int lode_stream_add_event(struct lode_stream *stream, enum lode_event_type type, const struct lode_event *event);
/* The same of a symptom. */
int lode_stream_add_symptom(struct lode_stream *stream, const struct lode_symptom *symptom);
/* Sets an attribute; one with the same key is replaced. */
int lode_stream_set_attribute(struct lode_stream *stream, const char *key, const char *value,
			      enum lode_attribute_type type);
int lode_stream_set_text(struct lode_stream *stream, const char *key, const char *text);
int lode_stream_set_number(struct lode_stream *stream, const char *key, uint64_t number);
/*
 * Writes it as a member of an object. A number is written as it came if it is one, else as a text: the file may
 * be a stranger's.
 */
void lode_attribute_json(const struct lode_attribute *attribute, const struct lode_strings *strings,
			 struct lode_json *json);
/* Whether events of some type were left out by the recorder: see events.h. */
int lode_stream_thinned(const struct lode_stream *stream);
/* Number of events of all types. */
size_t lode_stream_event_count(const struct lode_stream *stream);
/* Earliest t and latest end of all events and symptoms; both 0 when there are none. */
void lode_stream_span(const struct lode_stream *stream, uint64_t *first, uint64_t *last);

/* Sorts the events of each type by time (lode_events_sort). Returns 0 or LODE_SYSTEM. */
int lode_stream_sort(struct lode_stream *stream);
/*
 * Gives `to`, an empty stream over another dictionary, all of `from` but its events: threads keep their numbers.
 * The attribute `but` is left out (NULL: none). Returns 0 or LODE_SYSTEM.
 */
int lode_stream_copy_head(struct lode_stream *to, const struct lode_stream *from, const char *but);
/* Appends all of `part` (its own dictionary or the same) to `stream`. Returns 0 or LODE_SYSTEM. */
int lode_stream_merge(struct lode_stream *stream, const struct lode_stream *part);

#endif
