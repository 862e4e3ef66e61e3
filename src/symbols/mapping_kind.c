/* What is mapped: see mapping_kind.h. */
#include "symbols/mapping_kind.h"

#include "base/memory.h"
#include "base/starts_with.h"

#include <string.h>

static const char deleted[] = " (deleted)";

enum lode_mapped lode_mapped_kind(const char *path)
{
	if (!*path || !strcmp(path, "//anon") || lode_starts_with(path, "/dev/zero") ||
	    lode_starts_with(path, "/anon_hugepage") || lode_starts_with(path, "[anon"))
		return LODE_MAPPED_ANONYMOUS;
	if (lode_starts_with(path, "[vdso"))
		return LODE_MAPPED_VDSO;
	if (*path == '[' || lode_starts_with(path, "/SYSV"))
		return LODE_MAPPED_NAMED;
	return LODE_MAPPED_FILE;
}

size_t lode_mapped_length(const char *path)
{
	size_t length = strlen(path), suffix = strlen(deleted);

	return length > suffix && !strcmp(path + length - suffix, deleted) ? length - suffix : length;
}

/* Length of the digits that begin the text. */
static size_t digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

/* `before`, a process id, and `after`, of a text; returns what follows, NULL when it is not so. */
static const char *skip_pid(const char *text, const char *end, const char *before, const char *after)
{
	size_t first = strlen(before), last = strlen(after), count;

	if ((size_t)(end - text) < first || memcmp(text, before, first) != 0)
		return NULL;
	text += first;
	count = digits(text, (size_t)(end - text));
	text += count;
	if (!count || (size_t)(end - text) < last || memcmp(text, after, last) != 0)
		return NULL;
	return text + last;
}

int lode_mapped_is_jit(const char *name, size_t length)
{
	const char *end = name + length, *rest;

	if (skip_pid(name, end, "perf-", ".map") == end || skip_pid(name, end, "[JIT] tid ", "") == end)
		return 1;
	rest = skip_pid(name, end, "jitted-", "-");
	return rest && skip_pid(rest, end, "", ".so") == end;
}

void lode_mapped_name(const char *path, const char **name, size_t *length)
{
	size_t whole = lode_mapped_length(path);
	const char *slash = memrchr(path, '/', whole);

	*name = slash ? slash + 1 : path;
	*length = whole - (size_t)(*name - path);
	if (lode_mapped_is_jit(*name, *length)) {
		*name = LODE_JIT_MODULE;
		*length = strlen(LODE_JIT_MODULE);
	}
}

enum lode_kind lode_mapped_module_kind(const char *name, size_t length)
{
	if (length == strlen(LODE_JIT_MODULE) && memcmp(name, LODE_JIT_MODULE, length) == 0)
		return LODE_KIND_JIT;
	return memmem(name, length, ".so", 3) ? LODE_KIND_LIBRARY : LODE_KIND_USER;
}

char *lode_mapped_perf_map(uint32_t pid)
{
	return lode_format("/tmp/perf-%u.map", pid);
}
