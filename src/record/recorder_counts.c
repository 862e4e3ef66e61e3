/* What the recorder counted: records, losses and unwind tables, as numbers and as notes for the user. */
#include "record/load/program_time.h"
#include "record/recorder_state.h"

#include <bpf/bpf.h>
#include <string.h>

struct lode_unwind_totals lode_recorder_unwind_totals(const struct lode_recorder *recorder)
{
	return recorder->loader ? lode_unwind_loader_totals(recorder->loader) : (struct lode_unwind_totals){ 0 };
}

/* All counts are numbers of 64 bits. */
static void add_counts(uint64_t *sums, const uint64_t *more)
{
	for (size_t i = 0; i < sizeof(struct lode_record_counts) / sizeof(*sums); i++)
		sums[i] += more[i];
}

void lode_recorder_counts(struct lode_recorder *recorder, struct lode_record_counts *counts)
{
	struct lode_record_counts *each = lode_calloc(recorder->cpu_count, sizeof(*each));
	uint32_t zero = 0;

	memset(counts, 0, sizeof(*counts));
	if (each && !bpf_map_lookup_elem(bpf_map__fd(recorder->programs->maps.counts), &zero, each))
		for (uint32_t i = 0; i < recorder->cpu_count; i++)
			add_counts(&counts->lost, &each[i].lost);
	lode_free(each);
}

uint64_t lode_recorder_exec_count(const struct lode_recorder *recorder)
{
	return recorder->execs;
}

/* Events during which a program was interrupted by the same program are not seen by it. */
static uint64_t missed(struct lode_recorder *recorder)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, recorder->programs->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

void lode_recorder_program_time(const struct lode_recorder *recorder,
				void (*each)(void *context, uint64_t runs, uint64_t nanoseconds), void *context)
{
	lode_program_time(recorder->programs->obj, NULL, each, context);
}

/* What did not fit into the kernel. */
static void note_tables(const struct lode_recorder *recorder, struct lode_notes *notes)
{
	struct lode_unwind_totals totals = lode_recorder_unwind_totals(recorder);

	lode_notes_add(
		notes,
		totals.refused, "unwind tables that could not be loaded into the kernel: stacks through these binaries are guessed",
		NULL);
	lode_notes_add(notes, recorder->left_out,
		       "processes that ran already and were too many to look at before the start: their first "
		       "stacks were copied",
		       NULL);
	lode_notes_add(notes, totals.crowded,
		       "processes with too many mappings for the kernel: their stacks are copied or cut", NULL);
}

void lode_recorder_note(struct lode_recorder *recorder, struct lode_notes *notes)
{
	struct lode_record_counts counts;

	lode_recorder_counts(recorder, &counts);
	lode_notes_add(notes, counts.lost, "records lost: they came faster than they could be read", NULL);
	lode_notes_add(notes, counts.lost_stacks, "stacks sent late: their ring was full", NULL);
	lode_notes_add(notes, counts.lost_copies + recorder->copies.dropped,
		       "user stacks cut or lost: copies of them came faster than they could be unwound", NULL);
	lode_notes_add(notes, counts.lost_contexts, "contexts lost: they came faster than they could be read",
		       NULL);
	lode_notes_add(notes, counts.lost_threads, "waits lost: too many threads", NULL);
	note_tables(recorder, notes);
	if (recorder->languages)
		lode_languages_note(recorder->languages, notes);
	lode_notes_add(notes, recorder->map_reads.gone,
		       "programs that ended before what they had mapped was read: their addresses have no symbols",
		       NULL);
	lode_notes_add(notes, missed(recorder), "events missed while another of their kind was recorded", NULL);
	lode_notes_add(
		notes, counts.unseen,
		"switches of threads that the kernel did not show: a wait or preemption is missing for each", NULL);
	lode_notes_add(notes, counts.short_waits, "waits left out because they were short", NULL);
	lode_notes_add(notes, counts.wrong_walks, "kernel stacks that had to be taken again", NULL);
	lode_notes_add(notes, lode_sideband_lost(recorder->sideband), "changes of processes lost", NULL);
}
