/* Files that processes began to run lately: see held_files.h. */
#include "process/held_files.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/proc_files.h"
#include "symbols/mapping_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000u

void lode_held_files_init(struct lode_held_files *files)
{
	memset(files, 0, sizeof(*files));
	for (size_t i = 0; i < LODE_HELD_FILES; i++)
		files->items[i].fd = -1;
}

static void let_go(struct lode_held_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	lode_free(file->path);
	*file = (struct lode_held_file){ .fd = -1 };
}

void lode_held_files_release(struct lode_held_files *files)
{
	for (size_t i = 0; i < LODE_HELD_FILES; i++)
		let_go(&files->items[i]);
}

static uint64_t hash_of(const char *path, const char *build_id)
{
	return lode_hash_more(lode_hash_bytes(path, strlen(path)), lode_hash_bytes(build_id, strlen(build_id)));
}

/* Its place; LODE_HELD_FILES: none. */
static size_t find(const struct lode_held_files *files, const char *path, const char *build_id)
{
	uint64_t hash = hash_of(path, build_id);
	size_t i = 0;

	while (i < LODE_HELD_FILES &&
	       !(files->items[i].hash == hash && files->items[i].path && !strcmp(files->items[i].path, path) &&
		 !strcmp(files->items[i].build_id, build_id)))
		i++;
	return i;
}

/* A free place, else that of the file that was mapped longest ago. */
static struct lode_held_file *make_room(struct lode_held_files *files)
{
	struct lode_held_file *oldest = &files->items[0];

	for (size_t i = 0; i < LODE_HELD_FILES; i++) {
		if (!files->items[i].path)
			return &files->items[i];
		if (files->items[i].seen < oldest->seen)
			oldest = &files->items[i];
	}
	let_go(oldest);
	return oldest;
}

/* Through the process, which may be in a container; else by its path, when a build-id will show whether it is
 * right. */
static int open_file(const struct lode_change *change, const char *build_id)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, fd;
	char *path;

	if (change->mounts == LODE_MOUNTS_OWN)
		return open(change->text, flags);
	path = lode_proc_root_path(change->pid, change->text, strlen(change->text));
	fd = path ? open(path, flags) : -1;
	lode_free(path);
	return fd < 0 && *build_id ? open(change->text, flags) : fd;
}

int lode_held_files_see(struct lode_held_files *files, const struct lode_change *change)
{
	char build_id[2 * LODE_CHANGE_BUILD_ID + 1] = "";
	struct lode_held_file *file;
	size_t place;
	int fd;

	if (change->type != LODE_CHANGE_MAP || lode_mapped_kind(change->text) != LODE_MAPPED_FILE)
		return 0;
	lode_hex(build_id, change->build_id, change->build_id_size);
	place = find(files, change->text, build_id);
	file = &files->items[place % LODE_HELD_FILES];
	if (place == LODE_HELD_FILES) {
		fd = open_file(change, build_id);
		if (fd < 0)
			return 0;
		file = make_room(files);
		file->fd = fd;
		file->path = lode_strdup(change->text);
		if (!file->path) {
			let_go(file);
			return LODE_SYSTEM;
		}
		file->hash = hash_of(change->text, build_id);
		memcpy(file->build_id, build_id, sizeof(build_id));
	}
	file->pid = change->pid;
	file->seen = change->t;
	file->gone = 0;
	return 0;
}

void lode_held_files_tidy(struct lode_held_files *files, uint64_t now, uint64_t time)
{
	if (now - files->tidied < SECOND)
		return;
	files->tidied = now;
	for (size_t i = 0; i < LODE_HELD_FILES; i++) {
		struct lode_held_file *file = &files->items[i];

		if (!file->path)
			continue;
		if (!file->gone && kill((pid_t)file->pid, 0) < 0 && errno == ESRCH)
			file->gone = now;
		if (file->gone && now - file->gone > time)
			let_go(file);
	}
}

int lode_held_files_open(const struct lode_held_files *files, const char *path, const char *build_id)
{
	size_t place = find(files, path, build_id);

	return place < LODE_HELD_FILES ? fcntl(files->items[place].fd, F_DUPFD_CLOEXEC, 0) : -1;
}
