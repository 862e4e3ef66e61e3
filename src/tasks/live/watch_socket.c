/*
 * The socket of running flight recorders: see watch_socket.h.
 *
 * Only one user may enter the folder, so a process that can connect is also
 * permitted to send requests; the peer is checked anyway. A recorder never
 * waits for a client: an incomplete request is read again when more arrives.
 */
#include "tasks/live/watch_socket.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The folder, for the caller to free; NULL: there is none. */
static char *folder_path(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		return lode_strdup("/run/lode");
	return runtime && *runtime == '/' ? lode_format("%s/lode", runtime) : NULL;
}

/* Made by us, for us alone; a link or another's folder is refused. */
static int check_folder(const char *path, struct lode_error *error)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return lode_fail(error, LODE_SYSTEM, "%s: %s", path, strerror(errno));
	if (lstat(path, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
	    status.st_mode & 077)
		return lode_fail(error, LODE_SYSTEM,
				 "%s: must be a folder that belongs to you and that nobody else may enter "
				 "(mode 700)",
				 path);
	return 0;
}

static int fill_address(const char *path, struct sockaddr_un *address, struct lode_error *error)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return lode_fail(error, LODE_SYSTEM, "%s: is too long for a socket", path);
	memcpy(address->sun_path, path, strlen(path));
	return 0;
}

/* ---- the recorder's end ---- */

static int add_event(int events, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(events, EPOLL_CTL_ADD, fd, &event);
}

static int listen_at(struct lode_watch_socket *watch, struct lode_error *error)
{
	struct sockaddr_un address;
	int code = fill_address(watch->path, &address, error);

	if (code)
		return code;
	watch->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(watch->path); /* of a process of this number that was killed */
	if (watch->fd < 0 || bind(watch->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(watch->path, 0600) < 0 || listen(watch->fd, LODE_WATCH_CLIENTS) < 0 ||
	    add_event(watch->events, watch->fd) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: %s", watch->path, strerror(errno));
	return 0;
}

int lode_watch_socket_open(struct lode_watch_socket *watch, int events, struct lode_error *error)
{
	char *folder = folder_path();
	int code;

	memset(watch, 0, sizeof(*watch));
	watch->fd = -1;
	watch->events = events;
	for (size_t i = 0; i < LODE_WATCH_CLIENTS; i++)
		watch->clients[i].fd = -1;
	if (!folder)
		return 0; /* there is no sender */
	code = check_folder(folder, error);
	if (!code && !(watch->path = lode_format("%s/watch-%d", folder, (int)getpid())))
		code = lode_fail_memory(error);
	if (!code)
		code = listen_at(watch, error);
	lode_free(folder);
	return code;
}

static void drop_client(struct lode_watch_client *client)
{
	if (client->fd < 0)
		return;
	shutdown(client->fd, SHUT_RDWR); /* a child that is writing may have it, too */
	close(client->fd);
	*client = (struct lode_watch_client){ .fd = -1 };
}

void lode_watch_socket_close(struct lode_watch_socket *watch)
{
	for (size_t i = 0; watch->path && i < LODE_WATCH_CLIENTS; i++)
		drop_client(&watch->clients[i]);
	if (watch->path && watch->fd >= 0) {
		close(watch->fd);
		unlink(watch->path);
	}
	lode_free(watch->path);
	watch->path = NULL;
	watch->fd = -1;
}

/* Only our own user, and root. */
static int may_ask(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.uid == geteuid() || peer.uid == 0;
}

static void accept_clients(struct lode_watch_socket *watch)
{
	for (size_t i = 0; i < LODE_WATCH_CLIENTS; i++) {
		struct lode_watch_client *client = &watch->clients[i];

		if (client->fd >= 0)
			continue;
		client->fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (client->fd < 0)
			return;
		if (!may_ask(client->fd) || add_event(watch->events, client->fd) < 0)
			drop_client(client);
	}
}

/* Whether the client's line is whole now. */
static int read_line(struct lode_watch_client *client)
{
	ssize_t size = recv(client->fd, client->line + client->used, sizeof(client->line) - 1 - client->used, 0);

	if (size <= 0) {
		if (size == 0 || (errno != EAGAIN && errno != EINTR))
			drop_client(client);
		return 0;
	}
	client->used += (size_t)size;
	client->line[client->used] = '\0';
	if (strchr(client->line, '\n'))
		return 1;
	if (client->used == sizeof(client->line) - 1)
		drop_client(client);
	return 0;
}

int lode_watch_socket_take(struct lode_watch_socket *watch, char name[LODE_WATCH_NAME], uint32_t *tid)
{
	if (watch->fd < 0)
		return 0;
	accept_clients(watch);
	for (size_t i = 0; i < LODE_WATCH_CLIENTS; i++) {
		struct lode_watch_client *client = &watch->clients[i];
		char *rest;

		if (client->fd < 0 || client->asked || !read_line(client))
			continue;
		client->asked = 1;
		/* It has nothing more to say; when it goes away that is noticed by the answer. */
		epoll_ctl(watch->events, EPOLL_CTL_DEL, client->fd, NULL);
		client->line[strcspn(client->line, "\n")] = '\0';
		*tid = (uint32_t)strtoul(client->line, &rest, 10);
		snprintf(name, LODE_WATCH_NAME, "%.*s", LODE_WATCH_NAME - 1, *rest == ' ' ? rest + 1 : rest);
		return 1;
	}
	return 0;
}

void lode_watch_socket_answer(struct lode_watch_socket *watch, const char *line)
{
	for (size_t i = 0; watch->path && i < LODE_WATCH_CLIENTS; i++) {
		struct lode_watch_client *client = &watch->clients[i];

		if (client->fd < 0 || !client->asked)
			continue;
		if (send(client->fd, line, strlen(line), MSG_NOSIGNAL) >= 0)
			send(client->fd, "\n", 1, MSG_NOSIGNAL);
		drop_client(client);
	}
}

/* ---- the asker's end ---- */

size_t lode_watch_list(pid_t *pids, size_t count)
{
	char *path = folder_path();
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;
	size_t found = 0;

	while (folder && (entry = readdir(folder))) {
		int pid = 0;

		if (sscanf(entry->d_name, "watch-%d", &pid) != 1 || pid <= 0 ||
		    (kill(pid, 0) < 0 && errno == ESRCH))
			continue;
		if (found < count)
			pids[found] = pid;
		found++;
	}
	if (folder)
		closedir(folder);
	lode_free(path);
	return found;
}

static int connect_to(pid_t pid, struct lode_error *error)
{
	char *folder = folder_path(), *path = folder ? lode_format("%s/watch-%d", folder, (int)pid) : NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	int code = path ? fill_address(path, &address, error)
			: lode_fail(error, LODE_SYSTEM, "trigger: XDG_RUNTIME_DIR is not set");

	if (!code && (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0))
		code = lode_fail(error, errno == ENOENT || errno == ECONNREFUSED ? LODE_USAGE : LODE_SYSTEM,
				 "trigger: process %d is not a 'lode watch': %s", (int)pid, strerror(errno));
	lode_free(folder);
	lode_free(path);
	if (code && fd >= 0)
		close(fd);
	return code ? code : fd;
}

int lode_watch_ask(pid_t pid, uint32_t tid, const char *name, char answer[LODE_WATCH_LINE],
		   struct lode_error *error)
{
	char request[LODE_WATCH_NAME + 16];
	int length = snprintf(request, sizeof(request), "%u %s\n", tid, name);
	int fd = connect_to(pid, error);
	size_t used = 0;
	ssize_t size = 1;

	if (fd < 0)
		return fd;
	if (send(fd, request, (size_t)length, MSG_NOSIGNAL) == length)
		while (size > 0 && used < LODE_WATCH_LINE - 1) {
			size = recv(fd, answer + used, LODE_WATCH_LINE - 1 - used, 0);
			used += size > 0 ? (size_t)size : 0;
		}
	close(fd);
	answer[used] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	if (used)
		return 0;
	return lode_fail(error, LODE_SYSTEM, "trigger: the watch of process %d ended before it answered", (int)pid);
}
