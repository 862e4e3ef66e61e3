/*
 * Control groups of processes: see control_groups.h.
 *
 * Who makes groups has conventions: systemd's end in .service, .scope and .slice; runtimes of containers name theirs by a long
 * hexadecimal id, alone (`/docker/ID`) or between their own name and `.scope` (`docker-ID.scope`); Kubernetes puts them
 * below `pod` and the pod's uid, whose dashes systemd's driver writes as underscores.
 */
#include "trace/control_groups.h"

#include "base/starts_with.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of an id of a container; of uids of pods, with dashes. */
#define MIN_ID     32
#define UID_LENGTH 36
/* Pids of a stream that are looked at: the file may be a stranger's. */
#define MAX_PIDS 1048576

/* ---- processes ---- */

struct process_group {
	uint32_t pid;
	const char *path;
};

struct groups {
	struct process_group *items;
	size_t count;
	size_t capacity;
};

static int compare_pids(const void *left, const void *right)
{
	const struct process_group *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* `812 815-817`. What is not like that is left out. */
static int add_pids(struct groups *groups, const char *path, const char *pids)
{
	char *rest;

	for (;; pids = rest) {
		uint64_t first = strtoull(pids, &rest, 10), last = first;

		if (rest == pids)
			return 0;
		if (*rest == '-')
			last = strtoull(rest + 1, &rest, 10);
		for (; first <= last && last < UINT32_MAX && groups->count < MAX_PIDS; first++) {
			struct process_group group = { (uint32_t)first, path };

			if (LODE_APPEND(groups->items, groups->count, groups->capacity, group) < 0)
				return LODE_SYSTEM;
		}
	}
}

const char **lode_stream_groups(const struct lode_stream *stream)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	const char **paths = lode_calloc(stream->thread_count + 1, sizeof(*paths));
	struct groups groups = { 0 };
	int code = paths ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < stream->attribute_count; i++) {
		const char *key = lode_strings_get(strings, stream->attributes[i].key);

		if (lode_starts_with(key, LODE_CGROUP))
			code = add_pids(&groups, key + strlen(LODE_CGROUP),
					lode_strings_get(strings, stream->attributes[i].value));
	}
	if (groups.count)
		qsort(groups.items, groups.count, sizeof(*groups.items), compare_pids);
	for (size_t i = 0; !code && groups.count && i < stream->thread_count; i++) {
		struct process_group wanted = { .pid = stream->threads[i].pid };
		const struct process_group *found =
			bsearch(&wanted, groups.items, groups.count, sizeof(wanted), compare_pids);

		paths[i] = found ? found->path : NULL;
	}
	lode_free(groups.items);
	if (!code)
		return paths;
	lode_free(paths);
	return NULL;
}

/* ---- paths ---- */

static int ends_with(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !memcmp(text + length - size, end, size);
}

static int take(char name[LODE_GROUP_NAME], const char *text, size_t length)
{
	snprintf(name, LODE_GROUP_NAME, "%.*s", (int)(length < LODE_GROUP_NAME ? length : LODE_GROUP_NAME - 1),
		 text);
	return 1;
}

/* An id: alone, or behind the last dash and before `.scope`. */
static int parse_container(const char *part, size_t length, char name[LODE_GROUP_NAME])
{
	static const char payload[] = "lxc.payload.";
	const char *start = part;
	size_t digits = 0;

	if (length > strlen(payload) && !strncmp(part, payload, strlen(payload)))
		return take(name, part + strlen(payload), length - strlen(payload));
	if (ends_with(part, length, ".scope"))
		length -= strlen(".scope");
	for (size_t i = 0; i < length; i++)
		if (part[i] == '-' || part[i] == ':')
			start = part + i + 1;
	length -= (size_t)(start - part);
	while (digits < length && isxdigit((unsigned char)start[digits]))
		digits++;
	return digits == length && digits >= MIN_ID && take(name, start, length);
}

/* `pod` and a uid, at the start or behind a dash. */
static int parse_pod(const char *part, size_t length, char name[LODE_GROUP_NAME])
{
	if (ends_with(part, length, ".slice"))
		length -= strlen(".slice");
	for (size_t i = 0; i + 3 + MIN_ID <= length; i++) {
		const char *uid = part + i + 3;
		size_t size = length - i - 3, digits = 0;

		if (strncmp(part + i, "pod", 3) != 0 || (i && part[i - 1] != '-') || size > UID_LENGTH)
			continue;
		while (digits < size &&
		       (isxdigit((unsigned char)uid[digits]) || uid[digits] == '-' || uid[digits] == '_'))
			digits++;
		if (digits != size)
			continue;
		take(name, uid, size);
		for (char *at = name; *at; at++)
			*at = *at == '_' ? '-' : *at;
		return 1;
	}
	return 0;
}

/* A scope counts until a service is found; one of a container is no unit. */
static int parse_unit(const char *part, size_t length, char name[LODE_GROUP_NAME])
{
	char id[LODE_GROUP_NAME];

	if (ends_with(part, length, ".service"))
		return take(name, part, length);
	if (ends_with(part, length, ".scope") && !ends_with(name, strlen(name), ".service") &&
	    !parse_container(part, length, id))
		return take(name, part, length);
	return 0;
}

int lode_group_part(const char *path, enum lode_group_part part, char name[LODE_GROUP_NAME])
{
	static int (*const takers[])(const char *part, size_t length, char name[LODE_GROUP_NAME]) = {
		[LODE_GROUP_UNIT] = parse_unit,
		[LODE_GROUP_CONTAINER] = parse_container,
		[LODE_GROUP_POD] = parse_pod,
	};

	name[0] = '\0';
	while (path && *path) {
		size_t length = strcspn(path, "/");

		if (length)
			takers[part](path, length, name);
		path += length;
		path += *path == '/';
	}
	return name[0] != '\0';
}
