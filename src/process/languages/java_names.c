/* Names of Java functions: see java_names.h. */
#include "process/languages/java_names.h"

#include "base/utf8.h"

#include <string.h>

struct lode_java_class lode_java_class_stable(struct lode_java_class holder)
{
	const char *lambda = memmem(holder.name, holder.size, "$$Lambda", 8);
	const char *address = memmem(holder.name, holder.size, "0x0000", 6);

	if (lambda)
		holder.size = (size_t)(lambda + 8 - holder.name);
	else if (address && address > holder.name && strchr("+./", address[-1]))
		holder.size = (size_t)(address - 1 - holder.name);
	return holder;
}

void lode_java_text(struct lode_buffer *buffer, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		unsigned char byte = (unsigned char)bytes[i];
		size_t length = byte < 0x80 ? 1 : lode_utf8_length((const unsigned char *)bytes + i, size - i);

		if (!length || byte < 0x20 || byte == 0x7f)
			lode_buffer_text(buffer, "?");
		else
			lode_buffer_add(buffer, bytes + i, length);
		i += length ? length : 1;
	}
}

/* Where the name of a class begins behind its packages. */
static size_t package_size(struct lode_java_class holder)
{
	const char *end = memrchr(holder.name, '/', holder.size);

	if (!end)
		end = memrchr(holder.name, '.', holder.size);
	return end ? (size_t)(end + 1 - holder.name) : 0;
}

static void add_package(struct lode_buffer *path, const char *name, size_t size)
{
	size_t from = path->size;

	lode_java_text(path, name, size);
	for (size_t i = from; i < path->size; i++)
		if (path->bytes[i] == '.')
			path->bytes[i] = '/';
}

void lode_java_names(struct lode_java_class holder, const char *source, size_t source_size,
		     struct lode_buffer *path, struct lode_buffer *function)
{
	size_t package, outermost;
	const char *dollar;

	holder = lode_java_class_stable(holder);
	package = package_size(holder);
	dollar = memchr(holder.name + package, '$', holder.size - package);
	outermost = dollar && dollar > holder.name + package ? (size_t)(dollar - holder.name) : holder.size;
	add_package(path, holder.name, package);
	if (source_size && memchr(source, '.', source_size)) {
		lode_java_text(path, source, source_size);
	} else {
		lode_java_text(path, holder.name + package, outermost - package);
		lode_buffer_text(path, ".java");
	}
	lode_java_text(function, holder.name + package, holder.size - package);
}
