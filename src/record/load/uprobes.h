/*
 * Uprobes: one BPF program at many places of one binary, attached and detached at
 * once (the kernel's uprobe_multi link, Linux 6.6 and later). A link goes away
 * with its descriptor, so nothing stays behind a program that is killed.
 */
#ifndef LODE_RECORD_LOAD_UPROBES_H
#define LODE_RECORD_LOAD_UPROBES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * BPF_TRACE_UPROBE_MULTI. libbpf before 1.3 does not know it: mark the program
 * SEC("uprobe") and, before it is loaded, set
 *
 *	bpf_program__set_expected_attach_type(program, LODE_UPROBES_ATTACH_TYPE)
 */
#define LODE_UPROBES_ATTACH_TYPE 48
/* Places that the kernel takes at once. */
#define LODE_UPROBES_LIMIT (1u << 20)

struct lode_uprobe_place {
	uint64_t offset; /* in the file */
	uint64_t cookie; /* what the program gets from bpf_get_attach_cookie() */
};

/*
 * Attaches the program `program` (a descriptor; loaded with expected attach type
 * BPF_TRACE_UPROBE_MULTI) at all places of the file at `path` (give
 * /proc/PID/root/… or /proc/PID/map_files/… for files of containers), in process
 * `pid` and its threads (0: in all processes). Returns a descriptor to close, or
 * LODE_SYSTEM with a sentence that says what to do (kernel too old, no privilege).
 * All places or none: one that cannot be probed (code.h knows them) spoils all.
 *
 * Before Linux 6.10 only the thread whose number is `pid` is watched then; a
 * program that must see the others attaches to all processes and looks at its pid.
 */
int lode_uprobes_attach(int program, const char *path, const struct lode_uprobe_place *places, size_t count,
			uint32_t pid, struct lode_error *error);
/* Whether this kernel has what is needed: 0, or LODE_SYSTEM with the sentence. */
int lode_uprobes_possible(struct lode_error *error);

#endif
