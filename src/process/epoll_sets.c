/*
 * What is in epoll sets: see epoll_sets.h.
 *
 * /proc/PID/fdinfo/N of a set lists its descriptors, /proc/PID/fd/ what they are. TCP sockets are found by inode in
 * /proc/PID/net/tcp, in the process's own network namespace. Listening sockets come first there, so the rest is read
 * only for sets with few sockets, to find their peers. A peer at an ephemeral port is a client, one of many; others are
 * servers, and named.
 */
#include "process/epoll_sets.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "base/starts_with.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEPT_NS        5000000000ull
#define MAX_PER_SECOND 5
/* Descriptors of a set that are looked at, and characters of the list. */
#define MAX_MEMBERS 64
#define MAX_LIST    16384
/* Sets with so few sockets have their peers named. */
#define MAX_NAMED_PEERS 3
/* Lines of /proc/PID/net/tcp that are read for that. */
#define MAX_LINES     300
#define LISTENS       0x0a
#define MIN_EPHEMERAL 32768

enum member_kind {
	MEMBER_PIPE,
	MEMBER_EVENTFD,
	MEMBER_TIMER,
	MEMBER_OTHER,
	MEMBER_SOCKET,
	MEMBER_KINDS,
};

struct members {
	uint32_t sockets[MAX_MEMBERS]; /* inodes; 0: it has a name already */
	unsigned socket_count;
	unsigned counts[MEMBER_KINDS];
	unsigned named;     /* in `text` */
	unsigned connected; /* TCP sockets with a peer, of those that were looked at, */
	unsigned listening; /* and without */
	char *connection;   /* the ends of the last of those that were connected */
	char *text;
	size_t size;
};

/* ---- the text ---- */

/* At most a few names, of which each is put once. */
static void put(struct members *members, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct members *members, const char *format, ...)
{
	char word[160];
	va_list arguments;
	int length;

	va_start(arguments, format);
	vsnprintf(word, sizeof(word), format, arguments);
	va_end(arguments);
	if (strstr(members->text, word))
		return;
	length = snprintf(members->text + members->size, LODE_EPOLL_TEXT - members->size, "%s%s",
			  members->named ? ", " : "", word);
	if (length < 0 || members->size + (size_t)length >= LODE_EPOLL_TEXT) {
		members->text[members->size] = '\0'; /* no room */
		return;
	}
	members->size += (size_t)length;
	members->named++;
}

static void put_kind(struct members *members, enum member_kind kind, const char *one, const char *several)
{
	if (members->counts[kind])
		put(members, "%s", members->counts[kind] == 1 ? one : several);
}

/* ---- sockets ---- */

static uint32_t *find_socket(struct members *members, uint64_t inode)
{
	for (unsigned i = 0; inode && i < members->socket_count; i++)
		if (members->sockets[i] == (uint32_t)inode)
			return &members->sockets[i];
	return NULL;
}

/* Room for `[ADDRESS]:PORT`, and for an address in hexadecimal digits. */
#define END_TEXT (INET6_ADDRSTRLEN + 16)
#define HEX_TEXT 40

/* An address as /proc has it, with its port. One of IPv4 in IPv6 is one of IPv4. */
static const char *end_text(const char *address, unsigned port, char text[END_TEXT])
{
	int is_ipv4 = strlen(address) == 8;
	uint32_t words[4] = { 0 };
	char word[9] = "", readable[INET6_ADDRSTRLEN] = "";

	for (size_t i = 0; i < strlen(address) / 8 && i < 4; i++) {
		memcpy(word, address + 8 * i, 8);
		words[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	if (!is_ipv4 && !words[0] && !words[1] && words[2] == htonl(0xffff)) {
		is_ipv4 = 1;
		words[0] = words[3];
	}
	inet_ntop(is_ipv4 ? AF_INET : AF_INET6, words, readable, sizeof(readable));
	snprintf(text, END_TEXT, is_ipv4 ? "%s:%u" : "[%s]:%u", readable, port);
	return text;
}

static void put_peer(struct members *members, const char *address, unsigned port)
{
	char text[END_TEXT];

	put(members, "TCP %s", end_text(address, port, text));
}

static void note_connection(struct members *members, const char *own, unsigned port, const char *peer,
			    unsigned peer_port)
{
	char own_end[END_TEXT], peer_end[END_TEXT];

	members->connected++;
	end_text(own, port, own_end);
	end_text(peer, peer_port, peer_end);
	*members->connection = '\0';
	/* On this host, its threads are recorded as wakers. */
	if (strcmp(own, peer) != 0 && !lode_starts_with(peer_end, "127.") && !lode_starts_with(peer_end, "[::1]"))
		snprintf(members->connection, LODE_EPOLL_CONNECTION, "%s > %s", own_end, peer_end);
}

/* A line of /proc/PID/net/tcp. Returns whether the next ones are of interest. */
static int parse_line(struct members *members, const char *line, int wants_peers)
{
	char own[HEX_TEXT] = "", peer[HEX_TEXT] = "";
	unsigned port, peer_port, state;
	uint64_t inode;
	uint32_t *socket;

	if (sscanf(line, " %*u: %39[0-9A-Fa-f]:%x %39[0-9A-Fa-f]:%x %x %*s %*s %*s %*u %*u %" SCNu64, own, &port,
		   peer, &peer_port, &state, &inode) != 6)
		return 1; /* the head of the table */
	if (state != LISTENS && !wants_peers)
		return 0;
	socket = find_socket(members, inode);
	if (!socket)
		return 1;
	members->listening += state == LISTENS;
	if (state != LISTENS)
		note_connection(members, own, port, peer, peer_port);
	if (state == LISTENS)
		put(members, "TCP port %u", port);
	else if (peer_port < MIN_EPHEMERAL)
		put_peer(members, peer, peer_port);
	else
		return 1;
	*socket = 0;
	return 1;
}

static void name_tcp(struct members *members, uint32_t pid, const char *table)
{
	int wants_peers = members->socket_count <= MAX_NAMED_PEERS;
	char path[48], *line = NULL;
	size_t capacity = 0;
	unsigned count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/net/%s", pid, table);
	file = fopen(path, "re"); /* from the kernel */
	while (file && count++ < MAX_LINES && getline(&line, &capacity, file) > 0)
		if (!parse_line(members, line, wants_peers))
			break;
	free(line); /* from getline */
	if (file)
		fclose(file);
}

static void name_sockets(struct lode_epoll_sets *sets, struct members *members, uint32_t pid)
{
	char path[112];

	if (!members->socket_count)
		return;
	name_tcp(members, pid, "tcp");
	name_tcp(members, pid, "tcp6");
	for (unsigned i = 0; i < members->socket_count; i++) {
		if (members->sockets[i] && i < MAX_NAMED_PEERS &&
		    lode_unix_name(&sets->unix_names, members->sockets[i], path, sizeof(path)) == 0)
			put(members, "socket %s", path);
		else
			members->counts[MEMBER_SOCKET] += members->sockets[i] != 0;
	}
}

/* ---- members ---- */

static void add_member(struct members *members, uint32_t pid, uint32_t number)
{
	char place[64], link[64];
	ssize_t length;

	snprintf(place, sizeof(place), "/proc/%u/fd/%u", pid, number);
	length = readlink(place, link, sizeof(link) - 1);
	if (length <= 0)
		return;
	link[length] = '\0';
	if (lode_starts_with(link, "socket:["))
		members->sockets[members->socket_count++] = (uint32_t)strtoull(link + 8, NULL, 10);
	else if (lode_starts_with(link, "pipe:"))
		members->counts[MEMBER_PIPE]++;
	else if (lode_starts_with(link, "anon_inode:[eventfd"))
		members->counts[MEMBER_EVENTFD]++;
	else if (lode_starts_with(link, "anon_inode:[timerfd"))
		members->counts[MEMBER_TIMER]++;
	else
		members->counts[MEMBER_OTHER]++;
}

static int add_members(struct members *members, uint32_t pid, uint32_t number)
{
	char *list = lode_calloc(1, MAX_LIST);
	const char *at = list;
	unsigned count = 0;

	if (!list)
		return 0;
	lode_proc_text(list, MAX_LIST, "/proc/%u/fdinfo/%u", pid, number);
	while (count < MAX_MEMBERS && (at = strstr(at, "tfd:"))) {
		at += strlen("tfd:");
		add_member(members, pid, (uint32_t)strtoul(at, NULL, 10));
		count++;
	}
	lode_free(list);
	return count != 0;
}

/* Returns whether something is in the set. */
static int look_up(struct lode_epoll_sets *sets, struct lode_epoll_set *set)
{
	char text[LODE_EPOLL_TEXT] = "epoll:";
	struct members members = { .text = text, .size = strlen(text), .connection = set->connection };

	if (!add_members(&members, set->pid, set->number))
		return 0;
	name_sockets(sets, &members, set->pid);
	if (members.connected != 1 || members.listening)
		set->connection[0] = '\0';
	put_kind(&members, MEMBER_SOCKET, "a connection", "connections");
	put_kind(&members, MEMBER_PIPE, "a pipe", "pipes");
	put_kind(&members, MEMBER_EVENTFD, "an eventfd", "eventfds");
	put_kind(&members, MEMBER_TIMER, "a timer", "timers");
	put_kind(&members, MEMBER_OTHER, "another file", "other files");
	memcpy(set->text, text, sizeof(text));
	return 1;
}

/* ---- what is kept ---- */

void lode_epoll_sets_release(struct lode_epoll_sets *sets)
{
	lode_unix_names_release(&sets->unix_names);
	memset(sets, 0, sizeof(*sets));
}

static int may_look_up(struct lode_epoll_sets *sets, uint64_t t)
{
	uint64_t second = t / 1000000000;

	if (second > sets->second) {
		sets->second = second;
		sets->looked_up = 0;
	}
	return sets->looked_up++ < MAX_PER_SECOND;
}

const char *lode_epoll_set(struct lode_epoll_sets *sets, uint32_t pid, uint32_t number, uint64_t t)
{
	struct lode_epoll_set *set = &sets->items[(pid * 31 + number) % LODE_EPOLL_SETS];

	if (set->pid == pid && set->number == number && t < set->t + KEPT_NS)
		return set->text;
	if (set->pid != pid || set->number != number)
		*set = (struct lode_epoll_set){ .pid = pid, .number = number, .text = "epoll:" };
	if (may_look_up(sets, t)) {
		set->t = t;
		look_up(sets, set);
	}
	return set->text;
}

const char *lode_epoll_connection(const struct lode_epoll_sets *sets, uint32_t pid, uint32_t number)
{
	const struct lode_epoll_set *set = &sets->items[(pid * 31 + number) % LODE_EPOLL_SETS];

	return set->pid == pid && set->number == number ? set->connection : "";
}
