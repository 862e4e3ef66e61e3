/*
 * Facts about frames: see frame_facts.h.
 */
#include "result/frame_facts.h"

#include "base/memory.h"
#include "latency/code_layer.h"
#include "result/field_choices.h"
#include "result/field_rows.h"
#include "scope/javascript_plumbing.h"
#include "scope/own_frames.h"
#include "scope/plumbing.h"
#include "trace/gpu_threads.h"

struct module_layer {
	const char *name;
	const char *layer;
	const char *own;
};

#define TABLE_OF struct module_layer
static const struct lode_field module_rows[] = {
	FIELD_TEXT(name, "Name of the module, as in frames."),
	FIELD_TEXT(layer, "Whose code it is.", FIELD_CHOICE(lode_choice_layer)),
	FIELD_TEXT(own,
		   "How far its functions say where the program is: of the system (not at all), of what runs "
		   "scripts, of a "
		   "library that others use, of the program, of a script that it runs, of a GPU (most).",
		   FIELD_CHOICE(lode_choice_own)),
};
static const struct lode_fields module = FIELD_TABLE("ModuleLayer", module_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_frame_facts
static const struct lode_field facts_rows[] = {
	FIELD_OBJECTS(modules, module, "The modules of the frames above."),
	FIELD_WRITTEN_TEXTS(
		plumbing,
		"Frames that say nothing about the program: the scheduler, system call entries, wrappers "
		"of waits, functions of interpreters between those of the program."),
	FIELD_WRITTEN_TEXTS(waiting,
			    "Frames that say how a thread waits, not who does: like those of the system."),
	FIELD_WRITTEN_TEXTS(starting,
			    "Frames where a program or a script starts: like those of a library at most."),
};
const struct lode_fields lode_frame_facts_fields = FIELD_TABLE("FrameFacts", facts_rows);
#undef TABLE_OF

static int make_module(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_frame_facts *facts = list->from;
	enum lode_layer layer = lode_layer_of(facts->frames, (uint32_t)i);
	enum lode_own own = lode_own_of_module(facts->frames, (uint32_t)i, facts->has_javascript);
	const char *name = lode_strings_get(&facts->frames->strings, facts->frames->modules[i].name);

	if (!facts->has_module[i] || !*name)
		return 0;
	*(struct module_layer *)item = (struct module_layer){ name, lode_layer_name(layer), lode_own_name(own) };
	return 1;
}

static int is_plumbing(const struct lode_frame_facts *facts, uint32_t frame)
{
	return lode_idle_ignores(facts->idle, frame) ||
	       (facts->has_plumbing && lode_frame_is_plumbing(facts->frames, frame));
}

static int is_waiting(const struct lode_frame_facts *facts, uint32_t frame)
{
	return lode_gpu_frame_of(facts->frames, frame) == LODE_GPU_GAP ||
	       (lode_idle_is_way_of_waiting(facts->idle, frame) && !lode_idle_ignores(facts->idle, frame));
}

static int is_starting(const struct lode_frame_facts *facts, uint32_t frame)
{
	return lode_function_starts_program(lode_frames_function(facts->frames, frame));
}

static int write_frames(const struct lode_written *self, struct lode_json *json,
			int (*is_one)(const struct lode_frame_facts *facts, uint32_t frame))
{
	const struct lode_frame_facts *facts = self->from;

	lode_json_array(json);
	for (uint32_t i = 0; i < facts->frames->count; i++)
		if (facts->marks[i] && is_one(facts, i))
			lode_frames_json(facts->frames, i, json);
	lode_json_array_end(json);
	return 0;
}

static int write_plumbing(const struct lode_written *self, struct lode_json *json)
{
	return write_frames(self, json, is_plumbing);
}

static int write_waiting(const struct lode_written *self, struct lode_json *json)
{
	return write_frames(self, json, is_waiting);
}

static int write_starting(const struct lode_written *self, struct lode_json *json)
{
	return write_frames(self, json, is_starting);
}

int lode_frame_facts_make(struct lode_frame_facts *facts, const struct lode_frames *frames, const uint8_t *marks,
			  const struct lode_idle_stacks *idle)
{
	*facts = (struct lode_frame_facts){
		.modules = { .count = frames->module_count, .from = facts, .make = make_module },
		.plumbing = { .write = write_plumbing, .from = facts },
		.waiting = { .write = write_waiting, .from = facts },
		.starting = { .write = write_starting, .from = facts },
		.frames = frames,
		.idle = idle,
		.marks = marks,
		.has_module = lode_calloc(frames->module_count + 1, 1),
		.has_javascript = lode_frames_have_javascript(frames),
		.has_plumbing = lode_frames_have_plumbing(frames),
	};
	if (!facts->has_module)
		return LODE_SYSTEM;
	for (size_t i = 0; i < frames->count; i++)
		facts->has_module[frames->items[i].module] |= marks[i];
	return 0;
}

void lode_frame_facts_release(struct lode_frame_facts *facts)
{
	lode_free(facts->has_module);
	facts->has_module = NULL;
}

void lode_frame_facts_json(struct lode_json *json, const struct lode_frames *frames, const uint8_t *marks,
			   const struct lode_idle_stacks *idle)
{
	struct lode_frame_facts facts;

	if (lode_frame_facts_make(&facts, frames, marks, idle) < 0)
		json->buffer->failed = 1;
	else
		lode_fields_members(&lode_frame_facts_fields, &facts, json);
	lode_frame_facts_release(&facts);
}

void lode_frame_facts_mark(const struct lode_stack_tree *tree, uint32_t node, uint8_t *marks)
{
	for (; node; node = tree->nodes[node].parent)
		marks[tree->nodes[node].frame] = 1;
}
