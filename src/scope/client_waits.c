/* Clients: see client_waits.h. */
#include "scope/client_waits.h"

#include "base/starts_with.h"
#include "trace/objects.h"

#include <stdlib.h>
#include <string.h>

/* Below it, ports are chosen by people, not at random for connections. */
#define MIN_RANDOM_PORT 10000
/* Ports at which Linux begins to choose at random unless it is told otherwise. */
#define FIRST_RANDOM_PORT 32768

#define PORTS 65536

/* The number behind the last colon; 0: there is none. */
static unsigned port_of(const char *name)
{
	const char *colon = strrchr(name, ':');
	unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;

	return port < PORTS ? (unsigned)port : 0;
}

static int is_listener(const char *name)
{
	return lode_starts_with(name, LODE_SOCKET_LISTENS);
}

static enum lode_socket_side side_of_tcp(const char *name, const uint8_t *listens)
{
	unsigned port = port_of(name);

	if (is_listener(name))
		return LODE_SIDE_SERVER;
	if (port && (listens[port] || port < MIN_RANDOM_PORT))
		return LODE_SIDE_CLIENT;
	return port >= FIRST_RANDOM_PORT ? LODE_SIDE_SERVER : LODE_SIDE_UNKNOWN;
}

static enum lode_socket_side side_of_unix(const char *name, int marked)
{
	if (is_listener(name) || lode_starts_with(name, LODE_SOCKET_ACCEPTED))
		return LODE_SIDE_SERVER;
	return marked && strchr("/@", *name) && *name ? LODE_SIDE_CLIENT : LODE_SIDE_UNKNOWN;
}

uint8_t *lode_socket_sides(const struct lode_stream *stream)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	uint8_t *sides = lode_calloc(strings->count + 1, 1), *listens = lode_calloc(PORTS, 1);
	int marked = 0;

	for (uint32_t i = 1; sides && listens && i < strings->count; i++) {
		const char *text = lode_strings_get(strings, i), *name = lode_object_name(text);

		if (lode_starts_with(text, "tcp:") && is_listener(name))
			listens[port_of(name)] = 1;
		marked |= lode_starts_with(text, "unix:" LODE_SOCKET_ACCEPTED);
	}
	for (uint32_t i = 1; sides && listens && i < strings->count; i++) {
		const char *text = lode_strings_get(strings, i);

		if (lode_starts_with(text, "tcp:"))
			sides[i] = (uint8_t)side_of_tcp(lode_object_name(text), listens);
		else if (lode_starts_with(text, "unix:"))
			sides[i] = (uint8_t)side_of_unix(lode_object_name(text), marked);
	}
	if (!listens) {
		lode_free(sides);
		sides = NULL;
	}
	lode_free(listens);
	return sides;
}
