/*
 * Copies: see copies.h.
 *
 * Unwinding goes from a function to its caller by the rules of its binary
 * (symbols/unwind_rules.h): the frame's address from the stack or frame pointer, the
 * return address and the caller's frame pointer from the copied bytes. Where a
 * binary has no rules (code made at run time, assembler) the frame pointer is
 * followed. Each step must go up the stack, so it ends.
 *
 * A copy is unwound when the first record names it. By then the mappings that it
 * needs are known, because records and changes are handed over in order of time.
 * Those that no record has named yet are unwound when the next batch begins, so
 * that bytes are held for one batch only. What remains of each is a pair of ids.
 * When there are many, the older ones are dropped: of each thread and kind only
 * the latest can still be named, and what came with the last two batches.
 */
#include "record/copies.h"

#include "symbols/unwind_rules.h"

#include <stdio.h>
#include <string.h>

#define ITEMS_LIMIT (1u << 18)
/* The bits of an address; above them may be a signature (aarch64). */
#define ADDRESS_BITS 0x0000ffffffffffffull

void lode_record_copies_init(struct lode_record_copies *copies, struct lode_record_stacks *stacks)
{
	memset(copies, 0, sizeof(*copies));
	copies->stacks = stacks;
	copies->limit = ITEMS_LIMIT;
}

void lode_record_copies_release(struct lode_record_copies *copies)
{
	for (size_t i = copies->unwound; i < copies->count; i++)
		lode_free(copies->items[i].copy);
	lode_free(copies->items);
	lode_index_release(&copies->index);
	memset(copies, 0, sizeof(*copies));
}

/* ---- unwinding ---- */

struct walk {
	struct lode_record_copies *copies;
	const struct lode_record_copy *copy;
	const struct lode_space *space;
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	int exact; /* `pc` is where the thread was, not where it will return to */
	int first;
	struct lode_record_stack stack;
};

enum step { STEP_ON, STEP_ROOT, STEP_CUT, STEP_LOST };

/* The word at an address of the stack; 0 when it was not copied. */
static int read_word(const struct walk *walk, uint64_t address, uint64_t *word)
{
	uint64_t at = address - walk->copy->sp;

	if (address < walk->copy->sp || at > walk->copy->size || walk->copy->size - at < sizeof(*word))
		return 0;
	memcpy(word, walk->copy->bytes + at, sizeof(*word));
	return 1;
}

/* *unwinder is NULL where the image has none. Returns 0 or LODE_SYSTEM. */
static int find_unwinder(struct walk *walk, uint32_t number, struct lode_unwind_rules **unwinder)
{
	struct lode_record_stacks *stacks = walk->copies->stacks;
	struct lode_record_images *images = stacks->processes->images;
	struct lode_record_image *image;
	char link[40];

	*unwinder = NULL;
	if (lode_record_image_use(images, number, &stacks->dictionary->frames) < 0)
		return LODE_SYSTEM;
	image = &images->items[images->items[number].twin];
	if (!image->unwinder && !image->unwinder_asked && image->kind == LODE_MAPPED_FILE && image->fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
		image->unwinder = lode_unwind_rules_open(link);
	}
	image->unwinder_asked = 1;
	*unwinder = image->unwinder;
	return 0;
}

/* The rule where the walk is: 1, 0 when there is none, or LODE_SYSTEM. */
static int find_rule(struct walk *walk, struct lode_unwind_rule *rule)
{
	struct lode_record_stacks *stacks = walk->copies->stacks;
	uint64_t pc = walk->pc - !walk->exact;
	const struct lode_mapping *mapping = lode_space_find(&stacks->processes->spaces, walk->space, pc);
	struct lode_unwind_rules *unwinder;
	uint64_t offset;

	if (!mapping)
		return 0;
	offset = pc - mapping->start + mapping->offset;
	if (find_unwinder(walk, mapping->image, &unwinder) < 0)
		return LODE_SYSTEM;
	return unwinder ? lode_unwind_rules_find(unwinder, offset, rule) : 0;
}

/* Without a rule: the frame record that the frame pointer points to. */
static enum step follow_frame_pointer(struct walk *walk)
{
	uint64_t fp = walk->fp, next, address;

	if (fp < walk->sp || fp & 7)
		return STEP_LOST;
	if (!read_word(walk, fp, &next) || !read_word(walk, fp + 8, &address))
		return fp - walk->copy->sp < LODE_RECORD_COPY_BYTES ? STEP_CUT : STEP_LOST;
	walk->pc = address & ADDRESS_BITS;
	walk->fp = next;
	walk->sp = fp + 16;
	return walk->pc ? STEP_ON : STEP_ROOT;
}

static enum step apply_rule(struct walk *walk, const struct lode_unwind_rule *rule)
{
	uint64_t cfa = (rule->from_frame_pointer ? walk->fp : walk->sp) + (uint64_t)rule->cfa_offset;
	uint64_t address = walk->copy->link, fp = walk->fp;

	if (rule->return_kind == LODE_RETURN_NONE)
		return STEP_ROOT;
	/* A leaf may have no frame at all; every other function has one. */
	if (cfa < walk->sp || (cfa == walk->sp && !walk->first))
		return STEP_LOST;
	if (rule->return_kind == LODE_RETURN_IN_LINK && !walk->first)
		return STEP_LOST;
	if (rule->return_kind == LODE_RETURN_SAVED &&
	    !read_word(walk, cfa + (uint64_t)rule->return_offset, &address))
		return STEP_CUT;
	if (rule->frame_saved && !read_word(walk, cfa + (uint64_t)rule->frame_offset, &fp))
		return STEP_CUT;
	walk->pc = address & ADDRESS_BITS;
	walk->sp = cfa;
	walk->fp = fp;
	return walk->pc ? STEP_ON : STEP_ROOT;
}

/* To the caller. Returns a step or LODE_SYSTEM. */
static int step(struct walk *walk)
{
	struct lode_unwind_rule rule;
	int known = find_rule(walk, &rule);
	enum step result;

	if (known < 0)
		return known;
	result = known ? apply_rule(walk, &rule) : follow_frame_pointer(walk);
	walk->first = 0;
	walk->exact = known && rule.is_signal;
	return (int)result;
}

/* The id of the stack that a copy holds, which is added if it is new; 0 when it has none. */
static int unwind(struct lode_record_copies *copies, const struct lode_record_copy *copy, uint64_t *user)
{
	struct lode_record_process *process = lode_processes_get(copies->stacks->processes, copy->pid);
	struct walk walk = {
		.copies = copies,
		.copy = copy,
		.space = process ? &process->space : NULL,
		.pc = copy->pc,
		.sp = copy->sp,
		.fp = copy->fp,
		.exact = 1,
		.first = 1,
		.stack = { .user = 1 },
	};
	int result = STEP_ON;

	if (!process)
		return LODE_SYSTEM;
	while (result == STEP_ON && walk.stack.count < LODE_RECORD_FRAMES) {
		walk.stack.addresses[walk.stack.count++] = walk.pc;
		result = step(&walk);
	}
	if (result < 0)
		return result;
	walk.stack.cut = result == STEP_ON;
	copies->complete += result == STEP_ROOT;
	copies->cut += result == STEP_CUT;
	copies->lost_way += result == STEP_LOST;
	walk.stack.id = lode_hash_bytes(walk.stack.addresses, walk.stack.count * sizeof(uint64_t)) | 1;
	*user = walk.stack.id;
	return lode_record_stacks_add(copies->stacks, &walk.stack);
}

static int unwind_item(struct lode_record_copies *copies, struct lode_record_copied *item)
{
	struct lode_record_copy *copy = item->copy;
	int code;

	if (!copy)
		return 0;
	item->copy = NULL;
	code = unwind(copies, copy, &item->user);
	lode_free(copy);
	return code;
}

static int unwind_rest(struct lode_record_copies *copies)
{
	int code = 0;

	while (!code && copies->unwound < copies->count)
		code = unwind_item(copies, &copies->items[copies->unwound++]);
	return code;
}

/* ---- keeping ---- */

static uint32_t find_item(const struct lode_record_copies *copies, uint64_t id)
{
	size_t probe = 0;
	uint32_t found;

	while ((found = lode_index_next(&copies->index, id * 0x9e3779b97f4a7c15u, &probe)) != LODE_NONE)
		if (copies->items[found].id == id)
			return found;
	return LODE_NONE;
}

static int enter(struct lode_record_copies *copies, size_t item)
{
	return lode_index_insert(&copies->index, copies->items[item].id * 0x9e3779b97f4a7c15u, (uint32_t)item);
}

/* Marks in `keep` what records may still name; all copies are unwound. */
static int choose_kept(const struct lode_record_copies *copies, unsigned char *keep)
{
	struct lode_index seen = { 0 };
	int code = 0;

	for (size_t i = copies->count; !code && i > 0; i--) {
		const struct lode_record_copied *item = &copies->items[i - 1];
		uint64_t hash = lode_hash_pair(item->tid, item->kind);
		size_t probe = 0;
		uint32_t other;

		keep[i - 1] = item->batch + 1 >= copies->batch;
		while ((other = lode_index_next(&seen, hash, &probe)) != LODE_NONE)
			if (copies->items[other].tid == item->tid && copies->items[other].kind == item->kind)
				break;
		if (other != LODE_NONE)
			continue;
		keep[i - 1] = 1;
		code = lode_index_insert(&seen, hash, (uint32_t)(i - 1));
	}
	lode_index_release(&seen);
	return code;
}

static int drop_old(struct lode_record_copies *copies)
{
	unsigned char *keep = lode_calloc(copies->count, 1);
	size_t kept = 0;
	int code = keep ? choose_kept(copies, keep) : LODE_SYSTEM;

	if (code) {
		lode_free(keep);
		return code;
	}
	lode_index_release(&copies->index);
	for (size_t i = 0; !code && i < copies->count; i++) {
		if (!keep[i])
			continue;
		copies->items[kept] = copies->items[i];
		code = enter(copies, kept++);
	}
	lode_free(keep);
	copies->count = copies->unwound = kept;
	/* Where many threads are alive there is little to drop; it must not be looked for each time. */
	copies->limit = kept * 2 > ITEMS_LIMIT ? kept * 2 : ITEMS_LIMIT;
	return code;
}

static int begin_batch(struct lode_record_copies *copies)
{
	int code = unwind_rest(copies);

	copies->handed = 0;
	copies->batch++;
	if (!code && copies->count >= copies->limit)
		code = drop_old(copies);
	return code;
}

int lode_record_copies_add(struct lode_record_copies *copies, const struct lode_record_copy *copy)
{
	size_t size = offsetof(struct lode_record_copy, bytes) + copy->size;
	struct lode_record_copied item = {
		.id = copy->id, .tid = copy->tid, .kind = copy->kind, .batch = copies->batch
	};

	if (copies->handed && begin_batch(copies) < 0)
		return LODE_SYSTEM;
	item.batch = copies->batch;
	if (copies->count >= LODE_NONE - 1 || lode_grow(&copies->items, &copies->capacity, copies->count + 1,
							sizeof(item)) < 0)
		return LODE_SYSTEM;
	item.copy = lode_alloc(size);
	if (!item.copy)
		return LODE_SYSTEM;
	memcpy(item.copy, copy, size);
	copies->items[copies->count++] = item;
	return enter(copies, copies->count - 1);
}

int lode_record_copies_resolve(struct lode_record_copies *copies, uint64_t *id)
{
	uint32_t found = *id ? find_item(copies, *id) : LODE_NONE;

	copies->handed = 1;
	if (found == LODE_NONE)
		return 0;
	if (unwind_item(copies, &copies->items[found]) < 0)
		return LODE_SYSTEM;
	*id = copies->items[found].user;
	return 0;
}

void lode_record_copies_note(const struct lode_record_copies *copies, struct lode_notes *notes)
{
	lode_notes_add(notes, copies->cut, "user stacks larger than what was copied of them, cut at the root",
		       NULL);
	lode_notes_add(notes, copies->lost_way, "user stacks that could not be unwound to their root", NULL);
}
