/* What is mapped: see mapped.h. */
#include "symbols/mapped.h"

#include "base/memory.h"

#include <string.h>

static const char deleted[] = " (deleted)";

static int starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

enum lode_mapped lode_mapped_kind(const char *path)
{
	if (!*path || !strcmp(path, "//anon") || starts_with(path, "/dev/zero") ||
	    starts_with(path, "/anon_hugepage") || starts_with(path, "[anon"))
		return LODE_MAPPED_ANONYMOUS;
	if (starts_with(path, "[vdso"))
		return LODE_MAPPED_VDSO;
	if (*path == '[' || starts_with(path, "/SYSV"))
		return LODE_MAPPED_NAMED;
	return LODE_MAPPED_FILE;
}

size_t lode_mapped_length(const char *path)
{
	size_t length = strlen(path), suffix = strlen(deleted);

	return length > suffix && !strcmp(path + length - suffix, deleted) ? length - suffix : length;
}

void lode_mapped_name(const char *path, const char **name, size_t *length)
{
	size_t whole = lode_mapped_length(path);
	const char *slash = memrchr(path, '/', whole);

	*name = slash ? slash + 1 : path;
	*length = whole - (size_t)(*name - path);
}

enum lode_kind lode_mapped_module_kind(const char *name, size_t length)
{
	return memmem(name, length, ".so", 3) ? LODE_KIND_LIBRARY : LODE_KIND_USER;
}

char *lode_mapped_perf_map(uint32_t pid)
{
	return lode_format("/tmp/perf-%u.map", pid);
}
