/*
 * Names of descriptors: see descriptor_names.h.
 *
 * The link /proc/PID/fd/N has the name; /proc/PID/fdinfo/N has the inode, as the kernel's own number of it, which stat()
 * does not give on all file systems. Files without a name (epoll, eventfd) all have the same inode, and fdinfo of an
 * epoll set lists everything in it: there the link has to do.
 */
#include "process/descriptor_names.h"

#include "base/proc_files.h"
#include "base/starts_with.h"
#include "process/pipe_peers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_NS        1000000000ull
#define PIPE_KEPT_NS   (2 * KEPT_NS)
#define MAX_NAMES      16384
#define MAX_PER_SECOND 2000
/* Pipes whose other end is looked for, a millisecond each. */
#define MAX_PIPES_PER_SECOND 10

static void forget_all(struct lode_descriptor_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		lode_free(names->items[i].text);
	names->count = 0;
	lode_index_clear(&names->index);
}

void lode_descriptor_names_release(struct lode_descriptor_names *names)
{
	forget_all(names);
	lode_free(names->items);
	lode_index_release(&names->index);
	lode_unix_names_release(&names->unix_names);
	memset(names, 0, sizeof(*names));
}

/* ---- looking up ---- */

static int is_type(const struct lode_descriptor *descriptor, unsigned mode)
{
	return descriptor->type == mode >> 12;
}

/* Whether the file that is open now is the one that was waited for. */
static int is_same_inode(const struct lode_descriptor *descriptor)
{
	char text[512];
	uint64_t inode;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/fdinfo/%u", descriptor->pid, descriptor->number) < 0)
		return 0;
	inode = lode_proc_field(text, "ino:", 10, UINT64_MAX);
	return inode != UINT64_MAX && (uint32_t)inode == descriptor->inode;
}

/* The number in `pipe:[123]`, `socket:[123]`. */
static int has_inode(const char *link, const struct lode_descriptor *descriptor)
{
	const char *number = strchr(link, '[');

	return number && (uint32_t)strtoull(number + 1, NULL, 10) == descriptor->inode;
}

/* Where it is not known what it is called: its kind. */
static void put_kind(char *text, size_t room, const struct lode_descriptor *descriptor)
{
	if (is_type(descriptor, S_IFIFO))
		snprintf(text, room, "pipe:[%u]", descriptor->inode);
	else if (is_type(descriptor, S_IFBLK))
		snprintf(text, room, "disk:");
	else
		snprintf(text, room, "file:");
}

static void put_anonymous(char *text, size_t room, const char *link)
{
	const char *name = link + strlen("anon_inode:");

	if (!strcmp(name, "[eventpoll]"))
		snprintf(text, room, "epoll:");
	else if (lode_starts_with(name, "[eventfd"))
		snprintf(text, room, "eventfd:");
	else if (!strcmp(name, "[timerfd]"))
		snprintf(text, room, "timer:timerfd");
	else
		snprintf(text, room, "other:%s", name);
}

static void put_path(char *text, size_t room, const struct lode_descriptor *descriptor, const char *path)
{
	const char *kind = "file";

	if (is_type(descriptor, S_IFIFO))
		kind = "pipe";
	else if (is_type(descriptor, S_IFBLK))
		kind = "disk";
	else if (lode_starts_with(path, "/dev/pts/") || lode_starts_with(path, "/dev/tty"))
		kind = "tty";
	snprintf(text, room, "%s:%s", kind, path);
}

static void look_up_socket(struct lode_descriptor_names *names, const struct lode_descriptor *descriptor,
			   char *text, size_t room)
{
	char path[128];

	if (lode_unix_name(&names->unix_names, descriptor->inode, path, sizeof(path)) == 0)
		snprintf(text, room, "unix:%s", path);
	else
		snprintf(text, room, "unix:[%u]", descriptor->inode);
}

/* A pipe by who has its other end, else by its number. */
static void put_pipe(struct lode_descriptor_names *names, char *text, size_t room,
		     const struct lode_descriptor *descriptor)
{
	char peer[64];

	if (names->pipes_looked_up++ < MAX_PIPES_PER_SECOND &&
	    lode_pipe_peer(descriptor->pid, descriptor->number, descriptor->inode, peer, sizeof(peer)) == 0)
		snprintf(text, room, "pipe:%s", peer);
	else
		snprintf(text, room, "pipe:[%u]", descriptor->inode);
}

/* Returns 0 where nothing is open under the number any more: `text` is only its kind then. */
static int look_up(struct lode_descriptor_names *names, const struct lode_descriptor *descriptor, char *text,
		   size_t room)
{
	char place[64], link[PATH_MAX];
	ssize_t length;

	if (is_type(descriptor, S_IFSOCK)) {
		look_up_socket(names, descriptor, text, room);
		return 1;
	}
	put_kind(text, room, descriptor);
	snprintf(place, sizeof(place), "/proc/%u/fd/%u", descriptor->pid, descriptor->number);
	length = readlink(place, link, sizeof(link) - 1);
	if (length <= 0)
		return 0;
	link[length] = '\0';
	if (lode_starts_with(link, "anon_inode:"))
		put_anonymous(text, room, link);
	else if (link[0] == '/' && is_same_inode(descriptor))
		put_path(text, room, descriptor, link);
	else if (lode_starts_with(link, "pipe:[") && has_inode(link, descriptor))
		put_pipe(names, text, room, descriptor);
	return 1;
}

/* ---- what is kept ---- */

static uint64_t hash_of(const struct lode_descriptor *descriptor)
{
	return lode_hash_bytes(descriptor, sizeof(*descriptor));
}

/* The ends of a pipe rarely change hands; looking for them takes longer than other names. */
static int is_current(const struct lode_descriptor_name *name, uint64_t t)
{
	if (is_type(&name->descriptor, S_IFSOCK))
		return 1;
	return t < name->t + (is_type(&name->descriptor, S_IFIFO) ? PIPE_KEPT_NS : KEPT_NS);
}

/* Whether one more may be looked up at `t`. */
static int may_look_up(struct lode_descriptor_names *names, uint64_t t)
{
	uint64_t second = t / 1000000000;

	if (second > names->second) {
		names->second = second;
		names->looked_up = 0;
		names->pipes_looked_up = 0;
	}
	return names->looked_up++ < MAX_PER_SECOND;
}

static struct lode_descriptor_name *keep(struct lode_descriptor_names *names,
					 const struct lode_descriptor *descriptor)
{
	struct lode_descriptor_name name = { .descriptor = *descriptor };

	if (names->count == MAX_NAMES)
		forget_all(names);
	if (LODE_INDEX_APPEND(&names->index, hash_of(descriptor), names->items, names->count, names->capacity,
			      name) < 0)
		return NULL;
	return &names->items[names->count - 1];
}

const char *lode_descriptor_name(struct lode_descriptor_names *names, const struct lode_descriptor *descriptor,
				 uint64_t t)
{
	uint32_t found = LODE_INDEX_FIND(i, &names->index, hash_of(descriptor),
					 !memcmp(&names->items[i].descriptor, descriptor, sizeof(*descriptor)));
	struct lode_descriptor_name *name = found == LODE_NONE ? keep(names, descriptor) : &names->items[found];
	char text[PATH_MAX + 16];

	if (!name)
		return NULL;
	if (name->text && is_current(name, t))
		return name->text;
	if (may_look_up(names, t)) {
		name->t = t;
		if (!look_up(names, descriptor, text, sizeof(text)) && name->text)
			return name->text;
	} else {
		names->left_out++;
		put_kind(text, sizeof(text), descriptor);
	}
	if (!name->text || strcmp(name->text, text) != 0) {
		lode_free(name->text);
		name->text = lode_strdup(text);
	}
	return name->text;
}
