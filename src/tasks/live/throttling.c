/*
 * Quotas: see throttling.h. /proc/PID/cgroup names the group, for both versions of control groups, and cpu.stat in its folder
 * counts. A group is found where distributions mount the hierarchy; elsewhere nothing is known.
 */
#include "tasks/live/throttling.h"

#include "base/memory.h"
#include "base/proc_files.h"
#include "trace/throttled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 512
/* More are not looked at: each is two files to read. */
#define MAX_GROUPS 1000

struct lode_throttled_group {
	char *path;   /* of the group, "/redis" */
	char *folder; /* where it is mounted, with the hierarchy */
	uint64_t before;
};

/* Nanoseconds so far; 0 where they are not counted. */
static uint64_t throttled_time(const char *folder)
{
	char text[1024];

	if (lode_proc_text(text, sizeof(text), "%s/cpu.stat", folder))
		return 0;
	if (strstr(text, "throttled_usec "))
		return lode_proc_field(text, "throttled_usec ", 10, 0) * 1000;
	return lode_proc_field(text, "throttled_time ", 10, 0);
}

static int is_there(const char *folder)
{
	char text[16];

	return !lode_proc_text(text, sizeof(text), "%s/cpu.stat", folder);
}

static int knows(const struct lode_throttling *throttling, const char *folder)
{
	for (size_t i = 0; i < throttling->count; i++)
		if (!strcmp(throttling->items[i].folder, folder))
			return 1;
	return 0;
}

static int add_group(struct lode_throttling *throttling, const char *mount, const char *path)
{
	struct lode_throttled_group group = { NULL, NULL, 0 };
	char folder[PATH_ROOM];
	int length = snprintf(folder, sizeof(folder), "%s%s", mount, path);

	if (length < 0 || (size_t)length >= sizeof(folder) || throttling->count >= MAX_GROUPS ||
	    knows(throttling, folder) || !is_there(folder))
		return 0;
	group.path = lode_strdup(path);
	group.folder = lode_strdup(folder);
	group.before = throttled_time(folder);
	if (group.path && group.folder &&
	    !LODE_APPEND(throttling->items, throttling->count, throttling->capacity, group))
		return 0; /* cppcheck-suppress memleak */
	lode_free(group.path);
	lode_free(group.folder);
	return LODE_SYSTEM;
}

/* The group and those above it, which may have a quota as well; not the root, which has none. */
static int add_path(struct lode_throttling *throttling, const char *mount, char *path)
{
	while (path[0] == '/' && path[1]) {
		if (add_group(throttling, mount, path) < 0)
			return LODE_SYSTEM;
		*strrchr(path, '/') = '\0';
	}
	return 0;
}

/* Whether a list of controllers, separated by commas, has that of processors. */
static int has_cpu(const char *controllers)
{
	for (const char *at = controllers; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == 3 && !strncmp(at, "cpu", 3))
			return 1;
	return 0;
}

/* A line `NUMBER:CONTROLLERS:PATH`; no controllers: version 2. */
static int add_line(struct lode_throttling *throttling, char *line)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	char mount[PATH_ROOM];
	int code;

	if (!path)
		return 0;
	*controllers++ = *path++ = '\0';
	if (!*controllers) {
		char *copy = lode_strdup(path);

		code = copy ? add_path(throttling, "/sys/fs/cgroup", copy) : LODE_SYSTEM;
		lode_free(copy);
		return code ? code : add_path(throttling, "/sys/fs/cgroup/unified", path);
	}
	if (!has_cpu(controllers) || strlen(controllers) > 64)
		return 0;
	snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controllers);
	return add_path(throttling, mount, path);
}

int lode_throttling_add(struct lode_throttling *throttling, uint32_t pid)
{
	char text[4096], *rest = text, *line;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/cgroup", pid))
		return 0;
	while ((line = strtok_r(rest, "\n", &rest)))
		if (add_line(throttling, line) < 0)
			return LODE_SYSTEM;
	return 0;
}

static int add_process(void *context, uint32_t pid)
{
	return lode_throttling_add(context, pid);
}

int lode_throttling_add_all(struct lode_throttling *throttling)
{
	int code = lode_proc_numbers("/proc", add_process, throttling);

	return code < 0 ? code : 0;
}

int lode_throttling_store(const struct lode_throttling *throttling, struct lode_stream *stream)
{
	for (size_t i = 0; i < throttling->count; i++) {
		const struct lode_throttled_group *group = &throttling->items[i];
		uint64_t now = throttled_time(group->folder);
		char key[PATH_ROOM];

		if (now <= group->before)
			continue;
		snprintf(key, sizeof(key), "%s%s", LODE_THROTTLED, group->path);
		if (lode_stream_set_number(stream, key, now - group->before) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

void lode_throttling_release(struct lode_throttling *throttling)
{
	for (size_t i = 0; i < throttling->count; i++) {
		lode_free(throttling->items[i].path);
		lode_free(throttling->items[i].folder);
	}
	lode_free(throttling->items);
	memset(throttling, 0, sizeof(*throttling));
}
