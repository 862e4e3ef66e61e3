/*
 * Demangling: see demangle.h.
 *
 * libiberty's callback interface is used because it allocates nothing (so only
 * our own code can run out of memory) and because it can be interrupted: a short
 * mangled name can expand to gigabytes of text, and a longjmp out of the
 * callback limits the work. The library keeps nothing but stack memory in these
 * calls. Names that need more recursion than the library's own limit stay
 * mangled.
 *
 * Parameters are left out, as perf does: template arguments already distinguish
 * most overloads, and lists of parameters make stacks unreadable.
 */
#include "symbols/demangle.h"

#include "base/memory.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

int lode_demangle_wanted(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || (name[1] == '_' && name[2] == 'Z'));
}

struct unfolding {
	struct lode_buffer *buffer;
	size_t start; /* size of the buffer before */
	jmp_buf stop;
};

static void append_piece(const char *text, size_t length, void *context)
{
	struct unfolding *unfolding = context;

	if (length > LODE_DEMANGLE_LIMIT - (unfolding->buffer->size - unfolding->start))
		longjmp(unfolding->stop, 1);
	lode_buffer_add(unfolding->buffer, text, length);
}

/* Appends the unfolded `name`; 0 when there is none, with the buffer as before. */
static int unfold(const char *name, struct lode_buffer *buffer)
{
	struct unfolding unfolding = { .buffer = buffer, .start = buffer->size };
	int options = DMGL_NO_OPTS;

	if (setjmp(unfolding.stop) == 0) {
		if (rust_demangle_callback(name, options, append_piece, &unfolding))
			return 1;
		buffer->size = unfolding.start;
		if (cplus_demangle_v3_callback(name, options, append_piece, &unfolding))
			return 1;
	}
	buffer->size = unfolding.start;
	return 0;
}

/* Where the version, or `@plt`, of a name begins; its end when there is none. */
static size_t unversioned_length(const char *name)
{
	const char *at = strchr(name + (name[0] != '\0'), '@');

	return at ? (size_t)(at - name) : strlen(name);
}

/* Length of the function's name at the start of `name`, of `length` bytes, without `.cold` or `.cold.12` at its end. */
static size_t without_cold(const char *name, size_t length)
{
	static const char suffix[] = { '.', 'c', 'o', 'l', 'd' };
	size_t end = length;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end < length && end && name[end - 1] == '.')
		end--;
	else
		end = length;
	if (end > sizeof(suffix) && memcmp(name + end - sizeof(suffix), suffix, sizeof(suffix)) == 0)
		return end - sizeof(suffix);
	return length;
}

int lode_demangle_is_plain(const char *name)
{
	size_t length = strlen(name);

	return !lode_demangle_wanted(name) && unversioned_length(name) == length &&
	       without_cold(name, length) == length;
}

void lode_demangle(const char *name, int demangle, struct lode_buffer *buffer)
{
	size_t length = unversioned_length(name);
	int is_plt = strcmp(name + length, "@plt") == 0;

	length = without_cold(name, length);
	if (demangle && lode_demangle_wanted(name) && length <= LODE_DEMANGLE_LIMIT) {
		char *bare = lode_strndup(name, length);

		if (!bare)
			buffer->failed = 1;
		else if (unfold(bare, buffer))
			length = 0;
		lode_free(bare);
	}
	lode_buffer_add(buffer, name, length);
	if (is_plt)
		lode_buffer_text(buffer, "@plt");
}
