/*
 * Stacks: see chain_stacks.h. Here the replay's half: from chains to locations.
 *
 * A chain is leaf first and falls into segments, each behind a marker that says
 * whose addresses follow: the kernel's, then the user's. Read from its end it is
 * root first. Samples of one thread follow each other with little change near
 * the root: a stack begins where its chain leaves that of the sample before it,
 * and the calls above are not resolved and not stored again.
 *
 * On aarch64 the caller of a leaf function is in no frame record: only the link
 * register knows it. perf records that register, and whether it holds the
 * caller depends on the place of the leaf in its function, which only unwind
 * information shows. So a call for it is put above the leaf, marked as optional,
 * and symbolize_stacks.c decides when the symbols are there.
 */
#include "import/kernel/perf_data/chain_stacks.h"

int lode_perf_stacks_init(struct lode_perf_stacks *stacks, struct lode_perf_images *images,
			  struct lode_spaces *spaces, const struct lode_perf_chains *unwound)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->unwound = unwound;
	stacks->images = images;
	stacks->spaces = spaces;
	stacks->kernel = lode_space_empty(spaces);
	if (lode_grow(&stacks->items, &stacks->capacity, 1, sizeof(*stacks->items)) < 0)
		return LODE_SYSTEM;
	memset(&stacks->items[stacks->count++], 0, sizeof(*stacks->items));
	return 0;
}

void lode_perf_stacks_release(struct lode_perf_stacks *stacks)
{
	lode_free(stacks->chains.items);
	lode_free(stacks->items);
	lode_index_release(&stacks->index);
	lode_free(stacks->calls.items);
	lode_free(stacks->locations.items);
	lode_index_release(&stacks->location_index);
	for (size_t i = 0; i < LODE_PERF_PATHS; i++)
		lode_free(stacks->paths[i].calls);
	memset(stacks, 0, sizeof(*stacks));
}

int lode_perf_stacks_add_chains(struct lode_perf_stacks *stacks, const struct lode_perf_chain *chains, size_t count)
{
	if (!count)
		return 0;
	if (LODE_RESERVE(&stacks->chains, count) < 0)
		return LODE_SYSTEM;
	memcpy(stacks->chains.items + stacks->chains.count, chains, count * sizeof(*chains));
	stacks->chains.count += count;
	return 0;
}

static const struct lode_perf_chain *chain_of(const struct lode_perf_stacks *stacks, uint32_t chain)
{
	return chain & LODE_PERF_UNWOUND ? &stacks->unwound->items[chain & ~LODE_PERF_UNWOUND]
					 : &stacks->chains.items[chain];
}

/* ---- locations ---- */

static uint32_t add_location(struct lode_perf_stacks *stacks, uint32_t image, uint64_t address)
{
	struct lode_perf_location location = { address, image };
	uint64_t hash = lode_hash_u64(address) + image * 0x9e3779b97f4a7c15u;
	uint32_t id = LODE_INDEX_FIND(i, &stacks->location_index, hash,
				      stacks->locations.items[i].address == address &&
					      stacks->locations.items[i].image == image);

	if (id != LODE_NONE)
		return id;
	if (stacks->locations.count >= LODE_PERF_OPTIONAL - 1 ||
	    LODE_INDEX_PUSH(&stacks->location_index, hash, &stacks->locations, location) < 0)
		return LODE_NONE;
	stacks->images->table.items[image].used = 1;
	return (uint32_t)stacks->locations.count - 1;
}

static uint32_t user_location(struct lode_perf_stacks *stacks, const struct lode_space *space, uint64_t address)
{
	const struct lode_mapping *mapping = lode_space_find(stacks->spaces, space, address);
	uint32_t image = mapping ? mapping->image & ~LODE_PERF_IMAGE_DATA : LODE_PROCESS_IMAGE_UNKNOWN;

	if (lode_process_image_by_offset(&stacks->images->table.items[image]))
		return add_location(stacks, image, address - mapping->start + mapping->offset);
	return add_location(stacks, image, address);
}

static uint32_t kernel_location(struct lode_perf_stacks *stacks, uint64_t address)
{
	const struct lode_mapping *mapping = lode_space_find(stacks->spaces, &stacks->kernel, address);

	return add_location(stacks, mapping ? mapping->image : LODE_PERF_IMAGE_KERNEL, address);
}

/* A segment's marker; for a chain that begins without one, its addresses say. */
static uint32_t location(struct lode_perf_stacks *stacks, const struct lode_space *space, uint64_t marker,
			 uint64_t address)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_USER:
		return user_location(stacks, space, address);
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return kernel_location(stacks, address);
	case 0:
		return address >> 63 ? kernel_location(stacks, address) : user_location(stacks, space, address);
	default:
		return add_location(stacks, LODE_PERF_IMAGE_GUEST, address);
	}
}

/* ---- chains ---- */

/* One chain on its way. */
struct walk {
	const struct lode_perf_chain *chain;
	const struct lode_space *space;
	struct lode_perf_path *path;
};

/* Adds a call; there is room for it. LODE_NONE is passed on as LODE_SYSTEM. */
static int add_call(struct lode_perf_stacks *stacks, uint32_t where, uint32_t mark)
{
	if (where == LODE_NONE)
		return LODE_SYSTEM;
	stacks->calls.items[stacks->calls.count++] = where | mark;
	return 0;
}

static int is_marker(const struct lode_perf_chain *chain, size_t i)
{
	return chain->ips[i] >= PERF_FIRST_MARKER;
}

/*
 * The link register points behind the call, so the byte before it is looked up.
 * It says nothing new where the frame record above the leaf has it as well.
 */
static int add_link(struct lode_perf_stacks *stacks, const struct walk *walk, size_t leaf)
{
	const struct lode_perf_chain *chain = walk->chain;

	if (!chain->has_link || !chain->link || leaf + 1 >= chain->count || is_marker(chain, leaf + 1) ||
	    chain->link == chain->ips[leaf + 1])
		return 0;
	return add_call(stacks, user_location(stacks, walk->space, chain->link - 1), LODE_PERF_OPTIONAL);
}

/* Where the segment that ends before `end` starts. */
static size_t segment_start(const struct lode_perf_chain *chain, size_t end)
{
	while (end && !is_marker(chain, end - 1))
		end--;
	return end;
}

/* The marker of the segment that ends before `end`; 0: it has none. */
static uint64_t segment_marker(const struct lode_perf_chain *chain, size_t end)
{
	size_t start = segment_start(chain, end);

	return start ? chain->ips[start - 1] : 0;
}

/* Entry number `i` of a chain from the root. */
static uint64_t from_root(const struct lode_perf_chain *chain, size_t i)
{
	return chain->ips[chain->count - 1 - i];
}

/*
 * How many addresses and markers, from the root, two chains share and resolve to
 * the same calls. A leaf counts only with its marker, for it may have an optional
 * call above it; and where the link register differs, no leaf does.
 */
static size_t shared_calls(const struct lode_perf_chain *a, const struct lode_perf_chain *b)
{
	size_t limit = a->count < b->count ? a->count : b->count, shared = 0;

	if (a->has_link != b->has_link || a->link != b->link)
		limit = a->count - segment_start(a, a->count);
	if (limit > b->count)
		limit = b->count;
	while (shared < limit && from_root(a, shared) == from_root(b, shared))
		shared++;
	if (shared && from_root(a, shared - 1) < PERF_FIRST_MARKER &&
	    (shared == limit || from_root(a, shared) >= PERF_FIRST_MARKER ||
	     from_root(b, shared) >= PERF_FIRST_MARKER))
		shared--;
	if (segment_marker(a, a->count - shared) != segment_marker(b, b->count - shared))
		return 0;
	return shared;
}

/* Makes the calls of the rest of a chain, of which `shared` addresses and markers are known. */
static int resolve(struct lode_perf_stacks *stacks, const struct walk *walk, size_t shared)
{
	const struct lode_perf_chain *chain = walk->chain;
	uint32_t *known = walk->path->calls;
	size_t end = chain->count - shared;

	while (end) {
		size_t start = segment_start(chain, end);
		uint64_t marker = start ? chain->ips[start - 1] : 0;

		for (size_t i = end; i > start; i--) {
			if (i == start + 1 && marker == (uint64_t)PERF_CONTEXT_USER &&
			    add_link(stacks, walk, start) < 0)
				return LODE_SYSTEM;
			/* After the marker of a deferred stack there is no address. */
			if (marker != PERF_DEFERRED_USER &&
			    add_call(stacks, location(stacks, walk->space, marker, chain->ips[i - 1]), 0) < 0)
				return LODE_SYSTEM;
			known[chain->count - i] = (uint32_t)stacks->calls.count;
		}
		if (start)
			known[chain->count - start] = (uint32_t)stacks->calls.count;
		end = start ? start - 1 : 0;
	}
	return 0;
}

/* ---- stacks ---- */

/* Resolves the chain of `stack`, from where it leaves the path. Returns 0 or LODE_SYSTEM. */
static int make_calls(struct lode_perf_stacks *stacks, const struct lode_space *space, struct lode_perf_path *path,
		      struct lode_perf_stack *stack)
{
	const struct lode_perf_chain *chain = chain_of(stacks, stack->chain);
	struct walk walk = { chain, space, path };
	size_t shared = 0;

	if (lode_grow(&path->calls, &path->capacity, chain->count, sizeof(*path->calls)) < 0)
		return LODE_SYSTEM;
	if (path->count && path->version == space->version && path->kernel_version == stack->kernel_version)
		shared = shared_calls(chain, chain_of(stacks, path->chain));
	stack->parent = shared ? path->calls[shared - 1] : 0;
	stack->start = (uint32_t)stacks->calls.count;
	path->count = 0; /* until all of it is there */
	if (resolve(stacks, &walk, shared) < 0)
		return LODE_SYSTEM;
	stack->count = (uint32_t)stacks->calls.count - stack->start;
	path->version = space->version;
	path->kernel_version = stack->kernel_version;
	path->chain = stack->chain;
	path->count = chain->count;
	return 0;
}

static uint32_t add_stack(struct lode_perf_stacks *stacks, const struct lode_space *space,
			  struct lode_perf_path *path, struct lode_perf_stack stack, uint64_t hash)
{
	size_t count = chain_of(stacks, stack.chain)->count;

	/* A call for each address, and one for the link register in place of a marker. */
	if (stacks->calls.count + count >= LODE_NONE || LODE_RESERVE(&stacks->calls, count) < 0 ||
	    make_calls(stacks, space, path, &stack) < 0 || LODE_INDEX_PUSH(&stacks->index, hash, stacks, stack) < 0)
		return LODE_NONE;
	return (uint32_t)stacks->count - 1;
}

uint32_t lode_perf_stacks_get(struct lode_perf_stacks *stacks, const struct lode_space *space, uint32_t thread,
			      uint32_t chain)
{
	struct lode_perf_stack stack = { .kernel_version = stacks->kernel.version, .chain = chain };
	uint64_t hash;
	uint32_t id;

	stack.version = chain_of(stacks, chain)->kernel_only ? 0 : space->version;
	hash = lode_hash_pair(stack.version, chain) + stack.kernel_version * 0x9e3779b97f4a7c15u;
	id = LODE_INDEX_FIND(i, &stacks->index, hash,
			     stacks->items[i].chain == chain && stacks->items[i].version == stack.version &&
				     stacks->items[i].kernel_version == stack.kernel_version);
	return id == LODE_NONE ? add_stack(stacks, space, &stacks->paths[thread % LODE_PERF_PATHS], stack, hash)
			       : id;
}

uint32_t lode_perf_stacks_reserve(struct lode_perf_stacks *stacks, uint32_t stack)
{
	struct lode_perf_stack reserved = { .same_as = stack };

	if (stacks->count >= LODE_NONE - 1 || LODE_PUSH(stacks, reserved) < 0)
		return LODE_NONE;
	return (uint32_t)stacks->count - 1;
}

void lode_perf_stacks_set(struct lode_perf_stacks *stacks, uint32_t reserved, uint32_t stack)
{
	stacks->items[reserved].same_as = stack;
}
