/* Whole streams at a time: see store.h. */
#include "store/store.h"

static int fill(struct lode_store_writer *writer, const struct lode_stream *stream, struct lode_error *error)
{
	int code = lode_store_append(writer, stream, error);

	if (code) {
		lode_store_abandon(writer);
		return code;
	}
	return lode_store_finish(writer, error);
}

int lode_store_write(const char *path, mode_t mode, const struct lode_stream *stream, unsigned jobs,
		     struct lode_error *error)
{
	struct lode_store_writer *writer;
	int code = lode_store_create(&writer, path, mode, jobs, error);

	return code ? code : fill(writer, stream, error);
}

int lode_store_write_on(int fd, const char *name, const struct lode_stream *stream, unsigned jobs,
			struct lode_error *error)
{
	struct lode_store_writer *writer;
	int code = lode_store_create_on(&writer, fd, name, jobs, error);

	return code ? code : fill(writer, stream, error);
}
