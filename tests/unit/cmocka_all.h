/* cmocka and the headers it wants before it. */
#ifndef LODE_TESTS_CMOCKA_ALL_H
#define LODE_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * ThreadSanitizer makes all slow and looks for one thing: of long rows of tests one in so many does. So does an
 * emulator: what it runs differs from other builds in the instructions alone.
 */
#ifdef TEST_EMULATED
#define ONE_IN 10
#elif defined(__SANITIZE_THREAD__)
#define ONE_IN 50
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ONE_IN 50
#endif
#endif
#ifndef ONE_IN
#define ONE_IN 1
#endif

/* Ends a test, and says why, where an emulator of a processor (qemu-user) lacks what it needs of the kernel. */
#ifdef TEST_EMULATED
#define SKIP_EMULATED(why)                                                                                        \
	do {                                                                                                      \
		print_message("skipped: under an emulator " why "\n");                                            \
		skip();                                                                                           \
	} while (0)
#else
#define SKIP_EMULATED(why)
#endif

/* Under sanitizers memory and threads are looked at, not figures: simulations that take long can be few. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif
#define TEST_ROUNDS(count) (TEST_SANITIZED ? (count) / 8 : (count))

#endif
