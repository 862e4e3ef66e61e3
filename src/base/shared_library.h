/*
 * Shared libraries that few commands need. A program that is linked with them spends milliseconds on them at
 * every start, so they are loaded on first use.
 */
#ifndef LODE_BASE_SHARED_LIBRARY_H
#define LODE_BASE_SHARED_LIBRARY_H

#include "base/error.h"

/* A function of the library: its name, and where its address goes (a pointer to a pointer to the function). */
struct lode_library_function {
	const char *name;
	void *address;
};

/*
 * Loads the library unless that was done, and finds the functions, a list that ends with a name of NULL. It stays loaded,
 * so that loading it again takes microseconds. Returns 0 or LODE_SYSTEM; the sentence begins with the name of the file
 * and says why, for the caller to add what it is needed for. Any thread may call it.
 */
int lode_library_load(const char *file, const struct lode_library_function *functions, struct lode_error *error);

/* A function of this name in the library or the libraries that it was linked with; NULL where there is none. */
void *lode_library_find(const char *file, const char *name);

#endif
