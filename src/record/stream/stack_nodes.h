/*
 * Stacks of a recording: from the ids that records name to nodes of the stream's
 * stack tree.
 *
 * While recording, functions of programs and libraries are not looked up: a frame
 * is an address in its module, `app!0x1a2c`, and remembered with its image, for
 * symbolize_recording.h to name at the end. The kernel's functions are few and named at
 * once, because whether a stack is an interrupt's depends on them.
 *
 * Addresses of a stack are those of its process, so processes that come and go bring ever new ones. They are kept in two
 * generations: with lode_record_stacks_renew the older one goes, and each stack that is seen from then on is sent again.
 */
#ifndef LODE_RECORD_STREAM_STACK_NODES_H
#define LODE_RECORD_STREAM_STACK_NODES_H

#include "base/arena.h"
#include "process/languages/languages.h"
#include "process/processes.h"
#include "record/bpf/records.h"
#include "trace/dictionary.h"

/* What a frame of the dictionary is. */
struct lode_record_location {
	uint32_t image; /* LODE_NONE: a function of the kernel, named already */
	int link;       /* found only in the link register: it may not be a caller at all */
	uint64_t address;
};

/* A stack as it was sent. */
struct lode_record_content {
	uint64_t id;
	const uint64_t *addresses; /* of a user's stack; else NULL */
	const uint32_t *frames;    /* of a kernel's, root first */
	uint32_t count;
	uint32_t interrupt; /* kernel: how many frames, at the leaf, are an interrupt's; 0: none are */
	uint8_t has_link;
	uint8_t end; /* enum lode_stack_end */
	uint8_t guessed;
	uint8_t languages; /* as in the stack that was sent */
};

/* A node that was found before. */
struct lode_record_node {
	uint64_t user;
	uint64_t kernel;
	uint32_t version; /* of the address space */
	uint32_t interrupt;
	uint32_t node;
};

/* Stacks that were sent in some span of time. */
struct lode_record_contents {
	struct lode_record_content *items;
	size_t count;
	size_t capacity;
	struct lode_index index; /* by id */
	struct lode_arena arena; /* of addresses and frames */
	size_t bytes;            /* about */
	size_t again;            /* of the stacks, those that the generation before has, too */
};

struct lode_record_stacks {
	struct lode_dictionary *dictionary;
	struct lode_processes *processes;
	struct lode_symbolizer *symbolizer;
	const struct lode_languages *languages; /* names of their frames; NULL: none. Not owned */
	struct lode_image *kernel; /* loaded when the first stack needs it, or before (lode_image_load) */
	struct lode_record_contents young;
	struct lode_record_contents old;        /* sent before the last renewal */
	size_t limit;                           /* bytes of the young ones that ask for a renewal */
	struct lode_record_location *locations; /* by frame of the dictionary */
	size_t location_capacity;
	struct lode_index location_index; /* of those in images */
	struct lode_record_node *nodes;
	size_t node_count;
	size_t node_capacity;
	struct lode_index node_index;
	uint64_t missing;          /* stacks that records name and that never arrived */
	uint64_t cut_outside_code; /* distinct user stacks that were cut at an address in no executable mapping */
};

/*
 * The kernel as stacks have it, to load it before they come. `kallsyms`: a list of its symbols; NULL: those of the kernel that
 * runs. NULL: there is no memory.
 */
struct lode_image *lode_record_stacks_kernel(struct lode_symbolizer *symbolizer, const char *kallsyms);
/* `dictionary` (new), `processes` and `symbolizer` must outlive it. `kallsyms` as above. Returns 0 or LODE_SYSTEM. */
int lode_record_stacks_init(struct lode_record_stacks *stacks, struct lode_dictionary *dictionary,
			    struct lode_processes *processes, struct lode_symbolizer *symbolizer,
			    const char *kallsyms);
void lode_record_stacks_release(struct lode_record_stacks *stacks);
/* Takes a stack as it was sent. Returns 0 or LODE_SYSTEM. */
int lode_record_stacks_add(struct lode_record_stacks *stacks, const struct lode_record_stack *stack);
/* Whether there are enough stacks for lode_record_stacks_renew. */
int lode_record_stacks_is_full(const struct lode_record_stacks *stacks);
/*
 * Forgets the stacks that were sent before the last renewal and not again since, except `held` (count ids, those that records
 * to come may name). Stacks must be sent again from now on. Returns 0, or LODE_SYSTEM with everything as it was.
 */
int lode_record_stacks_renew(struct lode_record_stacks *stacks, const uint64_t *held, size_t count);
/* How a user's stack ends (enum lode_stack_end), and whether it is guessed in part. */
enum lode_stack_end lode_record_stacks_end(const struct lode_record_stacks *stacks, uint64_t user, int *guessed);
/* Whether a user's stack has a function that runs code of a language, and not the functions that it runs. */
int lode_record_stacks_lack_words(const struct lode_record_stacks *stacks, uint64_t user);
/* Whether a kernel stack is that of an interrupt, regardless of the thread that was running. */
int lode_record_stacks_interrupt(const struct lode_record_stacks *stacks, uint64_t kernel);
/*
 * The node of a user's and a kernel's stack (0: none) of a process as it is now;
 * with `interrupt` only of the frames of the interrupt, or of `kernel!(interrupt)` where they are not known.
 * LODE_NONE when memory has run out.
 */
uint32_t lode_record_stacks_node(struct lode_record_stacks *stacks, uint32_t pid, uint64_t user, uint64_t kernel,
				 int interrupt);

#endif
