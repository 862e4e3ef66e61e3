/*
 * What lode scope shows people.
 */
#ifndef LODE_TEXT_SCOPE_TEXT_H
#define LODE_TEXT_SCOPE_TEXT_H

#include "result/scope_lines.h"
#include "text/look.h"

/* ---- what a path is like ---- */

/* How long a path was in each place: who did what in which functions, whenever that was. */
struct lode_scope_profile {
	struct lode_scope_share {
		uint64_t place; /* hash of its text */
		uint64_t cost;
	} * items; /* by place */
	size_t count;
	uint64_t length; /* of the symptom */
};

/* The profile of a critical path; release it on success. Returns 0 or LODE_SYSTEM. */
int lode_scope_profile_make(struct lode_scope_profile *profile, const struct lode_scope_report *report,
			    const struct lode_scope_found *found);
void lode_scope_profile_release(struct lode_scope_profile *profile);

/* ---- text ---- */

/* Appends a symptom and its scope for people, `most` lines (0: all). Memory that runs out marks the buffer. */
void lode_scope_text(const struct lode_scope_report *report, const struct lode_scope_found *found,
		     const struct lode_look *look, size_t most, struct lode_buffer *buffer);

#endif
