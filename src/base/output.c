/*
 * Output: see output.h.
 *
 * A path that names a symbolic link is followed first, so that the file it leads
 * to is replaced and not the link. The mode of a file that was there is kept, as
 * far as the umask allows: a private result must not become public by being rebuilt.
 */
#include "base/output.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIQUE_TRIES 64

static void release(struct lode_output *output)
{
	lode_buffer_release(&output->buffer);
	lode_free(output->path);
	lode_free(output->temporary);
	*output = (struct lode_output){ .fd = -1, .closed_pipe = output->closed_pipe };
}

int lode_output_unique(const char *prefix, mode_t mode, char **path, struct lode_error *error)
{
	int fd = LODE_SYSTEM;

	for (int i = 0; i < UNIQUE_TRIES; i++) {
		*path = lode_format("%s.%ld-%09ld.part", prefix, (long)getpid(), (long)(lode_now() % 1000000000u));
		if (!*path)
			return lode_fail_memory(error);
		fd = lode_file_open(*path, O_RDWR | O_CREAT | O_EXCL, mode, error);
		if (fd >= 0)
			return fd;
		lode_free(*path);
		*path = NULL;
		if (errno != EEXIST) /* of the two names, the user knows the one that was asked for */
			return lode_file_fail(error, prefix, "cannot be created");
	}
	return fd;
}

int lode_output_descriptor(struct lode_output *output, int fd, const char *name, struct lode_error *error)
{
	memset(output, 0, sizeof(*output));
	output->fd = fd;
	output->is_terminal = isatty(fd);
	output->path = lode_strdup(name);
	return output->path ? 0 : lode_fail_memory(error);
}

static int open_straight(struct lode_output *output, struct lode_error *error)
{
	output->fd = lode_file_open(output->path, O_WRONLY, 0, error);
	return output->fd < 0 ? output->fd : 0;
}

/* For the file of `output->path`; `follow`: what is no plain file is written to. */
static int open_file(struct lode_output *output, const char *name, int follow, struct lode_error *error)
{
	struct stat status;
	mode_t mode = 0666;

	if ((follow ? stat : lstat)(output->path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			return lode_fail(error, LODE_USAGE, "%s: is a folder; name a file", name);
		if (!S_ISREG(status.st_mode) && follow)
			return open_straight(output, error);
		if (S_ISREG(status.st_mode))
			mode = status.st_mode & 0777;
	}
	output->fd = lode_output_unique(output->path, mode, &output->temporary, error);
	return output->fd < 0 ? output->fd : 0;
}

static int open_path(struct lode_output *output, const char *name, const char *path, int follow,
		     struct lode_error *error)
{
	int code;

	memset(output, 0, sizeof(*output));
	output->fd = -1;
	output->owned = 1;
	output->path = lode_strdup(path);
	code = output->path ? open_file(output, name, follow, error) : lode_fail_memory(error);
	if (code < 0)
		release(output);
	return code;
}

int lode_output_open(struct lode_output *output, const char *path, struct lode_error *error)
{
	char target[PATH_MAX];

	if (!path || strcmp(path, "-") == 0)
		return lode_output_descriptor(output, STDOUT_FILENO, "standard output", error);
	return open_path(output, path, realpath(path, target) ? target : path, 1, error);
}

int lode_output_replace(struct lode_output *output, const char *path, struct lode_error *error)
{
	return open_path(output, path, path, 0, error);
}

void lode_output_memory(struct lode_output *output)
{
	*output = (struct lode_output){ .fd = -1, .in_memory = 1 };
}

/* What people see on a terminal is made safe; files get every byte as it is. */
static int write_buffer(struct lode_output *output, struct lode_error *error)
{
	struct lode_buffer safe = { 0 };
	const struct lode_buffer *shown = &output->buffer;
	int code;

	if (output->is_terminal && lode_text_for_terminal(shown, 0, &safe))
		shown = &safe;
	code = safe.failed ? lode_fail_memory(error)
			   : lode_file_write(output->fd, shown->bytes, shown->size, output->path, error);
	lode_buffer_release(&safe);
	return code;
}

int lode_output_flush(struct lode_output *output, struct lode_error *error)
{
	int code;

	if (output->buffer.failed)
		return lode_fail_memory(error);
	if (output->in_memory)
		return 0;
	errno = 0;
	code = write_buffer(output, error);
	if (code < 0) {
		output->closed_pipe = errno == EPIPE;
		return code;
	}
	output->written += output->buffer.size;
	lode_buffer_clear(&output->buffer);
	return 0;
}

/* A rename is durable when its folder is. All that can fail before it is done before it. */
static int put_in_place(struct lode_output *output, struct lode_error *error)
{
	char *folder = lode_file_folder(output->path);
	int code;

	if (!folder)
		return lode_fail_memory(error);
	code = lode_file_rename(output->temporary, output->path, error);
	if (code == 0) {
		lode_free(output->temporary);
		output->temporary = NULL;
		code = lode_file_sync_folder(folder, error);
	}
	lode_free(folder);
	return code;
}

int lode_output_finish(struct lode_output *output, struct lode_error *error)
{
	int code = lode_output_flush(output, error);

	if (code == 0 && output->temporary)
		code = lode_file_sync(output->fd, output->path, error);
	if (code == 0 && output->owned) {
		code = lode_file_close(output->fd, output->path, error);
		output->fd = -1;
	}
	if (code == 0 && output->temporary)
		code = put_in_place(output, error);
	lode_output_abandon(output);
	return code;
}

void lode_output_abandon(struct lode_output *output)
{
	if (output->owned && output->fd >= 0)
		lode_file_close(output->fd, output->path, NULL);
	if (output->temporary)
		lode_file_remove(output->temporary, NULL);
	release(output);
}
