/* Where a server listens: see listener.h. */
#include "serve/listener.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

static int open_socket(struct lode_listener *listener, int family, struct lode_error *error)
{
	*listener = (struct lode_listener){ .fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) };
	if (listener->fd < 0)
		return lode_fail(error, LODE_SYSTEM, "cannot make a socket: %s", strerror(errno));
	return 0;
}

/* ---- ports ---- */

/* Room for both families. */
union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static int listen_at(struct lode_listener *listener, union address *address, uint16_t port,
		     struct lode_error *error)
{
	int is_six = address->any.sa_family == AF_INET6;
	socklen_t size = is_six ? sizeof(address->six) : sizeof(address->four);
	int yes = 1, code = open_socket(listener, address->any.sa_family, error);

	if (code)
		return code;
	/* Connections of a server that has ended do not keep the port. */
	setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener->fd, &address->any, size) < 0 || listen(listener->fd, BACKLOG) < 0 ||
	    getsockname(listener->fd, &address->any, &size) < 0)
		return lode_fail(error, LODE_SYSTEM, "cannot listen on port %u: %s; choose another with --port",
				 (unsigned)port, strerror(errno));
	listener->port = ntohs(is_six ? address->six.sin6_port : address->four.sin_port);
	return 0;
}

int lode_listener_open_port(struct lode_listener *listener, uint16_t port, struct lode_error *error)
{
	union address address = { .four = { .sin_family = AF_INET,
					    .sin_port = htons(port),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };

	return listen_at(listener, &address, port, error);
}

int lode_listener_open_address(struct lode_listener *listener, const char *text, uint16_t port,
			       struct lode_error *error)
{
	union address address = { .six = { .sin6_family = AF_INET6 } };

	*listener = (struct lode_listener){ .fd = -1 };
	if (inet_pton(AF_INET, text, &address.four.sin_addr) == 1) {
		address.four.sin_family = AF_INET;
		address.four.sin_port = htons(port);
	} else if (inet_pton(AF_INET6, text, &address.six.sin6_addr) == 1) {
		address.six.sin6_port = htons(port);
	} else {
		return lode_fail(error, LODE_USAGE, "%s: is not an address such as 10.0.0.7, 0.0.0.0 or ::", text);
	}
	return listen_at(listener, &address, port, error);
}

/* ---- Unix sockets ---- */

/* Whether nobody listens at a socket of ours any more. */
static int is_left_behind(const struct sockaddr_un *address)
{
	struct stat status;
	int fd, refused;

	if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode) || status.st_uid != geteuid())
		return 0;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		  errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

static int bind_path(int fd, const struct sockaddr_un *address)
{
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return -1;
	if (!is_left_behind(address)) {
		errno = EADDRINUSE;
		return -1;
	}
	return unlink(address->sun_path) < 0 ? -1 : bind(fd, (const struct sockaddr *)address, sizeof(*address));
}

static int fail_path(const char *path, struct lode_error *error)
{
	if (errno == EADDRINUSE)
		return lode_fail(
			error, LODE_SYSTEM,
			"%s: is in use by a server, or is another file; choose another path, or remove it", path);
	return lode_fail(error, LODE_SYSTEM, "%s: cannot listen there: %s", path, strerror(errno));
}

int lode_listener_open_path(struct lode_listener *listener, const char *path, struct lode_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat status;
	int code = open_socket(listener, AF_UNIX, error);

	if (code)
		return code;
	if (strlen(path) >= sizeof(address.sun_path))
		return lode_fail(error, LODE_USAGE, "%s: is too long for a socket; use at most %zu bytes", path,
				 sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path));
	listener->path = lode_strdup(path);
	if (!listener->path)
		return lode_fail_memory(error);
	/* The file gets the mode of the descriptor: there is no moment at which others may connect. */
	if (fchmod(listener->fd, 0600) < 0 || bind_path(listener->fd, &address) < 0)
		return fail_path(path, error);
	if (lstat(path, &status) == 0) {
		listener->device = status.st_dev;
		listener->inode = status.st_ino;
	}
	return listen(listener->fd, BACKLOG) < 0 ? fail_path(path, error) : 0;
}

void lode_listener_close(struct lode_listener *listener)
{
	struct stat status;

	if (listener->path && lstat(listener->path, &status) == 0 && status.st_dev == listener->device &&
	    status.st_ino == listener->inode)
		unlink(listener->path);
	if (listener->fd >= 0)
		close(listener->fd);
	lode_free(listener->path);
	*listener = (struct lode_listener){ .fd = -1 };
}
