/*
 * A host: the threads of one stream and what happens to them.
 *
 * The UI thread and two workers make up the part where the symptoms are
 * (symptom.c); all other threads work in pairs on their own affairs (noise.c).
 */
#ifndef LODE_SYNTH_SYNTH_HOST_H
#define LODE_SYNTH_SYNTH_HOST_H

#include "synth/thread_timeline.h"

struct lode_synth_host {
	struct lode_synth_timeline timeline;
	size_t number;   /* of the stream */
	uint64_t begin;  /* of the recording, ns */
	uint64_t length; /* of the recording, about */
	uint32_t pid;    /* of the program */
	struct lode_synth_actor ui;
	struct lode_synth_actor worker;
	struct lode_synth_actor holder; /* another worker, which holds locks */
	uint64_t *delays;               /* planned lengths of the symptoms */
	uint64_t *shares;               /* scratch: what each bug has left to cost in the symptom, ns */
	size_t symptom_count;
	int in_symptom;
	struct lode_synth_cost *costs; /* by bug */
	struct lode_synth_made *made;
};

/* The events of the UI thread and its workers, with all symptoms. */
void lode_synth_write_ui(struct lode_synth_host *host);
/* The rest: numbers of waits and runs. */
void lode_synth_add_noise(struct lode_synth_host *host, uint64_t waits, uint64_t runs);

#endif
