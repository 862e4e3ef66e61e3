/* Which streams are meant: see where.h. */
#include "scope/where.h"

#include "base/starts_with.h"
#include "scope/frame_filter.h"
#include "trace/control_groups.h"
#include "scope/process_names.h"
#include "scope/scope_index.h"
#include "trace/objects.h"

#include <stdio.h>
#include <string.h>

int lode_where_check(const char *const *where, struct lode_error *error)
{
	for (; where && *where; where++)
		if (!strchr(*where, '=') || **where == '=')
			return lode_fail(error, LODE_USAGE,
					 "'%s' is not KEY=VALUE; write 'version=4.2', "
					 "'host=web-*' or 'name=…'",
					 *where);
	return 0;
}

static int is_key(const char *text, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(text, key, length) && text[length] == '=';
}

static int is_about_groups(const char *text)
{
	return is_key(text, "unit") || is_key(text, "container") || is_key(text, "pod") || is_key(text, "cgroup");
}

static int is_about_objects(const char *text)
{
	return is_key(text, "object") || is_key(text, "peer");
}

static int is_about_threads(const char *text)
{
	return is_key(text, "process") || is_key(text, "thread");
}

int lode_where_check_threads(const char *const *where, struct lode_error *error)
{
	int code = lode_where_check(where, error);

	for (; !code && where && *where; where++)
		if (is_about_objects(*where) || is_key(*where, "context"))
			return lode_fail(
				error, LODE_USAGE,
				"'%s' is about single events, this looks at whole threads; use it with lode mine",
				*where);
	return code;
}

int lode_where_has_objects(const char *const *where)
{
	for (; where && *where; where++)
		if (is_about_objects(*where))
			return 1;
	return 0;
}

int lode_where_has_contexts(const char *const *where)
{
	for (; where && *where; where++)
		if (is_key(*where, "context"))
			return 1;
	return 0;
}

int lode_where_has_groups(const char *const *where)
{
	for (; where && *where; where++)
		if (is_about_groups(*where))
			return 1;
	return 0;
}

/* A unit need not be given with its ending; of a container's id the first digits do. */
static int part_fits(const char *glob, const char *path, enum lode_group_part part)
{
	char name[LODE_GROUP_NAME], *dot;

	if (!lode_group_part(path, part, name))
		return 0;
	if (lode_glob_match(glob, name))
		return 1;
	if (part == LODE_GROUP_CONTAINER)
		return *glob && lode_starts_with(name, glob);
	dot = strrchr(name, '.');
	if (part != LODE_GROUP_UNIT || !dot)
		return 0;
	*dot = '\0';
	return lode_glob_match(glob, name);
}

int lode_where_group_fits(const char *const *where, const char *path)
{
	for (; where && *where; where++) {
		const char *glob = strchr(*where, '=') + 1;

		if ((is_key(*where, "unit") && !part_fits(glob, path, LODE_GROUP_UNIT)) ||
		    (is_key(*where, "container") && !part_fits(glob, path, LODE_GROUP_CONTAINER)) ||
		    (is_key(*where, "pod") && !part_fits(glob, path, LODE_GROUP_POD)) ||
		    (is_key(*where, "cgroup") && !(path && lode_glob_match(glob, path))))
			return 0;
	}
	return 1;
}

/* `peer` is what a glob without a port means, too: an address before the last colon. */
static int peer_fits(const char *glob, const char *object)
{
	enum lode_object_kind kind = lode_object_kind_of(object);
	const char *name = lode_object_name(object), *colon = strrchr(name, ':');
	char address[128];

	if (kind != LODE_OBJECT_TCP && kind != LODE_OBJECT_UDP && kind != LODE_OBJECT_UNIX)
		return 0;
	if (lode_glob_match(glob, name))
		return 1;
	if (kind == LODE_OBJECT_UNIX && lode_starts_with(name, LODE_SOCKET_ACCEPTED))
		return lode_glob_match(glob, name + strlen(LODE_SOCKET_ACCEPTED));
	if (kind == LODE_OBJECT_UNIX || !colon || (size_t)(colon - name) >= sizeof(address))
		return 0;
	memcpy(address, name, (size_t)(colon - name));
	address[colon - name] = '\0';
	return lode_glob_match(glob, address);
}

/* A glob for a file need not say where it is stored. */
static int object_fits(const char *glob, const char *object)
{
	enum lode_object_kind kind = lode_object_kind_of(object);
	const char *on, *next;
	char path[4200];

	if (lode_glob_match(glob, object))
		return 1;
	if (kind != LODE_OBJECT_FILE && kind != LODE_OBJECT_PAGE)
		return 0;
	on = strstr(object, LODE_OBJECT_ON);
	while (on && (next = strstr(on + 1, LODE_OBJECT_ON)))
		on = next;
	if (!on || (size_t)(on - object) >= sizeof(path))
		return 0;
	memcpy(path, object, (size_t)(on - object));
	path[on - object] = '\0';
	return lode_glob_match(glob, path);
}

int lode_where_object_fits(const char *const *where, const char *object)
{
	for (; where && *where; where++) {
		const char *glob = strchr(*where, '=') + 1;

		if ((is_key(*where, "object") && !object_fits(glob, object)) ||
		    (is_key(*where, "peer") && !peer_fits(glob, object)))
			return 0;
	}
	return 1;
}

int lode_where_context_fits(const char *const *where, const char *context)
{
	for (; where && *where; where++)
		if (is_key(*where, "context") && !lode_glob_match(strchr(*where, '=') + 1, context))
			return 0;
	return 1;
}

static const char *attribute_value(const struct lode_stream *stream, const char *key, size_t length)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;

	for (size_t i = 0; i < stream->attribute_count; i++) {
		const char *name = lode_strings_get(strings, stream->attributes[i].key);

		if (!strncmp(name, key, length) && !name[length])
			return lode_strings_get(strings, stream->attributes[i].value);
	}
	if (length == 4 && !memcmp(key, "host", 4))
		return lode_strings_get(strings, stream->host);
	if (length == 4 && !memcmp(key, "name", 4))
		return lode_strings_get(strings, stream->name);
	return NULL;
}

int lode_where_fits(const struct lode_stream *stream, const char *const *where)
{
	for (; where && *where; where++) {
		const char *equals = strchr(*where, '=');
		const char *value = attribute_value(stream, *where, (size_t)(equals - *where));

		if (!value && (is_about_objects(*where) || is_about_groups(*where) || is_about_threads(*where) ||
			       is_key(*where, "context")))
			continue;
		if (!value || !lode_glob_match(equals + 1, value))
			return 0;
	}
	return 1;
}

/* ---- threads ---- */

int lode_where_has_threads(const char *const *where)
{
	for (; where && *where; where++)
		if (is_about_threads(*where))
			return 1;
	return 0;
}

int lode_where_has_members(const char *const *where)
{
	return lode_where_has_threads(where) || lode_where_has_groups(where);
}

static int name_fits(const char *glob, const char *name, uint32_t number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	return lode_glob_match(glob, name) || !strcmp(glob, digits);
}

static int thread_fits(const struct lode_stream *stream, const char *text, const struct lode_thread *thread,
		       uint32_t process)
{
	const struct lode_strings *strings = &stream->dictionary->frames.strings;
	const char *glob = strchr(text, '=') + 1;

	if (is_key(text, "thread"))
		return name_fits(glob, lode_strings_get(strings, thread->name), thread->tid);
	return name_fits(glob, lode_strings_get(strings, process),
			 thread->pid == LODE_NO_PID ? thread->tid : thread->pid);
}

/* A thread may be there with its process and without: then both fit if one does. */
static int join_by_tid(const struct lode_stream *stream, uint8_t *threads)
{
	size_t count;
	uint32_t *groups = lode_threads_by_tid(stream, &count);
	uint8_t *fits = groups ? lode_calloc(count + 1, 1) : NULL;

	for (size_t i = 0; fits && i < stream->thread_count; i++)
		fits[groups[i]] |= threads[i];
	for (size_t i = 0; fits && i < stream->thread_count; i++)
		threads[i] = fits[groups[i]];
	lode_free(groups);
	lode_free(fits);
	return fits ? 0 : LODE_SYSTEM;
}

int lode_where_threads(const struct lode_stream *stream, const char *const *where, uint8_t **threads)
{
	uint32_t *processes;

	*threads = NULL;
	if (!lode_where_has_threads(where))
		return 0;
	processes = lode_process_names(stream);
	if (processes)
		*threads = lode_calloc(stream->thread_count + 1, 1);
	for (size_t i = 0; *threads && i < stream->thread_count; i++)
		(*threads)[i] = 1;
	for (; *threads && *where; where++) {
		if (!is_about_threads(*where) || attribute_value(stream, *where, strcspn(*where, "=")))
			continue;
		for (size_t i = 0; i < stream->thread_count; i++)
			(*threads)[i] &= (uint8_t)thread_fits(stream, *where, &stream->threads[i], processes[i]);
	}
	lode_free(processes);
	return *threads ? join_by_tid(stream, *threads) : LODE_SYSTEM;
}

/* Clears the bytes of threads whose group does not fit. */
static int keep_groups(const struct lode_stream *stream, const char *const *where, uint8_t *threads)
{
	const char **paths = lode_stream_groups(stream);

	for (size_t i = 0; paths && i < stream->thread_count; i++)
		threads[i] &= (uint8_t)(lode_where_group_fits(where, paths[i]) != 0);
	lode_free(paths);
	return paths ? join_by_tid(stream, threads) : LODE_SYSTEM;
}

int lode_where_members(const struct lode_stream *stream, const char *const *where, uint8_t **threads)
{
	if (lode_where_threads(stream, where, threads) < 0)
		return LODE_SYSTEM;
	if (!lode_where_has_groups(where))
		return 0;
	if (!*threads) {
		*threads = lode_calloc(stream->thread_count + 1, 1);
		if (!*threads)
			return LODE_SYSTEM;
		memset(*threads, 1, stream->thread_count);
	}
	return keep_groups(stream, where, *threads);
}

size_t lode_where_symptoms(const uint8_t *threads, struct lode_symptom *symptoms, size_t count, int *parts)
{
	size_t kept = 0;

	*parts = 0;
	if (!threads)
		return count;
	for (size_t i = 0; i < count; i++)
		if (threads[symptoms[i].thread])
			symptoms[kept++] = symptoms[i];
	if (kept)
		return kept;
	*parts = 1;
	return count;
}

int lode_where_keep_threads(struct lode_stream *stream, const char *const *where)
{
	uint8_t *threads;

	if (lode_where_members(stream, where, &threads) < 0) {
		lode_free(threads);
		return LODE_SYSTEM;
	}
	for (int type = 0; threads && type < LODE_EVENT_TYPES; type++)
		lode_events_keep_threads(&stream->events[type], threads);
	lode_free(threads);
	return 0;
}
