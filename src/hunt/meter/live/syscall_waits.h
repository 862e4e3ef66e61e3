/* System call waits: what a thread that blocks in a given system call waits for. */
#ifndef LODE_HUNT_METER_LIVE_SYSCALL_WAITS_H
#define LODE_HUNT_METER_LIVE_SYSCALL_WAITS_H

#include "hunt/meter/live/thread_counters.h"

/* Fills the table of struct lode_hunt_kernel_settings for this kind of machine. */
void lode_hunt_calls(uint8_t calls[LODE_HUNT_CALLS]);

#endif
