/*
 * Keeps the unwind tables in the kernel (unwind_maps.h) up to date: the mappings of
 * processes as they change, and the tables of binaries once stacks need them.
 */
#ifndef LODE_RECORD_UNWIND_UNWIND_LOADER_H
#define LODE_RECORD_UNWIND_UNWIND_LOADER_H

#include "base/notes.h"
#include "process/process_unwinder.h"
#include "record/bpf/unwind_maps.h"

/* The maps, by their descriptors, and what the kernel keeps in a variable. */
struct lode_unwind_maps {
	int spaces;
	int mappings;
	int sizes;
	int rules;
	int tables;
	int languages;
	const struct lode_unwind_taken *taken; /* LODE_UNWIND_TAKEN of them */
};

/* What is in the kernel. */
struct lode_unwind_totals {
	size_t tables;
	size_t rows;
	size_t bytes; /* of rows */
	size_t rules;
	uint64_t refused; /* tables that the kernel did not take, or that did not fit */
	uint64_t crowded; /* processes whose mappings did not fit */
};

struct lode_unwind_loader;

/* `unwinder` must outlive it. NULL when memory has run out or the maps cannot be mapped. */
struct lode_unwind_loader *lode_unwind_loader_create(const struct lode_unwind_maps *maps,
						     struct lode_process_unwinder *unwinder);
void lode_unwind_loader_destroy(struct lode_unwind_loader *loader);
/* The mappings of a process changed, or it is new. Returns 0 or LODE_SYSTEM. */
int lode_unwind_loader_changed(struct lode_unwind_loader *loader, uint32_t pid);
/* What was read of the mappings of processes does not count any more: they are read again when a stack goes through them. */
void lode_unwind_loader_doubt(struct lode_unwind_loader *loader);
/* All images have new numbers (lode_process_unwinder_tidy); until `t` all changes are known. Drops tables, too. */
int lode_unwind_loader_renumbered(struct lode_unwind_loader *loader, uint64_t t);
/*
 * Brings the kernel up to date with what changed and what was loaded since the last call;
 * until `t` all changes are known. Returns 0 or LODE_SYSTEM.
 */
int lode_unwind_loader_flush(struct lode_unwind_loader *loader, uint64_t t);
struct lode_unwind_totals lode_unwind_loader_totals(const struct lode_unwind_loader *loader);

#endif
