/*
 * Reading CTF: the events of a trace in order of time, one after the other. ctf/ctf_native.c does it; what that does not
 * know, ctf/ctf_babeltrace.c does with libbabeltrace2, in a module that ctf/ctf_module.c loads when it is needed.
 */
#ifndef LODE_IMPORT_CTF_H
#define LODE_IMPORT_CTF_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The fields that are of use, by name. */
enum lode_ctf_field {
	LODE_CTF_PREV_TID,
	LODE_CTF_PREV_STATE,
	LODE_CTF_NEXT_TID,
	LODE_CTF_PREV_COMM,
	LODE_CTF_NEXT_COMM,
	LODE_CTF_TID,
	LODE_CTF_PID,
	LODE_CTF_COMM,
	LODE_CTF_NAME,
	LODE_CTF_FIELDS,
};

/* An event; what it points to is valid while it is being taken. */
struct lode_ctf_event {
	const char *name;
	uint32_t kind; /* the same for all events of one description, from 1 on; 0: not known */
	uint64_t t;
	uint16_t cpu;             /* LODE_NO_CPU: unknown */
	uint32_t context_tid;     /* UINT32_MAX: unknown */
	uint32_t context_pid;     /* the same */
	const char *context_name; /* or NULL */
	uint64_t number[LODE_CTF_FIELDS];
	const char *text[LODE_CTF_FIELDS]; /* or NULL */
	uint8_t has[LODE_CTF_FIELDS];
	const uint64_t *kernel_stack; /* addresses, leaf first */
	const uint64_t *user_stack;
	size_t kernel_depth;
	size_t user_depth;
};

/* Receives the contents of a trace. `event` returns 0, or a negative code with a sentence, which ends the reading. */
struct lode_ctf_taker {
	int (*event)(void *context, const struct lode_ctf_event *event, struct lode_error *error);
	void (*discarded)(void *context, uint64_t count);
	void (*environment)(void *context, const char *host, const char *kernel); /* either may be NULL */
	void *context;
};

/* Reads the trace in `folder`. Returns 0 or a negative code. */
int lode_ctf_read(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error);

#endif
