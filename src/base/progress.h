/*
 * Progress of long work. The library reports how far it is; the caller decides
 * whether to show it and whether to go on.
 */
#ifndef LODE_BASE_PROGRESS_H
#define LODE_BASE_PROGRESS_H

#include <stdint.h>

struct lode_progress {
	/*
	 * `done` of `total` (0 when unknown) `unit`s ("bytes", "events") of `phase`
	 * ("reading trace.data"). Returns non-zero to ask the work to stop. Called
	 * from one thread at a time, at most every few milliseconds of work.
	 */
	int (*update)(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total);
	void *context;
};

/* Reports to `progress`, which may be NULL; non-zero when the work should stop. */
static inline int lode_progress_report(const struct lode_progress *progress, const char *phase, const char *unit,
				       uint64_t done, uint64_t total)
{
	if (!progress || !progress->update)
		return 0;
	return progress->update(progress->context, phase, unit, done, total);
}

#endif
