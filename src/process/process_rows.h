/*
 * The rows of processes and of the lives of their threads, by number. Private to processes.c.
 */
#ifndef LODE_PROCESS_PROCESS_ROWS_H
#define LODE_PROCESS_PROCESS_ROWS_H

#include "process/processes.h"

/* The number of a process's row, or LODE_NONE. */
uint32_t lode_process_row(const struct lode_processes *processes, uint32_t pid);
/* The row of a process, added if it is new; NULL when memory has run out. */
struct lode_process *lode_process_enter(struct lode_processes *processes, uint32_t pid);
/* The number of the row of the youngest thread of this number, or LODE_NONE. */
uint32_t lode_life_row(const struct lode_processes *processes, uint32_t pid, uint32_t tid);
/* A new one; NULL when memory has run out. */
struct lode_thread_lifetime *lode_life_add(struct lode_processes *processes, uint32_t pid, uint32_t tid);

#endif
