/*
 * Control groups of processes: see process_groups.h.
 *
 * /proc/PID/cgroup has a line for each hierarchy. Version 2 has one, `0::PATH`; beside hierarchies of version 1 it may be
 * empty, and then systemd's own, or else another that is not the root, tells.
 */
#include "process/process_groups.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/proc_files.h"
#include "trace/control_groups.h"

#include <stdlib.h>
#include <string.h>

/* Processes and distinct groups that are remembered; what comes later has none. */
#define MAX_PROCESSES 262144
#define MAX_PATHS     4096
/* Processes that are asked in a second, 15 us each; others inherit. */
#define MAX_READS 500

void lode_process_groups_release(struct lode_process_groups *groups)
{
	for (size_t i = 0; i < groups->path_count; i++)
		lode_free(groups->paths[i]);
	lode_free(groups->paths);
	lode_free(groups->items);
	lode_index_release(&groups->index);
	memset(groups, 0, sizeof(*groups));
}

/* ---- paths ---- */

static uint32_t find_path(struct lode_process_groups *groups, const char *path)
{
	char *copy;

	for (size_t i = 0; i < groups->path_count; i++)
		if (!strcmp(groups->paths[i], path))
			return (uint32_t)i;
	if (groups->path_count >= MAX_PATHS)
		return LODE_NONE;
	copy = lode_strdup(path);
	if (!copy || LODE_APPEND(groups->paths, groups->path_count, groups->path_capacity, copy) < 0) {
		lode_free(copy);
		return LODE_NONE;
	}
	return (uint32_t)groups->path_count - 1;
}

/* How much a line says: 0 where it is the root, or no line. */
static int rate(const char *controllers, size_t length, const char *path)
{
	if (path[0] != '/' || !path[1])
		return 0;
	if (!length)
		return 4;
	if (length == strlen("name=systemd") && !memcmp(controllers, "name=systemd", length))
		return 3;
	return !strncmp(controllers, "cpu", 3) ? 2 : 1;
}

static int may_read(struct lode_process_groups *groups)
{
	uint64_t second = lode_now() / 1000000000;

	if (second != groups->second) {
		groups->second = second;
		groups->reads = 0;
	}
	return groups->reads++ < MAX_READS;
}

/* Returns whether the process is there, and could be asked. */
static int read_path(struct lode_process_groups *groups, uint32_t pid, uint32_t *path)
{
	char text[4096], *rest = text, *line, *best = NULL;
	int best_rate = 0;

	*path = LODE_NONE;
	if (!may_read(groups) || lode_proc_text(text, sizeof(text), "/proc/%u/cgroup", pid) < 0 || !text[0])
		return 0;
	while ((line = strtok_r(rest, "\n", &rest))) {
		char *controllers = strchr(line, ':'), *at = controllers ? strchr(controllers + 1, ':') : NULL;
		int rated = at ? rate(controllers + 1, (size_t)(at - controllers) - 1, at + 1) : 0;

		if (rated > best_rate) {
			best_rate = rated;
			best = at + 1;
		}
	}
	if (best)
		*path = find_path(groups, best);
	return 1;
}

/* ---- processes ---- */

static struct lode_process_group *find(const struct lode_process_groups *groups, uint32_t pid)
{
	uint32_t found = LODE_INDEX_FIND(i, &groups->index, lode_hash_u64(pid), groups->items[i].pid == pid);

	return found == LODE_NONE ? NULL : &groups->items[found];
}

static int set(struct lode_process_groups *groups, uint32_t pid, uint32_t path, int is_read)
{
	struct lode_process_group group = { pid, path, (uint8_t)is_read }, *known = find(groups, pid);

	if (known) {
		*known = group;
		return 0;
	}
	if (groups->count >= MAX_PROCESSES)
		return 0;
	return LODE_INDEX_APPEND(&groups->index, lode_hash_u64(pid), groups->items, groups->count,
				 groups->capacity, group);
}

int lode_process_groups_see(struct lode_process_groups *groups, uint32_t pid)
{
	const struct lode_process_group *known = find(groups, pid);
	uint32_t path;

	if (known && known->is_read)
		return 0;
	if (!read_path(groups, pid, &path) && known)
		path = known->path;
	return set(groups, pid, path, 1);
}

/* Who starts a service moves the process into its group before the program. */
static int read_again(struct lode_process_groups *groups, uint32_t pid)
{
	uint32_t path;

	return find(groups, pid) && read_path(groups, pid, &path) ? set(groups, pid, path, 1) : 0;
}

int lode_process_groups_apply(struct lode_process_groups *groups, const struct lode_change *change)
{
	const struct lode_process_group *parent;
	uint32_t path;

	if (change->type == LODE_CHANGE_NAME && change->executed)
		return read_again(groups, change->pid);
	if (change->type != LODE_CHANGE_FORK || change->pid == change->parent_pid)
		return 0;
	parent = find(groups, change->parent_pid);
	if (parent)
		return set(groups, change->pid, parent->path, 0);
	if (!read_path(groups, change->parent_pid, &path))
		return 0;
	if (set(groups, change->parent_pid, path, 0) < 0)
		return LODE_SYSTEM;
	return set(groups, change->pid, path, 0);
}

/* ---- attributes ---- */

static int compare_pids(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The pids of the threads of a stream, each once, in order. Returns how many; `*pids` NULL: memory has run out. */
static size_t list_pids(const struct lode_stream *stream, uint32_t **pids)
{
	size_t count = 0, kept = 0;

	*pids = lode_calloc(stream->thread_count + 1, sizeof(**pids));
	for (size_t i = 0; *pids && i < stream->thread_count; i++)
		if (stream->threads[i].pid != LODE_NO_PID)
			(*pids)[count++] = stream->threads[i].pid;
	if (count)
		qsort(*pids, count, sizeof(**pids), compare_pids);
	for (size_t i = 0; i < count; i++)
		if (!kept || (*pids)[i] != (*pids)[kept - 1])
			(*pids)[kept++] = (*pids)[i];
	return kept;
}

static int is_in(const struct lode_process_groups *groups, uint32_t pid, uint32_t path)
{
	const struct lode_process_group *group = find(groups, pid);

	return group && group->path == path;
}

static int store_path(const struct lode_process_groups *groups, uint32_t path, const uint32_t *pids, size_t count,
		      struct lode_stream *stream)
{
	struct lode_buffer key = { 0 }, value = { 0 };
	int code = 0;

	for (size_t i = 0; i < count; i++) {
		size_t end = i;

		if (!is_in(groups, pids[i], path))
			continue;
		while (end + 1 < count && pids[end + 1] == pids[end] + 1 && is_in(groups, pids[end + 1], path))
			end++;
		lode_buffer_print(&value, value.size ? " %u" : "%u", pids[i]);
		if (end > i)
			lode_buffer_print(&value, "-%u", pids[end]);
		i = end;
	}
	lode_buffer_print(&key, LODE_CGROUP "%s", groups->paths[path]);
	lode_buffer_byte(&key, '\0');
	if (value.size) {
		lode_buffer_byte(&value, '\0');
		code = key.failed || value.failed ? LODE_SYSTEM
						  : lode_stream_set_text(stream, key.bytes, value.bytes);
	}
	lode_buffer_release(&key);
	lode_buffer_release(&value);
	return code;
}

int lode_process_groups_store(const struct lode_process_groups *groups, struct lode_stream *stream)
{
	uint32_t *pids;
	size_t count = list_pids(stream, &pids);
	int code = pids ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < groups->path_count; i++)
		code = store_path(groups, (uint32_t)i, pids, count, stream);
	lode_free(pids);
	return code;
}
