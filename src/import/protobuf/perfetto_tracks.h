/*
 * Tracks of Perfetto's traces and the events on them. A track belongs to a thread, a process, or a
 * track above it.
 *
 * Slices of threads nest and become runs where nothing better is known of the thread's time (slices.h);
 * those of other tracks become symptoms if an option names them. What our exporter wrote is
 * recognized by categories and becomes what it was.
 */
#ifndef LODE_IMPORT_PERFETTO_TRACKS_H
#define LODE_IMPORT_PERFETTO_TRACKS_H

#include "base/array.h"
#include "import/protobuf/perfetto_interned.h"
#include "import/protobuf/perfetto_threads.h"
#include "import/slices.h"

struct lode_perfetto_track {
	uint64_t uuid;
	uint64_t parent;
	uint32_t thread; /* number of the thread it belongs to; LODE_NONE */
	int is_thread;   /* it is the thread's own */
};

struct lode_perfetto_mark {
	uint64_t t;
	uint64_t uuid;
	uint32_t thread; /* a thread that is known without a track; LODE_NONE */
	uint32_t frame;  /* its name; LODE_NONE: it has none */
	uint32_t order;
	uint8_t type;
};

/* A beginning of our own export whose end is the next packet. */
struct lode_perfetto_own {
	int is_open;
	int is_symptom;
	enum lode_event_type type; /* LODE_EVENT_TYPES: nothing that becomes an event */
	struct lode_event event;
	uint32_t name;
	uint64_t uuid;
};

struct lode_perfetto_own_event {
	struct lode_event event;
	enum lode_event_type type;
};

struct lode_perfetto_tracks {
	struct lode_json_import *import;
	struct lode_perfetto_interned *interned;
	struct lode_perfetto_threads *threads;
	int is_lode;
	LODE_ARRAY(struct lode_perfetto_track);
	struct lode_index index; /* by uuid */
	LODE_ARRAY(struct lode_perfetto_mark) marks;
	struct lode_perfetto_own own;
	LODE_ARRAY(struct lode_perfetto_own_event)
	events;                                   /* of our own export; threads are numbers of `threads` */
	LODE_ARRAY(struct lode_symptom) symptoms; /* the same */
	uint64_t others, placeless, async;
};

/* The sequence that an event comes with. */
struct lode_perfetto_context {
	struct lode_perfetto_scope scope;
	uint64_t track;  /* default */
	uint32_t thread; /* of the sequence, as old traces have it; LODE_NONE */
	uint64_t t;
	uint64_t *event_time; /* of the sequence, as old traces have it: nanoseconds */
};

/* A struct with only `import`, `interned` and `threads` set is empty. All return 0 or a negative code with a sentence. */
void lode_perfetto_tracks_release(struct lode_perfetto_tracks *tracks);
/* Takes over a TrackDescriptor. */
int lode_perfetto_track(struct lode_perfetto_tracks *tracks, struct lode_cursor message);
/* Takes over a TrackEvent. */
int lode_perfetto_track_event(struct lode_perfetto_tracks *tracks, struct lode_perfetto_context *context,
			      struct lode_cursor message);
/* Adds everything to the stream; the threads' `measured` is set by then. */
int lode_perfetto_tracks_finish(struct lode_perfetto_tracks *tracks);
/* Process and tid of a ThreadDescriptor, with its name; returns the thread or LODE_NONE when memory has run out. */
uint32_t lode_perfetto_thread_descriptor(struct lode_perfetto_threads *threads, struct lode_cursor message);

#endif
