/* Lock names: what an object that threads wait for is called. */
#ifndef LODE_HUNT_METER_LIVE_LOCK_NAMES_H
#define LODE_HUNT_METER_LIVE_LOCK_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the name of the object at an address of a process: `app!queue (0x4a0080)`
 * where there is a symbol, else its memory region: `0x4a0080 (heap)`, `… (stack of thread
 * 12)`, `… (shared memory /dev/shm/x+0x40)`; the address alone where nothing is
 * known. `thread_in` returns a thread whose stack is in a range of addresses, 0
 * without one.
 */
void lode_lock_name(uint32_t pid, uint64_t address,
		    uint32_t (*thread_in)(void *context, uint64_t start, uint64_t end), void *context, char *text,
		    size_t size);

/*
 * The address in a process's memory whose lowest `bits` bits are `low`; 0 when there
 * is none, or more than one.
 */
uint64_t lode_lock_address(uint32_t pid, uint64_t low, unsigned bits);

#endif
