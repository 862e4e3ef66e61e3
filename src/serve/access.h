/*
 * Who may ask a server. Any program on this machine can connect to a port, whoever's it is, and any page that a
 * browser shows can make it send requests. So a request must
 *
 *	- name this machine and the server's port as its host: a page whose name was made to resolve to this machine
 *	  (DNS rebinding) does not,
 *	- come from the server's own page or from no page: browsers say so (Sec-Fetch-Site, Origin),
 *	- prove that whoever sends it has seen the address that the server printed: by the token in it, by the cookie that
 *	  is given in exchange for that token, or by `Authorization: Bearer TOKEN`.
 *
 * A Unix socket needs no token: the mode of its file says who may connect.
 */
#ifndef LODE_SERVE_ACCESS_H
#define LODE_SERVE_ACCESS_H

#include "base/sha256.h"
#include "base/token_file.h"
#include "serve/tokens.h"

#include <pthread.h>
#include <stdint.h>

struct lode_access {
	char token[LODE_MAX_TOKEN + 1]; /* "": none is needed */
	char session[33];               /* of this server: a token from a file may be older than it, and stay */
	char cookie[16]; /* its name, which has the port: browsers send cookies to all ports of a host */
	uint16_t port;   /* 0: a Unix socket, behind which any port may be */
	struct lode_tokens *tokens; /* not NULL: those who have one of these may come from anywhere; not owned */
	pthread_mutex_t lock;       /* of what is below */
	char once[33];              /* "": there is none, or it was used */
	uint64_t once_until;        /* ns, of lode_now */
};

/* What the cookie holds: the session, or for who has one of several tokens its digest and a proof that this server gave it. */
#define LODE_COOKIE_TEXT (2 * LODE_SHA256_TEXT)

/* What a request says about where it comes from, NULL for what it does not say. */
struct lode_access_request {
	const char *host;
	const char *origin;
	const char *fetch_site;
	const char *authorization;
	const char *session; /* the value of the cookie */
	const char *token;   /* of the address of the page */
};

enum lode_access_verdict {
	LODE_ACCESS_GRANTED,
	LODE_ACCESS_FIRST_VISIT, /* by the token in the address: the cookie is to be set */
	LODE_ACCESS_OTHER_HOST,
	LODE_ACCESS_OTHER_SITE,
	LODE_ACCESS_NO_TOKEN,
};

/* Needs no token at first, as a Unix socket. Release it. */
void lode_access_init(struct lode_access *access);
/* From now on a token is needed; NULL: a random one. */
int lode_access_set_token(struct lode_access *access, const char *token, struct lode_error *error);
/* Says which port the server has got. */
void lode_access_set_port(struct lode_access *access, uint16_t port);
void lode_access_release(struct lode_access *access);

/* Any thread may call these. */
enum lode_access_verdict lode_access_check(struct lode_access *access, const struct lode_access_request *request);

/* The cookie for who is here for the first time. It is good as long as the token that it was given for. */
void lode_access_cookie(struct lode_access *access, const struct lode_access_request *request,
			char text[LODE_COOKIE_TEXT]);

/*
 * What a request that was granted may do: all, unless there are tokens; then what its token allows, or reading for
 * a browser that has the cookie.
 */
void lode_access_grant(struct lode_access *access, const struct lode_access_request *request,
		       struct lode_grant *grant);

/*
 * Makes a token that is good for one visit within a minute, for the command line of a browser, which all users of the
 * machine can read (/proc/PID/cmdline) as long as it runs. Replaces the one before. NULL when there are no random
 * numbers.
 */
const char *lode_access_make_once(struct lode_access *access);

#endif
