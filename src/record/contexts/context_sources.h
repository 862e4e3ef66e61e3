/*
 * Where the contexts of events come from, for `--context` of `lode record` and `lode watch`:
 *
 *	marks		lode_mark.h: the innermost one that has begun
 *	otel		OpenTelemetry's thread context, the thread-local variable otel_thread_ctx_v1
 *	postgres	the query that a backend of PostgreSQL runs
 *	mariadb		the query that a connection of MariaDB runs
 *
 * Files that have such things are found as processes map them: hand over changes through lode_context_sources_sink.
 */
#ifndef LODE_RECORD_CONTEXTS_CONTEXT_SOURCES_H
#define LODE_RECORD_CONTEXTS_CONTEXT_SOURCES_H

#include "base/notes.h"
#include "process/processes.h"
#include "record/recorder.h"

enum lode_context_source {
	LODE_CONTEXT_FROM_MARKS = 1,
	LODE_CONTEXT_FROM_OTEL = 2,
	LODE_CONTEXT_FROM_POSTGRES = 4,
	LODE_CONTEXT_FROM_MARIADB = 8,
	LODE_CONTEXT_FROM_PROBES = LODE_CONTEXT_FROM_MARKS | LODE_CONTEXT_FROM_POSTGRES | LODE_CONTEXT_FROM_MARIADB,
};

/* Reads a list such as `otel,postgres` into bits of enum lode_context_source. LODE_USAGE with a sentence where it is none. */
int lode_context_sources_parse(const char *list, unsigned *wanted, struct lode_error *error);

struct lode_context_sources;

/*
 * For the recorder, which was created for such sources, and hands all on to `next`. `processes`, those that are there, must
 * outlive it. Returns 0 or LODE_SYSTEM with a sentence.
 */
int lode_context_sources_create(struct lode_context_sources **sources, struct lode_recorder *recorder,
				unsigned wanted, const struct lode_processes *processes,
				const struct lode_recorder_sink *next, struct lode_error *error);
void lode_context_sources_destroy(struct lode_context_sources *sources);
/* Looks through what all processes have mapped. Returns 0 or LODE_SYSTEM. */
int lode_context_sources_look(struct lode_context_sources *sources);
/* A command that will run: its probes are attached before it does. Returns 0 or LODE_SYSTEM. */
int lode_context_sources_command(struct lode_context_sources *sources, const char *command);
/* A sink that looks at what is mapped. */
struct lode_recorder_sink lode_context_sources_sink(struct lode_context_sources *sources);
/* Looks again for what was not in place yet; between two reads. */
void lode_context_sources_retry(struct lode_context_sources *sources);
/* Counts what could not be attached, and which sources were never found; at the end, once. */
void lode_context_sources_note(const struct lode_context_sources *sources, struct lode_notes *notes);

#endif
