/*
 * Copies: see stack_copies.h.
 *
 * A copy is unwound when the first record names it. By then the mappings that it
 * needs are known, because records and changes are handed over in order of time.
 * Those that no record has named yet are unwound when the next batch begins, so
 * that bytes are held for one batch only, or two: copies are read a little further
 * than changes of processes, and one that was taken later than what is known waits.
 * What remains of each is its stack. When there are many, the older ones are dropped:
 * of each thread and kind only the latest can still be named, and what came with the
 * last two batches.
 */
#include "record/unwind/stack_copies.h"

#include "base/error.h"

#include <string.h>

#define ITEMS_LIMIT (1u << 13)
/* Memory for the copies of a batch that is kept for the next one. */
#define BYTES_KEPT (1u << 20)
/* Bytes of a batch: while copies come as fast as they are read there would be no end. */
#define BATCH_LIMIT (64u << 20)

void lode_stack_copies_init(struct lode_stack_copies *copies, struct lode_process_unwinder *unwinder)
{
	memset(copies, 0, sizeof(*copies));
	copies->unwinder = unwinder;
	copies->limit = ITEMS_LIMIT;
}

void lode_stack_copies_release(struct lode_stack_copies *copies)
{
	for (size_t i = 0; i < copies->stack_count; i++)
		lode_free(copies->stacks[i]);
	for (size_t i = 0; i < copies->count; i++)
		lode_free(copies->items[i].chain);
	lode_free(copies->stacks);
	lode_index_release(&copies->stack_index);
	lode_free(copies->items);
	lode_index_release(&copies->index);
	lode_buffer_release(&copies->bytes);
	memset(copies, 0, sizeof(*copies));
}

/* ---- unwinding ---- */

static uint8_t end_of(enum lode_unwind_end end)
{
	static const uint8_t ends[] = {
		[LODE_UNWIND_WHOLE] = LODE_STACK_WHOLE,
		[LODE_UNWIND_DEEP] = LODE_STACK_DEEP,
		[LODE_UNWIND_SHORT] = LODE_STACK_SHORT,
		[LODE_UNWIND_BROKEN] = LODE_STACK_BROKEN,
	};

	return ends[end];
}

/* The word at an address, if it was copied. */
static int read_copied(void *context, uint64_t address, uint64_t *word)
{
	const struct lode_record_copy *copy = context;
	uint64_t at = address - (copy->sp - LODE_RECORD_RED_ZONE);

	if (at > copy->size || copy->size - at < sizeof(*word))
		return 0;
	memcpy(word, copy->bytes + at, sizeof(*word));
	return 1;
}

/* Adds what a C frame runs of the chain, from *at on. */
static void add_words(struct lode_record_stack *stack, const struct lode_stack_copy *item, uint32_t *at,
		      uint64_t start, uint64_t end)
{
	uint32_t words = lode_language_chain_find(item->chain, item->chain_count, at, start, end);

	if (!words || words > LODE_RECORD_FRAMES - stack->count)
		return;
	memcpy(stack->addresses + stack->count, item->chain + *at, words * sizeof(*stack->addresses));
	stack->count += words;
	stack->languages = LODE_STACK_HAS_WORDS;
	*at += words + 1;
}

/* Adds the function that a frame with a record has, where the language has it there, and reads its name. Returns 0 or LODE_SYSTEM. */
static int add_frame_word(struct lode_record_stack *stack, struct lode_languages *languages,
			  const struct lode_record_copy *copy, uint64_t record)
{
	uint64_t word = record && languages ? lode_languages_frame_word(languages, copy->pid, record, read_copied,
									(void *)(uintptr_t)copy)
					    : 0;

	if (!word || stack->count >= LODE_RECORD_FRAMES)
		return 0;
	stack->addresses[stack->count++] = word;
	stack->languages = LODE_STACK_HAS_WORDS;
	return lode_languages_learn(languages, copy->pid, word, 0) < 0 ? LODE_SYSTEM : 0;
}

/* As in stacks from the kernel: all but the leaf are return addresses. */
static int add_addresses(struct lode_stack_copies *copies, struct lode_record_stack *stack,
			 const struct lode_stack_copy *item, const struct lode_unwind_frame *frames,
			 uint32_t count, uint64_t link)
{
	const struct lode_record_copy *copy = (const void *)(copies->bytes.bytes + item->bytes);
	uint32_t at = 0;
	int code = 0;

	for (uint32_t i = 0; !code && i < count && stack->count < LODE_RECORD_FRAMES; i++) {
		stack->addresses[stack->count++] = frames[i].word ? frames[i].word : frames[i].address + (i > 0);
		if (frames[i].word)
			stack->languages = LODE_STACK_HAS_WORDS;
		if (frames[i].position && stack->count < LODE_RECORD_FRAMES)
			stack->addresses[stack->count++] = frames[i].position;
		if (!i && link)
			stack->addresses[stack->count++] = link;
		if (i + 1 < count &&
		    lode_languages_runs_code(copies->unwinder->languages, copy->pid, frames[i].address))
			add_words(stack, item, &at, frames[i].sp, frames[i + 1].sp);
		code = add_frame_word(stack, copies->unwinder->languages, copy, frames[i].record);
	}
	return code;
}

/* The stack that a copy holds. Returns 0 or LODE_SYSTEM. */
static int unwind(struct lode_stack_copies *copies, const struct lode_stack_copy *item,
		  struct lode_record_stack *stack)
{
	const struct lode_record_copy *copy = (const void *)(copies->bytes.bytes + item->bytes);
	struct lode_unwind_registers registers = { copy->pc,   copy->sp,      copy->fp,
						   copy->link, copy->scratch, LODE_UNWIND_MACHINE };
	struct lode_unwind_memory memory = { (void *)(uintptr_t)copy, read_copied };
	struct lode_unwind_frame frames[LODE_RECORD_FRAMES];
	struct lode_unwound unwound;
	int count;

	count = lode_process_unwinder_walk(copies->unwinder, copy->pid, &registers, &memory, frames,
					   LODE_RECORD_FRAMES - 1, &unwound);
	if (count < 0)
		return count;
	memset(stack, 0, offsetof(struct lode_record_stack, addresses));
	stack->user = 1;
	stack->end = end_of(unwound.end);
	stack->guessed = unwound.guessed != 0;
	stack->has_link = unwound.link || unwound.by_link;
	if (add_addresses(copies, stack, item, frames, (uint32_t)count, unwound.link) < 0)
		return LODE_SYSTEM;
	stack->pid = stack->languages ? copy->pid : 0;
	stack->id = lode_hash_more(lode_hash_bytes(stack->addresses, stack->count * sizeof(*stack->addresses)),
				   stack->pid) &
		    ~LODE_RECORD_COPY_ID;
	return 0;
}

static size_t stack_size(const struct lode_record_stack *stack)
{
	return offsetof(struct lode_record_stack, addresses) + stack->count * sizeof(*stack->addresses);
}

static int same_stack(const struct lode_record_stack *a, const struct lode_record_stack *b)
{
	return a->id == b->id && a->count == b->count && memcmp(a, b, stack_size(a)) == 0;
}

/* The number of a stack, added if it is new; LODE_NONE when memory has run out. */
static uint32_t keep_stack(struct lode_stack_copies *copies, const struct lode_record_stack *stack)
{
	struct lode_record_stack *copy;
	size_t probe = 0;
	uint32_t id;

	while ((id = lode_index_next(&copies->stack_index, stack->id, &probe)) != LODE_NONE)
		if (same_stack(copies->stacks[id], stack))
			return id;
	if (lode_grow(&copies->stacks, &copies->stack_capacity, copies->stack_count + 1, sizeof(copy)) < 0)
		return LODE_NONE;
	copy = lode_alloc(stack_size(stack));
	if (!copy || lode_index_insert(&copies->stack_index, stack->id, (uint32_t)copies->stack_count) < 0) {
		lode_free(copy);
		return LODE_NONE;
	}
	memcpy(copy, stack, stack_size(stack));
	copies->stacks[copies->stack_count] = copy;
	return (uint32_t)copies->stack_count++;
}

static int unwind_item(struct lode_stack_copies *copies, struct lode_stack_copy *item)
{
	struct lode_record_stack stack;

	if (item->stack != LODE_NONE)
		return 0;
	if (unwind(copies, item, &stack) < 0)
		return LODE_SYSTEM;
	lode_free(item->chain);
	item->chain = NULL;
	item->chain_count = 0;
	item->stack = keep_stack(copies, &stack);
	return item->stack == LODE_NONE ? LODE_SYSTEM : 0;
}

/* Bytes that a copy takes in the batch. */
static size_t copy_size(const struct lode_record_copy *copy)
{
	return (offsetof(struct lode_record_copy, bytes) + copy->size + 7) & ~(size_t)7;
}

/* Unwinds what can be; the bytes of what has to wait move to the front. */
static int unwind_rest(struct lode_stack_copies *copies)
{
	size_t first = copies->count, size = 0;
	int code = 0;

	for (size_t i = copies->unwound; !code && i < copies->count; i++) {
		struct lode_stack_copy *item = &copies->items[i];
		const struct lode_record_copy *copy = (const void *)(copies->bytes.bytes + item->bytes);

		if (item->stack != LODE_NONE)
			continue;
		if (copy->t <= copies->known) {
			code = unwind_item(copies, item);
			continue;
		}
		if (first == copies->count)
			first = i;
		item->bytes = size;
		size += copy_size(copy);
		memmove(copies->bytes.bytes + item->bytes, copy, size - item->bytes);
	}
	copies->unwound = first;
	copies->bytes.size = size;
	return code;
}

/* ---- keeping ---- */

static uint32_t find_item(const struct lode_stack_copies *copies, uint64_t id)
{
	return LODE_INDEX_FIND(i, &copies->index, lode_hash_u64(id), copies->items[i].id == id);
}

static int enter(struct lode_stack_copies *copies, size_t item)
{
	return lode_index_insert(&copies->index, lode_hash_u64(copies->items[item].id), (uint32_t)item);
}

/* Marks in `keep` what records may still name. */
static int choose_kept(const struct lode_stack_copies *copies, unsigned char *keep)
{
	struct lode_index seen = { 0 };
	int code = 0;

	for (size_t i = copies->count; !code && i > 0; i--) {
		const struct lode_stack_copy *item = &copies->items[i - 1];
		uint64_t hash = lode_hash_pair(item->tid, item->kind);
		size_t probe = 0;
		uint32_t other;

		keep[i - 1] = item->batch + 1 >= copies->batch || item->stack == LODE_NONE;
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

/* Forgets the stacks that no item names any more. */
static int drop_stacks(struct lode_stack_copies *copies)
{
	struct lode_record_stack **before = copies->stacks;
	size_t count = copies->stack_count;
	int code = 0;

	copies->stacks = NULL;
	copies->stack_count = copies->stack_capacity = 0;
	lode_index_release(&copies->stack_index);
	for (size_t i = 0; !code && i < copies->count; i++) {
		if (copies->items[i].stack == LODE_NONE)
			continue;
		copies->items[i].stack = keep_stack(copies, before[copies->items[i].stack]);
		if (copies->items[i].stack == LODE_NONE) {
			copies->count = copies->unwound = 0; /* none is named any more */
			code = LODE_SYSTEM;
		}
	}
	for (size_t i = 0; i < count; i++)
		lode_free(before[i]);
	lode_free(before);
	return code;
}

static int drop_old(struct lode_stack_copies *copies)
{
	unsigned char *keep = lode_calloc(copies->count, 1);
	size_t kept = 0;
	int code = keep ? choose_kept(copies, keep) : LODE_SYSTEM;

	if (code) {
		lode_free(keep);
		return code;
	}
	lode_index_release(&copies->index);
	copies->unwound = 0;
	for (size_t i = 0; !code && i < copies->count; i++) {
		if (!keep[i])
			continue;
		copies->items[kept] = copies->items[i];
		copies->unwound += copies->unwound == kept && copies->items[kept].stack != LODE_NONE;
		code = enter(copies, kept++);
	}
	lode_free(keep);
	copies->count = kept;
	/* Where many threads are alive there is little to drop; it must not be looked for each time. */
	copies->limit = kept * 2 > ITEMS_LIMIT ? kept * 2 : ITEMS_LIMIT;
	return code ? code : drop_stacks(copies);
}

static int begin_batch(struct lode_stack_copies *copies)
{
	int code = unwind_rest(copies);

	copies->handed = 0;
	copies->batch++;
	if (copies->bytes.capacity > BYTES_KEPT && !copies->bytes.size)
		lode_buffer_release(&copies->bytes);
	if (!code && copies->count >= copies->limit)
		code = drop_old(copies);
	return code;
}

int lode_stack_copies_begin(struct lode_stack_copies *copies)
{
	return copies->handed ? begin_batch(copies) : 0;
}

int lode_stack_copies_add(struct lode_stack_copies *copies, const struct lode_record_copy *copy)
{
	size_t size = offsetof(struct lode_record_copy, bytes) + copy->size;
	struct lode_stack_copy item = { .id = copy->id, .stack = LODE_NONE, .tid = copy->tid, .kind = copy->kind };
	static const char padding[8];

	if (lode_stack_copies_begin(copies) < 0)
		return LODE_SYSTEM;
	if (copies->bytes.size > BATCH_LIMIT) {
		copies->dropped++;
		return 0;
	}
	item.batch = copies->batch;
	if (copies->count >= LODE_NONE - 1 ||
	    lode_grow(&copies->items, &copies->capacity, copies->count + 1, sizeof(item)) < 0)
		return LODE_SYSTEM;
	item.bytes = copies->bytes.size;
	lode_buffer_add(&copies->bytes, copy, size);
	lode_buffer_add(&copies->bytes, padding, -size & 7);
	if (copies->bytes.failed)
		return LODE_SYSTEM;
	copies->items[copies->count++] = item;
	return enter(copies, copies->count - 1);
}

int lode_stack_copies_add_chain(struct lode_stack_copies *copies, const struct lode_record_stack *chain)
{
	uint32_t found = find_item(copies, chain->id);
	struct lode_stack_copy *item = found == LODE_NONE ? NULL : &copies->items[found];

	if (!item || item->chain || item->stack != LODE_NONE || !chain->count || chain->count > LODE_RECORD_FRAMES)
		return 0;
	item->chain = lode_alloc(chain->count * sizeof(*item->chain));
	if (!item->chain)
		return LODE_SYSTEM;
	memcpy(item->chain, chain->addresses, chain->count * sizeof(*item->chain));
	item->chain_count = chain->count;
	return 0;
}

int lode_stack_copies_find(struct lode_stack_copies *copies, uint64_t id, const struct lode_record_stack **stack)
{
	uint32_t found = find_item(copies, id);

	copies->handed = 1;
	*stack = NULL;
	if (found == LODE_NONE)
		return 0;
	if (unwind_item(copies, &copies->items[found]) < 0)
		return LODE_SYSTEM;
	*stack = copies->stacks[copies->items[found].stack];
	return 0;
}
