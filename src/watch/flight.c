/*
 * Flight memory: see flight.h.
 *
 * Time is divided into generations, of a sixteenth of the memory or an eighth of
 * the time. Each is complete by itself: the packed records, the packed stacks and
 * the threads that they name, by numbers of that generation, and the changes of
 * processes, each with the number of the record that it comes before. So the oldest
 * can be dropped without looking at the others. Its changes are then applied to the
 * processes, which are thus always those of the oldest record.
 *
 * With each generation the recorder begins an epoch, in which it sends each stack
 * again. A record may still name an earlier one: it was written before the epoch,
 * or it belongs to a long wait. Such a stack is copied from the generation that has
 * it. Stacks of threads that are waiting now are named by records to come; the
 * recorder says which (`held`), and they move on when their generation goes. A
 * thread may begin to wait after that was reported; its stack was sent in the epoch
 * of that time, so generations of that epoch stay until the next trim.
 */
#include "watch/flight.h"

#include "watch/context_texts.h"
#include "watch/packed_records.h"
#include "watch/memory_pages.h"

#include <string.h>

#define PARTS_OF_MEMORY 16
#define PARTS_OF_TIME   8

/* Processes are copied, to leave out images that nothing maps any more, when they have grown by so many bytes and a part. */
#define COMPACT_BYTES 131072u
#define COMPACT_PART  4

/* Nanoseconds that files are held beyond what is kept: to write takes time. */
#define FILES_OUTLIVE 10000000000u

struct stack {
	uint64_t id;
	const unsigned char *bytes; /* packed; NULL: it was named and not sent */
	size_t size;
};

struct thread {
	uint32_t pid;
	uint32_t tid;
};

struct generation {
	struct generation *next; /* younger */
	struct lode_chain records;
	struct lode_chain stack_bytes;
	struct lode_chain changes;
	struct stack *stacks; /* from 1 on */
	size_t stack_count;
	size_t stack_capacity;
	struct lode_index stack_index;
	struct thread *threads; /* from 1 on */
	size_t thread_count;
	size_t thread_capacity;
	struct lode_index thread_index;
	uint64_t count;  /* of records */
	uint64_t oldest; /* ends of records */
	uint64_t newest;
	uint64_t last;    /* end of the last record that was packed */
	int settled;      /* an epoch was begun since it was filled: only what is held is still named by it */
	uint64_t begun;   /* time of the first record or change; 0: there is none */
	uint64_t touched; /* of the youngest */
};

struct lode_flight {
	struct lode_flight_options options;
	struct lode_pages pages;
	struct generation *first; /* oldest */
	struct generation *last;  /* the one that is filled */
	struct lode_held_files files;
	struct lode_process_images images;
	struct lode_processes processes; /* as of the oldest record */
	size_t compacted;                /* bytes of processes after the last compaction */
	uint64_t hold;                   /* what was written since then is not too old */
	uint64_t records;
	uint64_t early;
	uint64_t missing;
	int renew;                           /* a generation was begun since the last trim */
	struct lode_context_texts *contexts; /* NULL: there were none */
};

/* ---- generations ---- */

static void release_generation(struct lode_flight *flight, struct generation *generation)
{
	lode_chain_release(&flight->pages, &generation->records);
	lode_chain_release(&flight->pages, &generation->stack_bytes);
	lode_chain_release(&flight->pages, &generation->changes);
	lode_free(generation->stacks);
	lode_index_release(&generation->stack_index);
	lode_free(generation->threads);
	lode_index_release(&generation->thread_index);
	lode_free(generation);
}

static int begin_generation(struct lode_flight *flight)
{
	struct generation *generation = lode_calloc(1, sizeof(*generation));

	if (!generation)
		return LODE_SYSTEM;
	generation->stack_count = generation->thread_count = 1;
	if (lode_grow(&generation->stacks, &generation->stack_capacity, 1, sizeof(*generation->stacks)) < 0 ||
	    lode_grow(&generation->threads, &generation->thread_capacity, 1, sizeof(*generation->threads)) < 0) {
		release_generation(flight, generation);
		return LODE_SYSTEM;
	}
	generation->stacks[0] = (struct stack){ 0 };
	generation->threads[0] = (struct thread){ 0 };
	if (flight->last)
		flight->last->next = generation;
	else
		flight->first = generation;
	flight->last = generation;
	flight->renew = 1;
	return 0;
}

static size_t chain_bytes(const struct lode_chain *chain)
{
	size_t bytes = 0;

	for (const struct lode_page *page = chain->first; page; page = page->next)
		bytes += sizeof(*page);
	return bytes;
}

/* Without its chains, whose pages are counted by the pages. */
static size_t table_bytes(const struct generation *generation)
{
	return sizeof(*generation) + generation->stack_capacity * sizeof(*generation->stacks) +
	       generation->thread_capacity * sizeof(*generation->threads) +
	       lode_index_bytes(&generation->stack_index) + lode_index_bytes(&generation->thread_index);
}

static size_t bytes_in_use(const struct lode_flight *flight)
{
	size_t bytes =
		flight->pages.used_count * sizeof(struct lode_page) + lode_processes_bytes(&flight->processes);

	for (const struct generation *generation = flight->first; generation; generation = generation->next)
		bytes += table_bytes(generation);
	return bytes;
}

size_t lode_flight_bytes(const struct lode_flight *flight)
{
	return bytes_in_use(flight) + flight->pages.spare_count * sizeof(struct lode_page);
}

void lode_flight_set_memory(struct lode_flight *flight, size_t memory)
{
	flight->options.memory = memory;
}

int lode_flight_create(struct lode_flight **result, const struct lode_flight_options *options)
{
	struct lode_flight *flight = lode_calloc(1, sizeof(*flight));

	*result = NULL;
	if (!flight)
		return LODE_SYSTEM;
	flight->options = *options;
	flight->hold = UINT64_MAX;
	lode_held_files_init(&flight->files);
	if (lode_process_images_init(&flight->images) < 0 ||
	    lode_processes_init(&flight->processes, &flight->images) < 0 || begin_generation(flight) < 0) {
		lode_flight_destroy(flight);
		return LODE_SYSTEM;
	}
	flight->images.files = &flight->files;
	flight->renew = 0;
	*result = flight;
	return 0;
}

void lode_flight_destroy(struct lode_flight *flight)
{
	if (!flight)
		return;
	while (flight->first) {
		struct generation *next = flight->first->next;

		release_generation(flight, flight->first);
		flight->first = next;
	}
	lode_pages_release(&flight->pages);
	lode_processes_release(&flight->processes);
	lode_process_images_release(&flight->images);
	lode_held_files_release(&flight->files);
	lode_context_texts_destroy(flight->contexts);
	lode_free(flight);
}

struct lode_processes *lode_flight_processes(struct lode_flight *flight)
{
	return &flight->processes;
}

/* ---- stacks and threads ---- */

static uint64_t stack_hash(uint64_t id)
{
	return lode_hash_u64(id);
}

static uint32_t find_stack(const struct generation *generation, uint64_t id)
{
	uint32_t number =
		LODE_INDEX_FIND(i, &generation->stack_index, stack_hash(id), generation->stacks[i].id == id);

	return number == LODE_NONE ? 0 : number;
}

/* The youngest generation but this one that knows the stack. */
static const struct stack *find_elsewhere(const struct lode_flight *flight, const struct generation *not_here,
					  uint64_t id)
{
	const struct stack *found = NULL;

	for (const struct generation *other = flight->first; other; other = other->next) {
		uint32_t number = other == not_here ? 0 : find_stack(other, id);

		if (number && other->stacks[number].bytes)
			found = &other->stacks[number];
	}
	return found;
}

/* A number for the stack, without its content; 0 when memory has run out. */
static uint32_t add_stack(struct generation *generation, uint64_t id)
{
	uint32_t number = (uint32_t)generation->stack_count;

	if (lode_grow(&generation->stacks, &generation->stack_capacity, generation->stack_count + 1,
		      sizeof(*generation->stacks)) < 0 ||
	    lode_index_insert(&generation->stack_index, stack_hash(id), number) < 0)
		return 0;
	generation->stacks[number] = (struct stack){ .id = id };
	generation->stack_count++;
	return number;
}

static int fill_stack(struct lode_flight *flight, struct generation *generation, struct stack *stack,
		      const unsigned char *bytes, size_t size)
{
	unsigned char *room = lode_chain_room(&flight->pages, &generation->stack_bytes, size);

	if (!room)
		return LODE_SYSTEM;
	memcpy(room, bytes, size);
	lode_chain_fill(&generation->stack_bytes, size);
	stack->bytes = room;
	stack->size = size;
	return 0;
}

/* The number of a stack that a record names; LODE_NONE when memory has run out. */
static uint32_t name_stack(struct lode_flight *flight, uint64_t id)
{
	struct generation *generation = flight->last;
	const struct stack *other;
	uint32_t number = id ? find_stack(generation, id) : 0;

	if (!id || number)
		return number;
	number = add_stack(generation, id);
	if (!number)
		return LODE_NONE;
	other = find_elsewhere(flight, generation, id);
	flight->missing += !other;
	if (other && fill_stack(flight, generation, &generation->stacks[number], other->bytes, other->size) < 0)
		return LODE_NONE;
	return number;
}

static uint32_t name_thread(struct lode_flight *flight, uint32_t pid, uint32_t tid)
{
	struct generation *generation = flight->last;
	uint64_t hash = lode_hash_pair(pid, tid);
	size_t probe = 0;
	uint32_t number;

	if (!pid && !tid)
		return 0;
	while ((number = lode_index_next(&generation->thread_index, hash, &probe)) != LODE_NONE)
		if (generation->threads[number].pid == pid && generation->threads[number].tid == tid)
			return number;
	number = (uint32_t)generation->thread_count;
	if (lode_grow(&generation->threads, &generation->thread_capacity, generation->thread_count + 1,
		      sizeof(*generation->threads)) < 0 ||
	    lode_index_insert(&generation->thread_index, hash, number) < 0)
		return LODE_NONE;
	generation->threads[number] = (struct thread){ pid, tid };
	generation->thread_count++;
	return number;
}

/* ---- taking ---- */

static void touch(struct generation *generation, uint64_t t)
{
	if (!generation->begun)
		generation->begun = t;
	if (t > generation->touched)
		generation->touched = t;
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	unsigned char packed[LODE_PACKED_STACK];
	struct lode_flight *flight = context;
	struct generation *generation = flight->last;
	uint32_t number = find_stack(generation, stack->id);

	if (stack->count > LODE_RECORD_FRAMES + 1 || (number && generation->stacks[number].bytes))
		return 0;
	if (!number)
		number = add_stack(generation, stack->id);
	if (!number)
		return LODE_SYSTEM;
	return fill_stack(flight, generation, &generation->stacks[number], packed, lode_pack_stack(packed, stack));
}

static int handle_change(void *context, const struct lode_change *change)
{
	struct lode_flight *flight = context;
	struct generation *generation = flight->last;
	unsigned char *room = lode_chain_room(&flight->pages, &generation->changes, LODE_PACKED_CHANGE);

	if (!room || lode_held_files_see(&flight->files, change) < 0)
		return LODE_SYSTEM;
	lode_chain_fill(&generation->changes, lode_pack_change(room, change, generation->count));
	touch(generation, change->t);
	return 0;
}

/* Whether the youngest generation has its share of the time; of the memory. */
static int is_long(const struct lode_flight *flight)
{
	const struct generation *generation = flight->last;

	return generation->begun && generation->touched > generation->begun &&
	       generation->touched - generation->begun > flight->options.last / PARTS_OF_TIME;
}

static int is_big(const struct lode_flight *flight)
{
	const struct generation *generation = flight->last;

	return table_bytes(generation) + chain_bytes(&generation->records) +
		       chain_bytes(&generation->stack_bytes) + chain_bytes(&generation->changes) >
	       flight->options.memory / PARTS_OF_MEMORY;
}

static void note_time(struct generation *generation, uint64_t end)
{
	if (!generation->count || end < generation->oldest)
		generation->oldest = end;
	if (!generation->count || end > generation->newest)
		generation->newest = end;
	generation->last = end;
	generation->count++;
	touch(generation, end);
}

static int handle_record(void *context, const struct lode_record *record)
{
	struct lode_flight *flight = context;
	struct lode_pack_references references;
	struct generation *generation;
	unsigned char *room;

	/* To add up the pages of a chain each time would take long. */
	if ((is_long(flight) || (flight->last->count % 256 == 255 && is_big(flight))) &&
	    begin_generation(flight) < 0)
		return LODE_SYSTEM;
	generation = flight->last;
	references.thread = name_thread(flight, record->pid, record->tid);
	references.waker = name_thread(flight, record->waker_pid, record->waker_tid);
	references.user = name_stack(flight, record->user);
	references.kernel = name_stack(flight, record->kernel);
	references.waker_user = name_stack(flight, record->waker_user);
	references.waker_kernel = name_stack(flight, record->waker_kernel);
	room = lode_chain_room(&flight->pages, &generation->records, LODE_PACKED_RECORD);
	if (!room || references.thread == LODE_NONE || references.waker == LODE_NONE ||
	    references.user == LODE_NONE || references.kernel == LODE_NONE || references.waker_user == LODE_NONE ||
	    references.waker_kernel == LODE_NONE)
		return LODE_SYSTEM;
	lode_chain_fill(&generation->records, lode_pack_record(room, record, &references, generation->last));
	note_time(generation, lode_record_end(record));
	flight->records++;
	return 0;
}

static int handle_context(void *context, const struct lode_record_context *named)
{
	struct lode_flight *flight = context;

	if (!flight->contexts)
		flight->contexts = lode_context_texts_create();
	if (!flight->contexts)
		return LODE_SYSTEM;
	lode_context_texts_add(flight->contexts, named);
	return 0;
}

struct lode_recorder_sink lode_flight_sink(struct lode_flight *flight)
{
	return (struct lode_recorder_sink){ flight, handle_stack, handle_change, handle_record, handle_context };
}

/* ---- dropping ---- */

static uint64_t too_old(const struct lode_flight *flight, uint64_t now)
{
	uint64_t t = now > flight->options.last ? now - flight->options.last : 0;

	return t < flight->hold ? t : flight->hold;
}

void lode_flight_hold(struct lode_flight *flight, uint64_t t)
{
	flight->hold = t;
}

/* The oldest generation can go: all of it is from before `t`. */
static int is_old(const struct lode_flight *flight, uint64_t t)
{
	return flight->first->settled && flight->first->touched < t;
}

int lode_flight_wants_held(const struct lode_flight *flight, uint64_t now)
{
	size_t limit = flight->options.memory - flight->options.memory / PARTS_OF_MEMORY;

	return is_old(flight, too_old(flight, now)) || bytes_in_use(flight) > limit;
}

static uint64_t count_younger(const struct generation *generation, uint64_t t)
{
	struct lode_chain_reader reader = lode_chain_read(&generation->records);
	struct lode_pack_references references;
	struct lode_cursor *cursor;
	struct lode_record record;
	uint64_t previous = 0, count = 0;

	if (!generation->count || generation->newest < t)
		return 0;
	if (generation->oldest >= t)
		return generation->count;
	while ((cursor = lode_chain_next(&reader))) {
		lode_unpack_record(cursor, &record, &references, previous);
		previous = lode_record_end(&record);
		count += previous >= t;
	}
	return count;
}

static int apply_changes(struct lode_flight *flight, const struct generation *generation)
{
	struct lode_chain_reader reader = lode_chain_read(&generation->changes);
	char text[LODE_PACKED_TEXT + 1];
	struct lode_cursor *cursor;
	struct lode_change change;
	uint64_t position;
	int code = 0;

	while (!code && (cursor = lode_chain_next(&reader))) {
		lode_unpack_change(cursor, &change, text, &position);
		code = lode_processes_apply(&flight->processes, &change);
	}
	return code;
}

/* Moves still-referenced stacks to the next generation. */
static int move_held(struct lode_flight *flight, const struct lode_recorder_held *held)
{
	struct generation *oldest = flight->first, *next = oldest->next;

	for (size_t i = 0; i < held->count; i++) {
		uint32_t number = find_stack(oldest, held->ids[i]), copy;

		if (!number || !oldest->stacks[number].bytes || find_elsewhere(flight, oldest, held->ids[i]))
			continue;
		copy = find_stack(next, held->ids[i]);
		if (!copy)
			copy = add_stack(next, held->ids[i]);
		if (!copy || fill_stack(flight, next, &next->stacks[copy], oldest->stacks[number].bytes,
					oldest->stacks[number].size) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int drop_oldest(struct lode_flight *flight, uint64_t t, const struct lode_recorder_held *held)
{
	struct generation *oldest = flight->first;

	if (move_held(flight, held) < 0 || apply_changes(flight, oldest) < 0)
		return LODE_SYSTEM;
	flight->early += count_younger(oldest, t);
	flight->first = oldest->next;
	release_generation(flight, oldest);
	return 0;
}

static int tidy_processes(struct lode_flight *flight, uint64_t t)
{
	if (lode_processes_forget(&flight->processes, t) < 0)
		return LODE_SYSTEM;
	if (lode_processes_bytes(&flight->processes) <
	    flight->compacted + flight->compacted / COMPACT_PART + COMPACT_BYTES)
		return 0;
	if (lode_processes_compact(&flight->processes, t) < 0)
		return LODE_SYSTEM;
	flight->compacted = lode_processes_bytes(&flight->processes);
	return 0;
}

/* Pages that are not used count too, as far as they would be too many. */
static void free_spare(struct lode_flight *flight)
{
	size_t used = bytes_in_use(flight);
	size_t left = flight->options.memory > used ? flight->options.memory - used : 0;

	lode_pages_spare(&flight->pages, left / sizeof(struct lode_page));
}

static int drop_all(struct lode_flight *flight, uint64_t t, const struct lode_recorder_held *held)
{
	int code = 0;

	while (!code && is_old(flight, t))
		code = drop_oldest(flight, t, held);
	while (!code && flight->first->settled && bytes_in_use(flight) > flight->options.memory) {
		code = drop_oldest(flight, t, held);
		if (!code)
			code = tidy_processes(flight, flight->first->begun);
	}
	return code;
}

static void settle(struct lode_flight *flight)
{
	for (struct generation *generation = flight->first; generation != flight->last;
	     generation = generation->next)
		generation->settled = 1;
}

int lode_flight_trim(struct lode_flight *flight, uint64_t now, const struct lode_recorder_held *held)
{
	uint64_t t = too_old(flight, now);
	int renew;

	/* So that what nothing follows gets old, too. */
	if (flight->last->begun &&
	    (is_long(flight) || is_big(flight) || flight->last->touched < t ||
	     (flight->first == flight->last && bytes_in_use(flight) > flight->options.memory)) &&
	    begin_generation(flight) < 0)
		return LODE_SYSTEM;
	if (held && drop_all(flight, t, held) < 0)
		return LODE_SYSTEM;
	if (tidy_processes(flight, t) < 0)
		return LODE_SYSTEM;
	lode_held_files_tidy(&flight->files, now, now - t + FILES_OUTLIVE);
	free_spare(flight);
	renew = flight->renew;
	flight->renew = 0;
	if (renew)
		settle(flight);
	return renew;
}

/* ---- replaying ---- */

static int replay_stacks(const struct generation *generation, const struct lode_recorder_sink *sink)
{
	struct lode_record_stack stack;
	int code = 0;

	for (size_t i = 1; !code && i < generation->stack_count; i++) {
		struct lode_cursor cursor = lode_cursor(generation->stacks[i].bytes, generation->stacks[i].size);

		if (!generation->stacks[i].bytes)
			continue;
		lode_unpack_stack(&cursor, &stack);
		code = sink->stack(sink->context, &stack);
	}
	return code;
}

/* The changes of a generation on their way to a sink, one read ahead. */
struct changes {
	struct lode_chain_reader reader;
	struct lode_change change;
	uint64_t position; /* of the record that it comes before; UINT64_MAX: there is none left */
	char text[LODE_PACKED_TEXT + 1];
};

static void read_change(struct changes *changes)
{
	struct lode_cursor *cursor = lode_chain_next(&changes->reader);

	changes->position = UINT64_MAX;
	if (cursor)
		lode_unpack_change(cursor, &changes->change, changes->text, &changes->position);
}

static int replay_changes(struct changes *changes, uint64_t position, const struct lode_recorder_sink *sink)
{
	int code = 0;

	while (!code && changes->position <= position && changes->position != UINT64_MAX) {
		code = sink->change(sink->context, &changes->change);
		read_change(changes);
	}
	return code;
}

static void complete(const struct generation *generation, const struct lode_pack_references *references,
		     struct lode_record *record)
{
	record->pid = generation->threads[references->thread].pid;
	record->tid = generation->threads[references->thread].tid;
	record->waker_pid = generation->threads[references->waker].pid;
	record->waker_tid = generation->threads[references->waker].tid;
	record->user = generation->stacks[references->user].id;
	record->kernel = generation->stacks[references->kernel].id;
	record->waker_user = generation->stacks[references->waker_user].id;
	record->waker_kernel = generation->stacks[references->waker_kernel].id;
}

/* Hands over what a number stands for, once. `sent`: by place, the number that was handed over last. */
static int replay_context(const struct lode_flight *flight, uint32_t number, uint32_t *sent,
			  const struct lode_recorder_sink *sink)
{
	uint32_t place = lode_context_texts_place(number);
	struct lode_record_context named;

	if (!number || !sent || sent[place] == number)
		return 0;
	sent[place] = number;
	return lode_context_texts_find(flight->contexts, number, &named)
		       ? sink->named_context(sink->context, &named)
		       : 0;
}

static int replay_records(const struct lode_flight *flight, const struct generation *generation, uint64_t from,
			  uint64_t to, uint32_t *sent, const struct lode_recorder_sink *sink)
{
	struct lode_chain_reader reader = lode_chain_read(&generation->records);
	struct changes changes = { .reader = lode_chain_read(&generation->changes) };
	struct lode_pack_references references;
	struct lode_cursor *cursor;
	struct lode_record record;
	uint64_t position = 0, end = 0;
	int code = 0;

	read_change(&changes);
	while (!code && (cursor = lode_chain_next(&reader))) {
		lode_unpack_record(cursor, &record, &references, end);
		end = lode_record_end(&record);
		code = replay_changes(&changes, position++, sink);
		if (code || end < from || end > to)
			continue;
		complete(generation, &references, &record);
		code = replay_context(flight, record.context, sent, sink);
		if (!code)
			code = sink->record(sink->context, &record);
	}
	return code ? code : replay_changes(&changes, UINT64_MAX, sink);
}

int lode_flight_replay(const struct lode_flight *flight, uint64_t from, uint64_t to,
		       const struct lode_recorder_sink *sink)
{
	int has_contexts = flight->contexts && sink->named_context;
	uint32_t *sent = has_contexts ? lode_calloc(LODE_CONTEXT_PLACES, sizeof(*sent)) : NULL;
	int code = has_contexts && !sent ? LODE_SYSTEM : 0;

	for (const struct generation *generation = flight->first; !code && generation;
	     generation = generation->next) {
		code = replay_stacks(generation, sink);
		if (!code)
			code = replay_records(flight, generation, from, to, sent, sink);
	}
	lode_free(sent);
	return code;
}

void lode_flight_counts(const struct lode_flight *flight, struct lode_flight_counts *counts)
{
	*counts = (struct lode_flight_counts){ .records = flight->records,
					       .early = flight->early,
					       .missing = flight->missing,
					       .bytes = bytes_in_use(flight) };
	for (const struct generation *generation = flight->first; generation; generation = generation->next) {
		counts->kept += generation->count;
		counts->stacks += generation->stack_count - 1;
		if (!generation->count)
			continue;
		if (!counts->oldest || generation->oldest < counts->oldest)
			counts->oldest = generation->oldest;
		if (generation->newest > counts->newest)
			counts->newest = generation->newest;
	}
}
