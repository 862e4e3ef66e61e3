/*
 * Facts: what a recording says about itself. Events (perf's attributes) with
 * their ids and the layout of their samples, tracepoint formats, build-ids, and
 * the machine. They come from the sections of a file or the records of a pipe.
 *
 * What the replay reads is frozen before the first batch is handed to it, at the
 * first sample at the latest: from then on another thread reads it, and what the
 * file says later does not change it. Only build-ids are useful that late (perf
 * inject writes one in front of the first sample in its file): they go into a
 * separate table, which is not read until the replay is over.
 */
#ifndef LODE_IMPORT_PERF_DATA_RECORDING_FACTS_H
#define LODE_IMPORT_PERF_DATA_RECORDING_FACTS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/hash_index.h"
#include "import/kernel/perf_data/format.h"
#include "import/kernel/perf_data/tracepoint_formats.h"

/* Events a recording may have. */
#define LODE_PERF_EVENTS_LIMIT 4096

/* What an event's samples are used for. */
enum lode_perf_use {
	LODE_PERF_RUN,
	LODE_PERF_SWITCH,
	LODE_PERF_WAKING,
	LODE_PERF_SYSCALL,      /* raw_syscalls:sys_enter: named by its number */
	LODE_PERF_SYSCALL_EXIT, /* counted, not kept */
	LODE_PERF_CALL,
	LODE_PERF_OFF_CPU, /* waits */
};

/* How the cost of a run is found. */
enum lode_perf_costing {
	LODE_PERF_COST_PERIOD,    /* a clock: the sample's period is nanoseconds */
	LODE_PERF_COST_FREQUENCY, /* a number of samples a second was requested, and the sample lacks its
				     period */
	LODE_PERF_COST_COUNT,     /* cycles: the period, at the rate of the counter (count_rate.h) */
	LODE_PERF_COST_EVENTS,    /* no time at all (cache misses): the period, as if one were a nanosecond */
};

/* Byte offsets in a sample, from the record's start; 0: not there. */
struct lode_perf_layout {
	uint16_t id;
	uint16_t ip;
	uint16_t tid;
	uint16_t time;
	uint16_t cpu;
	uint16_t period;
	uint16_t end; /* first byte behind what has a fixed place */
	/* In the bytes that end every other record of the kernel, counted back from its end; 0: not there. */
	uint16_t trailer; /* all of them */
	uint16_t trailer_time;
	uint16_t trailer_id;
	uint16_t trailer_tid;
};

struct lode_perf_event {
	struct perf_event_attr attr; /* zero-extended or cut to what this program knows */
	struct lode_perf_layout layout;
	const char *name;                              /* as the user wrote it; "" until known */
	const struct lode_perf_tracepoint *tracepoint; /* or NULL */
	enum lode_perf_use use;
	enum lode_perf_costing costing;
	uint64_t cost; /* of one run, or its count, where the sample has no period */
};

/* One binary of the build-id table. */
struct lode_perf_build_id {
	const char *path;
	const char *build_id; /* hexadecimal */
	int kernel;           /* recorded as the kernel's */
};

/* What samples of an event have as their id. */
struct lode_perf_id {
	uint64_t id;
	uint16_t event;
};

struct lode_perf_build_ids {
	LODE_ARRAY(struct lode_perf_build_id);
	struct lode_index index; /* by path */
};

struct lode_perf_facts {
	struct lode_arena arena; /* of all texts */
	struct lode_notes *notes;
	const char *host; /* NULL where unknown, as all of these */
	const char *kernel;
	const char *arch;
	const char *command;
	uint32_t cpus; /* 0: unknown */
	LODE_ARRAY(struct lode_perf_event) events;
	LODE_ARRAY(struct lode_perf_id) ids;
	struct lode_index id_index;
	struct lode_perf_build_ids build_ids;
	struct lode_perf_build_ids late_build_ids; /* that came after the freeze; the reader's until its end */
	struct lode_perf_tracepoints tracepoints;
	int frozen;
	int by_id;            /* samples name their event; else all are of the first one */
	int has_frames;       /* some event has call chains */
	int has_build_ids;    /* some event requested build-ids of mappings */
	int is_folder;        /* the recording was written as a folder of files */
	const char *kallsyms; /* path of the kernel's symbols in that folder; NULL: there are none */
};

void lode_perf_facts_init(struct lode_perf_facts *facts, struct lode_notes *notes);
void lode_perf_facts_release(struct lode_perf_facts *facts);

/*
 * All that follow return 0, LODE_SYSTEM, or LODE_BAD_INPUT where said; what is damaged is counted in the
 * notes.
 */

/*
 * Adds the event whose attribute is `bytes`. LODE_BAD_INPUT when the attribute is
 * too short or there are too many events.
 */
int lode_perf_facts_add_event(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size);
/* Samples with these `count` ids (u64, anywhere in memory) belong to event number `event`. */
int lode_perf_facts_add_ids(struct lode_perf_facts *facts, size_t event, const unsigned char *bytes, size_t count);
/* A feature section, or the record in place of one. */
int lode_perf_facts_feature(struct lode_perf_facts *facts, unsigned feature, const unsigned char *bytes,
			    size_t size);
/* One entry of the build-id table, with its record header. */
int lode_perf_facts_build_id(struct lode_perf_facts *facts, const unsigned char *record, size_t size);
/* Decides what each event is used for, unless that is done. Before the first sample and the first hand-over. */
int lode_perf_facts_freeze(struct lode_perf_facts *facts);
/* Whether it is too late for what the replay reads; then it is counted in the notes as left out. */
int lode_perf_facts_is_late(struct lode_perf_facts *facts);

/* The machine by its number in ELF files (EM_X86_64, EM_AARCH64); 0: unknown, or another one. */
uint32_t lode_perf_facts_machine(const struct lode_perf_facts *facts);
/* The event of an id; NULL when no event has it. */
const struct lode_perf_event *lode_perf_facts_event(const struct lode_perf_facts *facts, uint64_t id);
/* The build-id of a path, hexadecimal; "" when it is not in the table. */
const char *lode_perf_build_ids_find(const struct lode_perf_build_ids *build_ids, const char *path);
/* `size` bytes (at most 20) as hexadecimal; zeros at the end, to which SHA-1 sized ids are padded, stay. */
void lode_perf_build_id_text(char text[2 * PERF_BUILD_ID_BYTES + 1], const unsigned char *bytes, size_t size);

#endif
