/*
 * Time slots (time_slots.h), and what finds waits between them: the program at wakeups for long waits (long_waits.bpf.h),
 * sweeps over all threads (sweep.bpf.h), and the totals of threads (thread_totals.h).
 */
#include "base/clock.h"
#include "record/recorder_state.h"
#include "record/load/task_iterator.h"

#include <errno.h>

void lode_recorder_take_totals(struct lode_recorder *recorder, enum lode_record_type type)
{
	struct bpf_link *link;

	if (!recorder->programs->rodata->with_totals)
		return;
	recorder->programs->bss->totals_type = type;
	link = bpf_program__attach_iter(recorder->programs->progs.lode_totals, NULL);
	lode_task_iterator_run(link);
	bpf_link__destroy(link);
}

int lode_recorder_set_sweep_pace(struct lode_recorder *recorder, const struct lode_sweeper_pace *pace)
{
	if (!recorder->sweeper)
		return 0;
	lode_sweeper_set(recorder->sweeper, pace);
	return 1;
}

struct lode_sweeper_counts lode_recorder_sweep_counts(const struct lode_recorder *recorder)
{
	return recorder->sweeper ? lode_sweeper_counts(recorder->sweeper) : (struct lode_sweeper_counts){ 0 };
}

int lode_recorder_keep_slot(struct lode_recorder *recorder)
{
	const volatile struct lode_slot *slot = (const volatile struct lode_slot *)&recorder->programs->bss->slot;
	unsigned factor = slot->factor;
	struct lode_record record = {
		.t = slot->from,
		.delay = lode_now() - slot->from,
		.pid = recorder->programs->rodata->own_pid,
		.tid = recorder->programs->rodata->own_pid,
		.type = LODE_RECORD_SLOT,
		.flags = (uint8_t)slot->is_odd,
		.cpu = UINT16_MAX,
		.weight = 1,
	};

	if (!recorder->started || !slot->on || factor <= LODE_SLOT_UNIT)
		return 0;
	record.value = (uint32_t)slot->all << 16 | (slot->all * LODE_SLOT_UNIT + factor / 2) / factor;
	return LODE_APPEND(recorder->seen, recorder->seen_count, recorder->seen_capacity, record);
}

/* Waits of which length the program at wakeups looks for: those of limits on waits, and long ones if they are tracked. */
static void set_waking_limit(struct recorder *programs, int tracks_long_waits)
{
	uint64_t limit = programs->bss->limits_at_waking_since ? programs->rodata->least_limit : INT64_MAX;

	if (tracks_long_waits && programs->rodata->certain_limit < limit)
		limit = programs->rodata->certain_limit;
	programs->data->waking_limit = limit;
}

/*
 * Attaches the program at wakeups if it is needed between slots: for limits on waits, and for long waits if they are to be
 * tracked. The latter begins while the scheduler programs are attached: the kernel need not wait for a grace period then.
 * Returns 0 or -1 with errno set.
 */
static int begin_long_waits(struct lode_recorder *recorder)
{
	struct recorder *programs = recorder->programs;
	int limits = programs->rodata->limits_at_waking,
	    begins = recorder->wants_long_waits && !recorder->tracks_long_waits && programs->bss->slot.on;

	if (!programs->links.lode_long_wait && (limits || begins)) {
		programs->links.lode_long_wait = bpf_program__attach(programs->progs.lode_long_wait);
		if (!programs->links.lode_long_wait)
			return -1;
	}
	if (limits && !programs->bss->limits_at_waking_since)
		programs->bss->limits_at_waking_since = lode_now();
	if (begins) {
		programs->bss->certain_since = lode_now();
		programs->bss->certain_until = UINT64_MAX;
		recorder->tracks_long_waits = 1;
	}
	set_waking_limit(programs, recorder->tracks_long_waits);
	return 0;
}

int lode_recorder_set_long_wait_tracking(struct lode_recorder *recorder, int on)
{
	struct recorder *programs = recorder->programs;

	recorder->wants_long_waits = on && programs->rodata->certain_limit;
	if (recorder->wants_long_waits || !recorder->tracks_long_waits)
		return recorder->tracks_long_waits;
	programs->bss->certain_until = lode_now();
	recorder->tracks_long_waits = 0;
	set_waking_limit(programs, 0);
	return 0;
}

/* Only while no other program is attached at wakeups: otherwise the kernel would wait for a grace period, and so would we. */
static void end_long_waits(struct lode_recorder *recorder)
{
	struct recorder *programs = recorder->programs;

	if (recorder->wants_long_waits || programs->rodata->limits_at_waking || programs->links.lode_waking)
		return;
	bpf_link__destroy(programs->links.lode_long_wait);
	programs->links.lode_long_wait = NULL;
}

/* At the end of a slot. Programs that stay attached need the one for long waits, which therefore stays, too. */
static void detach(struct lode_recorder *recorder)
{
	if (recorder->stays_attached) {
		lode_scheduler_programs_idle(recorder->scheduler);
		return;
	}
	lode_scheduler_programs_detach(recorder->scheduler);
	end_long_waits(recorder);
}

void lode_recorder_set_stay_attached(struct lode_recorder *recorder, int on)
{
	recorder->stays_attached = on;
}

/*
 * Programs were attached, and see what begins from now on. What ends is recorded once it is known what threads are in
 * (slot_begin.bpf.h); until then it would be only what began just now.
 */
static void begin_slot(struct lode_recorder *recorder)
{
	struct recorder *programs = recorder->programs;

	recorder->slot_visit.at_once = programs->progs.lode_begin_slot_at_once;
	recorder->slot_visit.one = programs->progs.lode_begin_slot;
	recorder->slot_visit.count = &programs->bss->slot_count;
	lode_task_visit_run(&recorder->slot_visit);
	__atomic_store_n(&programs->bss->slot.from, lode_now(), __ATOMIC_SEQ_CST);
}

int lode_recorder_set_slot(struct lode_recorder *recorder, const struct lode_slot *slot)
{
	struct lode_slot *own = (struct lode_slot *)(uintptr_t)&recorder->programs->bss->slot;
	int done = 1, was_on = (int)own->on;

	if (lode_recorder_keep_slot(recorder) < 0) {
		errno = ENOMEM;
		return -1;
	}
	if (recorder->started && slot->factor > LODE_SLOT_UNIT && begin_long_waits(recorder) < 0)
		return -1;
	/* Off while it changes, so that no program reads a half of each. */
	__atomic_store_n(&own->on, 0, __ATOMIC_SEQ_CST);
	own->began = slot->began;
	own->from = recorder->started && !was_on ? UINT64_MAX : slot->began;
	own->factor = slot->factor;
	own->all = slot->all;
	own->is_odd = slot->is_odd;
	if (recorder->started && slot->on)
		done = lode_scheduler_programs_attach(recorder->scheduler);
	else if (recorder->started)
		detach(recorder);
	__atomic_store_n(&own->on, slot->on && done > 0, __ATOMIC_SEQ_CST);
	if (own->on && own->from == UINT64_MAX)
		begin_slot(recorder);
	return done;
}
