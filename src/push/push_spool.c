/*
 * The spool: see push_spool.h.
 *
 * An entry is called TIME-COUNTER-NAME: 16 hexadecimal digits of the clock, a counter, so that names differ and their order is
 * that of time, and the name of the stream, escaped. What begins with a dot is on its way in.
 */
#include "push/push_spool.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD       34 /* of a name: two numbers of 16 digits, and what separates them */
#define MAX_NAME   150
#define COPY_BYTES (256u << 10)

struct lode_push_spool {
	char *folder;
	uint64_t limit;
	uint64_t dropped;
};

void lode_push_entry_release(struct lode_push_entry *entry)
{
	lode_free(entry->path);
	lode_free(entry->name);
	*entry = (struct lode_push_entry){ 0 };
}

/* ---- the folder ---- */

/* Makes a folder and those it is in. */
static int make_folders(char *path, struct lode_error *error)
{
	int code = 0;

	for (char *at = strchr(path + 1, '/'); !code && at; at = strchr(at + 1, '/')) {
		*at = '\0';
		code = lode_file_make_folder(path, 0755, error);
		*at = '/';
	}
	return code ? code : lode_file_make_folder(path, 0700, error);
}

static char *default_folder(const char *url)
{
	const char *given = getenv("LODE_SPOOL"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	unsigned long long hash = lode_hash_bytes(url, strlen(url));

	if (given && *given)
		return lode_format("%s/%016llx", given, hash);
	if (geteuid() == 0)
		return lode_format("/var/lib/lode/spool/%016llx", hash);
	if (state && *state)
		return lode_format("%s/lode/spool/%016llx", state, hash);
	return lode_format("%s/.local/state/lode/spool/%016llx", home && *home ? home : ".", hash);
}

int lode_push_spool_open(struct lode_push_spool **spool, const char *folder, const char *url, uint64_t limit,
			 struct lode_error *error)
{
	struct lode_push_spool *made = lode_calloc(1, sizeof(*made));
	int code;

	*spool = NULL;
	if (!made)
		return lode_fail_memory(error);
	made->limit = limit;
	made->folder = folder ? lode_strdup(folder) : default_folder(url);
	code = made->folder ? make_folders(made->folder, error) : lode_fail_memory(error);
	if (code)
		lode_push_spool_close(made);
	else
		*spool = made;
	return code;
}

void lode_push_spool_close(struct lode_push_spool *spool)
{
	if (!spool)
		return;
	lode_free(spool->folder);
	lode_free(spool);
}

const char *lode_push_spool_folder(const struct lode_push_spool *spool)
{
	return spool->folder;
}

/* ---- names ---- */

/* As in addresses: % and two digits for what is not a letter, a digit, `.`, `_` or `-`. */
static void escape(const char *name, char *text, size_t room)
{
	size_t size = 0;

	for (; *name && size + 4 < room; name++) {
		unsigned char byte = (unsigned char)*name;

		if (isalnum(byte) || strchr("._-", byte))
			text[size++] = (char)byte;
		else
			size += (size_t)snprintf(text + size, 4, "%%%02X", byte);
	}
	text[size] = '\0';
}

static void unescape(char *text)
{
	char *to = text, digits[3] = "";

	while (*text) {
		if (*text == '%' && isxdigit((unsigned char)text[1]) && isxdigit((unsigned char)text[2])) {
			memcpy(digits, text + 1, 2);
			*to++ = (char)strtoul(digits, NULL, 16);
			text += 3;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

static int is_entry(const char *name)
{
	return strlen(name) >= HEAD && strspn(name, "0123456789abcdef") == 16 && name[16] == '-' && name[33] == '-';
}

/* Of a new entry. */
static char *make_path(const struct lode_push_spool *spool, const char *name)
{
	static atomic_uint_fast64_t counter;
	struct timespec now;
	char escaped[MAX_NAME] = "";

	clock_gettime(CLOCK_REALTIME, &now);
	if (name)
		escape(name, escaped, sizeof(escaped));
	return lode_format("%s/%016llx-%08x%08x-%s", spool->folder,
			   (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec,
			   (unsigned)getpid(), (unsigned)atomic_fetch_add(&counter, 1), escaped);
}

/* ---- looking ---- */

/* The first entry by name, its path and size; counts all. */
static int scan(const struct lode_push_spool *spool, struct lode_push_entry *first,
		struct lode_push_spool_counts *counts, struct lode_error *error)
{
	DIR *folder = opendir(spool->folder);
	char least[NAME_MAX + 1] = "";
	struct dirent *entry;
	struct stat status;

	memset(counts, 0, sizeof(*counts));
	*first = (struct lode_push_entry){ 0 };
	if (!folder)
		return lode_file_fail(error, spool->folder, "cannot be read");
	while ((entry = readdir(folder))) {
		if (!is_entry(entry->d_name) || fstatat(dirfd(folder), entry->d_name, &status, 0) < 0)
			continue;
		counts->files++;
		counts->bytes += (uint64_t)status.st_size;
		if (*least && strcmp(entry->d_name, least) > 0)
			continue;
		snprintf(least, sizeof(least), "%s", entry->d_name);
		first->size = (uint64_t)status.st_size;
	}
	closedir(folder);
	counts->dropped = spool->dropped;
	if (!*least)
		return 0;
	first->path = lode_format("%s/%s", spool->folder, least);
	first->name = least[HEAD] ? lode_strdup(least + HEAD) : NULL;
	if (!first->path || (least[HEAD] && !first->name)) {
		lode_push_entry_release(first);
		return lode_fail_memory(error);
	}
	if (first->name)
		unescape(first->name);
	return 1;
}

int lode_push_spool_next(struct lode_push_spool *spool, struct lode_push_entry *entry, struct lode_error *error)
{
	struct lode_push_spool_counts counts;

	return scan(spool, entry, &counts, error);
}

int lode_push_spool_counts(struct lode_push_spool *spool, struct lode_push_spool_counts *counts,
			   struct lode_error *error)
{
	struct lode_push_entry first;
	int found = scan(spool, &first, counts, error);

	lode_push_entry_release(&first);
	return found < 0 ? found : 0;
}

void lode_push_spool_remove(struct lode_push_spool *spool, const struct lode_push_entry *entry)
{
	(void)spool;
	lode_file_remove(entry->path, NULL);
}

/* ---- adding ---- */

static int copy_file(const char *from, const char *to, struct lode_error *error)
{
	int in = lode_file_open_plain(from, O_RDONLY, error), out, code = 0;
	char *bytes = lode_alloc(COPY_BYTES);
	ssize_t got = 1;

	out = in < 0 || !bytes ? -1 : lode_file_open(to, O_WRONLY | O_CREAT, 0600, error);
	if (!bytes)
		code = lode_fail_memory(error);
	if (in < 0 || out < 0)
		code = LODE_SYSTEM;
	while (!code && got > 0) {
		got = lode_file_read(in, bytes, COPY_BYTES, from, error);
		code = got < 0 ? (int)got : lode_file_write(out, bytes, (size_t)got, to, error);
	}
	if (!code)
		code = lode_file_sync(out, to, error);
	if (in >= 0)
		lode_file_close(in, from, NULL);
	if (out >= 0)
		lode_file_close(out, to, NULL);
	lode_free(bytes);
	return code;
}

static int sync_file(const char *path, struct lode_error *error)
{
	int fd = lode_file_open_plain(path, O_RDONLY, error), code;

	if (fd < 0)
		return LODE_SYSTEM;
	code = lode_file_sync(fd, path, error);
	lode_file_close(fd, path, NULL);
	return code;
}

/* What has two names is one file: who may still write into the first would change what waits here. */
static int copy_or_link(const char *from, const char *to, int is_final, struct lode_error *error)
{
	return is_final && link(from, to) == 0 ? sync_file(to, error) : copy_file(from, to, error);
}

/* Under a name with a dot first, so that nobody sends half a file. */
static int put(const struct lode_push_spool *spool, const char *from, const char *path, int is_final,
	       struct lode_error *error)
{
	char *hidden = lode_format("%s/.%s", spool->folder, strrchr(path, '/') + 1);
	int code = hidden ? copy_or_link(from, hidden, is_final, error) : lode_fail_memory(error);

	if (!code)
		code = lode_file_rename(hidden, path, error);
	if (!code)
		code = lode_file_sync_folder(spool->folder, error);
	if (code && hidden)
		lode_file_remove(hidden, NULL);
	lode_free(hidden);
	return code;
}

/* The oldest go until a file of this size fits. */
static int make_room(struct lode_push_spool *spool, uint64_t size, struct lode_error *error)
{
	int found = 1;

	while (found > 0) {
		struct lode_push_spool_counts counts;
		struct lode_push_entry oldest;

		found = scan(spool, &oldest, &counts, error);
		if (found > 0 && counts.bytes + size > spool->limit) {
			lode_push_spool_remove(spool, &oldest);
			spool->dropped++;
		} else if (found > 0) {
			found = 0;
		}
		lode_push_entry_release(&oldest);
	}
	return found;
}

static int add(struct lode_push_spool *spool, const char *path, const char *name, int is_final, char **entry,
	       struct lode_error *error)
{
	struct stat status;
	int code;

	*entry = NULL;
	if (stat(path, &status) < 0)
		return lode_file_fail(error, path, "cannot be read");
	if (!S_ISREG(status.st_mode))
		return lode_fail(error, LODE_BAD_INPUT, "%s: is not a plain file", path);
	if ((uint64_t)status.st_size > spool->limit)
		return lode_fail(error, LODE_BAD_INPUT, "%s: is larger than the spool may be; use --spool-size",
				 path);
	code = make_room(spool, (uint64_t)status.st_size, error);
	if (code)
		return code;
	*entry = make_path(spool, name);
	code = *entry ? put(spool, path, *entry, is_final, error) : lode_fail_memory(error);
	if (code) {
		lode_free(*entry);
		*entry = NULL;
	}
	return code;
}

int lode_push_spool_add(struct lode_push_spool *spool, const char *path, const char *name, char **entry,
			struct lode_error *error)
{
	return add(spool, path, name, 0, entry, error);
}

int lode_push_spool_add_final(struct lode_push_spool *spool, const char *path, char **entry,
			      struct lode_error *error)
{
	return add(spool, path, NULL, 1, entry, error);
}
