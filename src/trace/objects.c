/* Objects of waits: see objects.h. */
#include "trace/objects.h"

#include <string.h>

static const char *const names[LODE_OBJECT_KINDS] = {
	[LODE_OBJECT_NONE] = "",           [LODE_OBJECT_LOCK] = "lock",
	[LODE_OBJECT_GIL] = "gil",         [LODE_OBJECT_CONDITION] = "condition",
	[LODE_OBJECT_FUTEX] = "futex",     [LODE_OBJECT_THREAD] = "thread",
	[LODE_OBJECT_FILE] = "file",       [LODE_OBJECT_PIPE] = "pipe",
	[LODE_OBJECT_UNIX] = "unix",       [LODE_OBJECT_TCP] = "tcp",
	[LODE_OBJECT_UDP] = "udp",         [LODE_OBJECT_SOCKET] = "socket",
	[LODE_OBJECT_EPOLL] = "epoll",     [LODE_OBJECT_POLL] = "poll",
	[LODE_OBJECT_EVENTFD] = "eventfd", [LODE_OBJECT_TTY] = "tty",
	[LODE_OBJECT_DISK] = "disk",       [LODE_OBJECT_TIMER] = "timer",
	[LODE_OBJECT_CHILD] = "child",     [LODE_OBJECT_PAGE] = "page",
	[LODE_OBJECT_GPU] = "gpu",         [LODE_OBJECT_LAUNCH] = "launch",
	[LODE_OBJECT_OTHER] = "other",
};

const char *lode_object_kind_name(enum lode_object_kind kind)
{
	return names[kind];
}

enum lode_object_kind lode_object_kind_of(const char *text)
{
	size_t length = strcspn(text, ":");

	if (!*text)
		return LODE_OBJECT_NONE;
	for (int kind = LODE_OBJECT_LOCK; kind < LODE_OBJECT_OTHER; kind++)
		if (text[length] && strlen(names[kind]) == length && !memcmp(names[kind], text, length))
			return (enum lode_object_kind)kind;
	return LODE_OBJECT_OTHER;
}

int lode_object_is_set(enum lode_object_kind kind)
{
	return kind == LODE_OBJECT_EPOLL || kind == LODE_OBJECT_POLL || kind == LODE_OBJECT_EVENTFD;
}

const char *lode_object_name(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon ? colon + 1 : text;
}
