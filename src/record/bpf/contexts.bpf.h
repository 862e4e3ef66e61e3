/*
 * Which request or query a thread works on: its context, a number that stands for a text. Only where the user asks.
 *
 * - OpenTelemetry's thread context: a thread-local pointer to a record with the ids of trace and span. The program says
 *   where the pointer is in each process that has one (context_processes); it is read whenever a record of the thread
 *   begins.
 * - Queries and marks: probes at functions and marks say when one begins and ends.
 *
 * A context that is not the thread's last one gets the next number, and is sent through the ring of stacks before any
 * record names it. The program finds out which of them are equal.
 */
#ifndef LODE_RECORD_BPF_CONTEXTS_BPF_H
#define LODE_RECORD_BPF_CONTEXTS_BPF_H

#include "record/bpf/filters.bpf.h"
#include "record/bpf/output.bpf.h"

#define MAX_MARKS 8 /* in one another; those that are deeper belong to the one around them; a power of two */

/* What is known of a thread. */
struct thread_context {
	uint64_t start_time; /* of the thread: its tid may become another's */
	uint64_t trace[3];   /* its last trace and span, */
	uint64_t text[2];    /* and hashes of its last text, */
	uint32_t trace_number;
	uint32_t text_number; /* with their numbers; 0: none */
	uint32_t query;       /* number of the query that runs; 0: none */
	uint32_t depth;       /* marks that have begun, */
	uint32_t marks[MAX_MARKS];
};

/* By tid. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, uint32_t);
	__type(value, struct thread_context);
} thread_contexts SEC(".maps");

/* Processes that have OpenTelemetry's pointer, by pid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, struct lode_context_process);
} context_processes SEC(".maps");

const volatile bool with_traces = false; /* OpenTelemetry's contexts are wanted */

uint32_t last_context = 0;

/* The state of a thread, or NULL where it has none. */
static __always_inline struct thread_context *find_context(struct task_struct *task)
{
	uint32_t tid = task->pid;
	struct thread_context *own = bpf_map_lookup_elem(&thread_contexts, &tid);

	return own && own->start_time == task->start_time ? own : 0;
}

/* The same; it gets one. By itself: it needs room on the stack. */
__noinline int lode_add_context(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_context fresh = { .start_time = task->start_time };
	uint32_t tid = task->pid;

	return bpf_map_update_elem(&thread_contexts, &tid, &fresh, BPF_ANY);
}

static __always_inline struct thread_context *own_context(struct task_struct *task)
{
	struct thread_context *own = find_context(task);

	if (own)
		return own;
	return lode_add_context() ? 0 : find_context(task);
}

/* Sends a context whose bytes are filled in. Returns its number, 0 where there is no room. */
static __always_inline uint32_t send_context(struct lode_record_context *context, uint32_t kind, uint32_t size)
{
	context->number = (__sync_fetch_and_add(&last_context, 1) & ~LODE_RECORD_CONTEXT_OWN) + 1;
	context->size = size;
	context->mark = LODE_RECORD_CONTEXT_MARK;
	context->kind = kind;
	if (!bpf_ringbuf_output(&stacks, context, __builtin_offsetof(struct lode_record_context, bytes) + size,
				BPF_RB_NO_WAKEUP))
		return context->number;
	COUNT(lost_contexts);
	return 0;
}

/* ---- OpenTelemetry ---- */

/* What the pointer points to, up to the attributes that may follow. */
struct otel_record {
	uint64_t trace[2];
	uint64_t span;
	uint8_t valid; /* 1: it is */
	uint8_t flags;
	uint16_t attribute_bytes;
	uint32_t unused; /* not there */
};

#define OTEL_RECORD_BYTES 28
#define THREAD_TABLE_ROW  16 /* of the table of dynamic parts (glibc), whose first word is the address */

static __always_inline uint64_t word_of_own(uint64_t address)
{
	uint64_t word;

	return bpf_probe_read_user(&word, sizeof(word), (void *)address) ? 0 : word;
}

static __always_inline bool read_otel(struct task_struct *task, const struct lode_context_process *process,
				      struct otel_record *record)
{
	uint64_t base = THREAD_POINTER(task), at;

	if (base && process->module) {
		base = word_of_own(base + THREAD_TABLE_OFFSET);
		if (base)
			base = word_of_own(base + THREAD_TABLE_ROW * process->module);
	}
	if (!base || base == UINT64_MAX)
		return false;
	at = word_of_own(base + process->offset);
	return at && !bpf_probe_read_user(record, OTEL_RECORD_BYTES, (void *)at) && record->valid == 1 &&
	       (record->trace[0] || record->trace[1]);
}

/* By itself: it needs room on the stack. */
__noinline uint32_t lode_send_trace(uint64_t first, uint64_t second, uint64_t span)
{
	struct lode_record_context context;
	uint64_t ids[3] = { first, second, span };

	__builtin_memcpy(context.bytes, ids, sizeof(ids));
	return send_context(&context, LODE_CONTEXT_TRACE, sizeof(ids));
}

/* The number of the trace and span that the current thread works on; 0: none. */
__noinline uint32_t lode_own_trace(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t pid = task->tgid;
	const struct lode_context_process *process = bpf_map_lookup_elem(&context_processes, &pid);
	struct thread_context *own;
	struct otel_record record;

	if (!process || !read_otel(task, process, &record))
		return 0;
	own = own_context(task);
	if (!own)
		return 0;
	if (own->trace_number && own->trace[0] == record.trace[0] && own->trace[1] == record.trace[1] &&
	    own->trace[2] == record.span)
		return own->trace_number;
	own->trace[0] = record.trace[0];
	own->trace[1] = record.trace[1];
	own->trace[2] = record.span;
	own->trace_number = lode_send_trace(record.trace[0], record.trace[1], record.span);
	return own->trace_number;
}

/* ---- queries and marks ---- */

#define TEXT_WORDS (LODE_RECORD_CONTEXT_BYTES / 8)

static __always_inline uint64_t argument_of(struct pt_regs *regs, uint32_t number)
{
	uint64_t word = 0;

	if (number < REGS_ARGUMENTS)
		bpf_probe_read_kernel(&word, sizeof(word), (void *)regs + REGS_ARGUMENT_OFFSET(number));
	return word;
}

/* Two hashes of the text, so that a thread that repeats its query sends it once. */
static __always_inline void hash_text(const struct lode_record_context *context, uint64_t hashes[2])
{
	hashes[0] = 0x9e3779b97f4a7c15ull;
	hashes[1] = 0;
	for (uint32_t i = 0; i < TEXT_WORDS; i++) {
		uint64_t word = ((const uint64_t *)(const void *)context->bytes)[i];

		hashes[0] = (hashes[0] ^ word) * 0xff51afd7ed558ccdull;
		hashes[0] ^= hashes[0] >> 32;
		hashes[1] = (hashes[1] + word) * 0xc4ceb9fe1a85ec53ull;
		hashes[1] ^= hashes[1] >> 29;
	}
}

/* The current thread begins the query whose text is there; 0: it ends the one it was at. */
__noinline int lode_set_query(uint64_t text)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct lode_record_context context = {};
	struct thread_context *own = text ? own_context(task) : find_context(task);
	uint64_t hashes[2];

	if (!own)
		return 0;
	own->query = 0;
	if (!text || bpf_probe_read_user_str(context.bytes, LODE_RECORD_CONTEXT_BYTES, (const void *)text) <= 1)
		return 0;
	hash_text(&context, hashes);
	if (!own->text_number || own->text[0] != hashes[0] || own->text[1] != hashes[1]) {
		own->text[0] = hashes[0];
		own->text[1] = hashes[1];
		own->text_number = send_context(&context, LODE_CONTEXT_TEXT, LODE_RECORD_CONTEXT_BYTES);
	}
	own->query = own->text_number;
	return 0;
}

/* The place of the mark at a depth; the compiler may not think that it knows better what the verifier must see. */
static __always_inline uint32_t *mark_at(struct thread_context *own, uint32_t depth)
{
	asm volatile("" : "+r"(depth));
	return &own->marks[depth & (MAX_MARKS - 1)];
}

static __always_inline void begin_mark(struct thread_context *own, uint32_t number)
{
	uint32_t depth = own->depth;

	if (depth < MAX_MARKS)
		*mark_at(own, depth) = number;
	own->depth = depth + 1;
}

/* Marks in it that have not ended were left without their end. */
static __always_inline void end_mark(struct thread_context *own, uint32_t number)
{
	uint32_t depth = own->depth, found = depth;

	if (depth > MAX_MARKS) {
		own->depth = depth - 1;
		return;
	}
	for (uint32_t i = 0; i < MAX_MARKS; i++)
		if (i < depth && own->marks[i] == number)
			found = i;
	own->depth = found;
}

/* What MariaDB's commands with a query as their text are: COM_QUERY, COM_STMT_PREPARE. */
static __always_inline bool has_query(uint64_t command)
{
	return (uint32_t)command == 3 || (uint32_t)command == 22;
}

SEC("uprobe")
int lode_context(struct pt_regs *regs)
{
	uint64_t cookie = bpf_get_attach_cookie(regs);
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t action = LODE_CONTEXT_ACTION(cookie);
	struct thread_context *own;
	uint64_t text = 0;

	if (!is_wanted(task))
		return 0;
	if (action == LODE_CONTEXT_SET ||
	    (action == LODE_CONTEXT_SET_OF_COMMAND && has_query(argument_of(regs, 0))))
		text = argument_of(regs, LODE_CONTEXT_ARGUMENT(cookie));
	if (action != LODE_CONTEXT_BEGIN_MARK && action != LODE_CONTEXT_END_MARK)
		return lode_set_query(text);
	own = action == LODE_CONTEXT_BEGIN_MARK ? own_context(task) : find_context(task);
	if (!own)
		return 0;
	if (action == LODE_CONTEXT_BEGIN_MARK)
		begin_mark(own, LODE_CONTEXT_NUMBER(cookie));
	else
		end_mark(own, LODE_CONTEXT_NUMBER(cookie));
	return 0;
}

/* ---- what events belong to ---- */

/* What probes know of a thread, which need not run: its query, else its innermost mark. */
static __always_inline uint32_t probed_context(struct task_struct *task)
{
	struct thread_context *own = find_context(task);
	uint32_t depth = own ? own->depth : 0;

	if (!own || own->query || !depth)
		return own ? own->query : 0;
	return *mark_at(own, depth > MAX_MARKS ? MAX_MARKS - 1 : depth - 1);
}

/* The context of the current thread; 0: none. By itself, so that the verifier looks at it once. */
__noinline uint32_t lode_own_context(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t number;

	if (task->flags & PF_KTHREAD)
		return 0;
	number = with_traces ? lode_own_trace() : 0;
	return number ? number : probed_context(task);
}

#endif
