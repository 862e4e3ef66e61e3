/*
 * Stacks, the second half: from locations to frames, from stacks of locations to
 * the dictionary's stack tree. See chain_stacks.h and chain_stacks.c.
 *
 * Look-ups are independent and run on all processors; names are interned by one
 * thread afterwards. A stack's parent is a call of a stack with a smaller number,
 * so one pass translates all, each call into its node in place.
 */
#include "base/parallel.h"
#include "import/kernel/perf_data/chain_stacks.h"
#include "symbols/unnamed_note.h"

#define PIECE     2048 /* locations looked up at a time */
#define INLINES   64   /* functions inlined into one another that are shown */
#define NOT_ASKED 2

/* What is known of a location. */
struct found {
	const char *name;   /* NULL: no symbol */
	const char *module; /* kernel: its module */
	uint64_t address;   /* of the function where it is known, else the location's */
};

struct translation {
	struct lode_perf_stacks *stacks;
	struct lode_dictionary *dictionary;
	const struct lode_import_options *options;
	struct found *found; /* by location */
	uint32_t *frames;    /* by location */
	int8_t *links;       /* by location: what lode_image_link_register says; NOT_ASKED */
	uint32_t *map;       /* by stack: node */
	uint16_t *depths;    /* by call: frames of its stack; only where inlined functions can make it too deep */
	uint64_t unnamed;
	uint64_t too_deep;
};

/* ---- look-up ---- */

/*
 * A signal handler returns to the first byte of the vDSO's trampoline: the byte
 * before it, which is looked up for a caller in the link register, is no code.
 */
static int find_symbol(const struct lode_process_image *image, uint64_t address, struct lode_symbol *symbol)
{
	return lode_image_find(image->symbols, address, symbol) ||
	       (image->kind == LODE_MAPPED_VDSO && lode_image_find(image->symbols, address + 1, symbol));
}

/* The image of a location. */
static struct lode_process_image *image_of(const struct lode_perf_stacks *stacks, size_t location)
{
	return &stacks->images->table.items[stacks->locations.items[location].image];
}

static void look_up(const struct lode_process_image *image, uint64_t address, struct found *found)
{
	struct lode_symbol symbol;

	found->address = lode_process_image_address(image, address);
	if (image->kind == LODE_MAPPED_KERNEL_CODE)
		found->name = image->path;
	if (!image->symbols || !find_symbol(image, found->address, &symbol)) {
		if (image->kind == LODE_MAPPED_KERNEL_MODULE)
			found->address -= image->base;
		return;
	}
	found->name = symbol.name;
	found->module = symbol.module;
	found->address = symbol.start;
}

static void look_up_piece(void *context, size_t piece)
{
	struct translation *translation = context;
	struct lode_perf_stacks *stacks = translation->stacks;
	size_t end = (piece + 1) * PIECE;

	if (end > stacks->locations.count)
		end = stacks->locations.count;
	for (size_t i = piece * PIECE; i < end; i++)
		look_up(image_of(stacks, i), stacks->locations.items[i].address, &translation->found[i]);
}

/* ---- frames ---- */

static size_t write_hexadecimal(char *text, uint64_t number)
{
	static const char digits[] = "0123456789abcdef";
	size_t length = 2;
	int shift = 60;

	text[0] = '0';
	text[1] = 'x';
	while (shift && !(number >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		text[length++] = digits[number >> shift & 15];
	return length;
}

static uint32_t frame_of(struct translation *translation, size_t location)
{
	struct lode_perf_stacks *stacks = translation->stacks;
	struct lode_process_image *image = image_of(stacks, location);
	const struct found *found = &translation->found[location];
	struct lode_frames *frames = &translation->dictionary->frames;
	uint32_t module;
	char text[20];

	if (found->module)
		module = lode_frames_kernel_module(frames, found->module, strlen(found->module));
	else
		module = lode_process_image_enter(image, frames) < 0 ? LODE_NONE : image->module;
	if (found->name)
		return lode_frames_add(frames, module, found->name, strlen(found->name));
	translation->unnamed++;
	return lode_frames_add(frames, module, text, write_hexadecimal(text, found->address));
}

static int make_frames(struct translation *translation)
{
	size_t count = translation->stacks->locations.count;

	lode_parallel(translation->options->jobs, (count + PIECE - 1) / PIECE, look_up_piece, translation);
	for (size_t i = 0; i < count; i++) {
		translation->frames[i] = frame_of(translation, i);
		if (translation->frames[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return 0;
}

/* ---- the tree ---- */

static int ask_link(struct translation *translation, uint32_t location)
{
	struct lode_perf_stacks *stacks = translation->stacks;
	const struct lode_process_image *image = image_of(stacks, location);
	int8_t *known = &translation->links[location];

	if (*known != NOT_ASKED)
		return *known;
	if (image->symbols && lode_process_image_by_offset(image))
		*known = (int8_t)lode_image_link_register(
			image->symbols,
			lode_process_image_address(image, stacks->locations.items[location].address));
	else
		*known = -1;
	return *known;
}

/*
 * Whether the caller of the leaf at `location` is in the link register, which
 * points to `link`. Without unwind information (code generated at run time, stubs of
 * the linker) it is, unless the leaf has made a call already: then the register
 * points into the leaf itself. That needs functions to be known.
 */
static int link_holds_caller(struct translation *translation, uint32_t location, uint32_t link)
{
	int answer = ask_link(translation, location);

	if (answer >= 0)
		return answer;
	return translation->found[location].name && translation->frames[location] != translation->frames[link];
}

/* The functions inlined at a location, outermost first. */
static size_t inlined_at(struct translation *translation, uint32_t location, const char **names)
{
	struct lode_perf_stacks *stacks = translation->stacks;
	const struct lode_process_image *image = image_of(stacks, location);

	if (!image->symbols || image->kind == LODE_MAPPED_ANONYMOUS)
		return 0;
	return lode_image_inlines(image->symbols,
				  lode_process_image_address(image, stacks->locations.items[location].address),
				  names, INLINES);
}

/* Adds them below the stack `node`, as far as a stack of `*depth` frames may grow. */
static uint32_t add_inlined(struct translation *translation, uint32_t node, uint32_t location, uint16_t *depth)
{
	struct lode_frames *frames = &translation->dictionary->frames;
	uint32_t module = frames->items[translation->frames[location]].module;
	const char *names[INLINES];
	size_t count = inlined_at(translation, location, names);

	/* A record of 64 KiB has fewer than half of the frames that a stack may have: the rest is for these.
	 */
	if (*depth + count > LODE_STACK_DEPTH_LIMIT / 2) {
		translation->too_deep++;
		return node;
	}
	for (size_t i = 0; i < count && node != LODE_NONE; i++) {
		uint32_t frame = lode_frames_add(frames, module, names[i], strlen(names[i]));

		node = lode_stack_tree_child(&translation->dictionary->tree, node, frame);
	}
	*depth = (uint16_t)(*depth + count);
	return node;
}

static uint32_t add_call(struct translation *translation, uint32_t parent, uint32_t location, uint16_t *depth)
{
	uint32_t node =
		lode_stack_tree_child(&translation->dictionary->tree, parent, translation->frames[location]);

	if (node == LODE_NONE || !translation->depths)
		return node;
	*depth = (uint16_t)(*depth + 1);
	return add_inlined(translation, node, location, depth);
}

/* Where a stack has come to. */
struct position {
	uint32_t node;
	uint16_t depth;
};

/* Translates the call at `place`; the one before it, if it is of the same stack and optional, was left to it.
 */
static int translate_call(struct translation *translation, uint32_t place, uint32_t start,
			  struct position *position)
{
	uint32_t *calls = translation->stacks->calls.items;
	uint32_t location = calls[place];
	uint32_t link = place > start ? calls[place - 1] : 0;

	if (location & LODE_PERF_OPTIONAL)
		return 0;
	if (link & LODE_PERF_OPTIONAL) {
		link &= ~LODE_PERF_OPTIONAL;
		if (link_holds_caller(translation, location, link))
			position->node = add_call(translation, position->node, link, &position->depth);
	}
	if (position->node != LODE_NONE)
		position->node = add_call(translation, position->node, location, &position->depth);
	return position->node == LODE_NONE ? LODE_SYSTEM : 0;
}

static int translate_stack(struct translation *translation, const struct lode_perf_stack *stack, uint32_t *node)
{
	uint32_t *calls = translation->stacks->calls.items;
	struct position position = { 0, 0 };

	if (stack->parent) {
		position.node = calls[stack->parent - 1];
		position.depth = translation->depths ? translation->depths[stack->parent - 1] : 0;
	}
	for (uint32_t i = stack->start; i < stack->start + stack->count; i++) {
		uint32_t optional = calls[i] & LODE_PERF_OPTIONAL;

		if (translate_call(translation, i, stack->start, &position) < 0)
			return LODE_SYSTEM;
		if (optional)
			continue;
		calls[i] = position.node;
		if (translation->depths)
			translation->depths[i] = position.depth;
	}
	*node = position.node;
	return 0;
}

static int translate_stacks(struct translation *translation)
{
	struct lode_perf_stacks *stacks = translation->stacks;

	for (size_t i = 0; i < stacks->count; i++)
		if (translate_stack(translation, &stacks->items[i], &translation->map[i]) < 0)
			return LODE_SYSTEM;
	for (size_t i = 0; i < stacks->count; i++)
		if (stacks->items[i].same_as)
			translation->map[i] = translation->map[stacks->items[i].same_as];
	return 0;
}

static int translate(struct translation *translation)
{
	struct lode_perf_stacks *stacks = translation->stacks;

	translation->found = lode_calloc(stacks->locations.count, sizeof(*translation->found));
	translation->frames = lode_calloc(stacks->locations.count, sizeof(*translation->frames));
	translation->links = lode_alloc(stacks->locations.count);
	translation->map = lode_calloc(stacks->count, sizeof(*translation->map));
	if (translation->options->inlines &&
	    !(translation->depths = lode_calloc(stacks->calls.count, sizeof(*translation->depths))))
		return LODE_SYSTEM;
	if (!translation->found || !translation->frames || !translation->links || !translation->map)
		return LODE_SYSTEM;
	memset(translation->links, NOT_ASKED, stacks->locations.count);
	if (lode_perf_images_settle(stacks->images) < 0 || make_frames(translation) < 0)
		return LODE_SYSTEM;
	return translate_stacks(translation);
}

int lode_perf_stacks_translate(struct lode_perf_stacks *stacks, struct lode_dictionary *dictionary,
			       const struct lode_import_options *options, uint32_t **map)
{
	struct translation translation = { .stacks = stacks, .dictionary = dictionary, .options = options };
	int code = translate(&translation);

	*map = NULL;
	if (code == 0) {
		*map = translation.map;
		translation.map = NULL;
	}
	if (!options->no_symbols)
		lode_note_unnamed(options->notes, translation.unnamed, &dictionary->frames);
	lode_notes_add(options->notes, translation.too_deep,
		       "calls whose inlined functions would make a stack too deep", NULL);
	lode_free(translation.depths);
	lode_free(translation.found);
	lode_free(translation.frames);
	lode_free(translation.links);
	lode_free(translation.map);
	return code;
}
