/* The one seam for files: see file.h. */
#include "base/file.h"

#include "base/file_owner.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef LODE_RELEASE
static atomic_uint_fast64_t asked;
static atomic_uint_fast64_t fail_at;
static atomic_int fail_for_good;
static atomic_int fail_number;

void lode_file_fail_at(uint64_t nth, int for_good, int error_number)
{
	atomic_store(&fail_at, 0);
	atomic_store(&fail_for_good, for_good);
	atomic_store(&fail_number, error_number);
	atomic_store(&asked, 0);
	atomic_store(&fail_at, nth);
}

uint64_t lode_file_asked(void)
{
	return atomic_load(&asked);
}

/* 0: go on; 1: errno is set, fail; 2: do only half of it. */
static int planted_failure(void)
{
	uint64_t number = atomic_fetch_add(&asked, 1) + 1;
	uint64_t nth = atomic_load(&fail_at);
	int error_number = atomic_load(&fail_number);

	if (!nth || !(number == nth || (number > nth && atomic_load(&fail_for_good))))
		return 0;
	if (!error_number)
		return 2;
	errno = error_number;
	return 1;
}

#else
static int planted_failure(void)
{
	return 0;
}
#endif

/* ---- unfinished files ---- */

/*
 * A signal handler may look at them at any moment, so that they are a fixed table
 * and a path is published when it is whole. Pages that are not used cost nothing.
 *
 * A state is one of the four below plus STATE_USE times how often its place was taken, so that a thread which looked at a
 * place cannot mistake its next use for the one that it saw. The path of another thread's file may change while it
 * is read; the hash beside it shows whose it is.
 */
#define MAX_UNFINISHED 256

enum { PLACE_FREE, PLACE_TAKEN, PLACE_OPENING, PLACE_WHOLE };

#define STATE_USE 4u

#define NOWHERE (-1)
/* For files that other threads are creating in the moment of the signal. */
#define PAUSE                                                                                                     \
	{                                                                                                         \
		0, 10000000                                                                                       \
	}

static char unfinished[MAX_UNFINISHED][PATH_MAX];
static atomic_uint_fast64_t unfinished_hash[MAX_UNFINISHED];
static atomic_uint unfinished_state[MAX_UNFINISHED];
static atomic_int is_ending;

static unsigned place_of(unsigned state)
{
	return state % STATE_USE;
}

/* The same use of a place, elsewhere in its life. */
static unsigned with_place(unsigned state, unsigned place)
{
	return state - place_of(state) + place;
}

static int take_place(const char *path, int i)
{
	unsigned state = atomic_load(&unfinished_state[i]);
	unsigned taken = with_place(state, PLACE_TAKEN) + STATE_USE;

	if (place_of(state) != PLACE_FREE || !atomic_compare_exchange_strong(&unfinished_state[i], &state, taken))
		return 0;
	memcpy(unfinished[i], path, strlen(path) + 1);
	atomic_store(&unfinished_hash[i], lode_hash_bytes(path, strlen(path)));
	atomic_store(&unfinished_state[i], with_place(taken, PLACE_OPENING));
	return 1;
}

/* Places of files that were removed past this seam. */
static void free_gone(void)
{
	for (int i = 0; i < MAX_UNFINISHED; i++) {
		unsigned state = atomic_load(&unfinished_state[i]);

		if (place_of(state) == PLACE_WHOLE && access(unfinished[i], F_OK) < 0)
			atomic_compare_exchange_strong(&unfinished_state[i], &state, with_place(state, PLACE_FREE));
	}
}

/* The place of a file that is about to be created. An existing file belongs to another process: opening it will fail. */
static int announce(const char *path)
{
	if (strlen(path) >= PATH_MAX || access(path, F_OK) == 0)
		return NOWHERE;
	for (int tries = 0; tries < 2; tries++) {
		for (int i = 0; i < MAX_UNFINISHED; i++)
			if (take_place(path, i))
				return i;
		free_gone();
	}
	return NOWHERE;
}

/* It was created, or was not. */
static void confirm(const char *path, int place, int fd)
{
	if (place != NOWHERE)
		atomic_store(&unfinished_state[place],
			     with_place(atomic_load(&unfinished_state[place]), fd >= 0 ? PLACE_WHOLE : PLACE_FREE));
	if (fd >= 0 && atomic_load(&is_ending))
		unlink(path);
}

/* open(2) of a new file; errno stays. */
static int create(const char *path, int flags, mode_t mode)
{
	int place = announce(path), fd = open(path, flags, mode), number = errno;

	confirm(path, place, fd);
	errno = number;
	return fd;
}

void lode_file_keep(const char *path)
{
	uint64_t hash = lode_hash_bytes(path, strlen(path));

	for (int i = 0; i < MAX_UNFINISHED; i++) {
		unsigned state = atomic_load(&unfinished_state[i]);

		if (place_of(state) == PLACE_WHOLE && atomic_load(&unfinished_hash[i]) == hash &&
		    !strcmp(unfinished[i], path))
			atomic_compare_exchange_strong(&unfinished_state[i], &state, with_place(state, PLACE_FREE));
	}
}

/* Returns whether some of them may come into being only now. */
static int unlink_unfinished(void)
{
	int opening = 0;

	for (int i = 0; i < MAX_UNFINISHED; i++) {
		unsigned place = place_of(atomic_load(&unfinished_state[i]));

		opening |= place == PLACE_OPENING;
		if (place == PLACE_OPENING || place == PLACE_WHOLE)
			unlink(unfinished[i]);
	}
	return opening;
}

void lode_file_remove_unfinished(void)
{
	const struct timespec pause = PAUSE;

	atomic_store(&is_ending, 1);
	if (unlink_unfinished()) {
		nanosleep(&pause, NULL);
		unlink_unfinished();
	}
}

/* ---- operations ---- */

static const char *advice(int error_number)
{
	switch (error_number) {
	case EACCES:
	case EPERM:
		return "; check its permissions, or run as another user";
	case ENOENT:
		return "; check the name";
	case ENOSPC:
	case EDQUOT:
		return "; free some space and try again";
	case EFBIG:
		return "; raise the limit on the size of files (ulimit -f)";
	case EMFILE:
	case ENFILE:
		return "; raise the limit on open files (ulimit -n)";
	case EROFS:
		return "; choose a place that can be written";
	default:
		return "";
	}
}

int lode_file_fail(struct lode_error *error, const char *path, const char *what)
{
	return lode_fail(error, LODE_SYSTEM, "%s: %s: %s%s", path, what, strerror(errno), advice(errno));
}

int lode_file_open(const char *path, int flags, mode_t mode, struct lode_error *error)
{
	int is_new = flags & O_CREAT, fd = -1;

	if (planted_failure() != 1)
		fd = is_new ? create(path, flags | O_EXCL | O_CLOEXEC, mode) : open(path, flags | O_CLOEXEC, mode);
	if (fd < 0)
		return lode_file_fail(error, path, is_new ? "cannot be created" : "cannot be opened");
	if (is_new) {
		lode_file_give_to_user(fd, path);
		flock(fd, LOCK_EX | LOCK_NB); /* without it, `lode fsck` has less to go by */
	}
	return fd;
}

mode_t lode_file_mode(const char *path)
{
	struct stat status;

	return stat(path, &status) < 0 ? 0666 : status.st_mode & 0666;
}

int lode_file_is_locked(const char *path)
{
	int fd = lode_file_open_plain(path, O_RDONLY | O_NOFOLLOW, NULL), is_locked;

	if (fd < 0)
		return 0;
	is_locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return is_locked;
}

int lode_file_open_plain(const char *path, int flags, struct lode_error *error)
{
	int fd = lode_file_open(path, flags | O_NONBLOCK | O_NOCTTY, 0, error);
	struct stat status;

	if (fd < 0 && errno == ELOOP && flags & O_NOFOLLOW)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is a link, which is not followed here; put the file itself in its place",
				 path);
	if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	close(fd);
	return lode_fail(error, LODE_BAD_INPUT, "%s: is not a plain file", path);
}

int lode_file_close(int fd, const char *path, struct lode_error *error)
{
	int planted = planted_failure();
	int number = errno;

	if (close(fd) < 0)
		return lode_file_fail(error, path, "cannot be closed");
	errno = number;
	return planted == 1 ? lode_file_fail(error, path, "cannot be closed") : 0;
}

/*
 * Whether to try again, after a signal or when others are ready. Descriptors that were
 * inherited can be non-blocking: any process that shares them may make them so at any time, as
 * launchers of MPI do.
 */
static int try_again(int fd, short events)
{
	struct pollfd ready = { fd, events, 0 };

	if (errno == EINTR)
		return 1;
	return (errno == EAGAIN || errno == EWOULDBLOCK) && (poll(&ready, 1, -1) >= 0 || errno == EINTR);
}

ssize_t lode_file_read(int fd, void *bytes, size_t size, const char *path, struct lode_error *error)
{
	ssize_t got;

	switch (planted_failure()) {
	case 1:
		return lode_file_fail(error, path, "cannot be read");
	case 2:
		size = (size + 1) / 2;
	}
	do {
		got = read(fd, bytes, size);
	} while (got < 0 && try_again(fd, POLLIN));
	if (got < 0)
		return lode_file_fail(error, path, "cannot be read");
	return got;
}

int lode_file_write(int fd, const void *bytes, size_t size, const char *path, struct lode_error *error)
{
	const char *next = bytes;

	while (size) {
		int planted = planted_failure();
		ssize_t put = planted == 1 ? -1 : write(fd, next, planted == 2 ? (size + 1) / 2 : size);

		if (put < 0 && !planted && try_again(fd, POLLOUT))
			continue;
		if (put < 0)
			return lode_file_fail(error, path, "cannot be written");
		next += put;
		size -= (size_t)put;
	}
	return 0;
}

int lode_file_sync(int fd, const char *path, struct lode_error *error)
{
	if (planted_failure() == 1 || fsync(fd) < 0)
		return lode_file_fail(error, path, "cannot be synced to disk");
	return 0;
}

int lode_file_sync_folder(const char *path, struct lode_error *error)
{
	int fd = lode_file_open(path, O_RDONLY | O_DIRECTORY, 0, error);
	int code;

	if (fd < 0)
		return fd;
	code = lode_file_sync(fd, path, error);
	close(fd);
	return code;
}

char *lode_file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return lode_strdup(".");
	return lode_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int lode_file_rename(const char *from, const char *to, struct lode_error *error)
{
	if (planted_failure() == 1 || rename(from, to) < 0)
		return lode_file_fail(error, to, "cannot be renamed into place");
	lode_file_keep(from);
	return 0;
}

int lode_file_remove(const char *path, struct lode_error *error)
{
	if (planted_failure() == 1 || (unlink(path) < 0 && errno != ENOENT))
		return lode_file_fail(error, path, "cannot be removed");
	lode_file_keep(path);
	return 0;
}

int lode_file_make_folder(const char *path, mode_t mode, struct lode_error *error)
{
	struct stat status;

	if (planted_failure() == 1)
		return lode_file_fail(error, path, "cannot be made");
	if (mkdir(path, mode) == 0) {
		lode_file_give_folder_to_user(path);
		return 0;
	}
	if (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return 0;
	return lode_file_fail(error, path, "cannot be made");
}

int lode_map_descriptor(struct lode_map *map, int fd, const char *path, struct lode_error *error)
{
	struct stat status;
	void *bytes;

	memset(map, 0, sizeof(*map));
	if (planted_failure() == 1 || fstat(fd, &status) < 0)
		return lode_file_fail(error, path, "cannot be read");
	if (!S_ISREG(status.st_mode))
		return lode_fail(error, LODE_BAD_INPUT, "%s: is not a plain file", path);
	if (status.st_size == 0)
		return 0;
	/* Shared: in private mappings uprobes put breakpoints, also those of other programs. */
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return lode_file_fail(error, path, "cannot be mapped");
	map->bytes = bytes;
	map->size = (size_t)status.st_size;
	return 0;
}

int lode_map_open(struct lode_map *map, const char *path, struct lode_error *error)
{
	int fd = lode_file_open_plain(path, O_RDONLY, error);
	int code;

	memset(map, 0, sizeof(*map));
	if (fd < 0)
		return fd;
	code = lode_map_descriptor(map, fd, path, error);
	close(fd);
	return code;
}

void lode_map_close(struct lode_map *map)
{
	if (map->bytes)
		munmap((void *)(uintptr_t)map->bytes, map->size);
	memset(map, 0, sizeof(*map));
}

void *lode_file_reserve(size_t size)
{
	void *addresses = planted_failure() == 1
				  ? MAP_FAILED
				  : mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return addresses == MAP_FAILED ? NULL : addresses;
}

int lode_file_map_shared(void *addresses, size_t size, int fd)
{
	if (planted_failure() == 1 ||
	    mmap(addresses, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return LODE_SYSTEM;
	return 0;
}
