/*
 * Slots of time (time_slots.h) and what is known without them: sweeps over all threads that find long waits (sweep.bpf.h),
 * and the totals of threads (thread_totals.h).
 */
#include "base/clock.h"
#include "record/recorder_state.h"
#include "record/task_iterator.h"

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

int lode_recorder_sweep(struct lode_recorder *recorder)
{
	if (!recorder->programs->rodata->with_sweeps)
		return 0;
	if (!recorder->sweep)
		recorder->sweep = bpf_program__attach_iter(recorder->programs->progs.lode_sweep, NULL);
	lode_task_iterator_run(recorder->sweep);
	recorder->programs->bss->sweep_ended = lode_now();
	return recorder->sweep != NULL;
}

void lode_recorder_end_sweeps(struct lode_recorder *recorder)
{
	if (!recorder->sweep)
		return;
	recorder->programs->bss->sweep_is_last = 1;
	lode_recorder_sweep(recorder);
	bpf_link__destroy(recorder->sweep);
	recorder->sweep = NULL;
}

int lode_recorder_keep_slot(struct lode_recorder *recorder)
{
	const volatile struct lode_slot *slot = (const volatile struct lode_slot *)&recorder->programs->bss->slot;
	unsigned single = slot->single;
	struct lode_record record = {
		.t = slot->began,
		.delay = lode_now() - slot->began,
		.pid = recorder->programs->rodata->own_pid,
		.tid = recorder->programs->rodata->own_pid,
		.type = LODE_RECORD_SLOT,
		.flags = (uint8_t)(slot->cycle / LODE_SLOTS & 1),
		.cpu = UINT16_MAX,
		.weight = 1,
	};

	if (!recorder->started || !slot->on || single <= LODE_SLOT_UNIT)
		return 0;
	record.value = (LODE_SLOTS * LODE_SLOT_UNIT + single / 2) / single;
	if (lode_grow(&recorder->seen, &recorder->seen_capacity, recorder->seen_count + 1, sizeof(record)) < 0)
		return LODE_SYSTEM;
	recorder->seen[recorder->seen_count++] = record;
	return 0;
}

/* Limits on waits must see all of them, also while the programs of the scheduler are detached. Returns 0 or -1 with errno set. */
static int keep_limits(struct lode_recorder *recorder)
{
	struct recorder *programs = recorder->programs;

	if (!programs->rodata->limits_at_waking || programs->links.lode_long_wait)
		return 0;
	programs->links.lode_long_wait = bpf_program__attach(programs->progs.lode_long_wait);
	if (!programs->links.lode_long_wait)
		return -1;
	programs->bss->limits_at_waking_since = lode_now();
	return 0;
}

int lode_recorder_set_slot(struct lode_recorder *recorder, const struct lode_slot *slot)
{
	struct lode_slot *own = (struct lode_slot *)(uintptr_t)&recorder->programs->bss->slot;
	int done = 1;

	if (lode_recorder_keep_slot(recorder) < 0) {
		errno = ENOMEM;
		return -1;
	}
	if (recorder->started && slot->single > LODE_SLOT_UNIT && keep_limits(recorder) < 0)
		return -1;
	/* Nothing counts as recorded while this changes. */
	__atomic_store_n(&own->on, 0, __ATOMIC_SEQ_CST);
	own->began = slot->began;
	own->number = slot->number;
	own->cycle = slot->cycle;
	own->single = slot->single;
	own->pair = slot->pair;
	if (recorder->started && slot->on)
		done = lode_scheduler_programs_attach(recorder->scheduler);
	else if (recorder->started)
		lode_scheduler_programs_detach(recorder->scheduler);
	__atomic_store_n(&own->on, slot->on && done > 0, __ATOMIC_SEQ_CST);
	return done;
}
