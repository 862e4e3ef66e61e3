/*
 * The only access to files: every read, write, sync, rename and map of Lode's
 * own files goes through here, so that the fault tests can make each of them
 * fail.
 *
 * All functions that can fail return 0 (or a count) or LODE_SYSTEM and write a
 * sentence that names the file and the reason.
 */
#ifndef LODE_BASE_FILE_H
#define LODE_BASE_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Says that `what` ("cannot be opened") failed for errno, and what to do about it. Returns LODE_SYSTEM. */
int lode_file_fail(struct lode_error *error, const char *path, const char *what);
/*
 * open(2) with O_CLOEXEC. Returns the descriptor or LODE_SYSTEM. With O_CREAT the file is always a new one, as if
 * O_EXCL was given: what others may have put there, a link or a file, is never written to. A new file may belong to
 * the user who called sudo (file_owner.h), and is locked until it is closed.
 */
int lode_file_open(const char *path, int flags, mode_t mode, struct lode_error *error);
/*
 * The same for reading what must be a plain file, for example because another user may have put it there: a pipe or a
 * device is LODE_BAD_INPUT at once, never waited for. With O_NOFOLLOW in `flags`, links are refused, too.
 */
int lode_file_open_plain(const char *path, int flags, struct lode_error *error);
/* The permissions of a file, for one that takes its place; those for all where there is none. */
mode_t lode_file_mode(const char *path);
/* Whether another process is writing a file that it created. */
int lode_file_is_locked(const char *path);
/* Closes; a failing close is reported, because a network file system reports its write errors there. */
int lode_file_close(int fd, const char *path, struct lode_error *error);
/* Up to `size` bytes; 0 at the end, LODE_SYSTEM on failure. Restarts after signals, waits where `fd` does not. */
ssize_t lode_file_read(int fd, void *bytes, size_t size, const char *path, struct lode_error *error);
/* All of `size` bytes, however many writes it takes; waits likewise. */
int lode_file_write(int fd, const void *bytes, size_t size, const char *path, struct lode_error *error);
int lode_file_sync(int fd, const char *path, struct lode_error *error);
/* Makes the entries of a folder durable after a create or rename in it. */
int lode_file_sync_folder(const char *path, struct lode_error *error);
/* The path of the folder that holds a file, in fresh memory; NULL: there is none. */
char *lode_file_folder(const char *path);
int lode_file_rename(const char *from, const char *to, struct lode_error *error);
/* Removes a file; one that is not there is no failure. */
int lode_file_remove(const char *path, struct lode_error *error);
/* Makes a folder; one that is already there is no failure. A new one may belong to the user who called sudo (file_owner.h). */
int lode_file_make_folder(const char *path, mode_t mode, struct lode_error *error);

/*
 * A file opened with O_CREAT is unfinished until it is renamed or removed
 * here, or kept: who is ended by a signal removes what is unfinished. At most 256
 * at a time are known; one more would stay, for `lode fsck` to find.
 */
void lode_file_keep(const char *path);
/* For signal handlers: removes all that is unfinished, now and while the program ends. */
void lode_file_remove_unfinished(void);

/* A whole file mapped for reading. */
struct lode_map {
	const unsigned char *bytes; /* NULL when the file is empty */
	size_t size;
};

int lode_map_open(struct lode_map *map, const char *path, struct lode_error *error);
/* Maps what `fd` refers to; the descriptor may be closed afterwards. */
int lode_map_descriptor(struct lode_map *map, int fd, const char *path, struct lode_error *error);
void lode_map_close(struct lode_map *map);

/* Reserves addresses for `size` bytes; NULL: there are not enough. They stay reserved. */
void *lode_file_reserve(size_t size);
/* Maps the first `size` bytes of `fd` to reserved addresses; what is written there is written to the file. 0 or LODE_SYSTEM. */
int lode_file_map_shared(void *addresses, size_t size, int fd);

/*
 * For tests, not in release builds: file operation number `nth` (from 1) fails with `error_number`;
 * with `for_good` all after it too. A write that fails with `error_number` 0 is
 * cut short instead. nth 0 turns it off.
 */
void lode_file_fail_at(uint64_t nth, int for_good, int error_number);
uint64_t lode_file_asked(void);

#endif
