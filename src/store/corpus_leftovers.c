/*
 * Leftovers: see corpus_leftovers.h.
 *
 * A new file is locked until it is closed (file.h), and the kernel drops the lock when the process dies. Between closing
 * and renaming there is no lock. Then the process in the file's name counts, if it can be the writer: it runs, it is
 * older than the file, and the file is new. Process ids are used again, those of containers all the time, so without the
 * last two some leftovers would never be found.
 */
#include "store/corpus_leftovers.h"

#include "base/ends_with.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/proc_files.h"
#include "base/starts_with.h"
#include "store/corpus_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds that a file may take from its last byte to its place. */
#define PLACING_SECONDS 3600
/* Clocks of processes and of files differ a little. */
#define CLOCK_SLACK 2

/* When a process was started, in seconds since 1970; 0: it is gone, or a zombie. */
static time_t start_of(long process)
{
	unsigned long long ticks;
	struct timespec boot;
	char text[1024], state;
	const char *behind;

	lode_proc_text(text, sizeof(text), "/proc/%ld/stat", process);
	behind = strrchr(text, ')');
	if (!behind ||
	    sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &state, &ticks) != 2 ||
	    state == 'Z' || state == 'X')
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return time(NULL) - boot.tv_sec + (time_t)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
}

int lode_corpus_has_writer(const char *path, long process)
{
	struct stat status;
	time_t start;

	if (lode_file_is_locked(path))
		return 1;
	if (process <= 0 || lstat(path, &status) < 0 || status.st_mtime < time(NULL) - PLACING_SECONDS)
		return 0;
	start = start_of(process);
	return start && start <= status.st_mtime + CLOCK_SLACK;
}

/* The process that created a file of this name; 0: it is not one of the temporary files here. */
static long writer_of(const char *name)
{
	static const char *const files[] = { LODE_MINED_FILE ".", LODE_SIGNATURES_FILE "." };

	if (name[0] == '.' && lode_ends_with(name, ".tmp"))
		return lode_corpus_temporary_process(name);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (lode_starts_with(name, files[i]) && lode_ends_with(name, ".part"))
			return strtol(name + strlen(files[i]), NULL, 10);
	return 0;
}

static void list_folder(const char *path, struct lode_text_list *paths)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		long process = writer_of(entry->d_name);
		char *name = process > 0 ? lode_format("%s/%s", path, entry->d_name) : NULL;

		if (name && lode_corpus_has_writer(name, process))
			lode_free(name);
		else if (process > 0)
			lode_text_list_add(paths, name);
	}
	if (folder)
		closedir(folder);
}

int lode_corpus_leftovers(const char *corpus, struct lode_text_list *paths)
{
	char *cache = lode_format("%s/%s", corpus, LODE_CACHE_FOLDER);

	list_folder(corpus, paths);
	if (cache)
		list_folder(cache, paths);
	lode_free(cache);
	return cache && !paths->failed ? 0 : LODE_SYSTEM;
}
