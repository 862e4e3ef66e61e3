/*
 * Permissions: why the kernel does not let Lode record or hunt, in a sentence that
 * names the setting, says what to do, and what works anyway.
 */
#ifndef LODE_RECORD_LOAD_PERMISSIONS_H
#define LODE_RECORD_LOAD_PERMISSIONS_H

#include "base/error.h"

#include <stdint.h>

/* What this process may do, as far as the kernel's files say. */
struct lode_permissions {
	uint64_t capabilities; /* effective ones; all bits where they are not known */
	int has_types;         /* /sys/kernel/btf/vmlinux can be read */
	int is_locked_down;    /* in the mode 'confidentiality' */
	int is_in_namespace;   /* of users, where capabilities do not reach the kernel */
	int is_filtered;       /* by seccomp */
	int paranoid;          /* perf_event_paranoid; 2 where it is not known */
};

enum lode_permission_need {
	LODE_NEEDS_PROGRAMS = 1, /* BPF programs that trace */
	LODE_NEEDS_STACKS = 2,   /* the stacks of other processes: ptrace */
};

/* Looks at the files below `root` ("" for the real ones). */
void lode_permissions_look(const char *root, struct lode_permissions *permissions);
/*
 * The sentence for a call that the kernel refused with `number` (an errno), by what
 * is known. Returns LODE_SYSTEM, or 0 where no setting explains it.
 */
int lode_permissions_explain(const struct lode_permissions *permissions, unsigned needs, int number,
			     struct lode_error *error);
/* Both of this process. */
int lode_permissions_fail(unsigned needs, int number, struct lode_error *error);
/* Whether this process may read what others have mapped, whoever they belong to. */
int lode_permissions_read_maps(void);

#endif
