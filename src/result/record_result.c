/* What lode record recorded, as JSON: see record_report.h. */
#include "result/record_report.h"

#include "result/event_fields.h"
#include "result/field_rows.h"
#include "result/notes_fields.h"

struct record_result {
	const char *id;
	const char *name;
	const char *corpus;
	struct lode_event_sums events;
	uint64_t preemptions;
	uint64_t system_calls;
	uint64_t stacks;
	uint64_t symptoms;
	uint64_t duration_ns;
	uint64_t stored_bytes;
	uint64_t lost;
	struct lode_user_stacks user_stacks;
	struct lode_kernel_stacks kernel_stacks;
	struct lode_unwind_sizes unwind_tables;
	struct lode_budget_part budget;
	uint64_t pid; /* 0: none */
	int has_exit_status;
	uint64_t exit_status;
	uint64_t signal; /* 0: none */
	struct lode_notes_part notes;
};

#define TABLE_OF struct lode_user_stacks
static const struct lode_field user_rows[] = {
	FIELD_U64(unknown, "Not known."),
	FIELD_U64(whole, "At their root."),
	FIELD_U64(too_deep, "Deeper than can be recorded."),
	FIELD_U64(too_large, "Larger than the copy of the stack."),
	FIELD_U64(broken, "At an address without rules to go on."),
	FIELD_U64(unmapped, "Outside of all modules."),
	FIELD_U64(pending, "Not unwound when the recording ended."),
	FIELD_U64(compat, "Of 32-bit programs, which are not unwound."),
	FIELD_U64(guessed, "With frames that were guessed."),
	FIELD_U64(copied, "Unwound from a copy of the stack."),
	FIELD_U64(lost_copies, "Copies that were lost."),
};
static const struct lode_fields user_stacks = FIELD_TABLE("RecordUserStacks", user_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_kernel_stacks
static const struct lode_field kernel_rows[] = {
	FIELD_U64(asked, "Stacks that the kernel was asked for."),
	FIELD_U64(checked, "Walks that were checked."),
	FIELD_U64(wrong, "Walks that were wrong."),
};
static const struct lode_fields kernel_stacks = FIELD_TABLE("RecordKernelStacks", kernel_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_unwind_sizes
static const struct lode_field unwind_rows[] = {
	FIELD_U64(binaries, "Binaries."),
	FIELD_U64(rows, "Rows."),
	FIELD_U64(rules, "Distinct rules."),
	FIELD_U64(bytes, "Their size."),
};
static const struct lode_fields unwind_tables = FIELD_TABLE("RecordUnwindTables", unwind_rows);
#undef TABLE_OF

#define TABLE_OF struct record_result
static const struct lode_field record_rows[] = {
	FIELD_TEXT(id, "Id of the stream."),
	FIELD_TEXT(name, "Its name."),
	FIELD_TEXT(corpus, "Folder of the corpus."),
	FIELD_U64_AS("run", events.of[LODE_RUN], "CPU samples."),
	FIELD_U64_AS("wait", events.of[LODE_WAIT], "Waits."),
	FIELD_U64_AS("call", events.of[LODE_CALL], "System events."),
	FIELD_U64(preemptions, "How many of the calls are preemptions."),
	FIELD_U64(system_calls, "How many are system calls."),
	FIELD_U64(stacks, "Distinct stacks."),
	FIELD_U64(symptoms, "Symptoms."),
	FIELD_U64(duration_ns, "How long it took."),
	FIELD_U64(stored_bytes, "Size of the stream file."),
	FIELD_U64(lost, "Records that were lost."),
	FIELD_OBJECT(user_stacks, user_stacks, "How user stacks ended."),
	FIELD_OBJECT(kernel_stacks, kernel_stacks, "Checks of kernel stacks."),
	FIELD_OBJECT(unwind_tables, unwind_tables, "Tables to unwind with."),
	FIELD_PART(budget, lode_budget_part_fields),
	FIELD_U64(pid, "The program that was started; null: none.", FIELD_NULLABLE),
	FIELD_U64(exit_status, "Its exit status; null: it did not exit.", FIELD_NULLABLE_UNLESS(has_exit_status)),
	FIELD_U64(signal, "The signal that ended it; null: none.", FIELD_NULLABLE),
	FIELD_PART(notes, lode_notes_part_fields),
};
const struct lode_fields lode_record_fields = FIELD_TABLE("RecordResult", record_rows);
#undef TABLE_OF

void lode_record_json(const struct lode_record_report *report, struct lode_buffer *buffer)
{
	const struct lode_corpus_entry *entry = report->entry;
	struct record_result result = {
		.id = entry->id,
		.name = entry->name,
		.corpus = report->corpus,
		.events = lode_event_sums(entry->events),
		.preemptions = report->preemptions,
		.system_calls = report->system_calls,
		.stacks = entry->stacks,
		.symptoms = entry->symptoms,
		.duration_ns = report->duration,
		.stored_bytes = entry->file_size,
		.lost = report->lost,
		.user_stacks = report->user_stacks,
		.kernel_stacks = report->kernel_stacks,
		.unwind_tables = report->unwind_tables,
		.budget = lode_budget_part(&report->budget),
		.pid = report->pid > 0 ? (uint64_t)report->pid : 0,
		.has_exit_status = report->exit_status >= 0,
		.exit_status = (uint64_t)report->exit_status,
		.signal = report->signal > 0 ? (uint64_t)report->signal : 0,
		.notes = lode_notes_part(report->notes),
	};

	lode_fields_line(&lode_record_fields, &result, buffer);
}
