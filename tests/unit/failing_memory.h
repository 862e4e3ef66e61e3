/* Work that runs out of memory, at each of its allocations in turn. */
#ifndef LODE_TESTS_FAILING_MEMORY_H
#define LODE_TESTS_FAILING_MEMORY_H

#include "cmocka_all.h"

#include "base/error.h"
#include "base/memory.h"

/*
 * Evaluates `call`, which gives a code, with its first, second, … allocation failing (every other time all behind it as
 * well), until it needs fewer than that. It must return LODE_SYSTEM each time before, and that more than `least` times.
 */
#define FAIL_EACH_ALLOCATION(least, call)                                                                         \
	do {                                                                                                      \
		uint64_t nth_ = 0, asked_;                                                                        \
		int code_;                                                                                        \
                                                                                                                  \
		do {                                                                                              \
			nth_++;                                                                                   \
			lode_memory_fail_at(nth_, nth_ % 2);                                                      \
			code_ = (call);                                                                           \
			asked_ = lode_memory_asked();                                                             \
			lode_memory_fail_at(0, 0);                                                                \
			assert_true(code_ ? code_ == LODE_SYSTEM : asked_ < nth_);                                \
		} while (code_);                                                                                  \
		assert_true(nth_ > (least) + 1u);                                                                 \
	} while (0)

#endif
