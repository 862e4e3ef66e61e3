/* Who may ask a server: see access.h. */
#include "serve/access.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/starts_with.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_BYTES 16
#define ONCE_NS      60000000000ull
#define BEARER       "Bearer "

/* ---- tokens ---- */

static int make_random(char text[2 * RANDOM_BYTES + 1], struct lode_error *error)
{
	unsigned char bytes[RANDOM_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return lode_fail(error, LODE_SYSTEM, "no random numbers for a token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

void lode_access_init(struct lode_access *access)
{
	memset(access, 0, sizeof(*access));
	pthread_mutex_init(&access->lock, NULL);
}

int lode_access_set_token(struct lode_access *access, const char *token, struct lode_error *error)
{
	int code = make_random(access->session, error);

	if (!code && token)
		snprintf(access->token, sizeof(access->token), "%s", token);
	else if (!code)
		code = make_random(access->token, error);
	return code;
}

void lode_access_set_port(struct lode_access *access, uint16_t port)
{
	access->port = port;
	snprintf(access->cookie, sizeof(access->cookie), "lode-%u", (unsigned)port);
}

void lode_access_release(struct lode_access *access)
{
	pthread_mutex_destroy(&access->lock);
}

const char *lode_access_make_once(struct lode_access *access)
{
	int code;

	pthread_mutex_lock(&access->lock);
	code = make_random(access->once, NULL);
	access->once_until = lode_now() + ONCE_NS;
	pthread_mutex_unlock(&access->lock);
	return code ? NULL : access->once;
}

/* Takes as long for every text of a length, so that answers do not tell how much of a guess was right. */
static int is_secret(const char *text, const char *secret)
{
	size_t length = strlen(secret);
	unsigned char difference = 0;

	if (!text || !length || strlen(text) != length)
		return 0;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)(text[i] ^ secret[i]);
	return !difference;
}

static int use_once(struct lode_access *access, const char *text)
{
	int good;

	pthread_mutex_lock(&access->lock);
	good = is_secret(text, access->once) && lode_now() < access->once_until;
	if (good)
		access->once[0] = '\0';
	pthread_mutex_unlock(&access->lock);
	return good;
}

/* ---- a token from a file ---- */

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

int lode_access_read_token(const char *path, char token[LODE_MAX_TOKEN + 1], struct lode_error *error)
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

/* ---- requests ---- */

/* Only digits: behind a Unix socket is whatever port forwards to it. */
static int is_any_port(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int is_this_server(const struct lode_access *access, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	char port[8];

	snprintf(port, sizeof(port), "%u", (unsigned)access->port);
	for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
		const char *rest = host + strlen(names[i]);

		if (!lode_starts_with(host, names[i]))
			continue;
		if (!access->port)
			return !*rest || (*rest == ':' && is_any_port(rest + 1));
		return *rest ? *rest == ':' && !strcmp(rest + 1, port) : access->port == 80;
	}
	return 0;
}

/* What no browser sends says nothing about a site; curl sends neither. */
static int is_own_site(const struct lode_access_request *request)
{
	const char *site = request->fetch_site, *origin = request->origin;

	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return 0;
	return !origin ||
	       (lode_starts_with(origin, "http://") && !strcmp(origin + strlen("http://"), request->host));
}

static int has_bearer_token(const struct lode_access *access, const char *authorization)
{
	return authorization && lode_starts_with(authorization, BEARER) &&
	       is_secret(authorization + strlen(BEARER), access->token);
}

enum lode_access_verdict lode_access_check(struct lode_access *access, const struct lode_access_request *request)
{
	if (!is_this_server(access, request->host))
		return LODE_ACCESS_OTHER_HOST;
	if (!is_own_site(request))
		return LODE_ACCESS_OTHER_SITE;
	if (!access->token[0])
		return LODE_ACCESS_GRANTED;
	if (request->token && (is_secret(request->token, access->token) || use_once(access, request->token)))
		return LODE_ACCESS_FIRST_VISIT;
	return is_secret(request->session, access->session) || has_bearer_token(access, request->authorization)
		       ? LODE_ACCESS_GRANTED
		       : LODE_ACCESS_NO_TOKEN;
}
