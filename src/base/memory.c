/*
 * The one seam for memory: see memory.h.
 *
 * The fault counter is atomic, so that failures can be planted in threaded
 * code; an unarmed counter costs one relaxed increment an allocation, and hot
 * code allocates in arenas and doubling arrays anyway. Release builds have no such counter.
 */
#include "base/memory.h"

#include "base/error.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void *lode_alloc(size_t size)
{
	return planted_failure() ? NULL : malloc(size ? size : 1);
}

void *lode_calloc(size_t count, size_t size)
{
	return planted_failure() ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *lode_realloc(void *memory, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || planted_failure())
		return NULL;
	return realloc(memory, bytes ? bytes : 1);
}

void lode_free(void *memory)
{
	free(memory);
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
