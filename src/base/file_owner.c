/*
 * Owners of files: see file_owner.h.
 *
 * Other users may change the folder at any moment, so nothing is changed by its path: the descriptor of a file is that
 * of the file which was created, and a folder is opened again without following links. It is given away only if it is
 * empty and root's. At worst another empty folder of root has come in its place.
 */
#include "base/file_owner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A number of a user or a group in the environment; 0: there is none. */
static unsigned long id_in_environment(const char *name)
{
	const char *text = getenv(name);
	char *end;
	unsigned long id;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	id = strtoul(text, &end, 10);
	return *end || errno || id >= UINT_MAX ? 0 : id;
}

int lode_sudo_user(uid_t *user, gid_t *group)
{
	unsigned long id = geteuid() == 0 ? id_in_environment("SUDO_UID") : 0;

	*user = (uid_t)id;
	*group = (gid_t)id_in_environment("SUDO_GID");
	return id != 0;
}

int lode_owner_is_trusted(uid_t owner)
{
	uid_t user;
	gid_t group;

	return geteuid() != 0 || owner == 0 || (lode_sudo_user(&user, &group) && owner == user);
}

int lode_writable_by_others(const struct stat *status)
{
	uid_t user;
	gid_t group;

	if (status->st_mode & S_IWOTH)
		return 1;
	/* Where each user has a group alone, folders are often writable for the group. */
	return status->st_mode & S_IWGRP && status->st_gid != 0 &&
	       !(lode_sudo_user(&user, &group) && status->st_gid == group);
}

/* Whether new files in the folder that holds `path` are the user's: the folder is, or it is one for everybody. */
static int is_in_folder_of(uid_t user, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";
	struct stat status;

	if (slash && (size_t)(slash - path) >= sizeof(folder))
		return 0;
	if (slash) {
		memcpy(folder, path, (size_t)(slash - path));
		folder[slash - path] = '\0';
	}
	if (stat(*folder ? folder : "/", &status) < 0)
		return 0;
	return status.st_uid == user || (status.st_mode & S_ISVTX && status.st_mode & S_IWOTH);
}

/* That it cannot be given away is no failure: it stays root's. */
static void give_to(int fd, uid_t user, gid_t group)
{
	if (fchown(fd, user, group ? group : (gid_t)-1) < 0)
		return;
}

void lode_file_give_to_user(int fd, const char *path)
{
	uid_t user;
	gid_t group;

	if (lode_sudo_user(&user, &group) && is_in_folder_of(user, path))
		give_to(fd, user, group);
}

/* Consumes `fd`. */
static int is_empty(int fd)
{
	DIR *folder = fdopendir(fd);
	int count = 0;

	if (!folder) {
		close(fd);
		return 0;
	}
	while (count <= 2 && readdir(folder))
		count++;
	closedir(folder);
	return count <= 2;
}

void lode_file_give_folder_to_user(const char *path)
{
	struct stat status;
	uid_t user;
	gid_t group;
	int fd;

	if (!lode_sudo_user(&user, &group) || !is_in_folder_of(user, path))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_uid == 0 && is_empty(fcntl(fd, F_DUPFD_CLOEXEC, 0)))
		give_to(fd, user, group);
	close(fd);
}
