/* Files of images: reading one, and what is known about its origin. See image.h. */
#include "symbols/image.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void lode_origin_release(struct lode_origin *origin)
{
	lode_free(origin->identity);
	lode_free(origin->build_id);
	lode_free(origin->binary);
	lode_free(origin->debug);
	lode_free(origin->debuglink);
	lode_free(origin->fetched);
	memset(origin, 0, sizeof(*origin));
}

int lode_image_read_file(const char *path, size_t limit, struct lode_buffer *bytes, struct lode_error *error)
{
	return lode_image_read_descriptor(lode_file_open_plain(path, O_RDONLY, error), path, limit, bytes, error);
}

int lode_image_read_descriptor(int fd, const char *path, size_t limit, struct lode_buffer *bytes,
			       struct lode_error *error)
{
	ssize_t got = 1;

	if (fd < 0)
		return fd;
	while (got > 0) {
		size_t step = bytes->size < 4096 ? 4096 : 1 << 20;
		char *room = lode_buffer_room(bytes, step);

		if (!room)
			got = lode_fail_memory(error);
		else if (bytes->size > limit)
			got = lode_fail(error, LODE_BAD_INPUT, "%s: is larger than %zu bytes", path, limit);
		else
			got = lode_file_read(fd, room, step, path, error);
		bytes->size += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return (int)got;
}
