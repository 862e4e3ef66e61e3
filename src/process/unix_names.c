/*
 * Names of Unix sockets: see unix_names.h.
 *
 * The kernel is asked about one socket at a time (sock_diag(7)), by its inode, so that it does not matter how many there
 * are. Who connects has no path of its own; its peer, whose inode comes with the answer, has that of the listener.
 */
#include "process/unix_names.h"

#include "trace/objects.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct answer {
	char path[112]; /* "": none */
	uint32_t peer;  /* inode; 0: none */
	uint8_t type;   /* SOCK_STREAM, ... */
	uint8_t state;  /* TCP_LISTEN, ... */
};

void lode_unix_names_release(struct lode_unix_names *names)
{
	if (names->fd)
		close(names->fd - 1);
	memset(names, 0, sizeof(*names));
}

static int open_diag(struct lode_unix_names *names)
{
	struct timeval patience = { .tv_usec = 20000 };
	int fd;

	if (names->fd || names->failed)
		return names->fd ? 0 : -1;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	names->failed = fd < 0;
	names->fd = fd + 1;
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd < 0 ? -1 : 0;
}

static int send_request(const struct lode_unix_names *names, uint32_t inode)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} message = {
		.header = { .nlmsg_len = sizeof(message),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST },
		.request = { .sdiag_family = AF_UNIX,
			     .udiag_states = ~0u,
			     .udiag_ino = inode,
			     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
			     .udiag_cookie = { ~0u, ~0u } },
	};

	return send(names->fd - 1, &message, sizeof(message), 0) == (ssize_t)sizeof(message) ? 0 : -1;
}

static void decode_attribute(const struct rtattr *attribute, struct answer *answer)
{
	size_t size = RTA_PAYLOAD(attribute);

	if (attribute->rta_type == UNIX_DIAG_PEER && size >= sizeof(answer->peer))
		memcpy(&answer->peer, RTA_DATA(attribute), sizeof(answer->peer));
	if (attribute->rta_type != UNIX_DIAG_NAME || !size)
		return;
	size = size < sizeof(answer->path) ? size : sizeof(answer->path) - 1;
	memcpy(answer->path, RTA_DATA(attribute), size);
	answer->path[size] = '\0';
	if (!answer->path[0])
		answer->path[0] = '@';
}

static int ask(const struct lode_unix_names *names, uint32_t inode, struct answer *answer)
{
	union {
		struct nlmsghdr header;
		char bytes[1024];
	} message;
	const struct unix_diag_msg *body;
	const struct rtattr *attribute;
	ssize_t size;
	int left;

	memset(answer, 0, sizeof(*answer));
	if (send_request(names, inode) < 0)
		return -1;
	size = recv(names->fd - 1, &message, sizeof(message), 0);
	if (size < (ssize_t)NLMSG_LENGTH(sizeof(*body)) || message.header.nlmsg_len > (size_t)size ||
	    message.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -1;
	body = NLMSG_DATA(&message.header);
	if (body->udiag_ino != inode)
		return -1;
	answer->type = body->udiag_type;
	answer->state = body->udiag_state;
	left = (int)message.header.nlmsg_len - (int)NLMSG_LENGTH(sizeof(*body));
	for (attribute = (const struct rtattr *)(body + 1); RTA_OK(attribute, left);
	     attribute = RTA_NEXT(attribute, left))
		decode_attribute(attribute, answer);
	return 0;
}

/* What stands before the path of the socket itself. */
static const char *own_kind(const struct answer *answer)
{
	if (!answer->path[0] || answer->type == SOCK_DGRAM)
		return "";
	if (answer->state == TCP_LISTEN)
		return LODE_SOCKET_LISTENS;
	return answer->peer ? LODE_SOCKET_ACCEPTED : "";
}

int lode_unix_name(struct lode_unix_names *names, uint32_t inode, char *path, size_t room)
{
	struct answer answer;
	const char *kind;
	uint32_t peer;

	if (open_diag(names) < 0 || ask(names, inode, &answer) < 0)
		return -1;
	peer = answer.peer;
	kind = own_kind(&answer);
	if (!answer.path[0] && (!peer || ask(names, peer, &answer) < 0 || !answer.path[0]))
		return -1;
	snprintf(path, room, "%s%s", kind, answer.path);
	return 0;
}
