/* Records as the kernel would send them, for tests of what becomes of them. */
#ifndef LODE_TESTS_RECORD_FIXTURE_H
#define LODE_TESTS_RECORD_FIXTURE_H

#include "cmocka_all.h"
#include "random_stream.h"
#include "temporary.h"
#include "base/file.h"
#include "record/stream/recording.h"
#include "watch/rules.h"
#include "symbols/name_frames.h"
#include "store/corpus_check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* A kernel of some functions, each 0x100 bytes long. */
static const char kallsyms_text[] = "ffff800080000000 T _text\n"
				    "ffff800080000100 T __schedule\n"
				    "ffff800080000200 T schedule\n"
				    "ffff800080000300 T ksys_read\n"
				    "ffff800080000400 T el0t_64_sync\n"
				    "ffff800080000500 T try_to_wake_up\n"
				    "ffff800080000600 T hrtimer_interrupt\n"
				    "ffff800080000700 T el1h_64_irq_handler\n"
				    "ffff800080000800 T el1h_64_irq\n"
				    "ffff800080000900 T __traceiter_sched_switch\n"
				    "ffff800080000a00 T bpf_trace_run4\n"
				    "ffff800080000b00 T process_backlog\n"
				    "ffff800080000c00 T virtnet_poll\n"
				    "ffff800080000d00 T handle_softirqs\n"
				    "ffff800080000e00 T do_softirq\n"
				    "ffff800080000f00 T run_ksoftirqd\n"
				    "ffff800080001000 T _etext\n";

#define KERNEL(n) (0xffff800080000000u + (n)*0x100u + 0x10)

enum {
	TEXT,
	SCHEDULE_,
	SCHEDULE,
	READ,
	SYNC,
	WAKE,
	TIMER,
	IRQ_HANDLER,
	IRQ,
	TRACE,
	BPF,
	BACKLOG,
	DEVICE,
	SOFTIRQS,
	SOFTIRQ,
	KSOFTIRQD
};

/* A process that maps a file which is not there, so that addresses stay what they are. */
#define PID   424242
#define START 0x400000u

struct fixture {
	char folder[64];
	char kallsyms[96];
	struct lode_symbolizer *symbolizer;
	struct lode_builder builder;
	struct lode_recorder_sink sink;
};

static inline void open_symbols(struct fixture *fixture)
{
	struct lode_symbols_options options = { .cache = "" };
	FILE *file;

	assert_int_equal(temporary_folder(fixture->folder, sizeof(fixture->folder)), 0);
	snprintf(fixture->kallsyms, sizeof(fixture->kallsyms), "%s/kallsyms", fixture->folder);
	file = fopen(fixture->kallsyms, "w");
	assert_non_null(file);
	fputs(kallsyms_text, file);
	fclose(file);
	assert_int_equal(lode_symbolizer_create(&fixture->symbolizer, &options, NULL), 0);
}

static inline void close_symbols(struct fixture *fixture)
{
	lode_symbolizer_destroy(fixture->symbolizer);
	assert_int_equal(temporary_remove(fixture->folder), 0);
}

static inline int begin(struct fixture *fixture)
{
	int code = lode_builder_init(&fixture->builder, fixture->symbolizer, fixture->kallsyms, 1000);

	fixture->sink = lode_builder_sink(&fixture->builder);
	return code;
}

static inline void set_up(struct fixture *fixture)
{
	open_symbols(fixture);
	assert_int_equal(begin(fixture), 0);
}

static inline void tear_down(struct fixture *fixture)
{
	lode_builder_release(&fixture->builder);
	close_symbols(fixture);
}

static inline int send_map(struct fixture *fixture, uint32_t pid, const char *path)
{
	char copy[64];
	struct lode_change change = { .type = LODE_CHANGE_MAP,
				      .pid = pid,
				      .tid = pid,
				      .start = START,
				      .end = START + 0x10000,
				      .offset = 0x1000,
				      .text = copy };

	snprintf(copy, sizeof(copy), "%s", path);
	return fixture->sink.change(fixture->sink.context, &change);
}

static inline int send_name(struct fixture *fixture, uint32_t pid, uint32_t tid, const char *name)
{
	char copy[32];
	struct lode_change change = { .type = LODE_CHANGE_NAME,
				      .pid = pid,
				      .tid = tid,
				      .executed = pid == tid,
				      .text = copy };

	snprintf(copy, sizeof(copy), "%s", name);
	return fixture->sink.change(fixture->sink.context, &change);
}

static inline int send_task(struct fixture *fixture, enum lode_change_type type, uint64_t t, uint32_t pid,
			    uint32_t tid)
{
	struct lode_change change = { .type = type,
				      .t = t,
				      .pid = pid,
				      .tid = tid,
				      .parent_pid = PID,
				      .parent_tid = PID };

	return fixture->sink.change(fixture->sink.context, &change);
}

static inline int send_stack(struct fixture *fixture, uint64_t id, int user, const uint64_t *addresses,
			     uint32_t count)
{
	struct lode_record_stack stack = { .id = id, .user = (uint8_t)user, .count = count };

	memcpy(stack.addresses, addresses, count * sizeof(*addresses));
	return fixture->sink.stack(fixture->sink.context, &stack);
}

static inline int send_record(struct fixture *fixture, struct lode_record record)
{
	return fixture->sink.record(fixture->sink.context, &record);
}

/* Ids of the stacks that send_stacks sends. */
enum { USER = 101, USER_DEEP, BLOCKED, WAKING, INTERRUPT, TRACED };

static inline int send_stacks(struct fixture *fixture)
{
	const uint64_t user[] = { START + 0x10, START + 0x21 };
	const uint64_t deep[] = { START + 0x30, START + 0x21, START + 0x11 };
	const uint64_t blocked[] = { KERNEL(SCHEDULE_), KERNEL(SCHEDULE), KERNEL(READ), KERNEL(SYNC) };
	const uint64_t waking[] = { KERNEL(WAKE), KERNEL(SYNC) };
	const uint64_t interrupt[] = { KERNEL(WAKE), KERNEL(TIMER), KERNEL(IRQ_HANDLER),
				       KERNEL(IRQ),  KERNEL(READ),  KERNEL(SYNC) };
	const uint64_t traced[] = { 0x1234567, KERNEL(BPF), KERNEL(TRACE), KERNEL(SCHEDULE_), KERNEL(SYNC) };

	if (send_stack(fixture, USER, 1, user, 2) < 0 || send_stack(fixture, USER_DEEP, 1, deep, 3) < 0 ||
	    send_stack(fixture, BLOCKED, 0, blocked, 4) < 0 || send_stack(fixture, WAKING, 0, waking, 2) < 0 ||
	    send_stack(fixture, INTERRUPT, 0, interrupt, 6) < 0 || send_stack(fixture, TRACED, 0, traced, 5) < 0)
		return LODE_SYSTEM;
	return 0;
}

static inline int send_process(struct fixture *fixture)
{
	if (send_name(fixture, PID, PID, "app") < 0 || send_map(fixture, PID, "/no/such/app") < 0)
		return LODE_SYSTEM;
	return send_stacks(fixture);
}

static inline void assert_stack(const struct lode_stream *stream, uint32_t node, const char *expected)
{
	const struct lode_dictionary *dictionary = stream->dictionary;
	struct lode_buffer text = { 0 };
	uint32_t frames[64], depth = lode_stack_tree_depth(&dictionary->tree, node);

	assert_true(depth <= 64);
	lode_stack_tree_frames(&dictionary->tree, node, frames, depth);
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			lode_buffer_byte(&text, ' ');
		lode_frames_text(&dictionary->frames, frames[i], &text);
	}
	lode_buffer_byte(&text, '\0');
	assert_string_equal(text.bytes, expected);
	lode_buffer_release(&text);
}

#endif
