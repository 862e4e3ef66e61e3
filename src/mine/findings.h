/*
 * Findings: where the time of the symptoms went, in a few disjoint parts, largest first. Without
 * symptoms, where all threads spent theirs, with who kept them waiting.
 *
 * A finding is all time with the same beginning and end of its chain (scope/chains.h): who waits, for
 * what, and which thread in which state the time went to in the end. So the shares of findings add up
 * to at most one. Names that differ only in a number, of worker threads and processes, heap addresses or ports, are
 * the same here.
 *
 * The place of a finding is the innermost function of the program that at least half of its time passes, whoever calls
 * it; in a library, of a caller that divides its time between two functions, that caller. Where stacks lead, from their root on along the costliest function, to two functions or more that each have a
 * quarter of all time, these are findings by themselves. Functions of the system's libraries and of the kernel are no
 * places, unless there is nothing else: they are listed with what the place calls.
 *
 * That threads were ready while several programs that were not recorded had the processors is about the machine, not about
 * what was recorded: everything takes longer there by as much. Such findings stand behind all others, for a line of their
 * own. That one program takes the processor away, recorded threads do, or a quota does, is a finding as others are.
 */
#ifndef LODE_MINE_FINDINGS_H
#define LODE_MINE_FINDINGS_H

#include "mine/mine.h"
#include "scope/area.h"
#include "scope/chains.h"
#include "scope/states.h"

/* Functions below the place of a finding that are listed. */
#define LODE_FINDING_CALLEES 3

enum lode_finding_kind {
	LODE_FINDING_WAIT,
	LODE_FINDING_RUN,
	LODE_FINDING_READY,
};

/* What a finding is about. */
enum lode_finding_origin {
	LODE_FINDING_OWN,            /* what was recorded */
	LODE_FINDING_OF_MACHINE,     /* that the machine was busy with several other programs, */
	LODE_FINDING_OF_ONE_PROGRAM, /* or with one */
};

struct lode_finding_callee {
	uint32_t frame;
	uint64_t cost;
};

struct lode_finding {
	char id[LODE_ID];
	enum lode_finding_kind kind;
	enum lode_finding_origin origin;
	uint32_t chain;      /* the costliest: number of its last link, */
	uint64_t chain_cost; /* and how much of the finding it and those have that are alike but for numbers in names */
	size_t first_link_name; /* of its links in the list of all findings', from the last link on, */
	size_t link_count;      /* and how many they are */
	uint32_t frame;         /* its place; LODE_NONE: unknown */
	uint64_t cost;          /* ns */
	uint64_t place_cost;    /* of it at the place, and in what that calls */
	uint32_t caller; /* the program's function that calls the place in most of that; LODE_NONE: none does */
	struct lode_finding_callee callees[LODE_FINDING_CALLEES];
	uint32_t callee_count;
	uint32_t behind; /* ready: a link whose holder had the processor longest; LODE_NONE: nobody is known, */
	uint64_t behind_cost;    /* and for how much of the finding; */
	uint32_t behind_process; /* its holder's names, strings of all findings' names */
	uint32_t behind_thread;
	uint32_t crowd; /* ready: a link whose thread was woken with others (scope/crowds.h); LODE_NONE: none, */
	uint64_t crowd_cost;    /* and how much of the finding the like have */
	uint64_t recorded_cost; /* ready: while recorded threads had the processor */
	uint32_t context;       /* string: the request or query that most of it belongs to; 0: none is known, */
	uint64_t context_cost;  /* and how much does */
	uint64_t events;
	uint64_t symptoms; /* that have some of it; without symptoms 0 */
	uint64_t streams;
	uint64_t hosts;
	size_t first_row; /* its rows in the list of all findings' */
	size_t row_count;
	int comes_last; /* it is what a GPU ran, which is not why it was idle */
};

/* Names of a link as they are shown, strings of the findings' names. */
struct lode_finding_link_names {
	uint32_t process;
	uint32_t thread;
	uint32_t holder_process;
	uint32_t holder;
};

/* What the threads of processes of one name, but for numbers, did: of the symptoms' time, or without symptoms of all. */
struct lode_finding_process {
	uint32_t process; /* string of the findings' names */
	int are_several;  /* they differ in a number */
	uint64_t ns[LODE_STATES];
	uint64_t counted; /* of it in states that count */
};

struct lode_findings {
	/* By cost, largest first; what GPUs ran comes last, and behind `count` are those of a busy machine. */
	struct lode_finding *items;
	size_t count;
	size_t machine_count;                   /* of these; 0 where there are no others */
	uint64_t total;                         /* ns: the symptoms' lengths, or all that threads did */
	uint64_t explained;                     /* of it in `items`, with those of a busy machine */
	uint64_t small;                         /* of it in findings that are too small to be listed */
	struct lode_finding_process *processes; /* those with most time that counts first */
	size_t process_count;
	uint64_t symptoms;
	uint32_t symptom;            /* string: the name that all symptoms have; 0: they have several or none */
	struct lode_chain_row *rows; /* of one finding after the other */
	size_t row_count;
	size_t row_capacity;
	struct lode_strings names; /* of threads and processes as they are shown */
	struct lode_finding_link_names *link_names;
	size_t link_name_count;
	size_t link_name_capacity;
};

/*
 * Makes the findings of an area. Those below `least` of the total (0.01: a hundredth) are only summed up. `idle`: the rules,
 * over the area's dictionary. Release it in either case. Returns 0 or LODE_SYSTEM.
 */
int lode_findings_make(struct lode_findings *findings, const struct lode_area *area,
		       const struct lode_idle_stacks *idle, double least);
void lode_findings_release(struct lode_findings *findings);
/*
 * Link `number` of the finding's chain as it is shown: its names are strings of the findings' names, not of the dictionary.
 * `behind`: how many links come after it, 0 for the last one.
 */
struct lode_chain_link lode_finding_link(const struct lode_findings *findings, const struct lode_chains *chains,
					 const struct lode_finding *finding, uint32_t number, size_t behind);

#endif
