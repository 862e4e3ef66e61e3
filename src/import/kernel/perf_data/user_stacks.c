/*
 * User stacks: see user_stacks.h.
 *
 * lode_unwind does the walk; here is what it reads and asks for. If it does not reach
 * the start of the thread, one reason is recorded: the first code on the way without a
 * table, since all that is behind it is guessed; else the end of the copy; else the
 * code where it ended.
 */
#include "import/kernel/perf_data/user_stacks.h"

#include "base/error.h"
#include "import/kernel/perf_data/format.h"

void lode_perf_user_stacks_init(struct lode_perf_user_stacks *stacks, struct lode_perf_images *images,
				const struct lode_spaces *spaces)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->images = images;
	stacks->spaces = spaces;
}

void lode_perf_user_stacks_release(struct lode_perf_user_stacks *stacks)
{
	lode_perf_chains_release(&stacks->chains);
	lode_free(stacks->unwinding.items);
	lode_free(stacks->frames);
	lode_free(stacks->ips);
	memset(stacks, 0, sizeof(*stacks));
}

/* ---- tables ---- */

static int load_table(struct lode_perf_user_stacks *stacks, uint32_t image, struct lode_perf_unwinding *unwinding)
{
	enum lode_mapped kind = stacks->images->table.items[image].kind;
	struct lode_image *file;

	if (lode_perf_images_file(stacks->images, image, &file) < 0)
		return LODE_SYSTEM;
	if (kind != LODE_MAPPED_FILE && kind != LODE_MAPPED_VDSO)
		unwinding->state = LODE_PERF_UNWIND_ABSENT;
	else if (!file || !lode_image_is_found(file))
		unwinding->state = LODE_PERF_UNWIND_MISSING;
	else if (!lode_image_unwind(file)->count)
		unwinding->state = LODE_PERF_UNWIND_ABSENT;
	else
		*unwinding = (struct lode_perf_unwinding){ .state = LODE_PERF_UNWIND_THERE,
							   .table = lode_image_unwind(file) };
	return 0;
}

/* The row of an image, with its table once that was requested; NULL when memory has run out. */
static struct lode_perf_unwinding *unwinding_of(struct lode_perf_user_stacks *stacks, uint32_t image)
{
	struct lode_perf_unwinding *unwinding =
		LODE_PLACE(&stacks->unwinding, image, (struct lode_perf_unwinding){ 0 });

	if (!unwinding ||
	    (unwinding->state == LODE_PERF_UNWIND_NOT_ASKED && load_table(stacks, image, unwinding) < 0))
		return NULL;
	return unwinding;
}

/* ---- what a walk needs ---- */

struct walk {
	struct lode_perf_user_stacks *stacks;
	const struct lode_space *space;
	const struct lode_perf_copy *copy;
	uint32_t image;     /* of the code requested last */
	uint32_t tableless; /* image of the first code without a table; LODE_NONE: all has one */
	int passed_end;     /* something behind the copy was requested */
};

static int read_word(void *context, uint64_t address, uint64_t *word)
{
	struct walk *walk = context;
	uint64_t at = address - walk->copy->registers.sp;

	if (address < walk->copy->registers.sp)
		return 0;
	if (at > walk->copy->size || walk->copy->size - at < sizeof(*word)) {
		walk->passed_end = 1;
		return 0;
	}
	memcpy(word, walk->copy->bytes + at, sizeof(*word));
	return 1;
}

/* The code at an address by the address space: 1, 0 when none is mapped there, or LODE_SYSTEM. */
static int look_up_code(const struct walk *walk, uint64_t address, struct lode_perf_code *code)
{
	const struct lode_perf_unwinding *unwinding;
	const struct lode_mapping *mapping = lode_space_find(walk->stacks->spaces, walk->space, address);
	const struct lode_unwind_table *table;

	if (!mapping || mapping->image & LODE_PERF_IMAGE_DATA)
		return 0;
	unwinding = unwinding_of(walk->stacks, mapping->image);
	if (!unwinding)
		return LODE_SYSTEM;
	*code = (struct lode_perf_code){
		.version = walk->space->version,
		.image = mapping->image,
		.start = mapping->start,
		.end = mapping->end,
	};
	table = unwinding->table;
	if (!table || table->machine != walk->copy->registers.machine ||
	    !lode_unwind_table_shift(table, mapping->offset, mapping->end - mapping->start, &code->shift))
		return 1;
	code->table = table;
	code->shift += mapping->offset - mapping->start;
	return 1;
}

static int find_code(void *context, uint64_t address, const struct lode_unwind_table **table,
		     uint64_t *image_address)
{
	struct walk *walk = context;
	size_t place = address >> LODE_PERF_CODE_BITS & (LODE_PERF_CODE_PARTS - 1);
	struct lode_perf_code *code = &walk->stacks->known[place];

	if (code->version != walk->space->version || address < code->start || address >= code->end) {
		int found = look_up_code(walk, address, code);

		if (found <= 0)
			return found;
	}
	walk->image = code->image;
	if (!code->table && walk->tableless == LODE_NONE)
		walk->tableless = code->image;
	*table = code->table;
	*image_address = address + code->shift;
	return 1;
}

/* ---- how it ended ---- */

static void count_failure(struct lode_perf_user_stacks *stacks, uint32_t image,
			  enum lode_perf_unwind_failure failure)
{
	stacks->unwinding.items[image].failures[failure]++;
}

/* A stack through a file that was not found lacks calls even where its frame pointers lead to the start. */
static void count_end(const struct walk *walk, enum lode_unwind_end end)
{
	struct lode_perf_user_stacks *stacks = walk->stacks;
	int is_tableless = walk->tableless != LODE_NONE;

	if (is_tableless && stacks->unwinding.items[walk->tableless].state == LODE_PERF_UNWIND_MISSING)
		count_failure(stacks, walk->tableless, LODE_PERF_FILE_MISSING);
	else if (end == LODE_UNWIND_WHOLE)
		return;
	else if (walk->copy->is_dropped)
		stacks->dropped++;
	else if (is_tableless)
		count_failure(stacks, walk->tableless, LODE_PERF_NO_TABLE);
	else if (end == LODE_UNWIND_SHORT && walk->copy->is_cut && walk->passed_end)
		stacks->too_small++;
	else
		count_failure(stacks, walk->image, LODE_PERF_LEADS_NOWHERE);
}

static const char *const failures[LODE_PERF_UNWIND_FAILURES] = {
	[LODE_PERF_FILE_MISSING] =
		("user stacks with calls missing because a binary was not found; give its folder with "
		 "--symbol-path"),
	[LODE_PERF_NO_TABLE] = "user stacks cut off in code without unwind information",
	[LODE_PERF_LEADS_NOWHERE] = "user stacks cut off in code whose unwind information is wrong",
};

/* All images together, with the one that has most of them as the example. */
static void note_failure(const struct lode_perf_user_stacks *stacks, enum lode_perf_unwind_failure failure,
			 struct lode_notes *notes)
{
	uint64_t count = 0, most = 0;
	const char *path = NULL;

	for (size_t i = 0; i < stacks->unwinding.count; i++) {
		uint64_t own = stacks->unwinding.items[i].failures[failure];

		count += own;
		if (own > most && *stacks->images->table.items[i].path)
			path = stacks->images->table.items[i].path;
		most = own > most ? own : most;
	}
	lode_notes_add(notes, count, failures[failure], path);
}

void lode_perf_user_stacks_note(const struct lode_perf_user_stacks *stacks, struct lode_notes *notes)
{
	for (int failure = 0; failure < LODE_PERF_UNWIND_FAILURES; failure++)
		note_failure(stacks, (enum lode_perf_unwind_failure)failure, notes);
	lode_notes_add(notes, stacks->too_small,
		       "user stacks cut off because too little of them was recorded; record with --call-graph "
		       "dwarf,65528",
		       NULL);
	lode_notes_add(notes, stacks->dropped,
		       "user stacks cut off because too many had to wait for the end of a round", NULL);
}

/* ---- chains ---- */

static int make_room(struct lode_perf_user_stacks *stacks)
{
	if (!stacks->frames)
		stacks->frames = lode_calloc(LODE_PERF_CHAIN_LIMIT, sizeof(*stacks->frames));
	if (!stacks->ips)
		stacks->ips = lode_calloc(LODE_PERF_CHAIN_LIMIT, sizeof(*stacks->ips));
	if (!stacks->frames || !stacks->ips)
		return LODE_SYSTEM;
	return unwinding_of(stacks, LODE_PROCESS_IMAGE_UNKNOWN) ? 0 : LODE_SYSTEM;
}

/*
 * Frames that a stack may have: a caller's takes a word at least, and but for a few
 * leaves nothing else does. It bounds what signal frames can do that lead back to
 * themselves.
 */
static size_t frame_limit(const struct lode_perf_copy *copy, uint32_t above)
{
	size_t limit = copy->size / 8 + 3;
	size_t room = above + 1 < LODE_PERF_CHAIN_LIMIT ? LODE_PERF_CHAIN_LIMIT - above - 1 : 0;

	return limit < room ? limit : room;
}

/* The caller of a leaf without a table may be in no frame record but at `link`, where that is code. */
static void set_link(struct walk *walk, uint64_t link, int count, struct lode_perf_chain *chain)
{
	const struct lode_unwind_table *table;
	uint64_t address;

	if (!link || (count > 1 && walk->stacks->frames[1].address == link - 1) ||
	    find_code(walk, link - 1, &table, &address) <= 0)
		return;
	chain->has_link = 1;
	chain->link = link;
}

uint32_t lode_perf_user_stacks_unwind(struct lode_perf_user_stacks *stacks, const struct lode_space *space,
				      const struct lode_perf_copy *copy, const struct lode_perf_chain *above)
{
	struct walk walk = { stacks, space, copy, LODE_PROCESS_IMAGE_UNKNOWN, LODE_NONE, 0 };
	struct lode_unwind_source source = { &walk, read_word, find_code, NULL };
	struct lode_perf_chain chain = { .count = above ? above->count : 0 };
	struct lode_unwound unwound;
	int count;

	if (make_room(stacks) < 0)
		return LODE_NONE;
	count = lode_unwind(&source, &copy->registers, stacks->frames, frame_limit(copy, chain.count), &unwound);
	if (count < 0)
		return LODE_NONE;
	count_end(&walk, unwound.end);
	set_link(&walk, unwound.link, count, &chain);
	if (above)
		memcpy(stacks->ips, above->ips, 8ull * above->count);
	if (count)
		stacks->ips[chain.count++] = (uint64_t)PERF_CONTEXT_USER;
	for (int i = 0; i < count; i++)
		stacks->ips[chain.count++] = stacks->frames[i].address;
	return lode_perf_chains_add(&stacks->chains, &chain, stacks->ips);
}

uint32_t lode_perf_user_stacks_join(struct lode_perf_user_stacks *stacks, const struct lode_perf_chain *above,
				    const struct lode_perf_chain *below)
{
	struct lode_perf_chain chain = { .count = above ? above->count : 0 };

	if (make_room(stacks) < 0)
		return LODE_NONE;
	if (chain.count)
		memcpy(stacks->ips, above->ips, 8ull * chain.count);
	if (below->count && below->ips[0] < PERF_FIRST_MARKER && chain.count < LODE_PERF_CHAIN_LIMIT)
		stacks->ips[chain.count++] = (uint64_t)PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < below->count && chain.count < LODE_PERF_CHAIN_LIMIT; i++)
		stacks->ips[chain.count++] = below->ips[i];
	return lode_perf_chains_add(&stacks->chains, &chain, stacks->ips);
}
