/* GPUs in Chrome's traces: see chrome_gpu.h. */
#include "import/json/chrome_gpu.h"

#include "base/bisect.h"
#include "base/starts_with.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a thread waits for in a function of Python. */
enum {
	BLOCKS_NOT,
	BLOCKS_FOR_CONDITION,
	BLOCKS_FOR_FILES,
	BLOCKS_FOR_TIMER,
	BLOCKS_FOR_BACKWARD, /* passes, which threads of their own run */
};

static const struct {
	const char *begin;
	uint8_t blocks;
} blocking_functions[] = {
	{ "<built-in method acquire of _thread.", BLOCKS_FOR_CONDITION },
	{ "<built-in method poll of select.", BLOCKS_FOR_FILES },
	{ "<built-in function select>", BLOCKS_FOR_FILES },
	{ "<built-in function sleep>", BLOCKS_FOR_TIMER },
	{ "<built-in method run_backward of torch.", BLOCKS_FOR_BACKWARD },
};

static const char *const objects[] = {
	[BLOCKS_FOR_CONDITION] = "condition:",
	[BLOCKS_FOR_FILES] = "poll:",
	[BLOCKS_FOR_TIMER] = "timer:",
	[BLOCKS_FOR_BACKWARD] = "condition:backward pass",
};

void lode_chrome_gpu_release(struct lode_chrome_gpu *gpu)
{
	lode_gpu_facts_release(&gpu->facts);
	lode_frame_memo_release(&gpu->kernels);
	lode_frame_memo_release(&gpu->python);
	lode_free(gpu->blocks.items);
	lode_free(gpu->rows.items);
}

/* ---- categories of Kineto ---- */

static const struct {
	const char *category;
	enum lode_kineto_kind kind;
} kinds[] = {
	{ "python_function", LODE_KINETO_PYTHON }, { "kernel", LODE_KINETO_ACTIVITY },
	{ "gpu_memcpy", LODE_KINETO_ACTIVITY },    { "gpu_memset", LODE_KINETO_ACTIVITY },
	{ "cuda_sync", LODE_KINETO_SYNC },         { "gpu_user_annotation", LODE_KINETO_DERIVED },
	{ "overhead", LODE_KINETO_DERIVED },       { "Trace", LODE_KINETO_DERIVED },
};

static int ends_with(const char *text, size_t length, const char *end)
{
	return length > strlen(end) && memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

enum lode_kineto_kind lode_chrome_gpu_kind(const struct lode_chrome_gpu *gpu, struct lode_json_value category)
{
	size_t length;
	const char *text = gpu->is_kineto ? lode_json_plain_text(category, &length) : NULL;

	if (!text)
		return LODE_KINETO_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(text, kinds[i].category, length) == 0 && !kinds[i].category[length])
			return kinds[i].kind;
	return ends_with(text, length, "runtime") || ends_with(text, length, "driver") ? LODE_KINETO_CALL
										       : LODE_KINETO_OTHER;
}

/* ---- XLA: which rows are devices and streams ---- */

static const struct lode_chrome_gpu_row *find_row(const struct lode_chrome_gpu *gpu, uint32_t pid, uint32_t tid,
						  int is_stream)
{
	for (size_t i = 0; i < gpu->rows.count; i++) {
		const struct lode_chrome_gpu_row *row = &gpu->rows.items[i];

		if (row->pid == pid && row->tid == tid && row->is_stream == is_stream)
			return row;
	}
	return NULL;
}

/* The number behind `begin` in a text that begins so; LODE_NONE: it does not. */
static uint32_t number_behind(const char *text, const char *begin)
{
	unsigned long number;
	char *end;

	if (!lode_starts_with(text, begin))
		return LODE_NONE;
	text += strlen(begin);
	number = strtoul(text, &end, 10);
	return end > text && number < LODE_GPU_FIRST_ID ? (uint32_t)number : LODE_NONE;
}

static uint32_t id_of(struct lode_json_value value)
{
	uint64_t number = lode_json_u64_or(value, LODE_NONE);

	return number < LODE_NONE ? (uint32_t)number : LODE_NONE;
}

/* Of a process that has threads; devices have none yet. */
static int name_process(struct lode_chrome_gpu *gpu, uint32_t pid, const char *name)
{
	struct lode_stream *stream = &gpu->import->stream;
	char key[40];

	snprintf(key, sizeof(key), LODE_COMMAND "%u", pid);
	for (size_t i = 0; i < stream->thread_count; i++)
		if (stream->threads[i].pid == pid)
			return lode_stream_set_text(stream, key, name) < 0 ? lode_fail_memory(gpu->import->error)
									   : 1;
	return 0;
}

const char *lode_chrome_gpu_thread_name(const struct lode_chrome_gpu *gpu, char *name)
{
	char *open = gpu->is_kineto && lode_starts_with(name, "thread ") ? strchr(name, '(') : NULL;
	size_t length = open ? strlen(open) : 0;

	if (length < 3 || open[length - 1] != ')')
		return name;
	open[length - 1] = '\0';
	return open + 1;
}

/* Rows are looked for one by one, so there may not be too many; no machine has so many. */
#define MAX_ROWS 4096

int lode_chrome_gpu_metadata(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice)
{
	struct lode_chrome_gpu_row row = { .pid = id_of(slice->pid), .number = LODE_NONE };
	const char *name = lode_json_string(lode_json_get(slice->args, "name"), &gpu->import->text);

	if (!name)
		return lode_fail_memory(gpu->import->error);
	if (gpu->is_kineto && lode_json_is_text(slice->name, "process_name"))
		return name_process(gpu, row.pid, name);
	if (lode_json_is_text(slice->name, "process_name")) {
		row.number = number_behind(name, "/device:GPU:");
	} else if (lode_json_is_text(slice->name, "thread_name")) {
		if (gpu->is_kineto && number_behind(name, "stream ") != LODE_NONE)
			return 1;
		if (!find_row(gpu, row.pid, 0, 0))
			return 0;
		row.tid = id_of(slice->tid);
		row.is_stream = 1;
		row.number = number_behind(name, "Stream #");
		if (row.number == LODE_NONE)
			return 1;
	}
	if (row.number == LODE_NONE || gpu->rows.count >= MAX_ROWS)
		return 0;
	return LODE_PUSH(&gpu->rows, row) < 0 ? lode_fail_memory(gpu->import->error) : 1;
}

/* ---- activities ---- */

static uint32_t kernel_frame(struct lode_chrome_gpu *gpu, struct lode_json_value name)
{
	size_t length;
	const char *text = lode_json_plain_text(name, &length);
	uint64_t hash;
	uint32_t frame;

	if (!text) {
		text = lode_json_string(name, &gpu->import->text);
		length = text ? strlen(text) : 0;
	}
	if (!text)
		return LODE_NONE;
	hash = lode_hash_bytes(text, length);
	frame = lode_frame_memo_find(&gpu->kernels, text, length, hash);
	if (frame != LODE_NONE)
		return frame;
	frame = lode_gpu_frame(&gpu->import->dictionary.frames, text, length);
	if (frame == LODE_NONE || lode_frame_memo_add(&gpu->kernels, text, length, hash, frame) < 0)
		return LODE_NONE;
	return frame;
}

static int add_activity(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice, uint32_t device,
			uint32_t stream, uint64_t correlation)
{
	struct lode_gpu_activity activity = { .t0 = slice->t0,
					      .t1 = slice->t1,
					      .correlation = correlation,
					      .device = device,
					      .stream = stream };
	size_t length = lode_json_length(slice->name);

	activity.frame = kernel_frame(gpu, slice->name);
	activity.is_pageable = length && memmem(slice->name.at, length, "Pageable", strlen("Pageable")) != NULL;
	if (activity.frame == LODE_NONE || LODE_PUSH(&gpu->facts.activities, activity) < 0)
		return lode_fail_memory(gpu->import->error);
	return 1;
}

static int read_xla_activity(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice)
{
	uint32_t pid = id_of(slice->pid), tid = id_of(slice->tid);
	const struct lode_chrome_gpu_row *device = find_row(gpu, pid, 0, 0), *stream = find_row(gpu, pid, tid, 1);

	if (!device)
		return 0;
	if (!stream) {
		gpu->derived++;
		return 1;
	}
	return add_activity(gpu, slice, device->number, stream->number,
			    lode_json_number_or(lode_json_get(slice->args, "correlation_id"), 0));
}

enum {
	DEVICE,
	STREAM,
	CORRELATION,
	AWAITED,
	RECORD,
	ARGUMENTS,
};

static const char *const arguments[ARGUMENTS] = { "device", "stream", "correlation", "wait_on_stream",
						  "wait_on_cuda_event_record_corr_id" };

static int read_sync(struct lode_chrome_gpu *gpu, const struct lode_json_value values[])
{
	struct lode_gpu_detail detail = {
		.correlation = lode_json_number_or(values[CORRELATION], 0),
		.recorded = lode_json_number_or(values[RECORD], 0),
		.device = id_of(values[DEVICE]),
		.stream = id_of(values[STREAM]),
		.awaited = id_of(values[AWAITED]),
	};

	return LODE_PUSH(&gpu->facts.details, detail) < 0 ? lode_fail_memory(gpu->import->error) : 1;
}

static int read_kineto_activity(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice)
{
	struct lode_json_value values[ARGUMENTS];

	if (slice->kind == LODE_KINETO_DERIVED) {
		gpu->derived++;
		return 1;
	}
	if (slice->kind != LODE_KINETO_ACTIVITY && slice->kind != LODE_KINETO_SYNC)
		return 0;
	lode_json_get_all(slice->args, arguments, values, ARGUMENTS);
	if (slice->kind == LODE_KINETO_SYNC)
		return read_sync(gpu, values);
	if (id_of(values[DEVICE]) >= LODE_GPU_FIRST_ID || id_of(values[STREAM]) == LODE_NONE)
		return 0;
	return add_activity(gpu, slice, id_of(values[DEVICE]), id_of(values[STREAM]),
			    lode_json_number_or(values[CORRELATION], 0));
}

int lode_chrome_gpu_activity(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice)
{
	if (gpu->is_kineto)
		return read_kineto_activity(gpu, slice);
	return gpu->rows.count ? read_xla_activity(gpu, slice) : 0;
}

/* ---- calls ---- */

static int add_call(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice, uint32_t thread,
		    enum lode_gpu_call_kind kind, const char *correlation)
{
	struct lode_gpu_call call = { .t0 = slice->t0,
				      .t1 = slice->t1,
				      .correlation = lode_json_number_or(lode_json_get(slice->args, correlation), 0),
				      .thread = thread,
				      .stack = LODE_NONE,
				      .frame = LODE_NONE,
				      .device = LODE_NONE,
				      .stream = LODE_NONE,
				      .awaited = LODE_NONE,
				      .kind = (uint8_t)kind };

	return LODE_PUSH(&gpu->facts.calls, call) < 0 ? lode_fail_memory(gpu->import->error) : 0;
}

static int add_wait(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice, uint32_t thread,
		    uint8_t blocks)
{
	struct lode_gpu_wait wait = { .t0 = slice->t0,
				      .t1 = slice->t1,
				      .thread = thread,
				      .waker = LODE_NONE,
				      .stack = LODE_NONE };
	const char *object = objects[blocks];

	wait.object = lode_strings_add(&gpu->import->dictionary.frames.strings, object, strlen(object));
	if (wait.object == LODE_NONE || LODE_PUSH(&gpu->facts.waits, wait) < 0)
		return lode_fail_memory(gpu->import->error);
	return 0;
}

int lode_chrome_gpu_call(struct lode_chrome_gpu *gpu, const struct lode_chrome_gpu_slice *slice, uint32_t thread,
			 uint32_t frame)
{
	const struct lode_frames *frames = &gpu->import->dictionary.frames;
	const char *name;
	enum lode_gpu_call_kind kind;

	if (gpu->is_kineto && frame < gpu->blocks.count && gpu->blocks.items[frame])
		return add_wait(gpu, slice, thread, gpu->blocks.items[frame]);
	if (!gpu->is_kineto && !gpu->rows.count)
		return 0;
	if (gpu->is_kineto && slice->kind != LODE_KINETO_CALL)
		return 0;
	name = lode_frames_function(frames, frame);
	kind = lode_gpu_call_kind_of(name, strlen(name));
	if (gpu->is_kineto)
		return add_call(gpu, slice, thread, kind, "correlation");
	return kind == LODE_GPU_OTHER_CALL ? 0 : add_call(gpu, slice, thread, kind, "correlation_id");
}

/* ---- functions of Python ---- */

/* `torch/_tensor.py(576): backward` is a function of a file; of objects the address is left out. */
static uint32_t make_python(struct lode_frames *frames, const char *text, size_t length)
{
	const char *colon = memmem(text, length, "): ", 3);
	const char *open = colon ? memrchr(text, '(', (size_t)(colon - text)) : NULL;
	const char *at = memmem(text, length, " at 0x", 6);
	const char *base;
	uint32_t module;

	if (open && open - text > 3 && memcmp(open - 3, ".py", 3) == 0) {
		base = memrchr(text, '/', (size_t)(open - text));
		base = base ? base + 1 : text;
		module = lode_frames_module(frames, base, (size_t)(open - base));
		return lode_frames_add(frames, module, colon + 3, length - (size_t)(colon + 3 - text));
	}
	if (at && *text == '<' && text[length - 1] == '>') {
		char plain[512];
		size_t until = (size_t)(at - text) < sizeof(plain) - 1 ? (size_t)(at - text) : sizeof(plain) - 1;

		memcpy(plain, text, until);
		plain[until] = '>';
		return lode_frames_add(frames, 0, plain, until + 1);
	}
	return lode_frames_add(frames, 0, text, length);
}

static uint8_t blocks_in(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(blocking_functions) / sizeof(*blocking_functions); i++) {
		const char *begin = blocking_functions[i].begin;

		if (length >= strlen(begin) && memcmp(text, begin, strlen(begin)) == 0)
			return blocking_functions[i].blocks;
	}
	return BLOCKS_NOT;
}

uint32_t lode_chrome_gpu_python(struct lode_chrome_gpu *gpu, const char *text, size_t length)
{
	uint64_t hash = lode_hash_bytes(text, length);
	uint32_t frame = lode_frame_memo_find(&gpu->python, text, length, hash);
	uint8_t *blocks;

	if (frame != LODE_NONE)
		return frame;
	frame = make_python(&gpu->import->dictionary.frames, text, length);
	if (frame == LODE_NONE || lode_frame_memo_add(&gpu->python, text, length, hash, frame) < 0)
		return LODE_NONE;
	blocks = LODE_PLACE(&gpu->blocks, frame, BLOCKS_NOT);
	if (!blocks)
		return LODE_NONE;
	*blocks = blocks_in(text, length);
	return frame;
}

/* ---- the whole ---- */

static int compare_ends(const void *a, const void *b, void *context)
{
	const struct lode_gpu_call *calls = context;
	uint64_t x = calls[*(const uint32_t *)a].t1, y = calls[*(const uint32_t *)b].t1;

	return x < y ? -1 : x > y;
}

/* Calls that are looked at for the end of a pass: the thread that waits for it makes none meanwhile. */
#define MAX_CALLS_OF_WAITING 64

/* The thread that ran a backward pass: the one that made the last call in that time. LODE_NONE: none did. */
static uint32_t backward_thread(const struct lode_gpu_call *calls, const uint32_t *by_end, size_t count,
				const struct lode_gpu_wait *wait)
{
	size_t after = LODE_BISECT(i, 0, count, calls[by_end[i]].t1 <= wait->t1);

	for (size_t i = after; i > 0 && after - i < MAX_CALLS_OF_WAITING; i--) {
		const struct lode_gpu_call *call = &calls[by_end[i - 1]];

		if (call->t1 <= wait->t0)
			return LODE_NONE;
		if (call->thread != wait->thread)
			return call->thread;
	}
	return LODE_NONE;
}

/* A pass that no other thread ran is no wait. */
static int find_backward_threads(struct lode_chrome_gpu *gpu)
{
	struct lode_gpu_facts *facts = &gpu->facts;
	const char *object = objects[BLOCKS_FOR_BACKWARD];
	uint32_t backward = lode_strings_add(&gpu->import->dictionary.frames.strings, object, strlen(object));
	uint32_t *by_end = lode_calloc(facts->calls.count + 1, sizeof(*by_end));

	if (!by_end)
		return LODE_SYSTEM;
	for (size_t i = 0; i < facts->calls.count; i++)
		by_end[i] = (uint32_t)i;
	qsort_r(by_end, facts->calls.count, sizeof(*by_end), compare_ends, facts->calls.items);
	for (size_t i = 0; i < facts->waits.count; i++) {
		struct lode_gpu_wait *wait = &facts->waits.items[i];

		if (wait->object != backward)
			continue;
		wait->waker = backward_thread(facts->calls.items, by_end, facts->calls.count, wait);
		if (wait->waker == LODE_NONE)
			wait->t1 = wait->t0;
	}
	lode_free(by_end);
	return 0;
}

int lode_chrome_gpu_finish(struct lode_chrome_gpu *gpu)
{
	struct lode_notes *notes = gpu->import->options->notes;

	if ((gpu->facts.waits.count && find_backward_threads(gpu) < 0) ||
	    lode_gpu_add_events(&gpu->facts, &gpu->import->stream, notes) < 0)
		return lode_fail_memory(gpu->import->error);
	lode_notes_add(notes, gpu->derived,
		       "slices that repeat the time of kernels, or that the profiler wrote about itself, left out",
		       NULL);
	return 0;
}
