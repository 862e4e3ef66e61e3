/* Who may ask a server: see access.h. */
#include "serve/access.h"

#include "base/clock.h"
#include "base/starts_with.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

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
static int is_own_site(const struct lode_access *access, const struct lode_access_request *request)
{
	const char *site = request->fetch_site, *origin = request->origin;

	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return 0;
	if (!origin)
		return 1;
	/* A proxy may speak TLS for a server that others can reach. */
	if (access->tokens && request->host && lode_starts_with(origin, "https://"))
		return !strcmp(origin + strlen("https://"), request->host);
	return request->host && lode_starts_with(origin, "http://") &&
	       !strcmp(origin + strlen("http://"), request->host);
}

static int has_bearer_token(const struct lode_access *access, const char *authorization)
{
	return authorization && lode_starts_with(authorization, BEARER) &&
	       is_secret(authorization + strlen(BEARER), access->token);
}

static int is_listed(const struct lode_access *access, const char *digest, unsigned rights,
		     struct lode_grant *grant)
{
	return lode_tokens_find(access->tokens, digest, time(NULL), grant) && (grant->rights & rights) != 0;
}

/* One of several tokens, with the rights that it needs. Comparing digests tells nothing about it, however long it takes. */
static int has_listed_token(const struct lode_access *access, const char *token, unsigned rights,
			    struct lode_grant *grant)
{
	char digest[LODE_SHA256_TEXT];

	if (!access->tokens || !token)
		return 0;
	lode_sha256(token, strlen(token), digest);
	return is_listed(access, digest, rights, grant);
}

/* `DIGEST.PROOF`, where only this server can make the proof. */
static void make_listed_cookie(const struct lode_access *access, const char *digest, char text[LODE_COOKIE_TEXT])
{
	char both[sizeof(access->session) + LODE_SHA256_TEXT], proof[LODE_SHA256_TEXT];

	snprintf(both, sizeof(both), "%s%s", access->session, digest);
	lode_sha256(both, strlen(both), proof);
	snprintf(text, LODE_COOKIE_TEXT, "%s.%s", digest, proof);
}

static int has_listed_cookie(const struct lode_access *access, const char *cookie)
{
	char digest[LODE_SHA256_TEXT], text[LODE_COOKIE_TEXT];
	struct lode_grant grant;

	if (!access->tokens || !cookie || strlen(cookie) != LODE_COOKIE_TEXT - 1)
		return 0;
	memcpy(digest, cookie, sizeof(digest) - 1);
	digest[sizeof(digest) - 1] = '\0';
	make_listed_cookie(access, digest, text);
	return is_secret(cookie, text) && is_listed(access, digest, LODE_RIGHT_READ, &grant);
}

static const char *bearer_of(const struct lode_access_request *request)
{
	const char *authorization = request->authorization;

	return authorization && lode_starts_with(authorization, BEARER) ? authorization + strlen(BEARER) : NULL;
}

enum lode_access_verdict lode_access_check(struct lode_access *access, const struct lode_access_request *request)
{
	struct lode_grant grant;

	if (!access->tokens && !is_this_server(access, request->host))
		return LODE_ACCESS_OTHER_HOST;
	if (!is_own_site(access, request))
		return LODE_ACCESS_OTHER_SITE;
	if (!access->token[0])
		return LODE_ACCESS_GRANTED;
	if (request->token && (is_secret(request->token, access->token) || use_once(access, request->token) ||
			       has_listed_token(access, request->token, LODE_RIGHT_READ, &grant)))
		return LODE_ACCESS_FIRST_VISIT;
	return is_secret(request->session, access->session) || has_bearer_token(access, request->authorization) ||
			       has_listed_token(access, bearer_of(request), LODE_RIGHT_ALL, &grant) ||
			       has_listed_cookie(access, request->session)
		       ? LODE_ACCESS_GRANTED
		       : LODE_ACCESS_NO_TOKEN;
}

void lode_access_cookie(struct lode_access *access, const struct lode_access_request *request,
			char text[LODE_COOKIE_TEXT])
{
	struct lode_grant grant;
	char digest[LODE_SHA256_TEXT];

	snprintf(text, LODE_COOKIE_TEXT, "%s", access->session);
	if (!has_listed_token(access, request->token, LODE_RIGHT_READ, &grant))
		return;
	lode_sha256(request->token, strlen(request->token), digest);
	make_listed_cookie(access, digest, text);
}

void lode_access_grant(struct lode_access *access, const struct lode_access_request *request,
		       struct lode_grant *grant)
{
	if (has_listed_token(access, bearer_of(request), LODE_RIGHT_ALL, grant))
		return;
	*grant = (struct lode_grant){ .rights = access->tokens && !has_bearer_token(access, request->authorization)
							? LODE_RIGHT_READ
							: LODE_RIGHT_ALL };
}
