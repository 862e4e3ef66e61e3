/*
 * Symptoms with the same critical path: a click that is slow ten times gives one
 * screen, not ten.
 *
 * A path is characterized by its places, whenever they were: for each kind of
 * line, role of a thread (the symptom's own, one of a name, another) and gist of a
 * stack, its share of the symptom. Two symptoms of one name, in threads of one name,
 * have the same path when these shares agree in LODE_SCOPE_ALIKE of the time. A
 * symptom joins the first group whose first member it agrees with.
 */
#ifndef LODE_TEXT_SCOPE_GROUPS_H
#define LODE_TEXT_SCOPE_GROUPS_H

#include "text/scope_text.h"

#define LODE_SCOPE_ALIKE 800000 /* millionths */

struct lode_scope_group {
	uint64_t who;                      /* of the symptom's and its thread's name */
	struct lode_scope_profile profile; /* of its first member */
	uint64_t *lengths;                 /* of all members */
	size_t count;
	size_t capacity;
	uint64_t streams; /* that have one */
	uint64_t last_stream;
};

struct lode_scope_groups {
	struct lode_scope_group *items;
	size_t count;
	size_t capacity;
};

/*
 * Adds a symptom of stream number `stream` (rising) and says in `*group` where to. Takes the profile over, which is
 * empty then. Returns 0 or LODE_SYSTEM.
 */
int lode_scope_groups_add(struct lode_scope_groups *groups, const struct lode_scope_report *report,
			  const struct lode_scope_found *found, struct lode_scope_profile *profile,
			  uint64_t stream, size_t *group);
void lode_scope_groups_release(struct lode_scope_groups *groups);

/* `10 symptoms with this path, …`: how many, from how long to how long. */
void lode_scope_group_text(struct lode_scope_group *group, struct lode_buffer *buffer);

#endif
