/*
 * Stack samples: turns the recorder's stacks into samples of the
 * program's functions, and adds each call that they show to the program.
 */
#ifndef LODE_HUNT_METER_LIVE_STACK_SAMPLES_H
#define LODE_HUNT_METER_LIVE_STACK_SAMPLES_H

#include "hunt/meter/meter.h"
#include "hunt/meter/live/hunted_processes.h"
#include "record/recorder.h"

struct lode_stack_content {
	uint64_t id;
	size_t first; /* in `addresses` */
	uint32_t count;
	uint8_t has_link;
	uint8_t end;       /* enum lode_stack_end */
	uint8_t has_words; /* functions of languages are among the addresses (language_words.h) */
};

struct lode_stack_sample {
	uint64_t t;
	uint32_t pid;
	uint32_t tid;
	uint64_t weight;
	enum lode_hypothesis counts;
	size_t first; /* in `functions` */
	uint32_t depth;
	int drawn;
	int cut;
	int whole; /* the recorder says that nothing is missing */
};

/* A function that stacks of a process begin with. */
struct lode_stack_root {
	uint32_t pid;
	uint32_t function;
};

struct lode_stack_samples {
	struct lode_hunted_processes *target;
	uint64_t period; /* nanoseconds that a CPU sample represents */
	struct lode_stack_content *contents;
	size_t content_count;
	size_t content_capacity;
	struct lode_index content_index; /* by id */
	uint64_t *addresses;
	size_t address_count;
	size_t address_capacity;
	struct lode_stack_sample *items;
	size_t count;
	size_t capacity;
	uint32_t *functions;
	size_t function_count;
	size_t function_capacity;
	uint8_t *waiting; /* by function: it waits by spinning */
	size_t waiting_capacity;
	struct lode_stack_root *roots;
	size_t root_count;
	size_t root_capacity;
	uint64_t missing; /* samples whose stack is not known */
	const struct lode_recorder_sink *tee;
	const struct lode_languages *languages; /* names of their functions; NULL: none. Set by the owner */
};

void lode_stack_samples_init(struct lode_stack_samples *samples, struct lode_hunted_processes *target,
			     uint64_t period, const struct lode_recorder_sink *tee);
void lode_stack_samples_release(struct lode_stack_samples *samples);
/* A sink for the recorder. */
struct lode_recorder_sink lode_stack_samples_sink(struct lode_stack_samples *samples);
/* Time in this function is sync waiting, though its thread is on a CPU. */
int lode_stack_samples_set_waiting(struct lode_stack_samples *samples, uint32_t function);
/* Adds the stack of a stopped or sleeping thread; functions leaf first, LODE_NONE for those not known. */
int lode_stack_samples_add(struct lode_stack_samples *samples, uint64_t t, uint32_t pid, uint32_t tid,
			   enum lode_hypothesis counts, const uint32_t *functions, size_t count);
/* Hands all samples on and forgets them. */
int lode_stack_samples_take(struct lode_stack_samples *samples,
			    int (*each)(void *context, const struct lode_meter_sample *sample), void *context);

#endif
