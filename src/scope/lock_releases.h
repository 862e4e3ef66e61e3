/*
 * Who had a lock before: the releases of locks, as the waits that they ended tell.
 *
 * Whoever releases a lock that others wait for wakes one of them. So while a thread waits for a lock, each release of it ends
 * a wait of some thread, and the lock belongs to whoever releases it next. What a holder did before the last release that
 * precedes its own, it did without the lock.
 *
 * Locks are the same if the texts of their objects are and the waiting threads are of one process; locks on files are shared by processes. A text that only says
 * where a lock is entered may stand for several; of these only a release to the holder itself is known to be one of
 * the same lock.
 */
#ifndef LODE_SCOPE_LOCK_RELEASES_H
#define LODE_SCOPE_LOCK_RELEASES_H

#include "scope/scope_index.h"

#define LODE_VAGUE_LOCK  2
#define LODE_SHARED_LOCK 3

struct lode_lock_releases {
	uint32_t *waits; /* that a thread ended, by lock and end */
	size_t count;
	uint8_t *locks; /* by string: such an object is a lock, LODE_VAGUE_LOCK one of several, LODE_SHARED_LOCK one of all processes; NULL with `waits` */
};

/* Needs the columns object, waker and waker_stack of waits. Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_lock_releases_make(struct lode_lock_releases *releases, const struct lode_scope_index *index);
void lode_lock_releases_release(struct lode_lock_releases *releases);

/*
 * The wait that ended with the last release, before the moment `x` and after `low`, of the lock that `wait` is for, where
 * a thread of `group` has it until `x`; LODE_NONE: none is known, or it is no wait for a lock.
 */
uint32_t lode_lock_release_before(const struct lode_lock_releases *releases, const struct lode_scope_index *index,
				  uint32_t wait, uint32_t group, uint64_t low, uint64_t x);

/* Whether both waits are surely for the same lock. */
int lode_waits_for_same_lock(const struct lode_lock_releases *releases, const struct lode_scope_index *index,
			     uint32_t wait, uint32_t other);

#endif
