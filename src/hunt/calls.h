/* What system calls are to the live meter: what a thread that blocks in one waits for. */
#ifndef LODE_HUNT_CALLS_H
#define LODE_HUNT_CALLS_H

#include "hunt/counters.h"

/* Fills the table of struct lode_hunt_kernel_settings for this kind of machine. */
void lode_hunt_calls(uint8_t calls[LODE_HUNT_CALLS]);

#endif
