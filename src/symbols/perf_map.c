/*
 * Perf maps: the text file in which a program that generates code at run time
 * lists this code, one function per line: `START SIZE name`, both numbers
 * hexadecimal.
 *
 * The program appends while we read: the last line may be cut off. It also moves
 * and discards code without saying so, so a later line wins over an earlier one
 * where they overlap, as everywhere in the table.
 *
 * Its name is known to everybody before the program writes it, so whose file it is decides whether it is believed.
 */
#include "symbols/image.h"

#include "base/error.h"
#include "base/file_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PERF_MAP_LIMIT (256u << 20)
/* perf's own limit is lower, but names of JavaScript and C# functions are long. */
#define PERF_MAP_NAME_LIMIT 4096

/* A hexadecimal number, with or without 0x, and the blanks behind it. Returns where it ends, NULL if there is
 * none. */
static const char *read_hex(const char *at, const char *end, uint64_t *number)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	*number = 0;
	for (first = at; at < end; at++) {
		unsigned digit = (unsigned char)*at;

		if (digit - '0' < 10)
			digit -= '0';
		else if ((digit | 32) - 'a' < 6)
			digit = (digit | 32) - 'a' + 10;
		else
			break;
		if (*number >> 60)
			return NULL;
		*number = *number << 4 | digit;
	}
	if (at == first || at == end || (*at != ' ' && *at != '\t'))
		return NULL;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static int parse_line(struct lode_table_builder *builder, const char *line, const char *end)
{
	uint64_t start, size;
	size_t length;

	if (end > line && end[-1] == '\r')
		end--;
	line = read_hex(line, end, &start);
	if (line)
		line = read_hex(line, end, &size);
	if (!line || line == end || !size || size > UINT64_MAX - start)
		return 0;
	length = (size_t)(end - line);
	if (length > PERF_MAP_NAME_LIMIT)
		length = PERF_MAP_NAME_LIMIT;
	lode_table_add(builder, start, start + size, lode_table_name(builder, line, length), 0);
	return 1;
}

int lode_image_parse_perf_map(struct lode_table_builder *builder, const char *bytes, size_t size, uint64_t *skipped)
{
	const char *end = bytes + size;

	while (size && bytes < end) {
		const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));

		if (!stop)
			break;
		if (stop > bytes && !parse_line(builder, bytes, stop))
			++*skipped;
		if (builder->failed || builder->strings.failed)
			return LODE_SYSTEM;
		bytes = stop + 1;
	}
	return 0;
}

static int is_believed(uid_t found, uid_t owner)
{
	uid_t user;
	gid_t group;

	return found == 0 || found == owner || found == geteuid() ||
	       (lode_sudo_user(&user, &group) && found == user);
}

int lode_perf_map_open(const char *path, uid_t owner, struct lode_error *error)
{
	int fd = lode_file_open_plain(path, O_RDONLY | O_NOFOLLOW, error);
	struct stat status;

	if (fd < 0 || (fstat(fd, &status) == 0 && is_believed(status.st_uid, owner)))
		return fd;
	close(fd);
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s: belongs to user %ld, neither to the user of the process nor to root", path,
			 (long)status.st_uid);
}

static int read_map(const struct lode_image *image, struct lode_buffer *bytes, struct lode_error *error)
{
	const char *path = image->paths.items[0];

	if (image->owner == LODE_PERF_MAP_OPEN)
		return lode_image_read_file(path, PERF_MAP_LIMIT, bytes, error);
	return lode_image_read_descriptor(lode_perf_map_open(path, image->owner, error), path, PERF_MAP_LIMIT,
					  bytes, error);
}

int lode_image_load_perf_map(struct lode_image *image)
{
	struct lode_table_builder builder = { 0 };
	struct lode_buffer bytes = { 0 };
	const char *path = image->paths.items[0];
	struct lode_error error = { "" };
	uint64_t skipped = 0;
	int code = read_map(image, &bytes, &error);
	int is_missing = code < 0 && access(path, F_OK) < 0 && errno == ENOENT;

	/* Most programs write none: if their code has no names, lode_note_unnamed says so. */
	if (code < 0 && !is_missing)
		lode_notes_add(image->options->notes, 1, LODE_NOTE_PERF_MAPS_NOT_READ, error.text);
	if (code < 0)
		code = LODE_BAD_INPUT;
	if (code == 0)
		code = lode_image_parse_perf_map(&builder, bytes.bytes, bytes.size, &skipped);
	if (code == 0)
		code = lode_table_finish(&builder, &image->table);
	lode_notes_add(image->options->notes, skipped, "lines of perf maps not understood", path);
	lode_table_builder_release(&builder);
	lode_buffer_release(&bytes);
	return code;
}
