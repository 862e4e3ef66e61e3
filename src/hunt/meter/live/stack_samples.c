/*
 * Stack samples: see stack_samples.h.
 *
 * The recorder's stacks are leaf first, by frame pointers. On aarch64 the second
 * address is the link register, which holds the leaf's caller only while the leaf
 * has not saved it: it is left out when it is the caller in the first frame
 * record, or when it points into the leaf itself, where a call returned to.
 *
 * Whether a stack is whole the recorder knows, unless it walked by frame pointers. Then
 * one is cut when it does not begin with what starts a program or a thread though others
 * of its process do: code without frame pointers hides its beginning.
 */
#include "hunt/meter/live/stack_samples.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "hunt/meter/live/syscall_waits.h"

#include <string.h>

/* Deeper stacks are cut at the leaf. */
#define MAX_FRAMES 2048

void lode_stack_samples_init(struct lode_stack_samples *samples, struct lode_hunted_processes *target,
			     uint64_t period, const struct lode_recorder_sink *tee)
{
	memset(samples, 0, sizeof(*samples));
	samples->target = target;
	samples->period = period;
	samples->tee = tee;
}

void lode_stack_samples_release(struct lode_stack_samples *samples)
{
	lode_free(samples->contents);
	lode_index_release(&samples->content_index);
	lode_free(samples->addresses);
	lode_free(samples->items);
	lode_free(samples->functions);
	lode_free(samples->waiting);
	lode_free(samples->roots);
	memset(samples, 0, sizeof(*samples));
}

int lode_stack_samples_set_waiting(struct lode_stack_samples *samples, uint32_t function)
{
	size_t before = samples->waiting_capacity;

	if (LODE_GROW(samples->waiting, samples->waiting_capacity, (size_t)function + 1) < 0)
		return LODE_SYSTEM;
	memset(samples->waiting + before, 0, samples->waiting_capacity - before);
	samples->waiting[function] = 1;
	return 0;
}

/* ---- samples ---- */

/* The C library's way into the program and into threads, before the first function of the program. */
static int is_start(const struct lode_program *program, uint32_t function)
{
	const struct lode_program_function *about = lode_program_function(program, function);
	const char *name = strchr(about->name, '!');

	return lode_starts_with(about->module, "libc.") || lode_starts_with(about->module, "libc-") ||
	       lode_starts_with(about->module, "libpthread") || lode_starts_with(about->module, "ld-") ||
	       (name && !strcmp(name, "!_start"));
}

static int add_root(struct lode_stack_samples *samples, uint32_t pid, const uint32_t *functions, size_t depth)
{
	size_t at = 0;

	while (at < depth && is_start(samples->target->program, functions[at]))
		at++;
	if (at == depth)
		return 0;
	for (size_t i = 0; i < samples->root_count; i++)
		if (samples->roots[i].pid == pid && samples->roots[i].function == functions[at])
			return 0;
	return LODE_APPEND(samples->roots, samples->root_count, samples->root_capacity,
			   (struct lode_stack_root){ pid, functions[at] });
}

static int report_calls(struct lode_stack_samples *samples, const uint32_t *functions, size_t depth)
{
	for (size_t i = 1; i < depth; i++)
		if (lode_program_add_call(samples->target->program, functions[i - 1], functions[i]) < 0)
			return LODE_SYSTEM;
	return 0;
}

static int is_waiting(const struct lode_stack_samples *samples, const uint32_t *functions, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (functions[i] < samples->waiting_capacity && samples->waiting[functions[i]])
			return 1;
	return 0;
}

/* Whether the stack of a sample, root first, seems to lack its beginning. */
static int is_cut(const struct lode_stack_samples *samples, uint32_t pid, const uint32_t *functions, size_t depth)
{
	struct lode_hunted_process *process = lode_hunted_find(samples->target, pid);

	if (!depth)
		return 1;
	if (is_start(samples->target->program, functions[0])) {
		if (process)
			process->shows_starts = 1;
		return 0;
	}
	return process && process->shows_starts;
}

/* Adds a sample whose functions, leaf first, are given; unknown ones are left out. */
static int add_sample(struct lode_stack_samples *samples, struct lode_stack_sample *sample,
		      const uint32_t *leaf_first, size_t count)
{
	uint32_t *functions;
	size_t depth = 0;

	if (LODE_GROW(samples->functions, samples->function_capacity, samples->function_count + count) < 0 ||
	    LODE_GROW(samples->items, samples->capacity, samples->count + 1) < 0)
		return LODE_SYSTEM;
	functions = samples->functions + samples->function_count;
	for (size_t i = count; i-- > 0;)
		if (leaf_first[i] != LODE_NONE)
			functions[depth++] = leaf_first[i];
	if (is_waiting(samples, functions, depth))
		sample->counts = LODE_SYNC_WAITING;
	sample->cut |= !sample->whole && is_cut(samples, sample->pid, functions, depth);
	sample->first = samples->function_count;
	sample->depth = (uint32_t)depth;
	samples->items[samples->count++] = *sample;
	samples->function_count += depth;
	if (add_root(samples, sample->pid, functions, depth) < 0)
		return LODE_SYSTEM;
	return report_calls(samples, functions, depth);
}

int lode_stack_samples_add(struct lode_stack_samples *samples, uint64_t t, uint32_t pid, uint32_t tid,
			   enum lode_hypothesis counts, const uint32_t *functions, size_t count)
{
	struct lode_stack_sample sample = { .t = t,
					    .pid = pid,
					    .tid = tid,
					    .weight = samples->period,
					    .counts = counts,
					    .drawn = 1 };

	return add_sample(samples, &sample, functions, count);
}

/* ---- the recorder's sink ---- */

static const struct lode_stack_content *find_content(const struct lode_stack_samples *samples, uint64_t id)
{
	uint32_t at = LODE_INDEX_FIND(i, &samples->content_index, lode_hash_u64(id), samples->contents[i].id == id);

	return at == LODE_NONE ? NULL : &samples->contents[at];
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_stack_samples *samples = context;
	uint64_t hash = lode_hash_u64(stack->id);

	if (samples->tee && samples->tee->stack(samples->tee->context, stack) < 0)
		return LODE_SYSTEM;
	if (!stack->user || find_content(samples, stack->id))
		return 0;
	if (LODE_GROW(samples->contents, samples->content_capacity, samples->content_count + 1) < 0 ||
	    LODE_GROW(samples->addresses, samples->address_capacity, samples->address_count + stack->count) < 0 ||
	    lode_index_insert(&samples->content_index, hash, (uint32_t)samples->content_count) < 0)
		return LODE_SYSTEM;
	samples->contents[samples->content_count++] =
		(struct lode_stack_content){ stack->id,    samples->address_count,
					     stack->count, stack->has_link,
					     stack->end,   stack->languages & LODE_STACK_HAS_WORDS };
	memcpy(samples->addresses + samples->address_count, stack->addresses,
	       stack->count * sizeof(*stack->addresses));
	samples->address_count += stack->count;
	return 0;
}

static int handle_change(void *context, const struct lode_change *change)
{
	struct lode_stack_samples *samples = context;

	if (samples->tee && samples->tee->change(samples->tee->context, change) < 0)
		return LODE_SYSTEM;
	return lode_hunted_apply(samples->target, change);
}

static int is_word(const struct lode_stack_content *content, uint64_t address)
{
	return content->has_words && lode_language_of(address) != LODE_LANGUAGE_NONE;
}

/* A function of a language: the program knows it by its name only, so it is not probed. */
static uint32_t named_function(const struct lode_stack_samples *samples, const struct lode_language_name *name)
{
	char *text = name ? lode_format("%s!%s", name->module, name->function) : NULL;
	uint32_t function = text ? lode_program_named(samples->target->program, text) : LODE_NONE;

	lode_free(text);
	if (function != LODE_NONE)
		lode_program_set_scripted(samples->target->program, function);
	return function;
}

/* The function of a word and those that it is inlined in, leaf first. Returns how many they are. */
static size_t named_functions(const struct lode_stack_samples *samples, uint32_t pid, uint64_t word,
			      uint32_t *functions, size_t limit)
{
	const struct lode_language_name *name =
		samples->languages ? lode_languages_find(samples->languages, pid, word, 0) : NULL;
	size_t count = 0;

	do
		functions[count] = named_function(samples, name ? name + count : NULL);
	while (++count < limit && name && count <= name->inlined);
	return count;
}

/* Whether the function before a word runs the word's: all stacks of the language have it. */
static int is_run_by(uint64_t word)
{
	return lode_language_of(word) == LODE_LANGUAGE_PYTHON || lode_language_of(word) == LODE_LANGUAGE_PHP;
}

/* The functions of a stack, leaf first. Those that run functions of a language are left out: they are in all its stacks. */
static size_t resolve(struct lode_stack_samples *samples, uint32_t pid, const struct lode_stack_content *content,
		      uint32_t *functions)
{
	const uint64_t *addresses = samples->addresses + content->first;
	size_t depth = 0;

	for (uint32_t i = 0; i < content->count && depth < MAX_FRAMES; i++) {
		uint32_t function;

		if (is_word(content, addresses[i])) {
			depth += named_functions(samples, pid, addresses[i], functions + depth, MAX_FRAMES - depth);
			continue;
		}
		if (i + 1 < content->count && is_word(content, addresses[i + 1]) && is_run_by(addresses[i + 1]))
			continue;
		if (content->has_link && i == 1 && content->count > 2 && addresses[1] == addresses[2])
			continue;
		function = lode_hunted_at(samples->target, pid, i ? addresses[i] - 1 : addresses[i]);
		if (content->has_link && i == 1 && depth && function == functions[0])
			continue;
		functions[depth++] = function;
	}
	return depth;
}

/* What a thread that waited so long was waiting for; LODE_HYPOTHESES: for nothing that is requested. */
static enum lode_hypothesis class_of(uint32_t value, uint64_t time)
{
	uint8_t calls[LODE_HUNT_CALLS];
	uint32_t call = value & ~LODE_RECORD_IOWAIT;

	if (value & LODE_RECORD_IOWAIT)
		return LODE_IO_BLOCKING;
	if (!call || call > LODE_HUNT_CALLS)
		return LODE_HYPOTHESES;
	lode_hunt_calls(calls);
	switch (calls[call - 1] & LODE_CALL_CLASS) {
	case LODE_CLOCK_SYNC:
		return LODE_SYNC_WAITING;
	case LODE_CLOCK_IO:
		return LODE_IO_BLOCKING;
	default:
		return calls[call - 1] & LODE_CALL_POLLS && time <= LODE_HUNT_IDLE ? LODE_IO_BLOCKING
										   : LODE_HYPOTHESES;
	}
}

/* A wait is over: what of it counts. */
static int count_wait(struct lode_stack_samples *samples, const struct lode_record *record,
		      const struct lode_stack_content *content, struct lode_stack_sample *sample)
{
	if (sample->counts == LODE_SYNC_WAITING && content &&
	    lode_hunted_note_wait(samples->target, record->tid, record->user, content->count, record->cost) < 0)
		return LODE_SYSTEM;
	if (!(record->value & LODE_RECORD_IOWAIT))
		sample->weight -=
			lode_hunted_idle_part(samples->target, record->tid, record->t, record->t + record->cost);
	return 0;
}

static int handle_record(void *context, const struct lode_record *record)
{
	struct lode_stack_samples *samples = context;
	const struct lode_stack_content *content;
	struct lode_stack_sample sample = { .t = record->t,
					    .pid = record->pid,
					    .tid = record->tid,
					    .weight = samples->period,
					    .counts = LODE_CPU_BOUND,
					    .drawn = 1 };
	uint32_t functions[MAX_FRAMES];

	if (samples->tee && samples->tee->record(samples->tee->context, record) < 0)
		return LODE_SYSTEM;
	if (record->type == LODE_RECORD_WAIT) {
		sample.weight = record->cost;
		sample.drawn = 0;
		sample.counts = class_of(record->value, record->cost);
	} else if (record->type != LODE_RECORD_RUN) {
		return 0;
	}
	if (sample.counts == LODE_HYPOTHESES || !lode_hunted_find(samples->target, record->pid))
		return 0;
	content = find_content(samples, record->user);
	if (record->type == LODE_RECORD_WAIT && count_wait(samples, record, content, &sample) < 0)
		return LODE_SYSTEM;
	if (!content || !sample.weight) {
		samples->missing += !content;
		return 0;
	}
	sample.whole = content->end == LODE_STACK_WHOLE;
	sample.cut = !sample.whole && content->end != LODE_STACK_UNKNOWN;
	return add_sample(samples, &sample, functions, resolve(samples, record->pid, content, functions));
}

struct lode_recorder_sink lode_stack_samples_sink(struct lode_stack_samples *samples)
{
	return (struct lode_recorder_sink){ .context = samples,
					    .stack = handle_stack,
					    .change = handle_change,
					    .record = handle_record };
}

int lode_stack_samples_take(struct lode_stack_samples *samples,
			    int (*each)(void *context, const struct lode_meter_sample *sample), void *context)
{
	int code = 0;

	for (size_t i = 0; !code && i < samples->count; i++) {
		const struct lode_stack_sample *from = &samples->items[i];
		struct lode_meter_sample sample = {
			.t = from->t,
			.host = 0,
			.process = from->pid,
			.thread = from->tid,
			.weight = from->weight,
			.counts = from->counts,
			.functions = samples->functions + from->first,
			.depth = from->depth,
			.drawn = from->drawn,
			.cut = from->cut,
		};

		code = each(context, &sample);
	}
	samples->count = samples->function_count = 0;
	return code;
}
