/* How processes see files: see file_view.h. */
#include "process/file_view.h"

#include "base/hash.h"
#include "process/process_change.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

uint64_t lode_process_mounts(uint32_t pid)
{
	struct stat namespace, root;
	char path[64];
	uint64_t hash;

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	if (stat(path, &namespace) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	if (stat(path, &root) < 0)
		return 0;
	hash = lode_hash_more(lode_hash_more(namespace.st_ino, root.st_dev), root.st_ino);
	return hash > LODE_MOUNTS_OWN ? hash : LODE_MOUNTS_OWN + 1;
}

int lode_process_line_is_own(const struct lode_proc_mapping *line)
{
	struct stat status;

	return line->path[0] == '/' && stat(line->path, &status) == 0 && status.st_ino == line->inode &&
	       major(status.st_dev) == line->major && minor(status.st_dev) == line->minor;
}
