/*
 * Peers of pipes: see pipe_peers.h.
 *
 * Who made a pipe hands its ends to what it starts, so the other end is with a relative: a shell's pipeline is a
 * row of siblings. Their descriptors are compared with the pipe; how each was opened says which end it is.
 */
#include "process/pipe_peers.h"

#include "base/proc_files.h"
#include "process/descendants.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relatives that are looked at, and descriptors of each. */
#define MAX_RELATIVES   64
#define MAX_DESCRIPTORS 256

struct search {
	char link[40]; /* of the pipe */
	uint32_t pid;  /* of who waits, */
	int writes;    /* and whether it has the writing end */
	uint32_t relative;
	unsigned relatives;
	unsigned descriptors;
	char name[24]; /* of the peer; "": none yet */
	int is_ambiguous;
};

/* Whether a descriptor is an end for writing; -1: it is gone, or both. */
static int is_writing_end(uint32_t pid, uint32_t number)
{
	char text[256];
	uint64_t flags;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/fdinfo/%u", pid, number) < 0)
		return -1;
	flags = lode_proc_field(text, "flags:", 8, O_RDWR);
	return (flags & O_ACCMODE) == O_RDWR ? -1 : (flags & O_ACCMODE) == O_WRONLY;
}

static void add_peer(struct search *search)
{
	char name[24];

	if (lode_proc_text(name, sizeof(name), "/proc/%u/comm", search->relative) < 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	if (search->name[0] && strcmp(search->name, name) != 0)
		search->is_ambiguous = 1;
	memcpy(search->name, name, sizeof(name));
}

static int visit_descriptor(void *context, uint32_t number)
{
	struct search *search = context;
	char place[64], link[40];
	ssize_t length;

	if (++search->descriptors > MAX_DESCRIPTORS) {
		search->is_ambiguous = 1;
		return 1;
	}
	snprintf(place, sizeof(place), "/proc/%u/fd/%u", search->relative, number);
	length = readlink(place, link, sizeof(link) - 1);
	if (length <= 0)
		return 0;
	link[length] = '\0';
	if (strcmp(link, search->link) != 0 || is_writing_end(search->relative, number) != !search->writes)
		return 0;
	add_peer(search);
	return 1;
}

static void visit_relative(struct search *search, uint32_t pid)
{
	char folder[64];

	if (pid == search->pid || search->is_ambiguous)
		return;
	if (++search->relatives > MAX_RELATIVES) {
		search->is_ambiguous = 1;
		return;
	}
	search->relative = pid;
	search->descriptors = 0;
	snprintf(folder, sizeof(folder), "/proc/%u/fd", pid);
	lode_proc_numbers(folder, visit_descriptor, search);
}

static void visit_children(struct search *search, uint32_t pid)
{
	char text[4096], *at = text, *end;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/task/%u/children", pid, pid) < 0)
		return;
	for (;; at = end) {
		uint32_t child = (uint32_t)strtoul(at, &end, 10);

		if (end == at || *end != ' ')
			return;
		visit_relative(search, child);
	}
}

int lode_pipe_peer(uint32_t pid, uint32_t number, uint32_t inode, char *text, size_t room)
{
	struct search search = { .pid = pid, .writes = is_writing_end(pid, number) };
	uint32_t parent = lode_process_parent(pid);

	if (search.writes < 0)
		return -1;
	snprintf(search.link, sizeof(search.link), "pipe:[%u]", inode);
	if (parent > 1) {
		visit_relative(&search, parent);
		visit_children(&search, parent);
	}
	visit_children(&search, pid);
	if (!search.name[0] || search.is_ambiguous)
		return -1;
	snprintf(text, room, "%s %s", search.writes ? "to" : "from", search.name);
	return 0;
}
