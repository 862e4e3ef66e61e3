/* Scratch files: see scratch.h. */
#include "base/scratch.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/output.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

const char *lode_scratch_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

/* For file systems without nameless files: the name is removed at once. */
static int open_and_unlink(struct lode_error *error)
{
	char *prefix = lode_format("%s/lode-scratch", lode_scratch_folder()), *path = NULL;
	int fd;

	if (!prefix)
		return lode_fail_memory(error);
	fd = lode_output_unique(prefix, 0600, &path, error);
	if (fd >= 0 && lode_file_remove(path, error) < 0) {
		close(fd);
		unlink(path);
		lode_file_keep(path);
		fd = LODE_SYSTEM;
	}
	lode_free(path);
	lode_free(prefix);
	return fd;
}

int lode_scratch_open(struct lode_error *error)
{
	int fd = lode_file_open(lode_scratch_folder(), O_TMPFILE | O_RDWR, 0600, NULL);

	return fd >= 0 ? fd : open_and_unlink(error);
}

int lode_scratch_is_memory(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}
