/* Hypotheses and foci: see hypothesis.h. */
#include "hunt/meter/hypothesis.h"

#include "base/memory.h"

#include <string.h>

static const char *const names[LODE_HYPOTHESES] = {
	[LODE_CPU_BOUND] = "CPUbound",
	[LODE_SYNC_WAITING] = "ExcessiveSyncWaitingTime",
	[LODE_IO_BLOCKING] = "ExcessiveIOBlockingTime",
	[LODE_SMALL_IO] = "TooManySmallIOOps",
	[LODE_READY_WAITING] = "ExcessiveReadyTime",
};

const char *lode_hypothesis_name(enum lode_hypothesis hypothesis)
{
	return names[hypothesis];
}

enum lode_hypothesis lode_hypothesis_find(const char *name)
{
	for (int i = 0; i < LODE_HYPOTHESES; i++)
		if (!strcmp(names[i], name))
			return (enum lode_hypothesis)i;
	return LODE_HYPOTHESES;
}

int lode_hypothesis_holds(enum lode_hypothesis hypothesis, double value, double threshold)
{
	return hypothesis == LODE_SMALL_IO ? value < threshold : value > threshold;
}

void lode_hypothesis_fraction(enum lode_hypothesis hypothesis, const struct lode_reading *reading,
			      uint64_t *amount, uint64_t *base)
{
	switch (hypothesis) {
	case LODE_SMALL_IO:
		*amount = reading->bytes;
		*base = reading->operations;
		break;
	case LODE_READY_WAITING:
		*amount = reading->ready;
		*base = reading->usable + reading->ready;
		break;
	default:
		*amount = reading->time[hypothesis];
		*base = reading->usable;
	}
}

struct lode_focus lode_focus_whole(void)
{
	return (struct lode_focus){ LODE_NONE, LODE_NONE, LODE_NONE, LODE_NONE, 0 };
}

int lode_focus_equal(const struct lode_focus *a, const struct lode_focus *b)
{
	return a->function == b->function && a->host == b->host && a->process == b->process &&
	       a->thread == b->thread && a->object == b->object;
}

uint64_t lode_focus_on(const struct lode_focus *focus, enum lode_focus_axis axis)
{
	switch (axis) {
	case LODE_AXIS_CODE:
		return focus->function;
	case LODE_AXIS_HOST:
		return focus->host;
	case LODE_AXIS_PROCESS:
		return focus->process;
	case LODE_AXIS_THREAD:
		return focus->thread;
	default:
		return focus->object;
	}
}

int lode_focus_has(const struct lode_focus *focus, enum lode_focus_axis axis)
{
	return lode_focus_on(focus, axis) != (axis == LODE_AXIS_OBJECT ? 0 : LODE_NONE);
}

int lode_focus_is_whole(const struct lode_focus *focus)
{
	for (int axis = 0; axis < LODE_AXES; axis++)
		if (lode_focus_has(focus, (enum lode_focus_axis)axis))
			return 0;
	return 1;
}
