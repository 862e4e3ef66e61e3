/*
 * Importers: the sniffer. See import.h.
 *
 * The sniffer asks every importer how certain it is and takes the most certain
 * one; among equals the first in the list. Leading comments are skipped first,
 * since a sniffer sees only the first bytes. Nothing else knows which formats
 * exist, except for those without an importer (other_formats.h), which are
 * named and refused.
 */
#include "import/import.h"

#include "base/buffer.h"
#include "import/other_formats.h"

#include <string.h>
#include <unistd.h>

/* `a, b, c`; NULL when memory has run out. */
static char *list_formats(void)
{
	struct lode_buffer buffer = { 0 };

	for (size_t i = 0; lode_importers[i]; i++) {
		lode_buffer_text(&buffer, i ? ", " : "");
		lode_buffer_text(&buffer, lode_importers[i]->name);
	}
	lode_buffer_byte(&buffer, '\0');
	if (!buffer.failed)
		return buffer.bytes;
	lode_buffer_release(&buffer);
	return NULL;
}

static const struct lode_importer *fail_with_formats(struct lode_error *error, int code, const char *format,
						     const char *what)
{
	char *formats = list_formats();

	if (formats)
		lode_fail(error, code, format, what, formats);
	else
		lode_fail_memory(error);
	lode_free(formats);
	return NULL;
}

static const struct lode_importer *find_named(const char *name)
{
	for (size_t i = 0; lode_importers[i]; i++)
		if (strcmp(lode_importers[i]->name, name) == 0)
			return lode_importers[i];
	return NULL;
}

/* From here on a sniffer has seen a mark of its own format. */
#define SURE 60

static const struct lode_importer *find_surest(const unsigned char *bytes, size_t size, const char *name, int *most)
{
	const struct lode_importer *surest = NULL;

	for (size_t i = 0; lode_importers[i]; i++) {
		int sure = lode_importers[i]->sniff(bytes, size, name);

		if (sure > *most) {
			*most = sure;
			surest = lode_importers[i];
		}
	}
	return surest;
}

/* Bytes of comments that may precede what a sniffer has to see. */
#define COMMENT_BYTES (1u << 20)

/* Length of the lines at the start that are empty or begin with `#`. */
static size_t comment_bytes(const unsigned char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && (bytes[at] == '#' || bytes[at] == '\n' || bytes[at] == '\r')) {
		const unsigned char *newline = memchr(bytes + at, '\n', size - at);

		if (!newline)
			break;
		at = (size_t)(newline - bytes) + 1;
	}
	return at;
}

/*
 * The bytes by which a format is known: the first ones, or, where text begins
 * with comments, those behind them. perf's header of a large machine is many kilobytes.
 */
static int peek_telling(struct lode_input *input, const unsigned char **bytes, size_t *size,
			struct lode_error *error)
{
	int code = lode_input_peek(input, LODE_SNIFF_BYTES, bytes, size, error);
	size_t comments;

	if (code < 0 || !*size || **bytes != '#')
		return code;
	code = lode_input_peek(input, COMMENT_BYTES + LODE_SNIFF_BYTES, bytes, size, error);
	if (code < 0)
		return code;
	comments = comment_bytes(*bytes, *size < COMMENT_BYTES ? *size : COMMENT_BYTES);
	if (comments < *size) {
		*bytes += comments;
		*size -= comments;
	}
	return 0;
}

static const struct lode_importer *choose_by_bytes(struct lode_input *input, const unsigned char *bytes,
						   size_t size, struct lode_error *error)
{
	const char *name = lode_input_name(input), *other;
	const struct lode_importer *importer;
	int sure = 0;

	if (size > LODE_SNIFF_BYTES)
		size = LODE_SNIFF_BYTES;
	importer = find_surest(bytes, size, name, &sure);
	other = sure < SURE ? lode_other_format(bytes, size) : NULL;
	if (other) {
		lode_fail(error, LODE_BAD_INPUT, "%s: %s", name, other);
		return NULL;
	}
	if (!importer)
		fail_with_formats(error, LODE_BAD_INPUT,
				  "%s: unknown format; if it is one of %s, name it with --format", name);
	return importer;
}

const struct lode_importer *lode_import_choose(struct lode_input *input, const struct lode_import_options *options,
					       struct lode_error *error)
{
	const struct lode_importer *importer = options->format ? find_named(options->format) : NULL;
	const unsigned char *bytes;
	size_t size;

	if (options->format && !importer)
		return fail_with_formats(error, LODE_USAGE,
					 "--format %s: there is no such format; choose one of %s", options->format);
	if (peek_telling(input, &bytes, &size, error) < 0)
		return NULL;
	if (size == 0) {
		lode_fail(error, LODE_BAD_INPUT, "%s: is empty; there is nothing to import",
			  lode_input_name(input));
		return NULL;
	}
	return importer ? importer : choose_by_bytes(input, bytes, size, error);
}

char *lode_import_file(const char *path)
{
	static const char *const files[] = { "data", "metadata", "info" };
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *file = lode_format("%s%s%s", path, length && path[length - 1] == '/' ? "" : "/", files[i]);

		if (!file || access(file, F_OK) == 0)
			return file;
		lode_free(file);
	}
	return lode_strdup(path);
}
