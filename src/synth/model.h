/*
 * The model: everything that the streams of one generated corpus have in common.
 * The invented code, the tasks that threads do in it and the stacks where they run
 * and wait; the planted bugs and the streams they are planted in.
 *
 * Made once from the options, read by all threads afterwards. Stacks are nodes of
 * the model's own dictionary; emulation.h takes them into a stream's.
 */
#ifndef LODE_SYNTH_MODEL_H
#define LODE_SYNTH_MODEL_H

#include "synth/invented_code.h"
#include "synth/synth.h"

/* The name of stream number N, for printf. */
#define LODE_SYNTH_STREAM_NAME "host-%05zu"

/* What a thread does at the leaf of a stack. */
enum lode_synth_leaf {
	LODE_SYNTH_RUN,
	LODE_SYNTH_DISK,  /* waits for a file */
	LODE_SYNTH_FAULT, /* waits for a page of a file that it touched */
	LODE_SYNTH_LOCK,
	LODE_SYNTH_CALL, /* waits for another thread's answer */
	LODE_SYNTH_SOCKET,
	LODE_SYNTH_WAKE, /* makes another thread ready */
	LODE_SYNTH_LEAVES,
};

/* Some stacks of a kind: `count` of the model's `leaves`, from `first` on. */
struct lode_synth_leaves {
	uint32_t first;
	uint32_t count;
};

/* A task that a thread does, and the stacks that are met in it. */
struct lode_synth_task {
	struct lode_synth_leaves leaves[LODE_SYNTH_LEAVES];
};

/* The tasks of one kind of thread, and where such a thread waits when it has none. */
struct lode_synth_role {
	struct lode_synth_task *tasks;
	uint32_t count;
	struct lode_synth_leaves idle;
};

/* Interrupts: what the waker of a wait for a device was doing. */
enum lode_synth_interrupt {
	LODE_SYNTH_DISK_INTERRUPT,
	LODE_SYNTH_NET_INTERRUPT,
	LODE_SYNTH_TIMER_INTERRUPT,
	LODE_SYNTH_INPUT_INTERRUPT,
	LODE_SYNTH_INTERRUPTS,
};

enum lode_synth_bug_type {
	LODE_SYNTH_LOCK_CHAIN, /* the UI waits for a worker, which waits for a lock, whose holder does slow
				  I/O */
	LODE_SYNTH_HASH,       /* a hash function asks the file system */
	LODE_SYNTH_CPU,        /* busy, under two callers */
	LODE_SYNTH_PLUG_IN,    /* the UI waits for a worker, in which a plug-in waits for a server */
	LODE_SYNTH_HARD_FAULT, /* pages of a file are touched one by one */
	LODE_SYNTH_BUG_TYPES,
};

#define LODE_SYNTH_VARIANTS 3
#define LODE_SYNTH_KEY      2

/* One way to come to a bug. */
struct lode_synth_variant {
	struct lode_synth_leaves site;    /* where its cost is; the key frames are in all of these */
	struct lode_synth_leaves blocked; /* where the UI thread waits for it, in bugs of more than one thread */
	struct lode_synth_leaves lock;    /* lock chain: where the worker waits for the holder */
	struct lode_synth_leaves held;    /* lock chain: what the holder runs */
	struct lode_synth_leaves wake;    /* what the thread at the site does to let the other go on */
};

struct lode_synth_bug {
	char name[32];
	enum lode_synth_bug_type type;
	uint32_t key[LODE_SYNTH_KEY]; /* frames, in this order in each of its stacks and in no other stack */
	uint64_t grain;               /* ns: the mean of one of its waits */
	uint32_t weight;              /* its share of the delay, among the bugs of a stream */
	uint32_t variants;
	struct lode_synth_variant variant[LODE_SYNTH_VARIANTS];
};

struct lode_synth_model {
	struct lode_synth_options options;
	struct lode_synth_code code;
	uint32_t *leaves; /* nodes */
	size_t leaf_count;
	size_t leaf_capacity;
	struct lode_synth_role ui;
	struct lode_synth_role worker;
	struct lode_synth_role loop;                       /* the program's event loops */
	struct lode_synth_role other[LODE_SYNTH_OTHERS];   /* the other programs' first threads */
	struct lode_synth_role serving[LODE_SYNTH_OTHERS]; /* and their second ones */
	struct lode_synth_role kernel;                     /* the kernel's workers */
	struct lode_synth_leaves interrupts[LODE_SYNTH_INTERRUPTS];
	uint32_t thunk[8]; /* frames between user and kernel mode of an emulated process, thunk_count of them
			    */
	uint32_t thunk_count;
	uint32_t scanner[4]; /* frames of the scanner that some hosts have in their file system */
	uint32_t scanner_count;
	uint32_t system_call;  /* the frame that the thunk precedes */
	uint32_t file_look_up; /* the frame that the scanner precedes */
	struct lode_synth_bug *bugs;
	uint8_t *planted; /* by bug, then by stream */
};

/* Kind of its cost. */
enum lode_event_type lode_synth_bug_kind(const struct lode_synth_bug *bug);
const char *lode_synth_bug_type_name(enum lode_synth_bug_type type);

static inline int lode_synth_is_planted(const struct lode_synth_model *model, size_t bug, size_t stream)
{
	return model->planted[bug * model->options.streams + stream];
}

/* ---- for the files that fill a model ---- */

/* Where user code ends: the rest of a stack of a kind; `variant` counts through its ways. */
uint32_t lode_synth_leaf_path(struct lode_synth_code *code, uint32_t node, enum lode_synth_leaf leaf,
			      uint32_t variant);
/* Adds a node to the leaves, which must be the last that were begun. */
void lode_synth_add_leaf(struct lode_synth_model *model, struct lode_synth_leaves *leaves, uint32_t node);
/* How the stacks of the UI thread and of the workers begin: up to where a task is chosen. */
uint32_t lode_synth_ui_root(struct lode_synth_code *code);
uint32_t lode_synth_worker_root(struct lode_synth_code *code);
uint32_t lode_synth_pool_root(struct lode_synth_code *code);
/* Fills `bugs` and `planted`; failures show in model->code.failed. */
void lode_synth_plant(struct lode_synth_model *model);

#endif
