/*
 * Decoder: see decode.h.
 *
 * A sample is a sequence of fields, each there if its bit of the event's sample type
 * is set, in this order (those in brackets are stepped over):
 *
 *	[identifier] ip tid time [addr] id [stream id] cpu period	fixed, see recording_facts.c
 *	[read values] call chain, raw, branch stack, user registers, user stack
 *	[weight, data source, transaction, interrupt registers, physical
 *	address, cgroup, page sizes, aux]				of no use here
 *
 * All other records are changes of threads and mappings ("tasks") or are counted.
 */
#include "import/kernel/perf_data/decode.h"

#include "import/sched.h"

#include <elf.h>

int lode_perf_decoder_init(struct lode_perf_decoder *decoder, struct lode_perf_facts *facts)
{
	memset(decoder, 0, sizeof(*decoder));
	decoder->facts = facts;
	decoder->named = lode_calloc(LODE_PERF_NAMED_TIDS, sizeof(*decoder->named));
	decoder->scratch = lode_calloc(LODE_PERF_CHAIN_LIMIT, sizeof(*decoder->scratch));
	return decoder->named && decoder->scratch ? 0 : LODE_SYSTEM;
}

void lode_perf_decoder_release(struct lode_perf_decoder *decoder)
{
	lode_perf_chains_release(&decoder->chains);
	lode_free(decoder->named);
	lode_free(decoder->scratch);
	memset(decoder, 0, sizeof(*decoder));
}

void lode_perf_counts_note(const struct lode_perf_counts *counts, struct lode_notes *notes)
{
	lode_notes_add(notes, counts->bad_samples, "damaged samples skipped", NULL);
	lode_notes_add(notes, counts->unknown_samples, "samples of events that the header does not name skipped",
		       NULL);
	lode_notes_add(notes, counts->bad_records, "damaged records skipped", NULL);
	lode_notes_add(notes, counts->lost, "records lost by the recorder", NULL);
	lode_notes_add(notes, counts->lost_samples, "samples lost by the recorder", NULL);
	lode_notes_add(notes, counts->throttled, "times the kernel throttled sampling", NULL);
	lode_notes_add(notes, counts->switches, "context-switch records without a stack skipped", NULL);
	lode_notes_add(notes, counts->exits, "ends of system calls skipped", NULL);
	lode_notes_add(notes, counts->aux, "records of hardware traces skipped", NULL);
	lode_notes_add(notes, counts->narrow,
		       "user stacks of 32-bit programs, of which only the innermost function is shown", NULL);
	lode_notes_add(notes, counts->other_machine,
		       "user stacks of a machine whose stacks Lode does not unwind; import the output of perf "
		       "script instead",
		       NULL);
	lode_notes_add(notes, counts->no_registers,
		       "user stacks without the registers to unwind them, of which only the innermost function is "
		       "shown; record without --user-regs",
		       NULL);
	lode_notes_add(notes, counts->timeless, "samples without a time stamp", NULL);
	lode_notes_add(notes, counts->summed,
		       "off-CPU samples that add up many waits, put at the end of the recording", NULL);
	lode_notes_add(notes, counts->unknown, "records of unknown types skipped", NULL);
}

/* ---- call chains ---- */

/* The number of the chain whose addresses are `bytes` (anywhere in memory), added if it is new. */
static uint32_t intern_chain(struct lode_perf_decoder *decoder, const struct lode_perf_chain *chain,
			     const void *bytes)
{
	struct lode_perf_batch *batch = decoder->batch;
	size_t before = decoder->chains.count;
	uint32_t id;

	if (LODE_RESERVE(&batch->chains, 1) < 0)
		return LODE_NONE;
	id = lode_perf_chains_add(&decoder->chains, chain, bytes);
	if (decoder->chains.count > before)
		batch->chains.items[batch->chains.count++] = decoder->chains.items[id];
	return id;
}

/* ---- samples ---- */

/* The part of a sample that has no fixed place. `at` never passes `end`. */
struct tail {
	const unsigned char *at;
	const unsigned char *end;
	const unsigned char *chain; /* addresses */
	uint64_t chain_count;
	const unsigned char *branches; /* newest first: from, to, flags */
	uint64_t branch_count;
	const unsigned char *raw;
	uint32_t raw_size;
	uint64_t abi; /* of the user's registers */
	uint64_t register_mask;
	const unsigned char *registers; /* the values of those in the mask, in order */
	const unsigned char *stack;     /* from the user's stack pointer on; NULL: not requested */
	uint64_t stack_size;            /* bytes that were copied */
	int stack_is_cut;               /* there may be more */
};

/* Steps over `count` things of `each` bytes; 0 when they are not all there. */
static int step(struct tail *tail, uint64_t count, uint64_t each)
{
	if (count > (uint64_t)(tail->end - tail->at) / each)
		return 0;
	tail->at += count * each;
	return 1;
}

static int step_read(struct tail *tail, uint64_t format)
{
	unsigned times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	unsigned each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_READ_LOST);

	if (!(format & PERF_FORMAT_GROUP))
		return step(tail, times + each, 8);
	if (tail->end - tail->at < 8)
		return 0;
	return step(tail, perf_u64(tail->at), 8ull * each) && step(tail, 1 + times, 8);
}

static int step_chain(struct tail *tail)
{
	if (!step(tail, 1, 8))
		return 0;
	tail->chain_count = perf_u64(tail->at - 8);
	tail->chain = tail->at;
	return step(tail, tail->chain_count, 8);
}

static int step_raw(struct tail *tail)
{
	if (!step(tail, 1, 4))
		return 0;
	tail->raw_size = perf_u32(tail->at - 4);
	tail->raw = tail->at;
	return step(tail, tail->raw_size, 1);
}

static int step_branches(struct tail *tail, uint64_t branch_type)
{
	uint64_t count;

	if (!step(tail, 1, 8))
		return 0;
	count = perf_u64(tail->at - 8);
	if (branch_type & PERF_BRANCH_HW_INDEX && !step(tail, 1, 8))
		return 0;
	tail->branches = tail->at;
	tail->branch_count = count;
	return step(tail, count, 24) && (!(branch_type & PERF_BRANCH_COUNTERS) || step(tail, count, 8));
}

/* Registers are there when their ABI is not 0. */
static int step_registers(struct tail *tail, uint64_t mask)
{
	if (!step(tail, 1, 8))
		return 0;
	tail->abi = perf_u64(tail->at - 8);
	if (tail->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 1;
	tail->register_mask = mask;
	tail->registers = tail->at;
	return step(tail, (uint64_t)__builtin_popcountll(mask), 8);
}

/* Size, bytes, and how many of them were copied; where the size is 0 nothing follows. */
static int step_stack(struct tail *tail)
{
	uint64_t size;

	if (!step(tail, 1, 8))
		return 0;
	size = perf_u64(tail->at - 8);
	tail->stack = tail->at;
	if (!size)
		return 1;
	if (!step(tail, size, 1) || !step(tail, 1, 8))
		return 0;
	tail->stack_size = perf_u64(tail->at - 8);
	tail->stack_is_cut = tail->stack_size == size;
	return tail->stack_size <= size;
}

static int read_tail(struct tail *tail, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ && !step_read(tail, attr->read_format))
		return 0;
	if (type & PERF_SAMPLE_CALLCHAIN && !step_chain(tail))
		return 0;
	if (type & PERF_SAMPLE_RAW && !step_raw(tail))
		return 0;
	if (type & PERF_SAMPLE_BRANCH_STACK && !step_branches(tail, attr->branch_sample_type))
		return 0;
	if (type & PERF_SAMPLE_REGS_USER && !step_registers(tail, attr->sample_regs_user))
		return 0;
	return !(type & PERF_SAMPLE_STACK_USER) || step_stack(tail);
}

/* ---- registers ---- */

/* The value of a register by its number; 1 when it is there. */
static int decode_register(const struct tail *tail, unsigned number, uint64_t *value)
{
	uint64_t bit = 1ull << number;

	*value = 0;
	if (!(tail->register_mask & bit))
		return 0;
	*value = perf_u64(tail->registers + 8 * __builtin_popcountll(tail->register_mask & (bit - 1)));
	return 1;
}

/*
 * The machine whose registers these are; 0: one whose stacks are not unwound. A recording
 * that was cut off does not say it, but of the two only aarch64 has a register of this number.
 */
static uint32_t machine_of(const struct lode_perf_facts *facts, const struct tail *tail)
{
	if (facts->arch)
		return lode_perf_facts_machine(facts);
	return tail->register_mask & 1ull << PERF_AARCH64_PC ? EM_AARCH64 : EM_X86_64;
}

/* Those that unwinding begins with; 1 when all that it cannot do without are there. */
static int decode_registers(const struct tail *tail, uint32_t machine, struct lode_unwind_registers *registers)
{
	int is_aarch64 = machine == EM_AARCH64;
	int has_counter, has_pointer;

	memset(registers, 0, sizeof(*registers));
	registers->machine = machine;
	if (!machine)
		return 0;
	has_counter = decode_register(tail, is_aarch64 ? PERF_AARCH64_PC : PERF_X86_IP, &registers->pc);
	has_pointer = decode_register(tail, is_aarch64 ? PERF_AARCH64_SP : PERF_X86_SP, &registers->sp);
	decode_register(tail, is_aarch64 ? PERF_AARCH64_FP : PERF_X86_BP, &registers->fp);
	decode_register(tail, is_aarch64 ? PERF_AARCH64_LINK_REGISTER : PERF_X86_DI, &registers->link);
	if (!is_aarch64)
		decode_register(tail, PERF_X86_R10, &registers->scratch);
	return has_counter && has_pointer && tail->abi == PERF_SAMPLE_REGS_ABI_64;
}

/*
 * The link register where it completes a chain of frame pointers: perf asks for it
 * alone then. With a copy of the stack it is for unwinding that.
 */
static int decode_link(const struct lode_perf_decoder *decoder, const struct perf_event_attr *attr,
		       const struct tail *tail, uint64_t *link)
{
	if (tail->stack || tail->abi != PERF_SAMPLE_REGS_ABI_64 ||
	    (attr->sample_regs_user != 1ull << PERF_AARCH64_LINK_REGISTER &&
	     lode_perf_facts_machine(decoder->facts) != EM_AARCH64))
		return 0;
	return decode_register(tail, PERF_AARCH64_LINK_REGISTER, link);
}

/* ---- chains of samples ---- */

static uint64_t marker_of_mode(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return (uint64_t)PERF_CONTEXT_KERNEL;
	case PERF_RECORD_MISC_HYPERVISOR:
		return (uint64_t)PERF_CONTEXT_HV;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return (uint64_t)PERF_CONTEXT_GUEST_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return (uint64_t)PERF_CONTEXT_GUEST_USER;
	default:
		return (uint64_t)PERF_CONTEXT_USER;
	}
}

/* How many addresses follow the user's marker. */
static uint64_t user_calls(const struct tail *tail)
{
	for (uint64_t i = 0; i < tail->chain_count; i++)
		if (perf_u64(tail->chain + 8 * i) == (uint64_t)PERF_CONTEXT_USER)
			return tail->chain_count - i - 1;
	return 0;
}

/* The chain of a sample; without one the place where it was taken is a chain of one. LODE_NONE: none. */
static int chain_of(struct lode_perf_decoder *decoder, const unsigned char *record,
		    const struct lode_perf_event *event, const struct tail *tail, uint32_t *id)
{
	struct lode_perf_chain chain = { .count = (uint32_t)tail->chain_count };
	uint64_t single[2];

	*id = LODE_NONE;
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN || tail->chain) {
		if (!chain.count)
			return 0;
		if (user_calls(tail) > 1)
			chain.has_link = (uint16_t)decode_link(decoder, &event->attr, tail, &chain.link);
		*id = intern_chain(decoder, &chain, tail->chain);
	} else if (event->layout.ip) {
		single[0] = marker_of_mode(perf_u16(record + 4));
		single[1] = perf_u64(record + event->layout.ip);
		chain.count = 2;
		*id = intern_chain(decoder, &chain, single);
	} else {
		return 0;
	}
	return *id == LODE_NONE ? LODE_SYSTEM : 0;
}

/*
 * The calls that the processor kept (perf record --call-graph lbr) are the user's part, in place of what
 * frame pointers gave: the function that was entered last, then the places that it was called from.
 */
static int chain_with_branches(struct lode_perf_decoder *decoder, const struct perf_event_attr *attr,
			       const struct tail *tail, uint32_t *id)
{
	struct lode_perf_chain chain = { 0 };
	uint64_t *ips = decoder->scratch, above = tail->chain_count - user_calls(tail);

	if (!(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) || !tail->branch_count || !above ||
	    perf_u64(tail->chain + 8 * (above - 1)) != (uint64_t)PERF_CONTEXT_USER ||
	    above + tail->branch_count + 1 > LODE_PERF_CHAIN_LIMIT)
		return 0;
	memcpy(ips, tail->chain, 8 * above);
	chain.count = (uint32_t)above;
	ips[chain.count++] = perf_u64(tail->branches + 8);
	for (uint64_t i = 0; i < tail->branch_count; i++)
		ips[chain.count++] = perf_u64(tail->branches + 24 * i);
	*id = intern_chain(decoder, &chain, ips);
	return *id == LODE_NONE ? LODE_SYSTEM : 0;
}

/* Where the user's stack cannot be unwound the address it ran at is used instead. */
static int chain_with_counter(struct lode_perf_decoder *decoder, const struct tail *tail, uint64_t counter,
			      uint32_t *id)
{
	struct lode_perf_chain chain = { .count = (uint32_t)tail->chain_count };

	if (!counter || chain.count + 2 > LODE_PERF_CHAIN_LIMIT)
		return 0;
	if (chain.count)
		memcpy(decoder->scratch, tail->chain, 8ull * chain.count);
	decoder->scratch[chain.count++] = (uint64_t)PERF_CONTEXT_USER;
	decoder->scratch[chain.count++] = counter;
	*id = intern_chain(decoder, &chain, decoder->scratch);
	return *id == LODE_NONE ? LODE_SYSTEM : 0;
}

/* The bytes of a record that goes away are copied. */
static int keep_stack(const struct lode_perf_decoder *decoder, const struct tail *tail, struct lode_perf_copy *copy)
{
	copy->bytes = tail->stack;
	copy->size = (uint32_t)tail->stack_size;
	copy->is_cut = tail->stack_is_cut != 0;
	if (decoder->is_lasting || !copy->size)
		return 0;
	copy->owned = lode_alloc(copy->size);
	if (!copy->owned)
		return LODE_SYSTEM;
	memcpy(copy->owned, tail->stack, copy->size);
	copy->bytes = copy->owned;
	return 0;
}

/* A copy that names the chain `*id`, in whose place it is. */
static int add_copy(struct lode_perf_decoder *decoder, const struct tail *tail,
		    const struct lode_unwind_registers *registers, uint32_t *id)
{
	struct lode_perf_batch *batch = decoder->batch;
	struct lode_perf_copy copy = { .registers = *registers, .chain = *id };

	if (batch->copies.count >= LODE_PERF_COPIED - 1 || LODE_RESERVE(&batch->copies, 1) < 0 ||
	    keep_stack(decoder, tail, &copy) < 0)
		return LODE_SYSTEM;
	*id = LODE_PERF_COPIED | (uint32_t)batch->copies.count;
	batch->copies.items[batch->copies.count++] = copy;
	batch->copy_bytes += copy.size;
	return 0;
}

/* A chain whose user's part comes later ends in a marker and a cookie, which are cut off here; 1 if so. */
static int cut_deferred(struct tail *tail, uint64_t *cookie)
{
	uint64_t count = tail->chain_count;

	if (count < 2 || perf_u64(tail->chain + 8 * (count - 2)) != PERF_DEFERRED_USER)
		return 0;
	*cookie = perf_u64(tail->chain + 8 * (count - 1));
	tail->chain_count = count - 2;
	return 1;
}

/* In place of the chain `*id` is what waits for the user's part. */
static int wait_for_user(struct lode_perf_decoder *decoder, uint64_t cookie, uint32_t *id)
{
	struct lode_perf_batch *batch = decoder->batch;
	struct lode_perf_copy copy = { .chain = *id, .is_deferred = 1, .cookie = cookie };

	if (batch->copies.count >= LODE_PERF_COPIED - 1)
		return LODE_SYSTEM;
	*id = LODE_PERF_COPIED | (uint32_t)batch->copies.count;
	return LODE_PUSH(&batch->copies, copy);
}

/* Takes the copy of the user's stack where the chain `*id` has no user frames. A kernel thread has no copy. */
static int decode_copy(struct lode_perf_decoder *decoder, const struct lode_perf_event *event,
		       const struct tail *tail, uint32_t *id)
{
	struct lode_unwind_registers registers;

	if (!tail->stack || !(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) || user_calls(tail) ||
	    tail->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	if (decode_registers(tail, machine_of(decoder->facts, tail), &registers))
		return add_copy(decoder, tail, &registers, id);
	if (!registers.machine)
		decoder->counts.other_machine++;
	else if (tail->abi == PERF_SAMPLE_REGS_ABI_64)
		decoder->counts.no_registers++;
	else
		decoder->counts.narrow++;
	return chain_with_counter(decoder, tail, registers.pc, id);
}

/* A number of the raw bytes; 0 where the field is not in them. */
static uint64_t raw_number(const struct tail *tail, struct lode_perf_field field)
{
	const unsigned char *at;

	if (!tail->raw || field.offset > tail->raw_size || field.size > tail->raw_size - field.offset)
		return 0;
	at = tail->raw + field.offset;
	switch (field.size) {
	case 1:
		return *at;
	case 2:
		return perf_u16(at);
	case 4:
		return perf_u32(at);
	case 8:
		return perf_u64(at);
	default:
		return 0;
	}
}

/* ---- entries ---- */

/* Adds the task, with its text, at `time`. */
static int add_task(struct lode_perf_decoder *decoder, struct lode_perf_task task, const char *text, size_t length,
		    uint64_t time)
{
	struct lode_perf_batch *batch = decoder->batch;
	struct lode_perf_entry entry = {
		.time = time,
		.value = batch->tasks.count,
		.chain = LODE_NONE,
		.event = LODE_PERF_TASK,
	};

	task.text = (uint32_t)batch->texts.size;
	lode_buffer_add(&batch->texts, text, length);
	lode_buffer_byte(&batch->texts, '\0');
	if (batch->texts.failed || batch->texts.size > UINT32_MAX || LODE_PUSH(&batch->tasks, task) < 0)
		return LODE_SYSTEM;
	return LODE_PUSH(&batch->entries, entry);
}

static int seen_name(struct lode_perf_decoder *decoder, uint32_t tid)
{
	uint32_t *place = &decoder->named[tid % LODE_PERF_NAMED_TIDS];

	if (*place == tid)
		return 1;
	*place = tid;
	return 0;
}

/* Tracepoints of the scheduler name threads that the recording may not name elsewhere. */
static int name_thread(struct lode_perf_decoder *decoder, const struct tail *tail, uint32_t tid,
		       struct lode_perf_field comm, uint64_t time)
{
	struct lode_perf_task task = { .type = LODE_PERF_NAME, .tid = tid };
	const char *text;

	if (seen_name(decoder, tid) || !comm.size || !tail->raw || comm.offset > tail->raw_size ||
	    comm.size > tail->raw_size - comm.offset)
		return 0;
	text = (const char *)tail->raw + comm.offset;
	return add_task(decoder, task, text, strnlen(text, comm.size), time);
}

/* What the raw bytes of a tracepoint say. */
static int read_tracepoint(struct lode_perf_decoder *decoder, const struct lode_perf_event *event,
			   const struct tail *tail, struct lode_perf_entry *entry)
{
	const struct lode_perf_field *fields = event->tracepoint->fields;
	uint32_t previous;

	switch (event->use) {
	case LODE_PERF_SWITCH:
		previous = (uint32_t)raw_number(tail, fields[FIELD_PREV_PID]);
		entry->value = lode_perf_switch_value((uint32_t)raw_number(tail, fields[FIELD_NEXT_PID]),
						      lode_switch_state(raw_number(tail, fields[FIELD_PREV_STATE]),
									event->tracepoint->dead));
		if (entry->tid == UINT32_MAX)
			entry->tid = previous; /* it is past its end, and has no number any more */
		if (name_thread(decoder, tail, previous, fields[FIELD_PREV_COMM], entry->time) < 0)
			return LODE_SYSTEM;
		return name_thread(decoder, tail, (uint32_t)entry->value, fields[FIELD_NEXT_COMM], entry->time);
	case LODE_PERF_WAKING:
		entry->value = raw_number(tail, fields[FIELD_PID]);
		return name_thread(decoder, tail, (uint32_t)entry->value, fields[FIELD_COMM], entry->time);
	case LODE_PERF_SYSCALL:
		entry->value = raw_number(tail, fields[FIELD_ID]);
		return 0;
	default:
		return 0;
	}
}

/* The event a sample belongs to; NULL when the header does not name it. */
static const struct lode_perf_event *event_of(struct lode_perf_decoder *decoder, const unsigned char *record,
					      size_t size)
{
	const struct lode_perf_facts *facts = decoder->facts;
	uint16_t place = facts->events.items[0].layout.id;
	uint64_t id;

	if (facts->events.count == 1 || !facts->by_id)
		return &facts->events.items[0];
	if (!place || size < place + 8u)
		return NULL;
	id = perf_u64(record + place);
	if (id == decoder->last_id && decoder->last_event)
		return decoder->last_event;
	decoder->last_event = lode_perf_facts_event(facts, id);
	decoder->last_id = id;
	return decoder->last_event;
}

static uint16_t cpu_of(const unsigned char *record, const struct lode_perf_layout *layout)
{
	uint32_t cpu = layout->cpu ? perf_u32(record + layout->cpu) : UINT32_MAX;

	return cpu < LODE_NO_CPU ? (uint16_t)cpu : LODE_NO_CPU;
}

static void read_fixed(struct lode_perf_decoder *decoder, const unsigned char *record,
		       const struct lode_perf_layout *layout, struct lode_perf_entry *entry)
{
	entry->pid = layout->tid ? perf_u32(record + layout->tid) : UINT32_MAX;
	entry->tid = layout->tid ? perf_u32(record + layout->tid + 4) : UINT32_MAX;
	entry->cpu = cpu_of(record, layout);
	entry->value = layout->period ? perf_u64(record + layout->period) : 0;
	if (layout->time)
		decoder->time = perf_u64(record + layout->time);
	else
		decoder->counts.timeless++;
	entry->time = decoder->time;
}

/*
 * An off-CPU sample of BPF (perf record --off-cpu): the period is the time that the thread was blocked. Since
 * perf 6.16 all of it is in the raw bytes: 0 pid, 4 tid, 8 time blocked, 16 the length of the chain, 24 the
 * chain. What was only added up comes at the end, with a time that is none.
 */
static void read_off_cpu(struct lode_perf_decoder *decoder, struct tail *tail, struct lode_perf_entry *entry)
{
	if (tail->raw && tail->raw_size >= 24) {
		uint64_t count = perf_u64(tail->raw + 16);

		entry->pid = perf_u32(tail->raw);
		entry->tid = perf_u32(tail->raw + 4);
		entry->value = perf_u64(tail->raw + 8);
		if (count <= (tail->raw_size - 24) / 8) {
			tail->chain = tail->raw + 24;
			tail->chain_count = count;
		}
	}
	if (entry->time >= PERF_OFF_CPU_TIME) {
		decoder->time = decoder->latest;
		entry->time = decoder->latest;
		decoder->counts.summed++;
	}
}

static int decode_sample(struct lode_perf_decoder *decoder, const unsigned char *record, size_t size)
{
	const struct lode_perf_event *event = event_of(decoder, record, size);
	struct lode_perf_batch *batch = decoder->batch;
	struct lode_perf_entry entry;
	struct tail tail = { 0 };
	uint64_t cookie = 0;
	int is_deferred;

	decoder->counts.samples++;
	if (!event) {
		decoder->counts.unknown_samples++;
		return 0;
	}
	tail.at = record + event->layout.end;
	tail.end = record + size;
	if (size < event->layout.end || !read_tail(&tail, &event->attr)) {
		decoder->counts.bad_samples++;
		return 0;
	}
	if (event->use == LODE_PERF_SYSCALL_EXIT) {
		decoder->counts.exits++;
		return 0;
	}
	read_fixed(decoder, record, &event->layout, &entry);
	entry.event = (uint16_t)(event - decoder->facts->events.items);
	if (event->use == LODE_PERF_OFF_CPU)
		read_off_cpu(decoder, &tail, &entry);
	else if (entry.time > decoder->latest)
		decoder->latest = entry.time;
	if (event->tracepoint && read_tracepoint(decoder, event, &tail, &entry) < 0)
		return LODE_SYSTEM;
	is_deferred = cut_deferred(&tail, &cookie);
	if (chain_of(decoder, record, event, &tail, &entry.chain) < 0 ||
	    (is_deferred && wait_for_user(decoder, cookie, &entry.chain) < 0) ||
	    chain_with_branches(decoder, &event->attr, &tail, &entry.chain) < 0 ||
	    decode_copy(decoder, event, &tail, &entry.chain) < 0)
		return LODE_SYSTEM;
	return LODE_PUSH(&batch->entries, entry);
}

/* ---- threads and mappings ---- */

/* A record without its trailer, and its time. */
struct body {
	const unsigned char *record;
	size_t size;
	uint64_t time;
	const unsigned char *who; /* pid and tid in the trailer; NULL: unknown */
};

/*
 * The trailer says when. A recording without trailers has none of it: such a
 * record is taken to be of the time of the record before it.
 */
static struct body body_of(struct lode_perf_decoder *decoder, const unsigned char *record, size_t size)
{
	struct body body = { record, size, decoder->time, NULL };
	const struct lode_perf_event *event = decoder->facts->events.count ? &decoder->facts->events.items[0]
									   : NULL;
	const struct lode_perf_event *other = NULL;

	if (!event || !event->layout.trailer || size < sizeof(struct perf_event_header) + event->layout.trailer)
		return body;
	if (decoder->facts->events.count > 1 && event->layout.trailer_id)
		other = lode_perf_facts_event(decoder->facts, perf_u64(record + size - event->layout.trailer_id));
	if (other && size >= sizeof(struct perf_event_header) + other->layout.trailer)
		event = other;
	body.size -= event->layout.trailer;
	if (event->layout.trailer_time)
		body.time = perf_u64(record + size - event->layout.trailer_time);
	if (event->layout.trailer_tid)
		body.who = record + size - event->layout.trailer_tid;
	return body;
}

/* The text from `at` to the end of the body; 0 when the body is too short to have one. */
static int text_at(const struct body *body, size_t at, const char **text, size_t *length)
{
	if (body->size <= at)
		return 0;
	*text = (const char *)body->record + at;
	*length = strnlen(*text, body->size - at);
	return 1;
}

static int is_kernel_map(const struct lode_perf_task *task, uint16_t misc)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return task->pid == UINT32_MAX &&
	       (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_CPUMODE_UNKNOWN);
}

/*
 * The build-id of an MMAP2 record: 40 its size, 44 its bytes, in place of the file's numbers.
 * While another recorder asks for build-ids a kernel (6.18 was seen to) may set the bit for all
 * recorders; the file's numbers are there anyway then, and what seems a size is a device.
 */
static uint8_t build_id_size(const struct lode_perf_facts *facts, const unsigned char *record, uint16_t misc)
{
	uint8_t size = record[40];

	if (!(misc & PERF_MISC_MMAP_BUILD_ID) || size > PERF_BUILD_ID_BYTES)
		return 0;
	return facts->has_build_ids || size == PERF_BUILD_ID_BYTES ? size : 0;
}

/* MMAP: 8 pid, 12 tid, 16 address, 24 length, 32 offset, 40 path; MMAP2 has 40 file, 64 rights, 72 path. */
static int decode_map(struct lode_perf_decoder *decoder, const struct body *body, int second)
{
	const unsigned char *record = body->record;
	struct lode_perf_task task = { .type = LODE_PERF_MAP };
	uint16_t misc = perf_u16(record + 4);
	const char *path;
	size_t length;

	if (!text_at(body, second ? 72 : 40, &path, &length)) {
		decoder->counts.bad_records++;
		return 0;
	}
	task.pid = perf_u32(record + 8);
	task.tid = perf_u32(record + 12);
	task.start = perf_u64(record + 16);
	task.length = perf_u64(record + 24);
	task.offset = perf_u64(record + 32);
	task.is_data = (misc & PERF_RECORD_MISC_MMAP_DATA) != 0;
	if (second) {
		task.build_id_size = build_id_size(decoder->facts, record, misc);
		memcpy(task.build_id, record + 44, PERF_BUILD_ID_BYTES);
	}
	if (is_kernel_map(&task, misc))
		task.type = LODE_PERF_KERNEL_MAP;
	return add_task(decoder, task, path, length, body->time);
}

/* COMM: 8 pid, 12 tid, 16 name. */
static int decode_comm(struct lode_perf_decoder *decoder, const struct body *body)
{
	struct lode_perf_task task = { .type = LODE_PERF_COMM };
	const char *name;
	size_t length;

	if (!text_at(body, 16, &name, &length)) {
		decoder->counts.bad_records++;
		return 0;
	}
	task.pid = perf_u32(body->record + 8);
	task.tid = perf_u32(body->record + 12);
	seen_name(decoder, task.tid);
	return add_task(decoder, task, name, length, body->time);
}

/* FORK: 8 pid, 12 parent's pid, 16 tid, 20 parent's tid. */
static int decode_fork(struct lode_perf_decoder *decoder, const struct body *body)
{
	struct lode_perf_task task = { .type = LODE_PERF_FORK };

	if (body->size < 24) {
		decoder->counts.bad_records++;
		return 0;
	}
	task.pid = perf_u32(body->record + 8);
	task.parent_pid = perf_u32(body->record + 12);
	task.tid = perf_u32(body->record + 16);
	task.parent_tid = perf_u32(body->record + 20);
	task.share_space = !(perf_u16(body->record + 4) & PERF_MISC_FORK_SYNTHESIZED);
	return add_task(decoder, task, "", 0, body->time);
}

/* KSYMBOL: 8 address, 16 length (u32), 20 type, 22 flags (1: gone), 24 name. */
static int decode_ksymbol(struct lode_perf_decoder *decoder, const struct body *body)
{
	struct lode_perf_task task = { .type = LODE_PERF_KSYMBOL };
	const char *name;
	size_t length;

	if (!text_at(body, 24, &name, &length)) {
		decoder->counts.bad_records++;
		return 0;
	}
	task.start = perf_u64(body->record + 8);
	task.length = perf_u32(body->record + 16);
	if (perf_u16(body->record + 22) & 1)
		task.type = LODE_PERF_KSYMBOL_GONE;
	return add_task(decoder, task, name, length, body->time);
}

/* CALLCHAIN_DEFERRED: 8 cookie, 16 number of addresses, 24 addresses behind the user's marker. The trailer
 * says whose. */
static int decode_deferred(struct lode_perf_decoder *decoder, const struct body *body)
{
	struct lode_perf_task task = { .type = LODE_PERF_USER_STACK };
	struct lode_perf_chain chain = { 0 };
	uint64_t count = body->size >= 24 ? perf_u64(body->record + 16) : 0;
	uint32_t id;

	if (!body->who || body->size < 24 || count > (body->size - 24) / 8 || count > LODE_PERF_CHAIN_LIMIT) {
		decoder->counts.bad_records++;
		return 0;
	}
	chain.count = (uint32_t)count;
	if (!count)
		return 0;
	id = intern_chain(decoder, &chain, body->record + 24);
	if (id == LODE_NONE)
		return LODE_SYSTEM;
	task.pid = perf_u32(body->who);
	task.tid = perf_u32(body->who + 4);
	task.start = perf_u64(body->record + 8);
	task.offset = id;
	return add_task(decoder, task, "", 0, body->time);
}

/* A number at `at`, or 0 when the record ends before. */
static uint64_t number_at(const struct body *body, size_t at)
{
	return body->size >= at + 8 ? perf_u64(body->record + at) : 0;
}

int lode_perf_decode(struct lode_perf_decoder *decoder, const unsigned char *record, size_t size)
{
	uint32_t type = perf_u32(record);
	struct body body;

	if (type == PERF_RECORD_SAMPLE)
		return decoder->facts->events.count ? decode_sample(decoder, record, size) : 0;
	body = body_of(decoder, record, size);
	switch (type) {
	case PERF_RECORD_MMAP:
		return decode_map(decoder, &body, 0);
	case PERF_RECORD_MMAP2:
		return decode_map(decoder, &body, 1);
	case PERF_RECORD_COMM:
		return decode_comm(decoder, &body);
	case PERF_RECORD_FORK:
		return decode_fork(decoder, &body);
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(decoder, &body);
	case PERF_RECORD_LOST:
		decoder->counts.lost += number_at(&body, 16);
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		decoder->counts.lost_samples += number_at(&body, 8);
		return 0;
	case PERF_RECORD_THROTTLE:
		decoder->counts.throttled++;
		return 0;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		decoder->counts.switches++;
		return 0;
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		decoder->counts.aux++;
		return 0;
	case PERF_CALLCHAIN_DEFERRED:
		return decode_deferred(decoder, &body);
	case PERF_RECORD_EXIT:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_READ:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_TEXT_POKE:
		return 0; /* nothing in them that stacks or waits need */
	default:
		decoder->counts.unknown++;
		return 0;
	}
}
