/*
 * What an analysis reads: a corpus that is open, and the rules for what is idle in it. The one
 * place where analyses open corpora.
 */
#ifndef LODE_TASKS_SOURCE_H
#define LODE_TASKS_SOURCE_H

#include "tasks/area_options.h"
#include "tasks/long_task.h"
#include "store/corpus.h"

struct lode_source {
	const char *path; /* what people call it */
	struct lode_corpus *corpus;
	const struct lode_host *host;  /* who runs the task */
	struct lode_idle_rules *rules; /* the corpus's own, and those that --idle-rules names */
	struct lode_host_joins *joins; /* streams of several hosts, once they are looked for; NULL: none */
	int has_joins;
	const char *const *implied; /* symptoms where nobody says what was slow; NULL: none, or not asked for yet */
	int asked;
	char slow[64]; /* the rule that --slow means */
	const char *slow_rules[2];
};

/*
 * Opens the corpora that `names` mean (store/corpus_names.h) as one; with `settings` their
 * rules are loaded, and analyses may keep their work beside them (store/map_cache.h). Close it in
 * either case.
 */
int lode_source_open(struct lode_source *source, char *const *names, size_t count,
		     const struct lode_area_settings *settings, const struct lode_host *host,
		     struct lode_error *error);
/* The same for the operands of a call. */
int lode_source_operands(struct lode_source *source, const struct lode_call *call,
			 const struct lode_area_settings *settings, struct lode_error *error);
void lode_source_close(struct lode_source *source);

/*
 * Lists its streams, with `names` (--stream) only those; each name must be that of a stream. Release the
 * list in either case.
 */
int lode_source_streams(struct lode_source *source, const struct lode_option_list *names,
			struct lode_corpus_list *list, struct lode_error *error);

/*
 * The symptoms that settings mean: those of --symptom or --slow, or, where neither they nor a scope nor symptoms in the streams say
 * what was slow, the slowest percent of requests, if the streams have requests (scope/slow_requests.h). NULL: those
 * of the streams. Needs the rules.
 */
int lode_source_symptoms(struct lode_source *source, const struct lode_area_settings *settings,
			 const char *const **symptoms, struct lode_error *error);

/* Looks for streams of several hosts that belong together (scope/host_joins.h), once. */
int lode_source_joins(struct lode_source *source, struct lode_error *error);

/* Notes streams that several of the corpora have. */
void lode_source_note(struct lode_source *source, struct lode_notes *notes);

/* An area as the settings ask for it. */
struct lode_area_reading {
	struct lode_area_options options; /* for lode_area_events */
	struct lode_area area;
	uint64_t time; /* ns that collecting took */
};

/* Collects the area; `kinds` as in struct lode_area_options. Release in either case. */
int lode_source_area(struct lode_source *source, const struct lode_area_settings *settings, unsigned kinds,
		     struct lode_work *work, struct lode_area_reading *reading, struct lode_error *error);
void lode_area_reading_release(struct lode_area_reading *reading);

#endif
