/* Connections between hosts: see tcp_connections.h. */
#include "scope/tcp_connections.h"

#include "base/bisect.h"
#include "base/memory.h"
#include "base/starts_with.h"
#include "trace/objects.h"

#include <stdlib.h>
#include <string.h>

/* `ADDRESS:PORT` from `text` to `end`. Returns whether it is that. */
static int parse_end(const char *text, const char *end, uint16_t *length, uint16_t *port)
{
	const char *colon = end;
	char *behind;
	unsigned long number;

	while (colon > text && *colon != ':')
		colon--;
	if (colon == text || colon - text > UINT16_MAX || colon[1] < '0' || colon[1] > '9')
		return 0;
	number = strtoul(colon + 1, &behind, 10);
	if (behind != end || !number || number > UINT16_MAX)
		return 0;
	*length = (uint16_t)(colon - text);
	*port = (uint16_t)number;
	return 1;
}

int lode_connection_parse(const char *name, struct lode_connection_end *end)
{
	const char *to;

	if (!lode_starts_with(name, LODE_CONNECTION))
		return 0;
	to = strstr(name, LODE_CONNECTION_TO);
	if (!to)
		return 0;
	memset(end, 0, sizeof(*end));
	end->local = name + strlen(LODE_CONNECTION);
	end->peer = to + strlen(LODE_CONNECTION_TO);
	return parse_end(end->local, to, &end->local_length, &end->local_port) &&
	       parse_end(end->peer, end->peer + strlen(end->peer), &end->peer_length, &end->peer_port);
}

static int is_unknown(const char *address, size_t length)
{
	return length == 1 && *address == '*';
}

static int same_address(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return is_unknown(a, a_length) || is_unknown(b, b_length) ||
	       (a_length == b_length && !memcmp(a, b, a_length));
}

int lode_connection_ends_meet(const struct lode_connection_end *a, const struct lode_connection_end *b)
{
	return a->local_port == b->peer_port && a->peer_port == b->local_port &&
	       same_address(a->local, a->local_length, b->peer, b->peer_length) &&
	       same_address(a->peer, a->peer_length, b->local, b->local_length);
}

/* ---- many ---- */

static int compare(const void *left, const void *right)
{
	const struct lode_connection_end *a = left, *b = right;
	uint32_t x = lode_connection_ports(a->local_port, a->peer_port),
		 y = lode_connection_ports(b->local_port, b->peer_port);

	if (x != y)
		return x < y ? -1 : 1;
	return (a->string > b->string) - (a->string < b->string);
}

int lode_connection_ends_add(struct lode_connection_ends *ends, const struct lode_strings *strings, uint32_t first)
{
	struct lode_connection_end end;

	for (uint32_t i = first; i < strings->count; i++) {
		if (!lode_connection_parse(lode_strings_get(strings, i), &end))
			continue;
		end.string = i;
		if (LODE_APPEND(ends->items, ends->count, ends->capacity, end) < 0)
			return LODE_SYSTEM;
	}
	if (ends->count)
		qsort(ends->items, ends->count, sizeof(*ends->items), compare);
	return 0;
}

void lode_connection_ends_release(struct lode_connection_ends *ends)
{
	lode_free(ends->items);
	memset(ends, 0, sizeof(*ends));
}

const struct lode_connection_end *lode_connection_ends_find(const struct lode_connection_ends *ends,
							    const struct lode_connection_end *end)
{
	uint32_t wanted = lode_connection_ports(end->peer_port, end->local_port);
	size_t at =
		LODE_BISECT(i, 0, ends->count,
			    lode_connection_ports(ends->items[i].local_port, ends->items[i].peer_port) < wanted);

	for (; at < ends->count &&
	       lode_connection_ports(ends->items[at].local_port, ends->items[at].peer_port) == wanted;
	     at++)
		if (lode_connection_ends_meet(&ends->items[at], end))
			return &ends->items[at];
	return NULL;
}
