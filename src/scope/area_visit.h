/*
 * The streams of an area one by one, each with its events and the symptoms that count there: for what works on events, not on
 * rows.
 */
#ifndef LODE_SCOPE_AREA_VISIT_H
#define LODE_SCOPE_AREA_VISIT_H

#include "scope/area.h"
#include "scope/processors.h"
#include "scope/wait_kinds.h"

struct lode_area_visit {
	const struct lode_corpus_entry *entry;
	const struct lode_stream *stream; /* with threads of other hosts, where it is joined with them */
	const struct lode_symptom *symptoms;
	size_t symptom_count; /* at least one */
	struct lode_scope_index *index;
	const struct lode_idle_stacks *idle;
	const struct lode_wait_kinds *kinds;
	const struct lode_processors *processors;
};

struct lode_area_visitor {
	size_t size; /* bytes of the result of one stream, zeroed before */
	/* Several at a time; not called for streams without symptoms. */
	int (*visit)(void *context, const struct lode_area_visit *visit, void *result, struct lode_error *error);
	/* One at a time, in the order of the catalogue. */
	int (*merge)(void *context, const struct lode_corpus_entry *entry, void *result, struct lode_error *error);
	void (*release)(void *result);
	void *context;
};

/*
 * Visits the streams that the options let in. They need a scope that starts from symptoms, idle rules and chains. A stream
 * that cannot be read is left out with a note, unless options are strict.
 */
int lode_area_visit(struct lode_corpus *corpus, const struct lode_area_options *options,
		    const struct lode_area_visitor *visitor, struct lode_error *error);

#endif
