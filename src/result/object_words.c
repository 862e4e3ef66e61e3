/* Words for objects: see object_words.h. */
#include "result/object_words.h"

#include "base/safe_text.h"
#include "base/starts_with.h"
#include "trace/objects.h"

#include <string.h>

/* Before a name, and in place of one. */
static const struct {
	const char *named;
	const char *nameless;
} words[LODE_OBJECT_KINDS] = {
	[LODE_OBJECT_LOCK] = { "the lock ", "a lock" },
	[LODE_OBJECT_GIL] = { "the GIL of ", "the GIL" },
	[LODE_OBJECT_CONDITION] = { "the condition ", "a condition" },
	[LODE_OBJECT_FUTEX] = { "the futex ", "a futex" },
	[LODE_OBJECT_THREAD] = { "the end of thread ", "the end of a thread" },
	[LODE_OBJECT_FILE] = { "the file ", "a file" },
	[LODE_OBJECT_PIPE] = { "the pipe ", "a pipe" },
	[LODE_OBJECT_UNIX] = { "the socket ", "a Unix socket" },
	[LODE_OBJECT_TCP] = { "TCP ", "TCP" },
	[LODE_OBJECT_UDP] = { "UDP ", "UDP" },
	[LODE_OBJECT_SOCKET] = { "the socket ", "a socket" },
	[LODE_OBJECT_EPOLL] = { "the epoll set of ", "an epoll set" },
	[LODE_OBJECT_POLL] = { "one of ", "one of several descriptors" },
	[LODE_OBJECT_EVENTFD] = { "the eventfd ", "an eventfd" },
	[LODE_OBJECT_TTY] = { "the terminal ", "a terminal" },
	[LODE_OBJECT_DISK] = { "the disk ", "a disk" },
	[LODE_OBJECT_TIMER] = { "the timer ", "a timer" },
	[LODE_OBJECT_CHILD] = { "the child ", "a child" },
	[LODE_OBJECT_PAGE] = { "a page of ", "a page from disk" },
	[LODE_OBJECT_GPU] = { "the GPU ", "a GPU" },
	[LODE_OBJECT_LAUNCH] = { "a launch into ", "a launch" },
	[LODE_OBJECT_OTHER] = { "", "something" },
};

const char *lode_object_nameless(enum lode_object_kind kind)
{
	return words[kind].nameless;
}

int lode_object_is_way(enum lode_object_kind kind)
{
	return kind == LODE_OBJECT_PIPE || kind == LODE_OBJECT_UNIX || kind == LODE_OBJECT_TCP ||
	       kind == LODE_OBJECT_UDP || kind == LODE_OBJECT_SOCKET || kind == LODE_OBJECT_FILE;
}

const char *lode_launch_after(const char *object)
{
	const char *after = lode_object_kind_of(object) == LODE_OBJECT_LAUNCH ? strstr(object, LODE_LAUNCH_AFTER)
									      : NULL;

	return after ? after + strlen(LODE_LAUNCH_AFTER) : NULL;
}

void lode_object_words(struct lode_buffer *buffer, const char *object)
{
	enum lode_object_kind kind = lode_object_kind_of(object);
	const char *name = lode_object_name(object);

	if (kind == LODE_OBJECT_NONE)
		return;
	if (!strcmp(object, "timer:timerfd"))
		name = "";
	if (!strcmp(object, "page:swap") || !strcmp(object, "page:file")) {
		lode_buffer_text(buffer, !strcmp(name, "swap") ? "a page from swap" : "a page of a file");
		return;
	}
	if (!*name) {
		lode_buffer_text(buffer, words[kind].nameless);
		return;
	}
	if ((kind == LODE_OBJECT_TCP || kind == LODE_OBJECT_UDP) && lode_starts_with(name, LODE_SOCKET_LISTENS)) {
		lode_buffer_text(buffer, kind == LODE_OBJECT_TCP ? "connections to TCP port " : "UDP port ");
		name += strlen(LODE_SOCKET_LISTENS);
	} else if (kind == LODE_OBJECT_UNIX && lode_starts_with(name, LODE_SOCKET_LISTENS)) {
		lode_buffer_text(buffer, "connections to the socket ");
		name += strlen(LODE_SOCKET_LISTENS);
	} else if (kind == LODE_OBJECT_UNIX && lode_starts_with(name, LODE_SOCKET_ACCEPTED)) {
		lode_buffer_text(buffer, words[kind].named);
		name += strlen(LODE_SOCKET_ACCEPTED);
	} else if (kind == LODE_OBJECT_LOCK &&
		   (lode_starts_with(name, "monitor") || lode_starts_with(name, LODE_LOCK_OF_KERNEL))) {
		lode_buffer_text(buffer, "the ");
	} else if (lode_starts_with(name, LODE_OBJECT_ON)) {
		lode_buffer_text(buffer, kind == LODE_OBJECT_PAGE ? "a page of a file" : words[kind].nameless);
	} else {
		lode_buffer_text(buffer, words[kind].named);
	}
	lode_text_safe(buffer, name);
}
