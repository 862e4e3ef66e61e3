/*
 * How fields of a CTF trace are laid out in bits, as its metadata describes them.
 *
 * The types of a trace form a graph without circles: a named type is used in many places. A length or tag that another
 * field needs is kept in a numbered slot while fields are read, always that of the field that was read last. That is
 * enough, because such a field is in the same structure or in one around it.
 */
#ifndef LODE_IMPORT_CTF_TYPES_H
#define LODE_IMPORT_CTF_TYPES_H

#include "import/kernel/ctf.h"

#include <stddef.h>
#include <stdint.h>

enum lode_ctf_kind {
	LODE_CTF_INTEGER, /* also an enumeration */
	LODE_CTF_FLOAT,
	LODE_CTF_STRING,
	LODE_CTF_STRUCT,
	LODE_CTF_VARIANT,
	LODE_CTF_ARRAY, /* also a sequence */
};

/* What a member is, by its name. Those of events come first and are the fields of ctf.h. */
enum lode_ctf_role {
	LODE_CTF_ROLE_VTID = LODE_CTF_FIELDS,
	LODE_CTF_ROLE_VPID,
	LODE_CTF_ROLE_PROCNAME,
	LODE_CTF_ROLE_KERNEL_STACK,
	LODE_CTF_ROLE_USER_STACK,
	LODE_CTF_ROLE_CPU,
	LODE_CTF_ROLE_MAGIC,
	LODE_CTF_ROLE_STREAM,
	LODE_CTF_ROLE_INSTANCE,
	LODE_CTF_ROLE_BEGIN,
	LODE_CTF_ROLE_END,
	LODE_CTF_ROLE_CONTENT,
	LODE_CTF_ROLE_PACKET,
	LODE_CTF_ROLE_DISCARDED,
	LODE_CTF_ROLE_ID,
	LODE_CTF_ROLES, /* no role; fits into 32 bits with all the others */
};

/* A range of an enumeration. */
struct lode_ctf_label {
	const char *name;
	uint64_t first; /* of a signed type: in two's complement */
	uint64_t last;
};

/* The member of a variant for a range of its tag. */
struct lode_ctf_choice {
	uint64_t first;
	uint64_t last;
	uint32_t member;
};

struct lode_ctf_member {
	const char *name;
	const struct lode_ctf_type *type;
	uint32_t slot; /* that keeps its value; LODE_NONE: none */
	enum lode_ctf_role role;
};

struct lode_ctf_type {
	enum lode_ctf_kind kind;
	uint8_t is_signed;
	uint8_t big;       /* its most significant byte comes first */
	uint8_t text;      /* an integer: a character */
	uint8_t clock;     /* an integer: the trace's clock */
	uint8_t has_clock; /* it, or something in it, is of the clock */
	uint8_t plain;  /* an integer of 1, 2, 4 or 8 whole bytes, not of the clock: most fields of events are */
	uint32_t align; /* in bits, a power of two */
	uint32_t size;  /* in bits, of numbers */

	struct lode_ctf_member *members; /* of a structure or a variant */
	uint32_t member_count;

	struct lode_ctf_label *labels; /* of an enumeration */
	uint32_t label_count;

	struct lode_ctf_choice *choices; /* of a variant */
	uint32_t choice_count;

	const struct lode_ctf_type *element; /* of an array */
	uint64_t length;                     /* where it is fixed */
	uint32_t slot;                       /* of the length or tag; LODE_NONE: the length is fixed */

	/* How much work it is to read one, to refuse descriptions that make much out of little. */
	uint64_t fields;   /* in it, at most; those of an array once */
	uint64_t min_bits; /* that it occupies at least */
};

#endif
