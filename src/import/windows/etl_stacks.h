/*
 * Stacks of a trace of Windows, which come as events of their own, later than what they belong to.
 *
 * A stack names its event by time and thread. The part in the kernel is written at once; the part in the program
 * when the thread leaves the kernel, once for all events since it entered: it belongs to every event of the thread
 * from the one that it names to the moment when it is written. Since Windows 8 a stack may be written as a key, whose
 * addresses are written when the key is given up, or at the end; keys are reused afterwards.
 */
#ifndef LODE_IMPORT_ETL_STACKS_H
#define LODE_IMPORT_ETL_STACKS_H

#include "import/windows/etl_code.h"

struct lode_etl_stacks;

/* NULL when memory has run out. */
struct lode_etl_stacks *lode_etl_stacks_create(struct lode_etl_code *code, unsigned pointer_size);
void lode_etl_stacks_destroy(struct lode_etl_stacks *stacks);

/*
 * An event of the group of stacks, by its type: 32 a stack, 34 a key that is made, 35 given up, 36 written at the end,
 * 37 and 38 a stack by its key. `t` is when it was written, in ticks. Others are skipped. Returns 0 or
 * LODE_SYSTEM.
 */
int lode_etl_stacks_take(struct lode_etl_stacks *stacks, unsigned type, uint64_t t, struct lode_cursor data);
/* All events are read: from now on stacks can be requested. */
void lode_etl_stacks_finish(struct lode_etl_stacks *stacks);
/*
 * The node of the stack of thread `tid` (of process `pid`) at tick `t`; 0 when there is none, LODE_NONE when memory
 * has run out.
 */
uint32_t lode_etl_stacks_find(struct lode_etl_stacks *stacks, uint64_t t, uint32_t tid, uint32_t pid);
/* A stack of one address. */
uint32_t lode_etl_stacks_single(struct lode_etl_stacks *stacks, uint64_t address, uint32_t pid);
void lode_etl_stacks_report(const struct lode_etl_stacks *stacks);

#endif
