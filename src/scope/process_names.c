/* Names of processes: see process_names.h. */
#include "scope/process_names.h"

#include "base/starts_with.h"
#include "scope/scope_index.h"

#include <stdlib.h>
#include <string.h>

/* If the attribute says what a process was started as, that is its name. */
static void name_command(const struct lode_stream *stream, const struct lode_attribute *attribute,
			 const uint32_t *processes, uint32_t *names)
{
	const char *key = lode_strings_get(&stream->dictionary->frames.strings, attribute->key);
	unsigned long pid;

	if (!lode_starts_with(key, LODE_COMMAND))
		return;
	pid = strtoul(key + strlen(LODE_COMMAND), NULL, 10);
	for (size_t i = 0; i < stream->thread_count; i++)
		if (pid && stream->threads[i].pid == pid && pid != LODE_NO_PID) {
			names[processes[i]] = attribute->value;
			return;
		}
}

/* What the service of a stream is called; 0: it does not say. */
static uint32_t service_name(const struct lode_stream *stream)
{
	for (size_t i = 0; i < stream->attribute_count; i++)
		if (!strcmp(lode_strings_get(&stream->dictionary->frames.strings, stream->attributes[i].key),
			    "service.name"))
			return stream->attributes[i].value;
	return 0;
}

uint32_t *lode_process_names(const struct lode_stream *stream)
{
	size_t count = stream->thread_count, distinct;
	uint32_t service = service_name(stream);
	uint32_t *processes = lode_calloc(count + 1, sizeof(*processes));
	uint32_t *names = lode_calloc(count + 1, sizeof(*names));
	int failed = !processes || !names;

	for (size_t i = 0; !failed && i < count; i++)
		processes[i] = stream->threads[i].pid;
	failed = failed || lode_number_keys(processes, count, &distinct) < 0;
	for (size_t i = 0; !failed && i < count; i++) {
		const struct lode_thread *thread = &stream->threads[i];
		uint32_t *name = &names[processes[i]];

		if (thread->pid != LODE_NO_PID && thread->name && (!*name || thread->tid == thread->pid))
			*name = thread->name;
	}
	for (size_t i = 0; !failed && i < stream->attribute_count; i++)
		name_command(stream, &stream->attributes[i], processes, names);
	for (size_t i = 0; !failed && i < count; i++) {
		uint32_t name = stream->threads[i].pid == LODE_NO_PID ? stream->threads[i].name
								      : names[processes[i]];

		processes[i] = name ? name : service;
	}
	lode_free(names);
	if (!failed)
		return processes;
	lode_free(processes);
	return NULL;
}
