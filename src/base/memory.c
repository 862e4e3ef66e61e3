/*
 * The only access to memory: see memory.h.
 *
 * The fault counter is atomic, so that failures can be planted in threaded code; an unarmed
 * counter costs one relaxed increment per allocation, and hot code allocates in arenas and
 * doubling arrays anyway. Release builds have no such counter.
 *
 * Blocks of a page and more are counted, so that a limit can send some of them elsewhere.
 */
#include "base/memory.h"

#include "base/error.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef LODE_RELEASE
static atomic_uint_fast64_t asked;
static atomic_uint_fast64_t fail_at;
static atomic_int fail_for_good;

static int planted_failure(void)
{
	uint64_t number = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) + 1;
	uint64_t nth = atomic_load_explicit(&fail_at, memory_order_relaxed);

	if (!nth)
		return 0;
	return number == nth || (number > nth && atomic_load(&fail_for_good));
}

void lode_memory_fail_at(uint64_t nth, int for_good)
{
	atomic_store(&fail_at, 0);
	atomic_store(&fail_for_good, for_good);
	atomic_store(&asked, 0);
	atomic_store(&fail_at, nth);
}

uint64_t lode_memory_asked(void)
{
	return atomic_load(&asked);
}

#else
static int planted_failure(void)
{
	return 0;
}
#endif

void lode_memory_keep_freed(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that the C library takes */
	mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

void lode_memory_return_freed(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);
	malloc_trim(0);
#endif
}

/* ---- blocks in memory and outside of it ---- */

/* Smaller blocks are not counted. */
#define MIN_COUNTED 4096

static _Atomic(const struct lode_overflow *) overflow;
static atomic_size_t held;
static atomic_size_t largest_piece;

/* Of this thread. Blocks of others that it frees make `now` negative. */
static _Thread_local struct {
	int lasting;
	int64_t now, most;
} piece;

void lode_memory_set_overflow(const struct lode_overflow *other)
{
	atomic_store(&largest_piece, 0);
	atomic_store(&overflow, other);
}

void lode_memory_set_lasting(int lasting)
{
	piece.lasting = lasting;
}

void lode_memory_count_bytes(int64_t bytes)
{
	piece.now += bytes;
	if (piece.now > piece.most)
		piece.most = piece.now;
}

void lode_memory_begin_piece(void)
{
	piece.now = piece.most = 0;
}

size_t lode_memory_end_piece(void)
{
	size_t most = (size_t)piece.most, before = atomic_load(&largest_piece);

	while (most > before && !atomic_compare_exchange_weak(&largest_piece, &before, most))
		;
	return most;
}

size_t lode_memory_largest_piece(void)
{
	return atomic_load(&largest_piece);
}

size_t lode_memory_room(void)
{
	const struct lode_overflow *other = atomic_load_explicit(&overflow, memory_order_acquire);

	return other ? other->limit : SIZE_MAX;
}

size_t lode_memory_held(void)
{
	return atomic_load_explicit(&held, memory_order_relaxed);
}

static size_t counted_size(void *memory)
{
	size_t size = memory ? malloc_usable_size(memory) : 0;

	return size < MIN_COUNTED ? 0 : size;
}

static void *count(void *memory)
{
	size_t size = counted_size(memory);

	if (size) {
		atomic_fetch_add_explicit(&held, size, memory_order_relaxed);
		lode_memory_count_bytes((int64_t)size);
	}
	return memory;
}

static void discount(size_t size)
{
	if (!size)
		return;
	atomic_fetch_sub_explicit(&held, size, memory_order_relaxed);
	piece.now -= (int64_t)size;
}

/* Where a block of `size` bytes that takes the place of `instead` belongs; NULL: in memory. */
static const struct lode_overflow *overflow_for(size_t size, size_t instead)
{
	const struct lode_overflow *other = atomic_load_explicit(&overflow, memory_order_acquire);
	size_t limit;

	if (!other || size < other->least)
		return NULL;
	limit = piece.lasting ? other->lasting_limit : other->limit;
	return size > limit || lode_memory_held() - instead > limit - size ? other : NULL;
}

static const struct lode_overflow *overflow_of(const void *memory)
{
	const struct lode_overflow *other = atomic_load_explicit(&overflow, memory_order_acquire);

	return other && (uintptr_t)memory - other->first < other->last - other->first ? other : NULL;
}

void *lode_alloc(size_t size)
{
	const struct lode_overflow *other = overflow_for(size, 0);

	if (planted_failure())
		return NULL;
	return other ? other->take(size) : count(malloc(size ? size : 1));
}

void *lode_calloc(size_t number, size_t size)
{
	const struct lode_overflow *other;
	size_t bytes;

	if (__builtin_mul_overflow(number, size, &bytes) || planted_failure())
		return NULL;
	other = overflow_for(bytes, 0);
	return other ? other->take(bytes) : count(calloc(bytes ? bytes : 1, 1));
}

/* Arrays from here on lie in huge pages where the system has some: first touching them page by page costs more. */
#define MIN_HUGE (4u << 20)

/*
 * From the first page to the last: a mapping that is advised in parts could not grow in place. An array is filled from
 * its beginning; tables that stay sparse (lode_calloc) would take more memory in huge pages.
 */
static void *advise_huge(void *memory, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)memory & ~(page - 1), end;

	if (size < MIN_HUGE)
		return memory;
	end = ((uintptr_t)memory + malloc_usable_size(memory) + page - 1) & ~(page - 1);
	madvise((void *)first, end - first, MADV_HUGEPAGE);
	return memory;
}

/* A block in memory that has become too large for it. */
static void *move_out(const struct lode_overflow *other, void *memory, size_t size)
{
	size_t old = memory ? malloc_usable_size(memory) : 0;
	void *moved = other->take(size);

	if (moved && memory) {
		memcpy(moved, memory, old < size ? old : size);
		lode_free(memory);
	}
	return moved;
}

void *lode_realloc(void *memory, size_t number, size_t size)
{
	const struct lode_overflow *other = overflow_of(memory);
	size_t bytes, before;
	void *moved;

	if (__builtin_mul_overflow(number, size, &bytes) || planted_failure())
		return NULL;
	if (other)
		return other->resize(memory, bytes);
	before = counted_size(memory);
	if (bytes > before && (other = overflow_for(bytes, before)))
		return move_out(other, memory, bytes);
	moved = realloc(memory, bytes ? bytes : 1);
	if (moved)
		discount(before);
	return moved ? count(advise_huge(moved, bytes)) : NULL;
}

void lode_free(void *memory)
{
	const struct lode_overflow *other = overflow_of(memory);

	if (other) {
		other->give_back(memory);
		return;
	}
	discount(counted_size(memory));
	free(memory);
}

/* ---- shortage ---- */

static _Atomic(const struct lode_shortage *) last_shortage;

void lode_memory_set_shortage(const struct lode_shortage *shortage)
{
	atomic_store(&last_shortage, shortage);
}

const struct lode_shortage *lode_memory_shortage(void)
{
	return atomic_load(&last_shortage);
}

char *lode_strndup(const char *text, size_t length)
{
	char *copy = lode_alloc(length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *lode_strdup(const char *text)
{
	return lode_strndup(text, strlen(text));
}

char *lode_format(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0 || !(text = lode_alloc((size_t)length + 1)))
		return NULL;
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

int lode_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
	void *grown, *old;
	size_t wanted;

	if (needed <= *capacity)
		return 0;
	wanted = *capacity ? *capacity : 16;
	while (wanted < needed) {
		if (__builtin_mul_overflow(wanted, 2, &wanted))
			return LODE_SYSTEM;
	}
	memcpy(&old, items, sizeof(old));
	grown = lode_realloc(old, wanted, item_size);
	if (!grown)
		return LODE_SYSTEM;
	memcpy(items, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
