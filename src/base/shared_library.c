/* Shared libraries loaded on demand: see shared_library.h. */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <string.h>

/* Libraries stay: some start threads of their own, or register what is to run at the end of the process. */
static void *open_library(const char *file)
{
	return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static int fail_loading(const char *file, struct lode_error *error)
{
	const char *reason = dlerror();

	return lode_fail(error, LODE_SYSTEM, "%s cannot be loaded (%.300s)", file,
			 reason ? reason : "no reason given");
}

int lode_library_load(const char *file, const struct lode_library_function *functions, struct lode_error *error)
{
	void *library = open_library(file);
	int code = 0;

	if (!library)
		return fail_loading(file, error);
	for (; functions->name && code == 0; functions++) {
		void *address = dlsym(library, functions->name);

		/* a pointer to a function has the size of one to an object, but C does not convert them */
		if (address)
			memcpy(functions->address, &address, sizeof(address));
		else
			code = fail_loading(file, error);
	}
	dlclose(library);
	return code;
}

void *lode_library_find(const char *file, const char *name)
{
	void *library = open_library(file);
	void *address = library ? dlsym(library, name) : NULL;

	if (library)
		dlclose(library);
	return address;
}
