/* Tokens: see tokens.h. */
#include "serve/tokens.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/starts_with.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE (4u << 20)
#define DIGEST   "sha256:"

struct token {
	char digest[LODE_SHA256_TEXT];
	struct lode_grant grant;
	time_t until; /* 0: for ever */
};

struct token_list {
	LODE_ARRAY(struct token);
	uint64_t wrong; /* lines */
};

struct lode_tokens {
	char *path;
	pthread_mutex_t lock; /* of all below */
	struct token_list list;
	struct timespec changed; /* the file that was read, its mode included */
	off_t size;
	time_t looked_at;
};

/* ---- the file ---- */

static int read_rights(char *words, unsigned *rights)
{
	static const struct {
		const char *name;
		unsigned rights;
	} known[] = { { "upload", LODE_RIGHT_UPLOAD }, { "read", LODE_RIGHT_READ }, { "admin", LODE_RIGHT_ALL } };
	char *rest = NULL;

	*rights = 0;
	for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		size_t i = 0;

		while (i < 3 && strcmp(known[i].name, word) != 0)
			i++;
		if (i == 3)
			return -1;
		*rights |= known[i].rights;
	}
	return *rights ? 0 : -1;
}

/* Midnight, UTC, at the beginning of a day. */
static int read_day(const char *text, time_t *time)
{
	struct tm day = { .tm_sec = 0 };
	const char *end = strptime(text, "%Y-%m-%d", &day);

	if (!end || *end)
		return -1;
	*time = timegm(&day);
	return 0;
}

/* Returns what is wrong with a line, or NULL. */
static const char *read_line(char *line, struct token *token)
{
	char *rest = NULL, *name = strtok_r(line, " \t", &rest), *digest = strtok_r(NULL, " \t", &rest),
	     *rights = strtok_r(NULL, " \t", &rest), *expiry = strtok_r(NULL, " \t", &rest);

	memset(token, 0, sizeof(*token));
	if (!rights)
		return "a line is NAME sha256:DIGEST RIGHTS [EXPIRY]";
	if (strlen(name) >= sizeof(token->grant.name))
		return "the name is too long";
	if (!lode_starts_with(digest, DIGEST) || strlen(digest) != strlen(DIGEST) + LODE_SHA256_TEXT - 1 ||
	    strspn(digest + strlen(DIGEST), "0123456789abcdef") != LODE_SHA256_TEXT - 1)
		return "a digest is sha256: and 64 hexadecimal digits; make one with 'printf %s TOKEN | "
		       "sha256sum'";
	if (read_rights(rights, &token->grant.rights) < 0)
		return "rights are upload, read or admin, joined by commas";
	if (expiry && read_day(expiry, &token->until) < 0)
		return "the expiry is a day such as 2027-01-31";
	if (strtok_r(NULL, " \t", &rest))
		return "there is something behind the expiry";
	memcpy(token->grant.name, name, strlen(name) + 1);
	memcpy(token->digest, digest + strlen(DIGEST), sizeof(token->digest));
	return NULL;
}

/* Reads all lines that are right, and returns what is the matter with the first that is not. */
static int read_lines(const char *path, char *text, struct token_list *list, struct lode_error *error)
{
	int code = 0;
	char *rest = NULL;
	unsigned number = 1;

	/* Not strtok_r for lines: it would not count empty ones. */
	for (char *line = text; line; line = rest, number++) {
		struct token token;
		const char *wrong;

		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		if (!line[strspn(line, " \t")] || line[0] == '#')
			continue;
		wrong = read_line(line, &token);
		if (wrong && !list->wrong++)
			code = lode_fail(error, LODE_USAGE, "%s:%u: %s", path, number, wrong);
		if (!wrong && LODE_PUSH(list, token) < 0)
			return lode_fail_memory(error);
	}
	return code || list->count ? code : lode_fail(error, LODE_USAGE, "%s: has no tokens", path);
}

static int check_file(const struct stat *status, const char *path, struct lode_error *error)
{
	if (!S_ISREG(status->st_mode) || (status->st_uid != geteuid() && status->st_uid != 0) ||
	    status->st_mode & 022)
		return lode_fail(error, LODE_USAGE,
				 "%s: must be a file of yours that nobody else may write; try 'chmod 640 %s'",
				 path, path);
	if (status->st_size > (off_t)MAX_FILE)
		return lode_fail(error, LODE_USAGE, "%s: is larger than 4 MiB", path);
	return 0;
}

static int read_file(int fd, const struct stat *status, const char *path, struct token_list *list,
		     struct lode_error *error)
{
	size_t room = (size_t)status->st_size, size = 0;
	char *text = lode_alloc(room + 1);
	ssize_t got = 1;
	int code;

	if (!text)
		return lode_fail_memory(error);
	while (size < room && got > 0) {
		got = lode_file_read(fd, text + size, room - size, path, error);
		size += got > 0 ? (size_t)got : 0;
	}
	text[size] = '\0';
	code = got < 0 ? (int)got : read_lines(path, text, list, error);
	lode_free(text);
	return code;
}

/*
 * Takes over the lines of the file that are right, and returns what is the matter with the others, or with the whole. What
 * is read when there is no memory for more is kept, too. The lock is held, or there is only this thread.
 */
static int load(struct lode_tokens *tokens, struct lode_error *error)
{
	struct token_list list = { 0 };
	struct stat status = { .st_size = 0 };
	int fd = lode_file_open_plain(tokens->path, O_RDONLY, error), code = fd < 0 ? fd : 0;

	if (!code && fstat(fd, &status) < 0)
		code = lode_file_fail(error, tokens->path, "cannot be examined");
	if (!code)
		code = check_file(&status, tokens->path, error);
	if (!code)
		code = read_file(fd, &status, tokens->path, &list, error);
	if (fd >= 0)
		lode_file_close(fd, tokens->path, NULL);
	list.wrong += code && !list.wrong;
	lode_free(tokens->list.items);
	tokens->list = list;
	tokens->changed = status.st_ctim;
	tokens->size = status.st_size;
	return code;
}

int lode_tokens_read(struct lode_tokens **tokens, const char *path, struct lode_error *error)
{
	struct lode_tokens *made = lode_calloc(1, sizeof(*made));
	int code;

	*tokens = NULL;
	if (!made || !(made->path = lode_strdup(path))) {
		lode_free(made);
		return lode_fail_memory(error);
	}
	pthread_mutex_init(&made->lock, NULL);
	code = load(made, error);
	if (code)
		lode_tokens_free(made);
	else
		*tokens = made;
	return code;
}

void lode_tokens_free(struct lode_tokens *tokens)
{
	if (!tokens)
		return;
	pthread_mutex_destroy(&tokens->lock);
	lode_free(tokens->list.items);
	lode_free(tokens->path);
	lode_free(tokens);
}

/* ---- looking up ---- */

/* At most once a second. */
static void look_again(struct lode_tokens *tokens, time_t now)
{
	struct stat status;

	if (now == tokens->looked_at)
		return;
	tokens->looked_at = now;
	if (stat(tokens->path, &status) < 0 || status.st_ctim.tv_sec != tokens->changed.tv_sec ||
	    status.st_ctim.tv_nsec != tokens->changed.tv_nsec || status.st_size != tokens->size)
		load(tokens, NULL);
}

int lode_tokens_find(struct lode_tokens *tokens, const char *digest, time_t now, struct lode_grant *grant)
{
	int found = 0;

	pthread_mutex_lock(&tokens->lock);
	look_again(tokens, now);
	for (size_t i = 0; !found && i < tokens->list.count; i++) {
		const struct token *row = &tokens->list.items[i];

		if (strcmp(row->digest, digest) == 0 && (!row->until || now < row->until)) {
			*grant = row->grant;
			found = 1;
		}
	}
	pthread_mutex_unlock(&tokens->lock);
	return found;
}

void lode_tokens_count(struct lode_tokens *tokens, struct lode_tokens_counts *counts)
{
	pthread_mutex_lock(&tokens->lock);
	look_again(tokens, time(NULL));
	*counts = (struct lode_tokens_counts){ tokens->list.count, tokens->list.wrong };
	pthread_mutex_unlock(&tokens->lock);
}
