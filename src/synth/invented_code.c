/* Invented code: see invented_code.h. */
#include "synth/invented_code.h"

#include "base/error.h"

#include <string.h>

static const struct {
	const char *name;
	enum lode_synth_style style;
} modules[LODE_SYNTH_MODULES] = {
	{ "folio", LODE_SYNTH_CAMEL },          { "libfolio.so.4", LODE_SYNTH_CAMEL },
	{ "libwidget.so.3", LODE_SYNTH_CAMEL }, { "libcanvas.so.1", LODE_SYNTH_CAMEL },
	{ "libstore.so.2", LODE_SYNTH_SNAKE },  { "libnet.so.1", LODE_SYNTH_SNAKE },
	{ "indexd", LODE_SYNTH_SNAKE },         { "syncd", LODE_SYNTH_SNAKE },
	{ "compositor", LODE_SYNTH_CAMEL },     { "soundd", LODE_SYNTH_SNAKE },
	{ "scand", LODE_SYNTH_SNAKE },          { "printd", LODE_SYNTH_SNAKE },
	{ "updater", LODE_SYNTH_CAMEL },        { "logd", LODE_SYNTH_SNAKE },
	{ "mailer", LODE_SYNTH_CAMEL },         { "browser", LODE_SYNTH_CAMEL },
	{ "backupd", LODE_SYNTH_SNAKE },        { "player", LODE_SYNTH_CAMEL },
};

uint32_t lode_synth_function(struct lode_synth_code *code, const char *module, enum lode_synth_style style,
			     const char *verb, const char *last)
{
	struct lode_frames *frames = &code->dictionary.frames;
	char name[LODE_SYNTH_NAME];
	uint32_t id, frame;

	if (code->failed || lode_synth_name(&code->names, style, verb, last, name) < 0) {
		code->failed = 1;
		return LODE_NONE;
	}
	id = lode_frames_module(frames, module, strlen(module));
	frame = id == LODE_NONE ? LODE_NONE : lode_frames_add(frames, id, name, strlen(name));
	code->failed |= frame == LODE_NONE;
	return frame;
}

static void make_module(struct lode_synth_code *code, size_t number, uint32_t width)
{
	struct lode_synth_module *module = &code->modules[number];

	module->name = modules[number].name;
	module->style = modules[number].style;
	module->width = width;
	module->frames = lode_calloc((size_t)width * LODE_SYNTH_LEVELS, sizeof(*module->frames));
	code->failed |= !module->frames;
	for (size_t i = 0; i < (size_t)width * LODE_SYNTH_LEVELS && !code->failed; i++)
		module->frames[i] = lode_synth_function(code, module->name, module->style, NULL, NULL);
}

int lode_synth_code_init(struct lode_synth_code *code, uint64_t seed, uint32_t breadth)
{
	memset(code, 0, sizeof(*code));
	code->random = lode_synth_random_for(seed, 1, 0);
	if (lode_dictionary_init(&code->dictionary) < 0 ||
	    lode_synth_names_init(&code->names, lode_synth_random_for(seed, 2, 0)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < LODE_SYNTH_MODULES && !code->failed; i++)
		make_module(code, i, i < LODE_SYNTH_OTHER ? 2 * breadth : breadth);
	return code->failed ? LODE_SYSTEM : 0;
}

void lode_synth_code_release(struct lode_synth_code *code)
{
	for (size_t i = 0; i < LODE_SYNTH_MODULES; i++)
		lode_free(code->modules[i].frames);
	lode_free(code->emulated);
	lode_synth_names_release(&code->names);
	lode_dictionary_release(&code->dictionary);
	memset(code, 0, sizeof(*code));
}

uint32_t lode_synth_push(struct lode_synth_code *code, uint32_t node, uint32_t frame)
{
	struct lode_stack_tree *tree = &code->dictionary.tree;
	uint32_t child;

	if (code->failed)
		return 0;
	child = lode_stack_tree_child(tree, node, frame);
	if (child == LODE_NONE ||
	    lode_grow(&code->emulated, &code->emulated_capacity, (size_t)child + 1, sizeof(*code->emulated)) < 0) {
		code->failed = 1;
		return 0;
	}
	code->emulated[child] = code->emulating != 0;
	return child;
}

uint32_t lode_synth_frame(struct lode_synth_code *code, const char *text, size_t *length, uint32_t *module)
{
	struct lode_frames *frames = &code->dictionary.frames;
	const char *mark;
	size_t lead = 0;
	uint32_t frame;

	*length = strcspn(text, ";");
	mark = memchr(text, '!', *length);
	if (mark) {
		*module = lode_frames_module(frames, text, (size_t)(mark - text));
		lead = (size_t)(mark - text) + 1;
	}
	frame = *module == LODE_NONE ? LODE_NONE : lode_frames_add(frames, *module, text + lead, *length - lead);
	code->failed |= frame == LODE_NONE;
	return frame;
}

uint32_t lode_synth_path(struct lode_synth_code *code, uint32_t node, const char *frames)
{
	uint32_t module = 0;

	while (*frames && !code->failed) {
		size_t length;
		uint32_t frame = lode_synth_frame(code, frames, &length, &module);

		node = lode_synth_push(code, node, frame);
		frames += length + (frames[length] == ';');
	}
	return node;
}

/* Which of the three functions is called: the first mostly. */
static uint32_t which_callee(struct lode_random *random)
{
	uint64_t chance = lode_synth_random_below(random, 10);

	return chance < 6 ? 0 : chance < 9 ? 1 : 2;
}

uint32_t lode_synth_walk(struct lode_synth_code *code, uint32_t node, enum lode_synth_module_id number,
			 unsigned least, unsigned most)
{
	const struct lode_synth_module *module = &code->modules[number];
	uint32_t place = (uint32_t)lode_synth_random_skewed(&code->random, module->width);
	unsigned levels = (unsigned)lode_synth_random_between(&code->random, least, most);

	for (unsigned level = 0; level < levels && !code->failed; level++) {
		node = lode_synth_push(code, node, module->frames[level * module->width + place]);
		place = (place * 3 + which_callee(&code->random)) % module->width;
	}
	return node;
}
