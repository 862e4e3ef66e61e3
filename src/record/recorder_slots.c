/*
 * Slots of time (time_slots.h) and what is known without them: sweeps over all threads that find long waits (sweep.bpf.h),
 * and the totals of threads (thread_totals.h).
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

int lode_recorder_set_sweeps(struct lode_recorder *recorder, const struct lode_sweeper_pace *pace)
{
	if (!recorder->sweeper)
		return 0;
	lode_sweeper_set(recorder->sweeper, pace);
	return 1;
}

struct lode_sweeper_counts lode_recorder_sweeps(const struct lode_recorder *recorder)
{
	return recorder->sweeper ? lode_sweeper_counts(recorder->sweeper) : (struct lode_sweeper_counts){ 0 };
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
		.flags = (uint8_t)slot->is_odd,
		.cpu = UINT16_MAX,
		.weight = 1,
	};

	if (!recorder->started || !slot->on || single <= LODE_SLOT_UNIT)
		return 0;
	record.value = (uint32_t)slot->all << 16 | (slot->all * LODE_SLOT_UNIT + single / 2) / single;
	return LODE_APPEND(recorder->seen, recorder->seen_count, recorder->seen_capacity, record);
}

/* What the program for long waits looks for. */
static void set_waking_limit(struct recorder *programs, int certain)
{
	uint64_t limit = programs->bss->limits_at_waking_since ? programs->rodata->least_limit : INT64_MAX;

	if (certain && programs->rodata->certain_limit < limit)
		limit = programs->rodata->certain_limit;
	programs->data->waking_limit = limit;
}

/*
 * Limits on waits must see all of them, also while the programs of the scheduler are detached. So must all long waits be seen where the budget
 * has room for that; that is begun while the others are attached, since the kernel then need not wait for anything. Returns 0 or -1 with errno set.
 */
static int watch_long_waits(struct lode_recorder *recorder)
{
	struct recorder *programs = recorder->programs;
	int limits = programs->rodata->limits_at_waking,
	    begins = recorder->wants_certain && !recorder->is_certain && programs->bss->slot.on;

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
		recorder->is_certain = 1;
	}
	set_waking_limit(programs, recorder->is_certain);
	return 0;
}

int lode_recorder_set_certain(struct lode_recorder *recorder, int certain)
{
	struct recorder *programs = recorder->programs;

	recorder->wants_certain = certain && programs->rodata->certain_limit;
	if (recorder->wants_certain || !recorder->is_certain)
		return recorder->is_certain;
	programs->bss->certain_until = lode_now();
	recorder->is_certain = 0;
	set_waking_limit(programs, 0);
	return 0;
}

/* Only while no other program is attached to wakings: otherwise the kernel waits for its readers, and so would the caller. */
static void drop_long_waits(struct lode_recorder *recorder)
{
	struct recorder *programs = recorder->programs;

	if (recorder->wants_certain || programs->rodata->limits_at_waking || programs->links.lode_waking)
		return;
	bpf_link__destroy(programs->links.lode_long_wait);
	programs->links.lode_long_wait = NULL;
}

/* What rests needs the program for long waits at wakings. */
static void detach(struct lode_recorder *recorder)
{
	if (recorder->rests) {
		lode_scheduler_programs_rest(recorder->scheduler);
		return;
	}
	lode_scheduler_programs_detach(recorder->scheduler);
	drop_long_waits(recorder);
}

void lode_recorder_set_rests(struct lode_recorder *recorder, int rests)
{
	recorder->rests = rests;
}

int lode_recorder_set_slot(struct lode_recorder *recorder, const struct lode_slot *slot)
{
	struct lode_slot *own = (struct lode_slot *)(uintptr_t)&recorder->programs->bss->slot;
	int done = 1;

	if (lode_recorder_keep_slot(recorder) < 0) {
		errno = ENOMEM;
		return -1;
	}
	if (recorder->started && slot->single > LODE_SLOT_UNIT && watch_long_waits(recorder) < 0)
		return -1;
	/* Nothing counts as recorded while this changes. */
	__atomic_store_n(&own->on, 0, __ATOMIC_SEQ_CST);
	own->began = slot->began;
	own->number = slot->number;
	own->cycle = slot->cycle;
	own->single = slot->single;
	own->pair = slot->pair;
	own->all = slot->all;
	own->is_odd = slot->is_odd;
	if (recorder->started && slot->on)
		done = lode_scheduler_programs_attach(recorder->scheduler);
	else if (recorder->started)
		detach(recorder);
	__atomic_store_n(&own->on, slot->on && done > 0, __ATOMIC_SEQ_CST);
	return done;
}
