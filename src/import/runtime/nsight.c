/*
 * Nsight Systems' export to SQLite (`nsys export --type sqlite`): CUDA with the threads around it.
 *
 *	CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET	activities of GPU streams
 *	CUPTI_ACTIVITY_KIND_RUNTIME, _DRIVER		calls, with stacks in CUDA_CALLCHAINS
 *	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, _CUDA_EVENT	which stream or event a call is about
 *	OSRT_API					calls of the C library that block: waits, where there are no switches
 *	NVTX_EVENTS					ranges of the program: slices
 *	COMPOSITE_EVENTS, SAMPLING_CALLCHAINS		CPU samples
 *	SCHED_EVENTS					switches of threads; who wakes them is not recorded
 *
 * Slices, calls among them, are the time and the stacks of threads that have no samples (import/slices.h). gpu/gpu_facts.h
 * makes threads of GPU streams. Times are nanoseconds since the start.
 */
#include "base/bisect.h"
#include "gpu/gpu_facts.h"
#include "import/import_common.h"
#include "import/json_profile.h"
#include "import/runtime/nsight_stacks.h"
#include "import/sched.h"
#include "import/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record of an event: a later wait for it is for its stream. */
struct record {
	uint64_t correlation;
	uint64_t event;
	uint32_t process;
	uint32_t stream;
};

struct reading {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct lode_nsight_file file;
	struct lode_gpu_facts facts;
	struct lode_slices slices;
	struct lode_nsight_chains cuda_chains, library_chains, sample_chains;
	struct lode_nsight_samples samples;
	LODE_ARRAY(struct record) records;
	struct lode_sched *sched;
	uint64_t pageable; /* kind of memory */
	int has_switches;
	uint64_t last; /* time */
	uint64_t rows;
};

/* ---- threads and frames ---- */

/* Nsight's numbers of threads: a process and a thread of 24 bits each, below what says on which machine. */
static uint32_t process_of(uint64_t global)
{
	return (uint32_t)(global >> 24) & 0xffffff;
}

static uint32_t thread_of(struct reading *reading, uint64_t global)
{
	return lode_stream_thread(&reading->stream, process_of(global), (uint32_t)global & 0xffffff);
}

static uint32_t frame_of(struct reading *reading, const char *name)
{
	name = *name ? name : "(unnamed)";
	return lode_frames_add(&reading->dictionary.frames, 0, name, strlen(name));
}

/* Reads start and end, the first two columns of most tables. Returns whether they are a time. */
static int read_span(struct reading *reading, sqlite3_stmt *row, uint64_t *t0, uint64_t *t1)
{
	*t0 = lode_nsight_number(row, 0, UINT64_MAX);
	*t1 = lode_nsight_number(row, 1, UINT64_MAX);
	if (*t0 == UINT64_MAX || *t1 == UINT64_MAX || *t1 < *t0)
		return 0;
	reading->rows++;
	reading->last = *t1 > reading->last ? *t1 : reading->last;
	return 1;
}

static int take_thread_name(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const char *name = lode_nsight_text(row, 1);
	uint32_t thread = thread_of(reading, lode_nsight_number(row, 0, 0));

	if (thread == LODE_NONE)
		return LODE_SYSTEM;
	return lode_import_name_thread(&reading->stream, thread, name, strlen(name));
}

static int take_process(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const char *name = lode_nsight_text(row, 1), *slash = strrchr(name, '/');
	char key[40];

	name = slash ? slash + 1 : name;
	snprintf(key, sizeof(key), LODE_COMMAND "%u", process_of(lode_nsight_number(row, 0, 0)));
	return *name ? lode_stream_set_text(&reading->stream, key, name) : 0;
}

/* ---- activities ---- */

static int add_activity(struct reading *reading, sqlite3_stmt *row, const char *name, int is_pageable)
{
	struct lode_gpu_activity activity = { .device = lode_nsight_id(row, 2),
					      .stream = lode_nsight_id(row, 3),
					      .correlation = lode_nsight_number(row, 4, 0),
					      .process = process_of(lode_nsight_number(row, 5, 0)),
					      .is_pageable = (uint8_t)is_pageable };

	if (!read_span(reading, row, &activity.t0, &activity.t1) || activity.device >= LODE_GPU_FIRST_ID ||
	    activity.stream == LODE_NONE)
		return 0;
	activity.frame = lode_gpu_frame(&reading->dictionary.frames, name, strlen(name));
	if (activity.frame == LODE_NONE)
		return LODE_SYSTEM;
	return LODE_PUSH(&reading->facts.activities, activity);
}

static int take_kernel(void *context, sqlite3_stmt *row)
{
	const char *name = lode_nsight_text(row, 6), *short_name = lode_nsight_text(row, 7);

	return add_activity(context, row, *name ? name : *short_name ? short_name : "kernel", 0);
}

static int take_copy(void *context, sqlite3_stmt *row)
{
	static const char *const kinds[] = { "",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };
	struct reading *reading = context;
	uint64_t kind = lode_nsight_number(row, 6, 0);
	int is_pageable = lode_nsight_number(row, 7, UINT64_MAX) == reading->pageable ||
			  lode_nsight_number(row, 8, UINT64_MAX) == reading->pageable;
	char name[64];

	kind = kind < sizeof(kinds) / sizeof(*kinds) ? kind : 0;
	snprintf(name, sizeof(name), "Memcpy%s%s%s", kind ? " " : "", kinds[kind],
		 is_pageable ? " (Pageable)" : "");
	return add_activity(reading, row, name, is_pageable);
}

static int take_set(void *context, sqlite3_stmt *row)
{
	return add_activity(context, row, "Memset", 0);
}

static int take_memory_kind(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;

	if (!strcmp(lode_nsight_text(row, 1), "Pageable"))
		reading->pageable = lode_nsight_number(row, 0, reading->pageable);
	return 0;
}

/* ---- calls ---- */

static int take_call(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const char *name = lode_nsight_text(row, 5);
	uint64_t global = lode_nsight_number(row, 2, 0), chain = lode_nsight_number(row, 4, UINT64_MAX);
	struct lode_gpu_call call = { .correlation = lode_nsight_number(row, 3, 0),
				      .process = process_of(global),
				      .stack = LODE_NONE,
				      .device = LODE_NONE,
				      .stream = LODE_NONE,
				      .awaited = LODE_NONE,
				      .kind = (uint8_t)lode_gpu_call_kind_of(name, strlen(name)) };
	uint32_t stack;

	if (!read_span(reading, row, &call.t0, &call.t1))
		return 0;
	call.thread = thread_of(reading, global);
	call.frame = frame_of(reading, name);
	if (call.thread == LODE_NONE || call.frame == LODE_NONE)
		return LODE_SYSTEM;
	stack = lode_nsight_chain_stack(&reading->cuda_chains, chain);
	if (stack)
		call.stack = lode_stack_tree_child(&reading->dictionary.tree, stack, call.frame);
	if ((stack && call.stack == LODE_NONE) || LODE_PUSH(&reading->facts.calls, call) < 0)
		return LODE_SYSTEM;
	return lode_slices_add(&reading->slices, call.thread, call.t0, call.t1, call.frame);
}

static int take_record(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	struct record record = { .event = lode_nsight_number(row, 0, UINT64_MAX),
				 .stream = lode_nsight_id(row, 1),
				 .correlation = lode_nsight_number(row, 2, 0),
				 .process = process_of(lode_nsight_number(row, 3, 0)) };

	return LODE_PUSH(&reading->records, record);
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* The last record of the event before the call; correlations ascend. NULL: none. */
static const struct record *record_before(const struct reading *reading, uint32_t process, uint64_t event,
					  uint64_t correlation)
{
	const struct record wanted = { .process = process, .event = event, .correlation = correlation };
	const struct record *records = reading->records.items;
	size_t after = LODE_BISECT(i, 0, reading->records.count, compare_records(&records[i], &wanted) < 0);
	const struct record *last = after ? &records[after - 1] : NULL;

	return last && last->process == process && last->event == event ? last : NULL;
}

/* What waits for an event has its number; the stream is the one that waits, or for a call of a thread the one waited for. */
static int take_sync(void *context, sqlite3_stmt *row)
{
	enum { EVENT_SYNCHRONIZE = 1, STREAM_WAIT_EVENT = 2 };
	struct reading *reading = context;
	uint64_t type = lode_nsight_number(row, 4, 0);
	struct lode_gpu_detail detail = { .device = lode_nsight_id(row, 0),
					  .stream = lode_nsight_id(row, 1),
					  .correlation = lode_nsight_number(row, 2, 0),
					  .process = process_of(lode_nsight_number(row, 3, 0)),
					  .awaited = LODE_NONE };
	const struct record *record = NULL;

	if (type == EVENT_SYNCHRONIZE || type == STREAM_WAIT_EVENT)
		record = record_before(reading, detail.process, lode_nsight_number(row, 5, UINT64_MAX),
				       detail.correlation);
	if (record && type == EVENT_SYNCHRONIZE) {
		detail.stream = record->stream;
	} else if (record) {
		detail.awaited = record->stream;
		detail.recorded = record->correlation;
	}
	return LODE_PUSH(&reading->facts.details, detail);
}

/* ---- what threads did besides ---- */

static int take_library_call(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	uint32_t frame = frame_of(reading, lode_nsight_text(row, 4));
	uint32_t stack = lode_nsight_chain_stack(&reading->library_chains, lode_nsight_number(row, 3, UINT64_MAX));
	struct lode_gpu_wait wait = { .waker = LODE_NONE, .stack = LODE_NONE };

	if (!read_span(reading, row, &wait.t0, &wait.t1))
		return 0;
	wait.thread = thread_of(reading, lode_nsight_number(row, 2, 0));
	if (stack)
		wait.stack = lode_stack_tree_child(&reading->dictionary.tree, stack, frame);
	if (wait.thread == LODE_NONE || frame == LODE_NONE || (stack && wait.stack == LODE_NONE) ||
	    (!reading->has_switches && LODE_PUSH(&reading->facts.waits, wait) < 0))
		return LODE_SYSTEM;
	return lode_slices_add(&reading->slices, wait.thread, wait.t0, wait.t1, frame);
}

static int take_range(void *context, sqlite3_stmt *row)
{
	enum { PUSH_POP = 59 };
	struct reading *reading = context;
	const char *text = lode_nsight_text(row, 4);
	uint32_t frame, thread;
	uint64_t t0, t1;

	if (lode_nsight_number(row, 3, 0) != PUSH_POP || !read_span(reading, row, &t0, &t1))
		return 0;
	frame = frame_of(reading, *text ? text : lode_nsight_text(row, 5));
	thread = thread_of(reading, lode_nsight_number(row, 2, 0));
	if (frame == LODE_NONE || thread == LODE_NONE)
		return LODE_SYSTEM;
	return lode_slices_add(&reading->slices, thread, t0, t1, frame);
}

static uint16_t cpu_of(sqlite3_stmt *row, int column)
{
	uint64_t cpu = lode_nsight_number(row, column, LODE_NO_CPU);

	return cpu < LODE_NO_CPU ? (uint16_t)cpu : LODE_NO_CPU;
}

static int take_sample(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	struct lode_nsight_sample sample = { .t = lode_nsight_number(row, 0, UINT64_MAX),
					     .cpu = cpu_of(row, 1),
					     .chain = lode_nsight_number(row, 3, UINT64_MAX) };

	if (sample.t == UINT64_MAX)
		return 0;
	sample.thread = thread_of(reading, lode_nsight_number(row, 2, 0));
	reading->rows++;
	reading->last = sample.t > reading->last ? sample.t : reading->last;
	return sample.thread == LODE_NONE ? LODE_SYSTEM : LODE_PUSH(&reading->samples, sample);
}

static int take_switch(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	uint64_t t = lode_nsight_number(row, 0, UINT64_MAX), global = lode_nsight_number(row, 3, 0);
	uint32_t thread = global & 0xffffff ? thread_of(reading, global) : LODE_NONE;
	int is_in = lode_nsight_number(row, 2, 0) != 0;

	if (t == UINT64_MAX)
		return 0;
	reading->rows++;
	reading->last = t > reading->last ? t : reading->last;
	lode_sched_switch(reading->sched, t, cpu_of(row, 1), is_in ? LODE_NONE : thread, LODE_SWITCH_BLOCKED, 0,
			  is_in ? thread : LODE_NONE);
	return reading->stream.failed ? LODE_SYSTEM : 0;
}

/* ---- the whole ---- */

struct table {
	struct lode_nsight_query query;
	int (*take)(void *context, sqlite3_stmt *row);
};

#define CUPTI "CUPTI_ACTIVITY_KIND_"

/* In this order: what is read first is looked at by what comes later. */
static const struct table tables[] = {
	{ { "ThreadNames", { "globalTid" }, { "nameId" }, NULL }, take_thread_name },
	{ { "PROCESSES", { "globalPid", "name" }, { NULL }, NULL }, take_process },
	{ { "ENUM_CUDA_MEM_KIND", { "id", "label" }, { NULL }, NULL }, take_memory_kind },
	{ { CUPTI "KERNEL",
	    { "start", "end", "deviceId", "streamId", "correlationId", "globalPid" },
	    { "demangledName", "shortName" },
	    NULL },
	  take_kernel },
	{ { CUPTI "MEMCPY",
	    { "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "copyKind", "srcKind",
	      "dstKind" },
	    { NULL },
	    NULL },
	  take_copy },
	{ { CUPTI "MEMSET", { "start", "end", "deviceId", "streamId", "correlationId", "globalPid" }, { NULL }, NULL },
	  take_set },
	{ { CUPTI "RUNTIME", { "start", "end", "globalTid", "correlationId", "callchainId" }, { "nameId" }, NULL },
	  take_call },
	{ { CUPTI "DRIVER", { "start", "end", "globalTid", "correlationId", "callchainId" }, { "nameId" }, NULL },
	  take_call },
	{ { CUPTI "CUDA_EVENT", { "eventId", "streamId", "correlationId", "globalPid" }, { NULL }, NULL },
	  take_record },
	{ { CUPTI "SYNCHRONIZATION",
	    { "deviceId", "streamId", "correlationId", "globalPid", "syncType", "eventId" },
	    { NULL },
	    NULL },
	  take_sync },
	{ { "OSRT_API", { "start", "end", "globalTid", "callchainId" }, { "nameId" }, NULL }, take_library_call },
	{ { "NVTX_EVENTS", { "start", "end", "globalTid", "eventType", "text" }, { "textId" }, NULL }, take_range },
	{ { "COMPOSITE_EVENTS", { "start", "cpu", "globalTid", "id" }, { NULL }, NULL }, take_sample },
	{ { "SCHED_EVENTS", { "start", "cpu", "isSchedIn", "globalTid" }, { NULL }, "start" }, take_switch },
};

static int read_tables(struct reading *reading)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < sizeof(tables) / sizeof(*tables); i++) {
		if (tables[i].take == take_sync && reading->records.count)
			qsort(reading->records.items, reading->records.count, sizeof(*reading->records.items),
			      compare_records);
		code = lode_nsight_rows(&reading->file, &tables[i].query, tables[i].take, reading);
	}
	return code == LODE_SYSTEM ? lode_fail_memory(reading->error) : code;
}

static int read_chains(struct reading *reading)
{
	struct lode_nsight_file *file = &reading->file;
	int code;

	reading->cuda_chains.dictionary = reading->library_chains.dictionary = reading->sample_chains.dictionary =
		&reading->dictionary;
	code = lode_nsight_chains_load(&reading->cuda_chains, file, "CUDA_CALLCHAINS");
	if (code == 0)
		code = lode_nsight_chains_load(&reading->library_chains, file, "OSRT_CALLCHAINS");
	if (code == 0)
		code = lode_nsight_chains_load(&reading->sample_chains, file, "SAMPLING_CALLCHAINS");
	return code;
}

static int make_events(struct reading *reading)
{
	struct lode_notes *notes = reading->options->notes;
	uint8_t *sampled = lode_calloc(reading->stream.thread_count + 1, 1);
	int code = sampled ? 0 : LODE_SYSTEM;

	if (code == 0)
		code = lode_nsight_samples_add(&reading->samples, &reading->sample_chains, &reading->stream,
					       reading->options, sampled);
	if (code == 0)
		code = lode_sched_finish(reading->sched, reading->last);
	if (code == 0)
		code = lode_slices_finish(&reading->slices, &reading->stream, sampled, reading->options);
	reading->facts.sampled = sampled;
	if (code == 0)
		code = lode_gpu_add_events(&reading->facts, &reading->stream, notes);
	lode_free(sampled);
	lode_notes_add(notes, reading->cuda_chains.cut + reading->library_chains.cut + reading->sample_chains.cut,
		       LODE_CUT_AT_LEAF, NULL);
	return code < 0 ? lode_fail_memory(reading->error) : 0;
}

static int fill(struct reading *reading, const unsigned char *bytes, size_t size)
{
	int code = lode_nsight_open(&reading->file, bytes, size);

	if (code < 0)
		return code;
	if (!lode_nsight_has(&reading->file, "StringIds"))
		return lode_fail(reading->error, LODE_BAD_INPUT,
				 "%s: a database without a table StringIds; is it from nsys export --type sqlite?",
				 reading->file.name);
	reading->has_switches = lode_nsight_has(&reading->file, "SCHED_EVENTS");
	reading->sched = lode_sched_create(&reading->stream, reading->options->notes);
	if (!reading->sched)
		return lode_fail_memory(reading->error);
	code = read_chains(reading);
	if (code == 0)
		code = read_tables(reading);
	if (code == 0 && !reading->rows)
		code = lode_fail(reading->error, LODE_BAD_INPUT, "%s: it has no events that are known",
				 reading->file.name);
	return code == 0 ? make_events(reading) : code;
}

static void release(struct reading *reading)
{
	lode_nsight_close(&reading->file);
	lode_sched_destroy(reading->sched);
	lode_gpu_facts_release(&reading->facts);
	lode_slices_release(&reading->slices);
	lode_nsight_chains_release(&reading->cuda_chains);
	lode_nsight_chains_release(&reading->library_chains);
	lode_nsight_chains_release(&reading->sample_chains);
	lode_free(reading->samples.items);
	lode_free(reading->records.items);
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .input = input,
				   .options = options,
				   .error = error,
				   .file = { .name = lode_input_name(input), .error = error } };
	const unsigned char *bytes;
	size_t size;
	int code = lode_import_begin(input, &bytes, &size, &reading.stream, &reading.dictionary, error);

	if (code < 0)
		return code;
	code = fill(&reading, bytes, size);
	if (code == 0)
		code = lode_import_deliver(input, options, sink, &reading.stream, 0, error);
	release(&reading);
	lode_import_end(&reading.stream);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	if (size < 16 || memcmp(bytes, "SQLite format 3", 16) != 0)
		return 0;
	return lode_sniff_has(bytes, size, "CUPTI_ACTIVITY") || lode_sniff_has(bytes, size, "StringIds") ? 95 : 60;
}

const struct lode_importer lode_importer_nsight = {
	.name = "nsight",
	.description = "Nsight Systems (nsys export --type sqlite): CUDA, threads, samples",
	.sniff = sniff,
	.read = read_input,
};
