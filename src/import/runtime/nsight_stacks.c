/* Call chains and samples of Nsight Systems: see nsight_stacks.h. */
#include "import/runtime/nsight_stacks.h"

#include "base/bisect.h"
#include "import/import_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- chains ---- */

/* `/usr/lib/libtorch.so` is known by its base name. */
static uint32_t make_frame(struct lode_frames *frames, const char *symbol, const char *module)
{
	const char *slash = strrchr(module, '/');
	uint32_t number;

	module = slash ? slash + 1 : module;
	if (!*symbol)
		symbol = "(unnamed)";
	if (!strcmp(module, "[kernel.kallsyms]") || !strcmp(module, "[vmlinux]"))
		module = "kernel";
	number = *module ? lode_frames_module(frames, module, strlen(module)) : 0;
	return lode_frames_add(frames, number, symbol, strlen(symbol));
}

static int take_frame(void *context, sqlite3_stmt *row)
{
	struct lode_nsight_chains *chains = context;
	struct lode_nsight_frame frame = { .id = lode_nsight_number(row, 0, UINT64_MAX),
					   .depth = lode_nsight_id(row, 1) };

	frame.frame = make_frame(&chains->dictionary->frames, lode_nsight_text(row, 2), lode_nsight_text(row, 3));
	if (frame.frame == LODE_NONE || LODE_PUSH(&chains->frames, frame) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* The outermost frame of a chain first. */
static int compare_frames(const void *a, const void *b)
{
	const struct lode_nsight_frame *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->depth > y->depth ? -1 : x->depth < y->depth;
}

static int make_stacks(struct lode_nsight_chains *chains)
{
	const struct lode_nsight_frame *frames = chains->frames.items;
	size_t depth = 0;

	for (size_t i = 0; i < chains->frames.count; i++) {
		struct lode_nsight_chain *last;

		if (!i || frames[i].id != frames[i - 1].id) {
			struct lode_nsight_chain chain = { .id = frames[i].id };

			depth = 0;
			if (LODE_PUSH(chains, chain) < 0)
				return LODE_SYSTEM;
		}
		last = &chains->items[chains->count - 1];
		if (++depth >= LODE_STACK_DEPTH_LIMIT) { /* one less: calls are added */
			chains->cut += depth == LODE_STACK_DEPTH_LIMIT;
			continue;
		}
		last->stack = lode_stack_tree_child(&chains->dictionary->tree, last->stack, frames[i].frame);
		if (last->stack == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_nsight_chains_load(struct lode_nsight_chains *chains, struct lode_nsight_file *file, const char *table)
{
	const struct lode_nsight_query query = { table, { "id", "stackDepth" }, { "symbol", "module" }, NULL };
	int code = lode_nsight_rows(file, &query, take_frame, chains);

	if (code == 0 && chains->frames.count) {
		qsort(chains->frames.items, chains->frames.count, sizeof(*chains->frames.items), compare_frames);
		code = make_stacks(chains);
	}
	lode_free(chains->frames.items);
	memset(&chains->frames, 0, sizeof(chains->frames));
	return code == LODE_SYSTEM ? lode_fail_memory(file->error) : code;
}

uint32_t lode_nsight_chain_stack(const struct lode_nsight_chains *chains, uint64_t id)
{
	size_t at = LODE_BISECT(i, 0, chains->count, chains->items[i].id < id);

	return at < chains->count && chains->items[at].id == id ? chains->items[at].stack : 0;
}

void lode_nsight_chains_release(struct lode_nsight_chains *chains)
{
	lode_free(chains->items);
	lode_free(chains->frames.items);
}

/* ---- samples ---- */

static int compare_samples(const void *a, const void *b)
{
	const struct lode_nsight_sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

/* The median time between two samples of a thread. */
static int usual_gap(const struct lode_nsight_samples *samples, uint64_t *gap)
{
	uint64_t *gaps = lode_calloc(samples->count + 1, sizeof(*gaps));
	size_t count = 0;

	if (!gaps)
		return LODE_SYSTEM;
	for (size_t i = 1; i < samples->count; i++)
		if (samples->items[i].thread == samples->items[i - 1].thread &&
		    samples->items[i].t > samples->items[i - 1].t)
			gaps[count++] = samples->items[i].t - samples->items[i - 1].t;
	*gap = lode_import_median(gaps, count);
	lode_free(gaps);
	return 0;
}

static void note_period(const struct lode_nsight_samples *samples, const struct lode_import_options *options,
			uint64_t period)
{
	char text[200];

	if (options->unit_ns > 0)
		return;
	snprintf(text, sizeof(text),
		 "samples without a duration, taken as %.6g ms each, the usual time between two of a thread; set "
		 "it with --unit samples=PERIOD",
		 (double)period / 1e6);
	lode_notes_add(options->notes, samples->count, text, NULL);
}

int lode_nsight_samples_add(struct lode_nsight_samples *samples, const struct lode_nsight_chains *chains,
			    struct lode_stream *stream, const struct lode_import_options *options, uint8_t *sampled)
{
	uint64_t period;

	if (!samples->count)
		return 0;
	qsort(samples->items, samples->count, sizeof(*samples->items), compare_samples);
	if (usual_gap(samples, &period) < 0)
		return LODE_SYSTEM;
	if (options->unit_ns > 0)
		period = options->unit_ns < 0x1p62 ? (uint64_t)(options->unit_ns + 0.5) : 0;
	note_period(samples, options, period);
	for (size_t i = 0; i < samples->count; i++) {
		const struct lode_nsight_sample *sample = &samples->items[i];
		struct lode_event event = { .t = sample->t,
					    .cost = period,
					    .thread = sample->thread,
					    .stack = lode_nsight_chain_stack(chains, sample->chain),
					    .waker = LODE_NONE,
					    .cpu = sample->cpu };

		sampled[sample->thread] = 1;
		if (lode_stream_add_event(stream, LODE_RUN, &event) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}
