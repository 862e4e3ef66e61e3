/*
 * Stacks of a recording: see stack_nodes.h.
 *
 * Addresses of callers are return addresses, which may be the first byte of the
 * next function when a call is the last thing a function does; so the byte before
 * them is what is looked up. The leaf of a user's stack, and of a sampled
 * kernel's, is an address as it is.
 */
#include "record/stream/stack_nodes.h"

#include "base/error.h"
#include "record/stream/kernel_stacks.h"
#include "trace/script_modules.h"

#include <stdio.h>
#include <string.h>

/* Nodes that are remembered at a time: each process that starts has its own, of its own address space. */
#define NODES_LIMIT 16384
/* Bytes of stacks that were sent since the last renewal, at least, before there is another. */
#define CONTENTS_LEAST (2u << 20)

struct lode_image *lode_record_stacks_kernel(struct lode_symbolizer *symbolizer, const char *kallsyms)
{
	return lode_symbolizer_kernel(symbolizer, "", kallsyms, "_text", 0);
}

int lode_record_stacks_init(struct lode_record_stacks *stacks, struct lode_dictionary *dictionary,
			    struct lode_processes *processes, struct lode_symbolizer *symbolizer,
			    const char *kallsyms)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->dictionary = dictionary;
	stacks->processes = processes;
	stacks->symbolizer = symbolizer;
	stacks->limit = CONTENTS_LEAST;
	stacks->kernel = lode_record_stacks_kernel(symbolizer, kallsyms);
	if (!stacks->kernel)
		return LODE_SYSTEM;
	return 0;
}

static void release_contents(struct lode_record_contents *contents)
{
	lode_free(contents->items);
	lode_index_release(&contents->index);
	lode_arena_release(&contents->arena);
	memset(contents, 0, sizeof(*contents));
}

void lode_record_stacks_release(struct lode_record_stacks *stacks)
{
	release_contents(&stacks->young);
	release_contents(&stacks->old);
	lode_free(stacks->locations);
	lode_index_release(&stacks->location_index);
	lode_free(stacks->nodes);
	lode_index_release(&stacks->node_index);
	memset(stacks, 0, sizeof(*stacks));
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * lode_hash_key.multiply[0] + (b + lode_hash_key.add) * lode_hash_key.multiply[1];

	return x ^ x >> 32;
}

/* ---- locations ---- */

/* The frame `text` of `module`, which represents this location. */
static uint32_t enter_location(struct lode_record_stacks *stacks, const struct lode_record_location *location,
			       uint32_t module, const char *text)
{
	uint32_t frame = lode_frames_add(&stacks->dictionary->frames, module, text, strlen(text));

	if (frame == LODE_NONE ||
	    lode_grow(&stacks->locations, &stacks->location_capacity, (size_t)frame + 1, sizeof(*location)) < 0)
		return LODE_NONE;
	stacks->locations[frame] = *location;
	return frame;
}

static uint64_t location_hash(const struct lode_record_location *location)
{
	return mix(location->address, (uint64_t)location->image << 1 | (uint64_t)location->link);
}

static uint32_t find_location(const struct lode_record_stacks *stacks, const struct lode_record_location *location)
{
	uint64_t hash = location_hash(location);
	size_t probe = 0;
	uint32_t frame;

	while ((frame = lode_index_next(&stacks->location_index, hash, &probe)) != LODE_NONE) {
		const struct lode_record_location *known = &stacks->locations[frame];

		if (known->address == location->address && known->image == location->image &&
		    known->link == location->link)
			return frame;
	}
	return LODE_NONE;
}

/*
 * Frames represent one location each, so equal texts are distinguished:
 * a file that shares its name with another by a number, what the link register
 * says by a question mark.
 */
static uint32_t user_frame(struct lode_record_stacks *stacks, const struct lode_space *space, uint64_t address,
			   int link)
{
	const struct lode_mapping *mapping = lode_space_find(&stacks->processes->spaces, space, address);
	struct lode_process_images *images = stacks->processes->images;
	uint32_t image = mapping ? mapping->image : LODE_PROCESS_IMAGE_UNKNOWN;
	struct lode_record_location location = { images->items[image].canonical, link, address };
	char text[64];
	uint32_t frame;
	int length;

	if (lode_process_image_by_offset(&images->items[location.image]))
		location.address = address - mapping->start + mapping->offset;
	frame = find_location(stacks, &location);
	if (frame != LODE_NONE)
		return frame;
	if (lode_process_image_use(images, image, &stacks->dictionary->frames) < 0)
		return LODE_NONE;
	if (location.image != images->items[image].canonical) {
		location.image = images->items[image].canonical;
		frame = find_location(stacks, &location);
		if (frame != LODE_NONE)
			return frame;
	}
	length = snprintf(text, sizeof(text), "0x%llx%s", (unsigned long long)location.address, link ? "?" : "");
	if (images->items[location.image].shares_name)
		snprintf(text + length, sizeof(text) - (size_t)length, "@%u", location.image);
	frame = enter_location(stacks, &location, images->items[location.image].module, text);
	if (frame == LODE_NONE || lode_index_insert(&stacks->location_index, location_hash(&location), frame) < 0)
		return LODE_NONE;
	return frame;
}

/* A function of a language, which has its name already; NULL: it has none. */
static uint32_t language_frame(struct lode_record_stacks *stacks, const struct lode_language_name *name,
			       uint64_t word)
{
	struct lode_frames *frames = &stacks->dictionary->frames;
	struct lode_record_location location = { LODE_NONE, 0, 0 };
	const char *module_name = name ? name->module : lode_language_text(lode_language_of(word));
	size_t before = frames->module_count;
	uint32_t module = lode_frames_module(frames, module_name, strlen(module_name));

	if (module == LODE_NONE)
		return LODE_NONE;
	/* What HotSpot generates for itself is in its own module. */
	if (!lode_module_runs_scripts(module_name))
		frames->modules[module].language =
			(uint8_t)lode_code_language_find(lode_language_text(lode_language_of(word)));
	if (name && *name->path && frames->module_count > before) {
		frames->modules[module].path = lode_strings_add(&frames->strings, name->path, strlen(name->path));
		if (frames->modules[module].path == LODE_NONE)
			return LODE_NONE;
	}
	return enter_location(stacks, &location, module, name ? name->function : LODE_LANGUAGE_UNREADABLE);
}

static int is_word(const struct lode_record_content *content, uint64_t address)
{
	return content->languages & LODE_STACK_HAS_WORDS && lode_language_of(address) != LODE_LANGUAGE_NONE;
}

/* A word, or where the function of the word before it is. */
static int is_of_language(const struct lode_record_content *content, uint64_t address)
{
	return is_word(content, address) || (content->languages & LODE_STACK_HAS_WORDS &&
					     address >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_POSITION);
}

/* Requested once a distinct stack of the kernel: that is seldom enough. */
static uint32_t kernel_frame(struct lode_record_stacks *stacks, uint64_t address)
{
	struct lode_record_location location = { LODE_NONE, 0, address };
	struct lode_symbol symbol = { 0 };
	const char *name;
	uint32_t module;
	char text[24];

	lode_image_find(stacks->kernel, address, &symbol);
	name = symbol.module ? symbol.module : "kernel";
	module = lode_frames_module(&stacks->dictionary->frames, name, strlen(name));
	if (module == LODE_NONE)
		return LODE_NONE;
	stacks->dictionary->frames.modules[module].kind = LODE_KIND_KERNEL;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	return enter_location(stacks, &location, module, symbol.name ? symbol.name : text);
}

/* What stands for an interrupt whose functions are not known: they are not recorded, or the kernel hides their names. */
static uint32_t interrupt_frame(struct lode_record_stacks *stacks)
{
	struct lode_record_location location = { LODE_NONE, 0, 0 };
	uint32_t module = lode_frames_module(&stacks->dictionary->frames, "kernel", strlen("kernel"));

	if (module == LODE_NONE)
		return LODE_NONE;
	stacks->dictionary->frames.modules[module].kind = LODE_KIND_KERNEL;
	return enter_location(stacks, &location, module, "(interrupt)");
}

/* ---- the kernel's stacks ---- */

/* Room for what `content` holds, in the generation of now. */
static void *content_room(struct lode_record_stacks *stacks, struct lode_record_content *content, size_t size)
{
	size_t bytes = content->count * size;

	stacks->young.bytes += bytes + sizeof(*content) + 2 * sizeof(uint64_t); /* with the index */
	return lode_arena_alloc(&stacks->young.arena, bytes ? bytes : size);
}

/* Turns the addresses into frames, root first. */
static int add_kernel(struct lode_record_stacks *stacks, const struct lode_record_stack *stack,
		      struct lode_record_content *content)
{
	const struct lode_frames *names = &stacks->dictionary->frames;
	uint32_t frames[LODE_RECORD_KERNEL_FRAMES], *kept, first;

	if (stack->count > LODE_RECORD_KERNEL_FRAMES)
		return 0;
	for (uint32_t i = 0; i < stack->count; i++) {
		frames[i] = kernel_frame(stacks, stack->addresses[i] - (i || !stack->sampled));
		if (frames[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	first = stack->sampled ? 0 : lode_kernel_first_untraced(names, frames, stack->count);
	content->count = stack->count - first;
	content->frames = kept = content_room(stacks, content, sizeof(*frames));
	if (!kept)
		return LODE_SYSTEM;
	for (uint32_t i = stack->count; i > first; i--)
		*kept++ = frames[i - 1];
	content->interrupt = lode_kernel_count_interrupt(names, frames + first, content->count);
	return 0;
}

static int add_user(struct lode_record_stacks *stacks, const struct lode_record_stack *stack,
		    struct lode_record_content *content)
{
	uint64_t *addresses;

	content->count = stack->count;
	content->addresses = addresses = content_room(stacks, content, sizeof(*addresses));
	if (!addresses)
		return LODE_SYSTEM;
	memcpy(addresses, stack->addresses, stack->count * sizeof(*addresses));
	return 0;
}

/* The id of a stack of one frame is its address: those of a process all have the same upper half. */
static const struct lode_record_content *find_in(const struct lode_record_contents *contents, uint64_t id)
{
	size_t probe = 0;
	uint32_t found;

	while ((found = lode_index_next(&contents->index, lode_hash_u64(id), &probe)) != LODE_NONE)
		if (contents->items[found].id == id)
			return &contents->items[found];
	return NULL;
}

static const struct lode_record_content *find_content(const struct lode_record_stacks *stacks, uint64_t id)
{
	const struct lode_record_content *content = find_in(&stacks->young, id);

	return content ? content : find_in(&stacks->old, id);
}

static int enter_content(struct lode_record_contents *contents, const struct lode_record_content *content)
{
	return LODE_INDEX_APPEND(&contents->index, lode_hash_u64(content->id), contents->items, contents->count,
				 contents->capacity, *content);
}

int lode_record_stacks_add(struct lode_record_stacks *stacks, const struct lode_record_stack *stack)
{
	struct lode_record_content content = { .id = stack->id,
					       .has_link = stack->has_link,
					       .end = stack->end,
					       .guessed = stack->guessed,
					       .languages = stack->languages };

	if (stack->count > LODE_RECORD_FRAMES || find_in(&stacks->young, stack->id))
		return 0;
	if ((stack->user ? add_user(stacks, stack, &content) : add_kernel(stacks, stack, &content)) < 0)
		return LODE_SYSTEM;
	stacks->young.again += find_in(&stacks->old, stack->id) != NULL;
	return enter_content(&stacks->young, &content);
}

/* ---- generations ---- */

int lode_record_stacks_is_full(const struct lode_record_stacks *stacks)
{
	return stacks->young.bytes >= stacks->limit;
}

/* Copies an old stack that is still to be named into the generation of now, which is the old one from then on. */
static int keep_held(struct lode_record_stacks *stacks, uint64_t id)
{
	const struct lode_record_content *old = find_in(&stacks->young, id) ? NULL : find_in(&stacks->old, id);
	struct lode_record_content copy;
	size_t size;
	void *room;

	if (!old)
		return 0;
	copy = *old;
	size = copy.addresses ? sizeof(*copy.addresses) : sizeof(*copy.frames);
	room = content_room(stacks, &copy, size);
	if (!room)
		return LODE_SYSTEM;
	if (copy.addresses)
		copy.addresses = memcpy(room, old->addresses, copy.count * size);
	else if (copy.count)
		copy.frames = memcpy(room, old->frames, copy.count * size);
	return enter_content(&stacks->young, &copy);
}

int lode_record_stacks_renew(struct lode_record_stacks *stacks, const uint64_t *held, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep_held(stacks, held[i]) < 0)
			return LODE_SYSTEM;
	/* Stacks that are seen all the time are more than that: to have them sent over and over costs more than to keep them. */
	if (stacks->young.again > stacks->young.count / 4)
		stacks->limit *= 2;
	release_contents(&stacks->old);
	stacks->old = stacks->young;
	memset(&stacks->young, 0, sizeof(stacks->young));
	return 0;
}

enum lode_stack_end lode_record_stacks_end(const struct lode_record_stacks *stacks, uint64_t user, int *guessed)
{
	const struct lode_record_content *content = find_content(stacks, user);

	*guessed = content && content->guessed;
	return content ? (enum lode_stack_end)content->end : LODE_STACK_UNKNOWN;
}

int lode_record_stacks_lack_words(const struct lode_record_stacks *stacks, uint64_t user)
{
	const struct lode_record_content *content = find_content(stacks, user);

	return content && content->languages & LODE_STACK_LACKS_WORDS;
}

int lode_record_stacks_interrupt(const struct lode_record_stacks *stacks, uint64_t kernel)
{
	const struct lode_record_content *content = kernel ? find_content(stacks, kernel) : NULL;

	return content && content->interrupt;
}

/* ---- nodes ---- */

static uint32_t add_child(struct lode_record_stacks *stacks, uint32_t node, uint32_t frame)
{
	if (node == LODE_NONE || frame == LODE_NONE)
		return LODE_NONE;
	return lode_stack_tree_child(&stacks->dictionary->tree, node, frame);
}

/*
 * The link register holds the leaf's caller or something that the leaf called; it
 * says nothing new where the frame record above the leaf has it as well.
 */
static int has_news(const struct lode_record_content *content, const uint64_t *addresses)
{
	return content->has_link && content->count > 1 && addresses[1] &&
	       !(content->count > 2 && addresses[1] == addresses[2]);
}

/* Whether an address is in executable memory, as far as is known. */
static int is_code(const struct lode_record_stacks *stacks, const struct lode_space *space, uint64_t address)
{
	return lode_space_find(&stacks->processes->spaces, space, address) != NULL;
}

/*
 * Whether the code at an address was generated from the function that follows it, a word: then that is its frame. JavaScript has both,
 * other languages run their functions in native ones.
 */
static int is_compiled(const struct lode_record_stacks *stacks, const struct lode_space *space,
		       const struct lode_record_content *content, uint64_t address, uint32_t word)
{
	const struct lode_mapping *mapping;

	if (word >= content->count || !is_word(content, content->addresses[word]) ||
	    lode_language_of(content->addresses[word]) != LODE_LANGUAGE_JAVASCRIPT)
		return 0;
	mapping = lode_space_find(&stacks->processes->spaces, space, address);
	/* New code may be in memory that is not known to be code. */
	return !mapping || stacks->processes->images->items[mapping->image].kind != LODE_MAPPED_FILE;
}

/*
 * How many addresses are of code, from the leaf. A frame pointer that is none leads to
 * words that are no return addresses, but data of the program: they are no frames.
 */
static uint32_t count_code(struct lode_record_stacks *stacks, const struct lode_space *space,
			   const struct lode_record_content *content, uint32_t callers)
{
	const uint64_t *addresses = content->addresses;

	for (uint32_t i = callers; i < content->count; i++) {
		if (!is_of_language(content, addresses[i]) && !is_code(stacks, space, addresses[i] - 1) &&
		    !is_compiled(stacks, space, content, addresses[i] - 1, i + 1)) {
			stacks->cut_outside_code++;
			return i;
		}
	}
	return content->count;
}

/* A stack of a process that is being made from the root to the leaf. */
struct path {
	struct lode_record_stacks *stacks;
	const struct lode_space *space;
	const struct lode_record_content *content;
	uint32_t pid;
	uint32_t node;
	int is_in_coroutine; /* the latest function is one, or what its interpreter called since */
};

/*
 * Python has no other way from a coroutine to another one but to await it. That is a frame of its own, because the names
 * of functions are compared with those of other recordings.
 */
static void mark_await(struct path *path, const struct lode_language_name *name)
{
	static const char module_name[] = "python3", mark[] = "(await)";
	struct lode_record_location location = { LODE_NONE, 0, 0 };
	int is_coroutine = name && name->is_coroutine;
	uint32_t module;

	if (path->is_in_coroutine && is_coroutine) {
		module = lode_frames_module(&path->stacks->dictionary->frames, module_name, strlen(module_name));
		path->node = module == LODE_NONE ? LODE_NONE
						 : add_child(path->stacks, path->node,
							     enter_location(path->stacks, &location, module, mark));
	}
	path->is_in_coroutine = is_coroutine;
}

/* Adds the function of a word, below those that it is inlined in. */
static void add_language_frames(struct path *path, uint32_t i)
{
	struct lode_record_stacks *stacks = path->stacks;
	uint64_t word = path->content->addresses[i];
	uint64_t position = lode_language_position(path->content->addresses, path->content->count, i);
	const struct lode_language_name *name =
		stacks->languages ? lode_languages_find(stacks->languages, path->pid, word, position) : NULL;

	mark_await(path, name);
	for (uint32_t n = name ? name->inlined : 0; n > 0; n--)
		path->node = add_child(stacks, path->node, language_frame(stacks, name + n, word));
	path->node = add_child(stacks, path->node, language_frame(stacks, name, word));
}

static void add_user_frame(struct path *path, uint64_t address, int link)
{
	uint32_t frame = user_frame(path->stacks, path->space, address, link);

	path->node = add_child(path->stacks, path->node, frame);
	if (path->is_in_coroutine && path->node != LODE_NONE)
		path->is_in_coroutine =
			lode_module_runs_scripts(lode_frames_module_name(&path->stacks->dictionary->frames, frame));
}

/* Adds the frame of an address that has callers. */
static void add_caller(struct path *path, uint32_t i)
{
	uint64_t address = path->content->addresses[i];

	if (is_word(path->content, address))
		add_language_frames(path, i);
	else if (!is_of_language(path->content, address) &&
		 !is_compiled(path->stacks, path->space, path->content, address - 1, i + 1))
		add_user_frame(path, address - 1, 0);
}

static uint32_t add_user_frames(struct lode_record_stacks *stacks, const struct lode_space *space, uint32_t pid,
				const struct lode_record_content *content)
{
	const uint64_t *addresses = content->addresses;
	int links = content->has_link && content->count > 1 && !is_word(content, addresses[1]);
	uint32_t callers = links ? 2 : 1;
	struct path path = { .stacks = stacks, .space = space, .content = content, .pid = pid };

	for (uint32_t i = count_code(stacks, space, content, callers); i > callers; i--)
		add_caller(&path, i - 1);
	if (links && has_news(content, addresses) && is_code(stacks, space, addresses[1] - 1) &&
	    !is_compiled(stacks, space, content, addresses[1] - 1, callers))
		add_user_frame(&path, addresses[1] - 1, 1);
	if (is_word(content, addresses[0]))
		add_language_frames(&path, 0);
	/* The link register may lead to the function itself, or nowhere when that was entered in a loop. */
	else if (!is_compiled(stacks, space, content, addresses[0], callers))
		add_user_frame(&path, addresses[0], 0);
	return path.node;
}

static uint32_t make_node(struct lode_record_stacks *stacks, const struct lode_space *space, uint32_t pid,
			  uint64_t user, uint64_t kernel, int interrupt)
{
	const struct lode_record_content *content = user ? find_content(stacks, user) : NULL;
	uint32_t node = 0, first = 0;

	stacks->missing += user && !content;
	if (content && content->addresses && content->count)
		node = add_user_frames(stacks, space, pid, content);
	content = kernel ? find_content(stacks, kernel) : NULL;
	stacks->missing += kernel && !content;
	if (interrupt && !(content && content->interrupt))
		return add_child(stacks, 0, interrupt_frame(stacks));
	if (!content)
		return node;
	if (interrupt)
		first = content->count - content->interrupt;
	for (uint32_t i = first; content->frames && i < content->count; i++)
		node = add_child(stacks, node, content->frames[i]);
	return node;
}

/* They are looked up again. */
static void forget_nodes(struct lode_record_stacks *stacks)
{
	lode_index_release(&stacks->node_index);
	stacks->node_count = 0;
}

uint32_t lode_record_stacks_node(struct lode_record_stacks *stacks, uint32_t pid, uint64_t user, uint64_t kernel,
				 int interrupt)
{
	static const struct lode_space nowhere;
	struct lode_process *process = user ? lode_processes_get(stacks->processes, pid) : NULL;
	const struct lode_space *space = process ? &process->space : &nowhere;
	struct lode_record_node found = { user, kernel, space->version, (uint32_t)interrupt, 0 };
	uint64_t hash = mix(mix(user, kernel), (uint64_t)space->version << 1 | (uint64_t)interrupt);
	size_t probe = 0;
	uint32_t id;

	if (user && !process)
		return LODE_NONE;
	while ((id = lode_index_next(&stacks->node_index, hash, &probe)) != LODE_NONE) {
		const struct lode_record_node *known = &stacks->nodes[id];

		if (known->user == user && known->kernel == kernel && known->version == found.version &&
		    known->interrupt == found.interrupt)
			return known->node;
	}
	if (stacks->node_count >= NODES_LIMIT)
		forget_nodes(stacks);
	found.node = make_node(stacks, space, pid, user, kernel, interrupt);
	if (found.node == LODE_NONE || LODE_INDEX_APPEND(&stacks->node_index, hash, stacks->nodes,
							 stacks->node_count, stacks->node_capacity, found) < 0)
		return LODE_NONE;
	return found.node;
}
