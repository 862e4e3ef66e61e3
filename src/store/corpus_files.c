/* The files of a corpus folder: see corpus_files.h. */
#include "store/corpus_files.h"

#include "base/ends_with.h"
#include "base/starts_with.h"
#include "store/corpus_symbols.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum lode_corpus_file lode_corpus_classify(const char *name)
{
	if (name[0] == '.' && lode_ends_with(name, ".lode.tmp"))
		return LODE_FILE_TEMPORARY;
	if (name[0] == '.' && lode_ends_with(name, ".lode.recording"))
		return LODE_FILE_RECORDING;
	if (name[0] == '.' && lode_ends_with(name, ".lode" LODE_REPLACED_SUFFIX))
		return LODE_FILE_REPLACED;
	if (lode_ends_with(name, ".damaged"))
		return LODE_FILE_DAMAGED;
	if (strspn(name, "0123456789abcdef") == 32 && name[32] == '.' && lode_ends_with(name, ".lode"))
		return LODE_FILE_STREAM;
	return LODE_FILE_FOREIGN;
}

/* The time is in it because a process that was killed may have left a file, and its pid may be another's now. */
static char *unique_name(const char *folder, const char *id, const char *suffix)
{
	static atomic_uint counter;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return lode_format("%s/.%s.%ld.%llx%08lx.%u.lode.%s", folder, id, (long)getpid(),
			   (unsigned long long)now.tv_sec, (unsigned long)now.tv_nsec,
			   atomic_fetch_add(&counter, 1), suffix);
}

char *lode_corpus_temporary(const char *streams_folder, const char *id)
{
	return unique_name(streams_folder, id, "tmp");
}

char *lode_corpus_unfinished(const char *streams_folder, const char *id)
{
	return unique_name(streams_folder, id, "recording");
}

long lode_corpus_temporary_process(const char *name)
{
	const char *dot = name[0] == '.' ? strchr(name + 1, '.') : NULL;

	return dot ? strtol(dot + 1, NULL, 10) : 0;
}

int lode_corpus_look_at(const char *path, struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be examined: %s", path, strerror(errno));
	entry->file_size = (uint64_t)status.st_size;
	entry->added = (uint64_t)status.st_mtime;
	return 0;
}

/*
 * Another process may be making the same corpus: its catalogue, or the journal of
 * it, is not foreign. Nor are signatures whose catalogue is lost.
 */
static int is_ours(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, LODE_STREAMS_FOLDER) == 0 ||
	       strcmp(name, LODE_CACHE_FOLDER) == 0 || strcmp(name, LODE_SYMBOLS_FOLDER) == 0 ||
	       strcmp(name, LODE_SIGNATURES_FILE) == 0 || strcmp(name, LODE_MINED_FILE) == 0 ||
	       strcmp(name, "idle.rules") == 0 || lode_starts_with(name, LODE_CATALOGUE_FILE);
}

int lode_corpus_refuse(const char *path, struct lode_error *error)
{
	struct stat status;

	if (stat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return lode_fail(
			error, LODE_BAD_INPUT,
			"%s: there is no such corpus; check the name, or make it with 'lode import FILE -o "
			"%s'",
			path, path);
	if (access(path, R_OK) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: cannot be read: %s", path, strerror(errno));
	if (!S_ISDIR(status.st_mode) && lode_ends_with(path, ".lode"))
		return lode_fail(
			error, LODE_BAD_INPUT,
			"%s: is one stream; name the folder of its corpus, or look at it with 'lode info'", path);
	if (!S_ISDIR(status.st_mode))
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is a file, not a corpus; 'lode import %s -o CORPUS' reads it into one", path,
				 path);
	if (lode_corpus_folder_is_foreign(path))
		return lode_fail(
			error, LODE_BAD_INPUT,
			"%s: is a folder with other files in it, not a corpus; name one that 'lode record' "
			"or 'lode import' made",
			path);
	return lode_fail(error, LODE_BAD_INPUT, "%s: is not a corpus; 'lode import FILE -o %s' makes one", path,
			 path);
}

int lode_corpus_folder_is_foreign(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int foreign = 0;

	if (!folder)
		return 0;
	while (!foreign && (entry = readdir(folder)))
		foreign = !is_ours(entry->d_name);
	closedir(folder);
	return foreign;
}

int lode_corpus_has_streams(const char *streams_folder)
{
	DIR *folder = opendir(streams_folder);
	struct dirent *entry;
	int found = 0;

	if (!folder)
		return 0;
	while (!found && (entry = readdir(folder)))
		found = lode_corpus_classify(entry->d_name) == LODE_FILE_STREAM;
	closedir(folder);
	return found;
}
