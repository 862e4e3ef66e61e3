/* Names as people write them, from names as linkers see them. */
#ifndef LODE_SYMBOLS_DEMANGLE_H
#define LODE_SYMBOLS_DEMANGLE_H

#include "base/buffer.h"

/* Longest name that is demangled to, in bytes; hostile names can unfold without end. */
#define LODE_DEMANGLE_LIMIT (64u << 10)

/* Whether `name` looks mangled: C++ (_Z…), Rust (_R…, or _ZN…17h…E). */
int lode_demangle_wanted(const char *name);

/* Whether lode_demangle would append `name` as it is. */
int lode_demangle_is_plain(const char *name);

/*
 * Appends the readable form of the linker's `name` to `buffer`: symbol versions
 * (`@@GLIBC_2.34`) are cut off, and so is `.cold`, because the part of a function
 * that the compiler moved elsewhere belongs to it; `@plt` stays, and with
 * `demangle` C++ and Rust names are unfolded, with template arguments, without
 * parameters. A name that cannot be demangled, or only to more than
 * LODE_DEMANGLE_LIMIT, is appended as it is.
 */
void lode_demangle(const char *name, int demangle, struct lode_buffer *buffer);

#endif
