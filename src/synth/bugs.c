/*
 * The planted bugs: their code, and the streams they are planted in.
 *
 * Every bug has two key frames, functions that nothing else calls: a pattern that
 * holds both, in this order, is a pattern of this bug. Around them the stacks
 * differ, as they do in the field: a bug is reached by up to three ways with other
 * functions around the key frames or other callers, and has several leaves in the
 * kernel.
 *
 * The first bug is in a third of the streams and the others in fewer and fewer,
 * down to one stream. Bugs are clustered: some hosts have many, most have few.
 */
#include "synth/model.h"

#include <stdio.h>
#include <string.h>

/* Thousandths of the streams that have the first bug; bug number n (from 0) is in this / (n + 1)^0.7. */
#define FIRST_SHARE 320

#define MAX_READY 64

static const struct {
	const char *name;
	const char *module;
	enum lode_synth_style style;
	const char *verbs[LODE_SYNTH_KEY];
	const char *lasts[LODE_SYNTH_KEY];
	enum lode_event_type kind;
	enum lode_synth_leaf leaf;
	uint32_t ways; /* leaves a variant */
} types[LODE_SYNTH_BUG_TYPES] = {
	[LODE_SYNTH_LOCK_CHAIN] = { "lock-chain",
				    "libstore.so.2",
				    LODE_SYNTH_SNAKE,
				    { "rebuild", "flush" },
				    { "locked", "journal" },
				    LODE_WAIT,
				    LODE_SYNTH_DISK,
				    2 },
	[LODE_SYNTH_HASH] = { "hash",
			      "libfolio.so.4",
			      LODE_SYNTH_CAMEL,
			      { "get", "get" },
			      { "hashCode", "shortPathName" },
			      LODE_WAIT,
			      LODE_SYNTH_DISK,
			      3 },
	[LODE_SYNTH_CPU] = { "cpu",
			     "libcanvas.so.1",
			     LODE_SYNTH_CAMEL,
			     { "match", "backtrack" },
			     { "pattern", "step" },
			     LODE_RUN,
			     LODE_SYNTH_RUN,
			     6 },
	[LODE_SYNTH_PLUG_IN] = { "plug-in",
				 NULL,
				 LODE_SYNTH_CAMEL,
				 { "initialize", "query" },
				 { "extension", "server" },
				 LODE_WAIT,
				 LODE_SYNTH_SOCKET,
				 2 },
	[LODE_SYNTH_HARD_FAULT] = { "hard-fault",
				    "libfolio.so.4",
				    LODE_SYNTH_CAMEL,
				    { "load", "touch" },
				    { "resource", "pages" },
				    LODE_WAIT,
				    LODE_SYNTH_FAULT,
				    2 },
};

const char *lode_synth_bug_type_name(enum lode_synth_bug_type type)
{
	return types[type].name;
}

enum lode_event_type lode_synth_bug_kind(const struct lode_synth_bug *bug)
{
	return types[bug->type].kind;
}

/* Whether the bug's cost arises in a worker that the UI thread waits for. */
static int in_worker(enum lode_synth_bug_type type, uint32_t variant)
{
	return type == LODE_SYNTH_LOCK_CHAIN || type == LODE_SYNTH_PLUG_IN || (type == LODE_SYNTH_CPU && variant);
}

static uint32_t ui_caller(struct lode_synth_code *code)
{
	uint32_t node = lode_synth_path(code, lode_synth_ui_root(code),
					"libwidget.so.3!DispatchMessage;CallWindowProcedure;OnCommand");

	return lode_synth_walk(code, node, LODE_SYNTH_APP, 4, 6);
}

static uint32_t worker_caller(struct lode_synth_code *code)
{
	return lode_synth_walk(code, lode_synth_worker_root(code), LODE_SYNTH_APP, 3, 6);
}

/* Calls a new function. */
static uint32_t call_new(struct lode_synth_code *code, uint32_t node, const char *module,
			 enum lode_synth_style style, const char *verb, const char *last)
{
	return lode_synth_push(code, node, lode_synth_function(code, module, style, verb, last));
}

/* Below the callers: functions of this path only, the key, and the frames in between. */
static uint32_t key_path(struct lode_synth_code *code, const struct lode_synth_bug *bug, const char *module,
			 uint32_t variant, uint32_t node)
{
	enum lode_synth_style style = types[bug->type].style;

	node = call_new(code, node, module, style, "prepare", "entries");
	node = call_new(code, node, module, style, "ensure", "components");
	node = lode_synth_push(code, node, bug->key[0]);
	if (variant == 1)
		node = call_new(code, node, module, style, "lookup", NULL);
	return lode_synth_push(code, node, bug->key[1]);
}

static void add_leaves(struct lode_synth_model *model, struct lode_synth_leaves *leaves, uint32_t node,
		       enum lode_synth_leaf leaf, uint32_t count)
{
	for (uint32_t i = 0; i < count && !model->code.failed; i++)
		lode_synth_add_leaf(model, leaves, lode_synth_leaf_path(&model->code, node, leaf, i + 1));
}

/* Where the UI thread waits for a worker. */
static void block_ui(struct lode_synth_model *model, struct lode_synth_variant *variant)
{
	struct lode_synth_code *code = &model->code;
	uint32_t node = lode_synth_walk(code, ui_caller(code), LODE_SYNTH_CORE, 3, 3);

	node = call_new(code, node, "libfolio.so.4", LODE_SYNTH_CAMEL, "await", "reply");
	add_leaves(model, &variant->blocked, node, LODE_SYNTH_CALL, 1);
}

/* Where the worker waits for the lock, and what its holder runs before it waits. */
static void make_chain(struct lode_synth_model *model, struct lode_synth_variant *variant, uint32_t holder)
{
	struct lode_synth_code *code = &model->code;
	uint32_t node = lode_synth_walk(code, worker_caller(code), LODE_SYNTH_STORE, 4, 4);

	add_leaves(model, &variant->lock, node, LODE_SYNTH_LOCK, 1);
	add_leaves(model, &variant->held, holder, LODE_SYNTH_RUN, 4);
}

/* `caller` is where the code of the bug begins. */
static void make_variant(struct lode_synth_model *model, struct lode_synth_bug *bug, const char *module,
			 uint32_t number, uint32_t caller)
{
	struct lode_synth_variant *variant = &bug->variant[number];
	struct lode_synth_code *code = &model->code;
	uint32_t node = key_path(code, bug, module, number, caller);

	if (in_worker(bug->type, number))
		block_ui(model, variant);
	if (bug->type == LODE_SYNTH_LOCK_CHAIN)
		make_chain(model, variant, caller);
	add_leaves(model, &variant->wake, caller, LODE_SYNTH_WAKE, 1);
	add_leaves(model, &variant->site, node, types[bug->type].leaf, types[bug->type].ways);
}

/*
 * The second way differs from the first in a few functions of similar names, the
 * third has other callers altogether; the second of a CPU bug is in a worker.
 */
static void make_variants(struct lode_synth_model *model, struct lode_synth_bug *bug, const char *module)
{
	struct lode_synth_code *code = &model->code;
	uint32_t caller = 0;

	for (uint32_t i = 0; i < bug->variants && !code->failed; i++) {
		if (i != 1 || bug->type == LODE_SYNTH_CPU) {
			caller = in_worker(bug->type, i) ? worker_caller(code) : ui_caller(code);
			caller = lode_synth_walk(code, caller, LODE_SYNTH_CORE, 2, 5);
		}
		make_variant(model, bug, module, i, caller);
	}
}

static void make_bug(struct lode_synth_model *model, size_t number)
{
	static const uint64_t grains[] = { 8, 20, 45, 120, 300 };
	struct lode_synth_bug *bug = &model->bugs[number];
	struct lode_synth_code *code = &model->code;
	char plug_in[64];
	const char *module;

	bug->type = (enum lode_synth_bug_type)(number % LODE_SYNTH_BUG_TYPES);
	snprintf(bug->name, sizeof(bug->name), "%s-%zu", types[bug->type].name, number / LODE_SYNTH_BUG_TYPES + 1);
	snprintf(plug_in, sizeof(plug_in), "libplug-%s%zu.so", lode_synth_noun(&code->names),
		 number / LODE_SYNTH_BUG_TYPES + 1);
	module = types[bug->type].module ? types[bug->type].module : plug_in;
	for (size_t i = 0; i < LODE_SYNTH_KEY; i++)
		bug->key[i] = lode_synth_function(code, module, types[bug->type].style, types[bug->type].verbs[i],
						  types[bug->type].lasts[i]);
	bug->grain = grains[lode_synth_random_below(&code->random, 5)] * 1000000;
	bug->weight = (uint32_t)lode_synth_random_between(&code->random, 5, 20);
	bug->variants = bug->type == LODE_SYNTH_CPU
				? 2
				: (uint32_t)lode_synth_random_between(&code->random, 1, LODE_SYNTH_VARIANTS);
	make_variants(model, bug, module);
}

/* How many of `streams` a bug is in: FIRST_SHARE / (number + 1)^0.7 of them, at least one. */
static uint64_t spread(uint64_t streams, size_t number)
{
	uint64_t share = FIRST_SHARE * 1000000ull;

	/* (n + 1)^0.7 is the product of ((k + 1) / k)^0.7, which is near (k + 0.85) / (k + 0.15). */
	for (uint64_t k = 1; k <= number; k++)
		share = share * (20 * k + 3) / (20 * k + 17);
	share = (streams * share + 500000000) / 1000000000;
	return share ? share : 1;
}

/*
 * How ready a host is to meet bugs, from 1 to MAX_READY: old disks, many plug-ins, little
 * memory. Most are not, some are very much.
 */
static uint64_t readiness(uint64_t seed, uint64_t stream)
{
	struct lode_random random = lode_synth_random_for(seed, 5, stream);
	uint64_t ready =
		1 + lode_synth_random_duration(&random, lode_synth_random_duration(&random, MAX_READY / 8));

	return ready < MAX_READY ? ready : MAX_READY;
}

static void plant_bug(struct lode_synth_model *model, size_t number)
{
	uint64_t streams = model->options.streams, left = spread(streams, number);
	uint8_t *planted = model->planted + number * streams;
	struct lode_random random = lode_synth_random_for(model->options.seed, 3, number);

	while (left) {
		uint64_t stream = lode_synth_random_below(&random, streams);

		if (planted[stream] ||
		    lode_synth_random_below(&random, MAX_READY) >= readiness(model->options.seed, stream))
			continue;
		planted[stream] = 1;
		left--;
	}
}

void lode_synth_plant(struct lode_synth_model *model)
{
	uint64_t bugs = model->options.bugs;

	model->bugs = lode_calloc(bugs + 1, sizeof(*model->bugs));
	model->planted = lode_calloc(bugs * model->options.streams + 1, 1);
	if (!model->bugs || !model->planted) {
		model->code.failed = 1;
		return;
	}
	for (size_t i = 0; i < bugs && !model->code.failed; i++) {
		make_bug(model, i);
		plant_bug(model, i);
	}
}
