/* Throws exceptions through functions that may have probes: see prey.h. `prey_throw WHAT FILE`. */
#include "prey.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static prey_page *page;
static volatile uint64_t sink;

static uint64_t clock_of(clockid_t which)
{
	timespec time;

	clock_gettime(which, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static __attribute__((noinline)) void burn(uint64_t time, int truth)
{
	uint64_t last = clock_of(CLOCK_THREAD_CPUTIME_ID), until = last + time, now;

	do {
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i * sink + 1;
		now = clock_of(CLOCK_THREAD_CPUTIME_ID);
		if (truth >= 0)
			__atomic_fetch_add(&page->truths[truth].cpu, now - last, __ATOMIC_RELAXED);
		last = now;
	} while (now < until);
}

extern "C" __attribute__((noinline)) void thrower(int depth)
{
	if (depth > 0) {
		thrower(depth - 1);
		sink++;
		return;
	}
	burn(2000000, 0);
	if (sink != 1)
		throw depth;
}

extern "C" __attribute__((noinline)) void after_throw()
{
	__atomic_fetch_add(&page->truths[1].calls, 1, __ATOMIC_RELAXED);
	burn(4000000, 1);
	sink++;
}

int main(int count, char **words)
{
	int fd = count == 3 ? open(words[2], O_RDWR | O_CREAT, 0600) : -1;
	uint64_t end = clock_of(CLOCK_MONOTONIC) + 600000000000u;

	if (fd < 0 || ftruncate(fd, sizeof(*page)) < 0)
		return 2;
	page = (prey_page *)mmap(nullptr, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return 2;
	page->truths[0].address = (uint64_t)(uintptr_t)thrower;
	page->truths[1].address = (uint64_t)(uintptr_t)after_throw;
	__atomic_store_n(&page->ready, 1, __ATOMIC_RELEASE);
	while (clock_of(CLOCK_MONOTONIC) < end) {
		__atomic_fetch_add(&page->turns, 1, __ATOMIC_RELAXED);
		try {
			__atomic_fetch_add(&page->truths[0].calls, 1, __ATOMIC_RELAXED);
			thrower(3);
		} catch (int) {
			sink++;
		}
		/* Between the two functions, where nothing is measured. */
		burn(2000000, -1);
		after_throw();
	}
	return 0;
}
