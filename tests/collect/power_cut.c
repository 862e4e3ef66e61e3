/*
 * Preloaded into a program, writes down what it does to files of a folder, in the order in which it does it: what
 * tests/collect/power_cuts makes states of a disk of, as a power cut may leave them.
 *
 *	POWER_CUT_ROOT  the folder, an absolute path
 *	POWER_CUT_LOG   a file for the records, empty and as long as it may get; mapped, so that nothing is lost when the
 *	                program is killed, and processes in a sandbox can write, too
 *
 * A record is `struct record`, then two texts or blocks of bytes. The lock is held from before a call until its record
 * is written. Calls that libc makes by itself (fopen) are not seen: power_cuts compares what the records give with what
 * lies on the disk.
 */
#undef _FILE_OFFSET_BITS /* open and open64 are two names here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_DESCRIPTORS 4096

enum kind { OPENED = 1, WRITTEN, CUT, SYNCED, RENAMED, REMOVED, MADE, UNMADE };

struct record {
	uint32_t kind;
	uint32_t pid;
	uint64_t inode;
	uint64_t at; /* offset, new size, or flags of an open */
	uint32_t sizes[2];
};

struct log {
	_Atomic uint64_t lock;
	uint64_t size; /* with this head */
	uint64_t full;
};

static struct log *records;
static uint64_t room;
static char root[PATH_MAX];
static dev_t device;
static uint64_t inodes[MAX_DESCRIPTORS]; /* of files of the folder, by descriptor; 0: another file */

#define REAL(name) (__extension__(__typeof__(&(name))) dlsym(RTLD_NEXT, #name))

static void __attribute__((constructor)) begin(void)
{
	const char *log = getenv("POWER_CUT_LOG"), *folder = getenv("POWER_CUT_ROOT");
	struct stat status;
	int fd = log && folder ? open(log, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0 || stat(folder, &status) < 0)
		return;
	device = status.st_dev;
	snprintf(root, sizeof(root), "%s", folder);
	if (fstat(fd, &status) < 0)
		return;
	room = (uint64_t)status.st_size;
	records = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (records == MAP_FAILED)
		records = NULL;
	else if (!records->size)
		records->size = sizeof(*records);
}

static void lock(void)
{
	uint64_t free = 0;

	while (!atomic_compare_exchange_weak(&records->lock, &free, 1)) {
		free = 0;
		sched_yield();
	}
}

static void unlock(void)
{
	atomic_store(&records->lock, 0);
}

static void add(enum kind kind, uint64_t inode, uint64_t at, const void *first, size_t first_size,
		const void *second, size_t second_size)
{
	struct record record = { kind,
				 (uint32_t)getpid(),
				 inode,
				 at,
				 { (uint32_t)first_size, (uint32_t)second_size } };
	uint64_t size = (sizeof(record) + first_size + second_size + 7) & ~(uint64_t)7;
	char *end = (char *)records + records->size;

	if (records->full || records->size + size > room) {
		records->full = 1;
		return;
	}
	memcpy(end, &record, sizeof(record));
	if (first_size)
		memcpy(end + sizeof(record), first, first_size);
	if (second_size)
		memcpy(end + sizeof(record) + first_size, second, second_size);
	records->size += size;
}

static int is_ours(const char *path)
{
	size_t length = strlen(root);

	return records && path && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

static uint64_t inode_of(int fd)
{
	return records && fd >= 0 && fd < MAX_DESCRIPTORS ? inodes[fd] : 0;
}

static void keep(int fd, uint64_t inode)
{
	if (fd >= 0 && fd < MAX_DESCRIPTORS)
		inodes[fd] = inode;
}

/* ---- opening ---- */

static int open_seen(int folder, const char *path, int flags, mode_t mode)
{
	int ours = is_ours(path), fd;
	struct stat status;

	if (ours)
		lock();
	fd = REAL(openat)(folder, path, flags, mode);
	if (fd >= 0)
		keep(fd, 0);
	if (ours && fd >= 0 && fstat(fd, &status) == 0) {
		keep(fd, status.st_ino);
		add(OPENED, status.st_ino, (uint64_t)flags, path, strlen(path),
		    S_ISDIR(status.st_mode) ? "d" : "f", 1);
	}
	if (ours)
		unlock();
	return fd;
}

static mode_t mode_of(int flags, va_list more)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

#define OPEN(function)                                                                                            \
	int function(const char *path, int flags, ...)                                                            \
	{                                                                                                         \
		va_list more;                                                                                     \
		mode_t mode;                                                                                      \
                                                                                                                  \
		va_start(more, flags);                                                                            \
		mode = mode_of(flags, more);                                                                      \
		va_end(more);                                                                                     \
		return open_seen(AT_FDCWD, path, flags, mode);                                                    \
	}

#define OPENAT(function)                                                                                          \
	int function(int folder, const char *path, int flags, ...)                                                \
	{                                                                                                         \
		va_list more;                                                                                     \
		mode_t mode;                                                                                      \
                                                                                                                  \
		va_start(more, flags);                                                                            \
		mode = mode_of(flags, more);                                                                      \
		va_end(more);                                                                                     \
		return open_seen(folder, path, flags, mode);                                                      \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

int close(int fd)
{
	keep(fd, 0);
	return REAL(close)(fd);
}

int dup(int fd)
{
	int copy = REAL(dup)(fd);

	keep(copy, inode_of(fd));
	return copy;
}

int dup2(int fd, int copy)
{
	int code = REAL(dup2)(fd, copy);

	if (code >= 0)
		keep(copy, inode_of(fd));
	return code;
}

int dup3(int fd, int copy, int flags)
{
	int code = REAL(dup3)(fd, copy, flags);

	if (code >= 0)
		keep(copy, inode_of(fd));
	return code;
}

/* Files that another process opened. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t got = REAL(recvmsg)(fd, message, flags);

	for (struct cmsghdr *part = got < 0 ? NULL : CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		int descriptors[64];
		size_t size = part->cmsg_len - CMSG_LEN(0);
		struct stat status;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS || size > sizeof(descriptors))
			continue;
		memcpy(descriptors, CMSG_DATA(part), size);
		for (size_t i = 0; i < size / sizeof(int); i++)
			if (records && fstat(descriptors[i], &status) == 0)
				keep(descriptors[i],
				     S_ISREG(status.st_mode) && status.st_dev == device ? status.st_ino : 0);
	}
	return got;
}

/* ---- writing ---- */

ssize_t write(int fd, const void *bytes, size_t size)
{
	uint64_t inode = inode_of(fd);
	ssize_t put;

	if (!inode)
		return REAL(write)(fd, bytes, size);
	lock();
	put = REAL(write)(fd, bytes, size);
	if (put > 0)
		add(WRITTEN, inode, (uint64_t)(lseek(fd, 0, SEEK_CUR) - put), bytes, (size_t)put, NULL, 0);
	unlock();
	return put;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	ssize_t put = 0, one;

	if (!inode_of(fd))
		return REAL(writev)(fd, parts, count);
	for (int i = 0; i < count; i++) {
		one = write(fd, parts[i].iov_base, parts[i].iov_len);
		if (one < 0)
			return put ? put : one;
		put += one;
		if ((size_t)one < parts[i].iov_len)
			break;
	}
	return put;
}

static ssize_t pwrite_seen(int fd, const void *bytes, size_t size, off_t at)
{
	uint64_t inode = inode_of(fd);
	ssize_t put;

	if (!inode)
		return REAL(pwrite)(fd, bytes, size, at);
	lock();
	put = REAL(pwrite)(fd, bytes, size, at);
	if (put > 0)
		add(WRITTEN, inode, (uint64_t)at, bytes, (size_t)put, NULL, 0);
	unlock();
	return put;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	return pwrite_seen(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	return pwrite_seen(fd, bytes, size, at);
}

static int ftruncate_seen(int fd, off_t size)
{
	uint64_t inode = inode_of(fd);
	int code;

	if (!inode)
		return REAL(ftruncate)(fd, size);
	lock();
	code = REAL(ftruncate)(fd, size);
	if (!code)
		add(CUT, inode, (uint64_t)size, NULL, 0, NULL, 0);
	unlock();
	return code;
}

int ftruncate(int fd, off_t size)
{
	return ftruncate_seen(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
	return ftruncate_seen(fd, size);
}

static int sync_seen(int (*sync_it)(int), int fd)
{
	uint64_t inode = inode_of(fd);
	int code;

	if (!inode)
		return sync_it(fd);
	lock();
	code = sync_it(fd);
	if (!code)
		add(SYNCED, inode, 0, NULL, 0, NULL, 0);
	unlock();
	return code;
}

int fsync(int fd)
{
	return sync_seen(REAL(fsync), fd);
}

int fdatasync(int fd)
{
	return sync_seen(REAL(fdatasync), fd);
}

/* ---- names ---- */

int rename(const char *from, const char *to)
{
	int ours = is_ours(from) || is_ours(to), code;

	if (!ours)
		return REAL(rename)(from, to);
	lock();
	code = REAL(rename)(from, to);
	if (!code)
		add(RENAMED, 0, 0, from, strlen(from), to, strlen(to));
	unlock();
	return code;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
	int ours = is_ours(from) || is_ours(to), code;

	if (!ours)
		return REAL(renameat2)(from_folder, from, to_folder, to, flags);
	lock();
	code = REAL(renameat2)(from_folder, from, to_folder, to, flags);
	if (!code)
		add(RENAMED, 0, flags, from, strlen(from), to, strlen(to));
	unlock();
	return code;
}

static int remove_seen(enum kind kind, const char *path)
{
	int ours = is_ours(path), code;

	if (ours)
		lock();
	code = kind == REMOVED ? REAL(unlink)(path) : REAL(rmdir)(path);
	if (ours && !code)
		add(kind, 0, 0, path, strlen(path), NULL, 0);
	if (ours)
		unlock();
	return code;
}

int unlink(const char *path)
{
	return remove_seen(REMOVED, path);
}

int rmdir(const char *path)
{
	return remove_seen(UNMADE, path);
}

int mkdir(const char *path, mode_t mode)
{
	int ours = is_ours(path), code;
	struct stat status;

	if (ours)
		lock();
	code = REAL(mkdir)(path, mode);
	if (ours && !code && stat(path, &status) == 0)
		add(MADE, status.st_ino, 0, path, strlen(path), NULL, 0);
	if (ours)
		unlock();
	return code;
}
