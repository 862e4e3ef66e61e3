/*
 * Limits of control groups: see group_limits.h. /proc/PID/cgroup names the group, for both versions of control groups, and
 * files in its folder count. A group is found where distributions mount the hierarchy; elsewhere nothing is known.
 */
#include "tasks/live/group_limits.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "trace/throttled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 512
/* More are not looked at: each is two files to read. */
#define MAX_GROUPS 1000

#define NOT_COUNTED UINT64_MAX

/* Nanoseconds without a processor so far. */
static uint64_t throttled_time(const char *folder)
{
	char text[1024];

	if (lode_proc_text(text, sizeof(text), "%s/cpu.stat", folder))
		return NOT_COUNTED;
	if (strstr(text, "throttled_usec "))
		return lode_proc_field(text, "throttled_usec ", 10, 0) * 1000;
	return lode_proc_field(text, "throttled_time ", 10, 0);
}

/* How often the group wanted more memory than it may have, so far. */
static uint64_t memory_hits(const char *folder)
{
	char text[1024];

	if (!lode_proc_text(text, sizeof(text), "%s/memory.events", folder))
		return lode_proc_field(text, "high ", 10, 0) + lode_proc_field(text, "max ", 10, 0);
	if (!lode_proc_text(text, sizeof(text), "%s/memory.failcnt", folder))
		return strtoull(text, NULL, 10);
	return NOT_COUNTED;
}

struct limit {
	const char *controller; /* in a hierarchy of version 1 */
	const char *attribute;  /* how its key begins */
	uint64_t (*count)(const char *folder);
};

static const struct limit known[] = {
	{ "cpu", LODE_THROTTLED, throttled_time },
	{ "memory", LODE_MEMORY_LIMITED, memory_hits },
};
#define LIMITS (sizeof(known) / sizeof(*known))

struct lode_limited_group {
	const struct limit *limit;
	char *path;   /* of the group, "/redis" */
	char *folder; /* where it is mounted, with the hierarchy */
	uint64_t before;
};

static int knows(const struct lode_group_limits *limits, const struct limit *limit, const char *folder)
{
	for (size_t i = 0; i < limits->count; i++)
		if (limits->items[i].limit == limit && !strcmp(limits->items[i].folder, folder))
			return 1;
	return 0;
}

static int add_group(struct lode_group_limits *limits, const struct limit *limit, const char *mount,
		     const char *path)
{
	struct lode_limited_group group = { .limit = limit };
	char folder[PATH_ROOM];
	int length = snprintf(folder, sizeof(folder), "%s%s", mount, path);

	if (length < 0 || (size_t)length >= sizeof(folder) || limits->count >= MAX_GROUPS ||
	    knows(limits, limit, folder))
		return 0;
	group.before = limit->count(folder);
	if (group.before == NOT_COUNTED)
		return 0;
	group.path = lode_strdup(path);
	group.folder = lode_strdup(folder);
	if (group.path && group.folder && !LODE_APPEND(limits->items, limits->count, limits->capacity, group))
		return 0; /* cppcheck-suppress memleak */
	lode_free(group.path);
	lode_free(group.folder);
	return LODE_SYSTEM;
}

/* The group and those above it, which may have a limit as well; not the root, which has none. */
static int add_path(struct lode_group_limits *limits, const struct limit *limit, const char *mount,
		    const char *path)
{
	char *left = lode_strdup(path);
	int code = left ? 0 : LODE_SYSTEM;

	while (!code && left[0] == '/' && left[1]) {
		code = add_group(limits, limit, mount, left);
		*strrchr(left, '/') = '\0';
	}
	lode_free(left);
	return code;
}

/* Whether a list of controllers, separated by commas, has this one. */
static int has_controller(const char *controllers, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = controllers; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && !strncmp(at, name, length))
			return 1;
	return 0;
}

/* One limit of a line's group; no controllers: version 2. */
static int add_limit(struct lode_group_limits *limits, const struct limit *limit, const char *controllers,
		     const char *path)
{
	char mount[PATH_ROOM];
	int code;

	if (!*controllers) {
		code = add_path(limits, limit, "/sys/fs/cgroup", path);
		return code ? code : add_path(limits, limit, "/sys/fs/cgroup/unified", path);
	}
	if (!has_controller(controllers, limit->controller) || strlen(controllers) > 64)
		return 0;
	snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controllers);
	return add_path(limits, limit, mount, path);
}

/* A line `NUMBER:CONTROLLERS:PATH`. */
static int add_line(struct lode_group_limits *limits, char *line)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	int code = 0;

	if (!path)
		return 0;
	*controllers++ = *path++ = '\0';
	for (size_t i = 0; !code && i < LIMITS; i++)
		code = add_limit(limits, &known[i], controllers, path);
	return code;
}

int lode_group_limits_add(struct lode_group_limits *limits, uint32_t pid)
{
	char text[4096], *rest = text, *line;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/cgroup", pid))
		return 0;
	while ((line = strtok_r(rest, "\n", &rest)))
		if (add_line(limits, line) < 0)
			return LODE_SYSTEM;
	return 0;
}

static int add_process(void *context, uint32_t pid)
{
	return lode_group_limits_add(context, pid);
}

int lode_group_limits_add_all(struct lode_group_limits *limits)
{
	int code = lode_proc_numbers("/proc", add_process, limits);

	return code < 0 ? code : 0;
}

int lode_group_limits_store(const struct lode_group_limits *limits, struct lode_stream *stream)
{
	for (size_t i = 0; i < limits->count; i++) {
		const struct lode_limited_group *group = &limits->items[i];
		uint64_t now = group->limit->count(group->folder);
		char key[PATH_ROOM + 32];

		if (now == NOT_COUNTED || now <= group->before)
			continue;
		snprintf(key, sizeof(key), "%s%s", group->limit->attribute, group->path);
		if (lode_stream_set_number(stream, key, now - group->before) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

void lode_group_limits_release(struct lode_group_limits *limits)
{
	for (size_t i = 0; i < limits->count; i++) {
		lode_free(limits->items[i].path);
		lode_free(limits->items[i].folder);
	}
	lode_free(limits->items);
	memset(limits, 0, sizeof(*limits));
}
