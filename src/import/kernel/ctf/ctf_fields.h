/*
 * Fields of CTF out of bits, by their types. Those that have a role are kept; the others are stepped over.
 */
#ifndef LODE_IMPORT_CTF_FIELDS_H
#define LODE_IMPORT_CTF_FIELDS_H

#include "base/buffer.h"
#include "import/kernel/ctf/ctf_types.h"

#define LODE_CTF_STACK_LIMIT 1024 /* addresses of a stack that are kept */

/* Where fields are read, within a packet. */
struct lode_ctf_place {
	const unsigned char *bytes; /* of the packet */
	uint64_t at;                /* in bits */
	uint64_t end;
};

/* Fields by their role. Valid until the next reading into the same. */
struct lode_ctf_values {
	uint32_t wanted;  /* bit by role: those that are kept */
	uint32_t seen;    /* those that were there, of any type */
	uint32_t numbers; /* there is a number */
	uint32_t texts;   /* there is a text, or a list of addresses */
	uint64_t number[LODE_CTF_ROLES];
	const char *text[LODE_CTF_ROLES];
	struct lode_buffer room[LODE_CTF_ROLES]; /* of texts that do not end in the packet */
	uint64_t stack[2][LODE_CTF_STACK_LIMIT]; /* of the kernel, of the user */
	size_t depth[2];
};

struct lode_ctf_fields {
	uint64_t *slots;
	uint64_t clock; /* as of the last field of the clock */
};

/*
 * Reads a structure at `place` and moves behind it. The roles that `values` (which may be NULL) wants are kept where they
 * are members of the structure itself; with `nested`, also of those inside it, the last one of each. Returns 0;
 * LODE_BAD_INPUT where the packet ends too soon or a tag has no member; LODE_SYSTEM without memory.
 */
int lode_ctf_read_struct(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
			 const struct lode_ctf_type *type, int nested, struct lode_ctf_values *values);
/* Takes a number of the clock, of `size` bits, into account. */
void lode_ctf_advance_clock(struct lode_ctf_fields *fields, uint64_t number, unsigned size);
/* Empties it for these roles. */
void lode_ctf_values_clear(struct lode_ctf_values *values, uint32_t wanted);
void lode_ctf_values_release(struct lode_ctf_values *values);
int lode_ctf_align(struct lode_ctf_place *place, uint32_t align);

static inline uint32_t lode_ctf_role_bit(unsigned role)
{
	return (uint32_t)1 << role;
}

static inline int lode_ctf_has_number(const struct lode_ctf_values *values, unsigned role)
{
	return (values->numbers & lode_ctf_role_bit(role)) != 0;
}

/* The text with this role, or NULL. */
static inline const char *lode_ctf_text(const struct lode_ctf_values *values, unsigned role)
{
	return values->texts & lode_ctf_role_bit(role) ? values->text[role] : NULL;
}

#endif
