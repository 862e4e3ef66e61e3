/* Calibration: see calibration.h. */
#include "record/budget/calibration.h"

#include "base/random.h"
#include "trace/slot_sampling.h"

#include <string.h>

int lode_calibration_init(struct lode_calibration *calibration, const struct lode_stream *stream)
{
	static const char preempt[] = LODE_PREEMPTION;

	memset(calibration, 0, sizeof(*calibration));
	calibration->preempt = lode_strings_find(&stream->dictionary->frames.strings, preempt, sizeof(preempt) - 1);
	calibration->has_slots = lode_slot_sampling_is_possible(&stream->dictionary->frames.strings);
	calibration->threads = lode_calloc(stream->thread_count + 1, sizeof(*calibration->threads));
	if (!calibration->threads)
		return LODE_SYSTEM;
	calibration->count = stream->thread_count;
	for (size_t i = 0; i < calibration->count; i++)
		calibration->threads[i].factor = 1;
	return 0;
}

void lode_calibration_release(struct lode_calibration *calibration)
{
	lode_free(calibration->threads);
	memset(calibration, 0, sizeof(*calibration));
}

/* Whether a thread was off its CPU in this event. */
static int is_off_cpu(const struct lode_calibration *calibration, enum lode_event_type type,
		      const struct lode_event *event)
{
	if (event->thread >= calibration->count)
		return 0;
	return type == LODE_WAIT || (type == LODE_CALL && event->name == calibration->preempt);
}

void lode_calibration_see(struct lode_calibration *calibration, enum lode_event_type type,
			  const struct lode_event *event)
{
	struct lode_calibrated_thread *thread;
	double length = (double)event->cost + (double)event->delay;
	uint64_t moment = (event->t + event->cost + event->delay) / LODE_CALIBRATION_MOMENT_NS + 1;

	if (!is_off_cpu(calibration, type, event))
		return;
	thread = &calibration->threads[event->thread];
	if (event->weight <= 1) {
		thread->certain_ns += length;
		return;
	}
	thread->sampled_ns += event->weight * length;
	thread->squares += event->weight * length * event->weight * length;
	thread->moments += moment != thread->moment;
	thread->moment = moment;
}

/* Whether the waits of a thread are so short that it shows that those in slots are longer. */
static int has_short_waits(const struct lode_thread_totals *totals)
{
	double count = (double)totals->waits + (double)totals->preemptions;

	return (double)totals->waited_ns + (double)totals->queued_ns < count * LODE_CALIBRATION_MIN_WAIT_NS;
}

static double factor_of(const struct lode_calibrated_thread *thread, const struct lode_thread_totals *totals)
{
	double exact = (double)totals->waited_ns + (double)totals->queued_ns - thread->certain_ns, factor;

	/* The effective number of events: as many of equal length would have the same variance. */
	if (thread->sampled_ns <= 0 ||
	    thread->sampled_ns * thread->sampled_ns < LODE_CALIBRATION_MIN_EVENTS * thread->squares ||
	    thread->moments < LODE_CALIBRATION_MIN_MOMENTS)
		return 1;
	factor = exact / thread->sampled_ns;
	return factor <= LODE_CALIBRATION_MAX_FACTOR && factor * LODE_CALIBRATION_MAX_FACTOR >= 1 ? factor : 1;
}

size_t lode_calibration_settle(struct lode_calibration *calibration, const struct lode_stream *stream)
{
	size_t count = 0;

	for (size_t i = 0; i < calibration->count; i++) {
		struct lode_calibrated_thread *thread = &calibration->threads[i];

		if (!lode_thread_has_totals(&stream->threads[i]) ||
		    (calibration->has_slots && has_short_waits(&stream->threads[i].totals)))
			continue;
		thread->factor = factor_of(thread, &stream->threads[i].totals);
		count += thread->factor != 1;
	}
	return count;
}

uint32_t lode_calibration_weight(const struct lode_calibration *calibration, enum lode_event_type type,
				 const struct lode_event *event)
{
	uint64_t random = event->t * 0x9e3779b97f4a7c15u ^ (uint64_t)event->thread << 32 ^ event->cost;
	double weight;

	if (event->weight <= 1 || !is_off_cpu(calibration, type, event) ||
	    calibration->threads[event->thread].factor == 1)
		return event->weight;
	weight = event->weight * calibration->threads[event->thread].factor +
		 (double)(lode_splitmix64(&random) >> 11) * 0x1p-53;
	return weight < 1 ? 1 : weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}
