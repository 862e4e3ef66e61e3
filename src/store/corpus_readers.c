/*
 * Readers of stream files: see corpus_readers.h.
 *
 * A name may come back: a stream that was removed and imported again has the file
 * name it had before. So nothing is deleted outside of a transaction of the
 * catalogue, in which it does not name the file.
 */
#include "store/corpus_readers.h"

#include "base/file.h"
#include "store/corpus_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Seconds that a file stays after it was replaced, where readers on other hosts cannot be seen. */
#define KEPT_FOR_OTHER_HOSTS 3600

/* ---- the lock ---- */

static int lock(struct lode_corpus_readers *readers, int operation)
{
	int code;

	if (readers->fd < 0)
		readers->fd = lode_file_open(readers->streams, O_RDONLY | O_DIRECTORY, 0, NULL);
	if (readers->fd < 0)
		return 0;
	do {
		code = flock(readers->fd, operation);
	} while (code < 0 && errno == EINTR);
	return code;
}

void lode_corpus_readers_init(struct lode_corpus_readers *readers, const char *streams)
{
	*readers = (struct lode_corpus_readers){ .streams = streams, .fd = -1, .remote = -1 };
}

/* Types of file systems that several hosts can mount, as statfs names them. */
static int is_remote_type(uint32_t type)
{
	static const uint32_t types[] = {
		0x00006969, /* NFS */
		0x0000517b, /* SMB */
		0xff534d42, /* CIFS */
		0xfe534d42, /* SMB 2 */
		0x00c36400, /* Ceph */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x01161970, /* GFS2 */
		0x7461636f, /* OCFS2 */
		0x5346414f, /* AFS */
		0x01021997, /* 9P */
		0x65735546, /* FUSE: sshfs, GlusterFS and others */
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == type)
			return 1;
	return 0;
}

static int is_remote(struct lode_corpus_readers *readers)
{
	struct statfs status;

	if (readers->remote < 0)
		readers->remote = statfs(readers->streams, &status) == 0 && is_remote_type((uint32_t)status.f_type);
	return readers->remote;
}

void lode_corpus_readers_enter(struct lode_corpus_readers *readers)
{
	if (!readers->reading)
		readers->reading = lock(readers, LOCK_SH) == 0;
}

void lode_corpus_readers_release(struct lode_corpus_readers *readers)
{
	if (readers->fd >= 0)
		close(readers->fd);
	lode_corpus_readers_init(readers, readers->streams);
}

/* Whether there is no other reader; then none can start before leave_alone. */
static int be_alone(struct lode_corpus_readers *readers)
{
	return lock(readers, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

static void leave_alone(struct lode_corpus_readers *readers)
{
	lock(readers, readers->reading ? LOCK_SH : LOCK_UN);
}

/* ---- files to be deleted ---- */

static char *mark_of(const char *streams, const char *file)
{
	return lode_format("%s/.%s%s", streams, file, LODE_REPLACED_SUFFIX);
}

int lode_corpus_is_discarded(const char *streams, const char *file)
{
	char *mark = mark_of(streams, file);
	int is = mark && access(mark, F_OK) == 0;

	lode_free(mark);
	return is;
}

/* 1, 0 or a negative code. */
static int is_named(struct lode_catalogue *catalogue, const char *file, struct lode_error *error)
{
	char id[33] = "", named[256];
	int found;

	strncpy(id, file, 32);
	found = lode_catalogue_find(catalogue, id, named, sizeof(named), error);
	return found > 0 ? strcmp(named, file) == 0 : found;
}

/* The file first: what fails in between is tried again. */
static int delete_file(struct lode_corpus_readers *readers, const char *file, struct lode_error *error)
{
	char *path = lode_format("%s/%s", readers->streams, file);
	char *mark = mark_of(readers->streams, file);
	int code = path && mark ? lode_file_remove(path, error) : lode_fail_memory(error);

	if (!code)
		unlink(mark);
	lode_free(path);
	lode_free(mark);
	return code;
}

static int mark_file(struct lode_corpus_readers *readers, const char *file, struct lode_error *error)
{
	char *mark = mark_of(readers->streams, file);
	int fd, code = 0;

	if (!mark)
		return lode_fail_memory(error);
	fd = lode_file_open(mark, O_WRONLY | O_CREAT, 0666, error);
	if (fd >= 0)
		close(fd);
	else if (errno != EEXIST) /* it may have been marked before */
		code = fd;
	lode_file_keep(mark);
	lode_free(mark);
	return code;
}

int lode_corpus_discard(struct lode_corpus_readers *readers, struct lode_catalogue *catalogue, const char *file,
			struct lode_error *error)
{
	int code = lode_catalogue_begin(catalogue, error), named;

	if (code)
		return code;
	named = is_named(catalogue, file, error);
	if (named < 0)
		code = named;
	else if (!named)
		code = !is_remote(readers) && be_alone(readers) ? delete_file(readers, file, error)
								: mark_file(readers, file, error);
	leave_alone(readers);
	lode_catalogue_rollback(catalogue);
	return code;
}

/* ---- sweeping ---- */

/* Whether readers on other hosts have had their time since the file was marked. */
static int is_old(const char *mark)
{
	struct stat status;

	return stat(mark, &status) == 0 && time(NULL) - status.st_mtime > KEPT_FOR_OTHER_HOSTS;
}

/* A mark at a name that is in use again means nothing. */
static void sweep_mark(struct lode_corpus_readers *readers, struct lode_catalogue *catalogue, const char *name)
{
	char *file = lode_strndup(name + 1, strlen(name) - 1 - strlen(LODE_REPLACED_SUFFIX));
	char *mark = file ? mark_of(readers->streams, file) : NULL;
	int named = mark && lode_corpus_classify(file) == LODE_FILE_STREAM ? is_named(catalogue, file, NULL) : -1;

	if (named == 0 && (!is_remote(readers) || is_old(mark)))
		delete_file(readers, file, NULL);
	else if (named > 0)
		unlink(mark);
	lode_free(file);
	lode_free(mark);
}

static void sweep_marks(struct lode_corpus_readers *readers, struct lode_catalogue *catalogue, DIR *folder)
{
	struct dirent *entry;

	while ((entry = readdir(folder)))
		if (lode_corpus_classify(entry->d_name) == LODE_FILE_REPLACED)
			sweep_mark(readers, catalogue, entry->d_name);
}

/* Most of the time there is nothing to sweep, and then nothing is locked. */
static int has_marks(DIR *folder)
{
	struct dirent *entry;

	while ((entry = readdir(folder)))
		if (lode_corpus_classify(entry->d_name) == LODE_FILE_REPLACED)
			return 1;
	return 0;
}

void lode_corpus_sweep(struct lode_corpus_readers *readers, struct lode_catalogue *catalogue)
{
	DIR *folder = opendir(readers->streams);

	if (!folder)
		return;
	if (has_marks(folder) && !lode_catalogue_begin(catalogue, NULL)) {
		rewinddir(folder);
		if (be_alone(readers))
			sweep_marks(readers, catalogue, folder);
		leave_alone(readers);
		lode_catalogue_rollback(catalogue);
	}
	closedir(folder);
}
