/* Time that BPF programs take in the kernel, as the kernel counts it. */
#ifndef LODE_RECORD_LOAD_PROGRAM_TIME_H
#define LODE_RECORD_LOAD_PROGRAM_TIME_H

#include <stdint.h>

struct bpf_object;
struct bpf_program;

/*
 * Has the kernel count from now on, which makes each run some ten nanoseconds longer, those of other programs too. Returns
 * a descriptor, which ends it when it is closed; negative where the kernel does not permit it (CAP_SYS_ADMIN).
 */
int lode_program_time_begin(void);
/* Hands to `each` how often the programs of an object have run and the time that it took, on all CPUs, except one of them
 * (NULL: none). */
void lode_program_time(const struct bpf_object *object, const struct bpf_program *except,
		       void (*each)(void *context, uint64_t runs, uint64_t nanoseconds), void *context);

#endif
