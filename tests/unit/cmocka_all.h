/* cmocka and the headers it wants before it. */
#ifndef LODE_TESTS_CMOCKA_ALL_H
#define LODE_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
