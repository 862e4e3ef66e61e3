/* A token from a file: see token_file.h. */
#include "base/token_file.h"

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_private(int fd, const char *path, struct lode_error *error)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return lode_file_fail(error, path, "cannot be examined");
	if (!S_ISREG(status.st_mode) || (status.st_uid != geteuid() && status.st_uid != 0) || status.st_mode & 077)
		return lode_fail(error, LODE_USAGE,
				 "%s: must be a file of yours that nobody else may read; try 'chmod 600 %s'", path,
				 path);
	return 0;
}

static int check_token(const char *path, const char *token, size_t length, struct lode_error *error)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

	if (length < LODE_MIN_TOKEN || length > LODE_MAX_TOKEN || strspn(token, allowed) != length)
		return lode_fail(error, LODE_USAGE,
				 "%s:1: a token has %d to %d letters, digits, '-', '.', '_' or '~'; "
				 "make one with 'openssl rand -hex 16'",
				 path, LODE_MIN_TOKEN, LODE_MAX_TOKEN);
	return 0;
}

int lode_token_file_read(const char *path, char token[LODE_MAX_TOKEN + 1], struct lode_error *error)
{
	char line[LODE_MAX_TOKEN + 2] = "";
	int fd = lode_file_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, error), code;
	ssize_t size;

	if (fd < 0)
		return fd;
	code = check_private(fd, path, error);
	size = code ? code : lode_file_read(fd, line, sizeof(line) - 1, path, error);
	lode_file_close(fd, path, NULL);
	if (size < 0)
		return (int)size;
	line[strcspn(line, "\r\n")] = '\0';
	code = check_token(path, line, strlen(line), error);
	if (!code)
		snprintf(token, LODE_MAX_TOKEN + 1, "%.*s", LODE_MAX_TOKEN, line);
	return code;
}
