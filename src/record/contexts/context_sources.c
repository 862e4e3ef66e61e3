/*
 * Sources of contexts: see context_sources.h.
 *
 * A file is known by its device and number, under any path. Those that were looked at lately are remembered in a table of
 * fixed size; those of interest, few, for good, so that none is probed twice. OpenTelemetry's variable is looked up in each
 * process that has such a file; the dynamic linker may not have come to it yet, so it is tried again for some seconds.
 */
#include "record/contexts/context_sources.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "process/languages/process_memory.h"
#include "process/thread_locals.h"
#include "record/load/command_path.h"
#include "record/load/uprobes.h"
#include "symbols/elf.h"
#include "symbols/mark_notes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEEN_BITS    12
#define MAX_FILES    512
#define MAX_MARKS    65536
#define MAX_PENDING  4096
#define RETRY_NS     10000000000u
#define OTEL_NAME    "otel_thread_ctx_v1"
#define QUERY_PLACES 4

struct file {
	uint64_t device;
	uint64_t number;
	int has_otel;
};

/* A process whose variable is not in place yet. */
struct pending {
	char *path;
	uint32_t pid;
	uint64_t start;
	uint64_t offset;
	uint64_t since;
};

struct lode_context_sources {
	struct lode_recorder *recorder;
	unsigned wanted;
	unsigned found; /* of them */
	const struct lode_processes *processes;
	struct lode_recorder_sink next;
	struct file seen[1 << SEEN_BITS];
	struct file *files;
	size_t file_count;
	size_t file_capacity;
	struct pending *pending;
	size_t pending_count;
	size_t pending_capacity;
	int *links;
	size_t link_count;
	size_t link_capacity;
	char **marks; /* names, by number */
	size_t mark_count;
	size_t mark_capacity;
	uint64_t failed; /* files that could not be probed, */
	struct lode_error why;
	uint64_t not_found; /* and processes whose variable was not found */
};

static const struct {
	const char *name;
	unsigned source;
	const char *missing;
} source_names[] = {
	{ "marks", LODE_CONTEXT_FROM_MARKS, "no program with marks of lode_mark.h ran" },
	{ "otel", LODE_CONTEXT_FROM_OTEL, "no program or library that exports " OTEL_NAME " ran" },
	{ "postgres", LODE_CONTEXT_FROM_POSTGRES, "no PostgreSQL server ran" },
	{ "mariadb", LODE_CONTEXT_FROM_MARIADB, "no MariaDB server ran" },
};

#define SOURCES (sizeof(source_names) / sizeof(*source_names))

int lode_context_sources_parse(const char *list, unsigned *wanted, struct lode_error *error)
{
	*wanted = 0;
	while (list && *list) {
		size_t length = strcspn(list, ","), i = 0;

		while (i < SOURCES &&
		       (strlen(source_names[i].name) != length || memcmp(list, source_names[i].name, length) != 0))
			i++;
		if (i == SOURCES)
			return lode_fail(error, LODE_USAGE,
					 "--context: '%.*s' is no source of contexts; there are marks, otel, "
					 "postgres and mariadb",
					 (int)length, list);
		*wanted |= source_names[i].source;
		list += length + (list[length] == ',');
	}
	return 0;
}

/* ---- probes ---- */

static void attach(struct lode_context_sources *sources, const char *path, const struct lode_uprobe_place *places,
		   size_t count)
{
	int link = lode_uprobes_attach(lode_recorder_context_program(sources->recorder), path, places, count, 0,
				       &sources->why);

	if (link >= 0 && LODE_APPEND(sources->links, sources->link_count, sources->link_capacity, link) < 0)
		close(link);
	else if (link < 0)
		sources->failed++;
}

/* The number of a mark's name, which is made known where it is new; 0: there are too many, or memory has run out. */
static uint32_t mark_number(struct lode_context_sources *sources, const char *name)
{
	struct lode_record_context named = { .kind = LODE_CONTEXT_NAME };
	char *copy;
	size_t i = 0;

	while (i < sources->mark_count && strcmp(sources->marks[i], name) != 0)
		i++;
	named.number = LODE_RECORD_CONTEXT_OWN | (uint32_t)i;
	if (i < sources->mark_count)
		return named.number;
	copy = i < MAX_MARKS ? lode_strdup(name) : NULL;
	if (!copy || LODE_APPEND(sources->marks, sources->mark_count, sources->mark_capacity, copy) < 0) {
		lode_free(copy);
		return 0;
	}
	named.size = (uint32_t)strnlen(name, sizeof(named.bytes) - 1);
	memcpy(named.bytes, name, named.size);
	return sources->next.named_context(sources->next.context, &named) < 0 ? 0 : named.number;
}

/* Returns whether there were any. */
static int attach_marks(struct lode_context_sources *sources, const char *path)
{
	struct lode_uprobe_place *places;
	struct lode_marks marks;
	size_t count = 0;

	if (!(sources->wanted & LODE_CONTEXT_FROM_MARKS) || lode_marks_read(&marks, path))
		return 0;
	places = marks.count ? lode_calloc(marks.count, sizeof(*places)) : NULL;
	for (size_t i = 0; places && i < marks.count; i++) {
		uint32_t number = mark_number(sources, marks.items[i].name);
		uint64_t action = marks.items[i].end ? LODE_CONTEXT_END_MARK : LODE_CONTEXT_BEGIN_MARK;

		if (number)
			places[count++] = (struct lode_uprobe_place){ marks.items[i].offset,
								      action | (uint64_t)number << 32 };
	}
	if (count)
		attach(sources, path, places, count);
	lode_free(places);
	lode_marks_release(&marks);
	return count != 0;
}

/* Functions that queries begin and end in; names in C++ are longer by their parameters. */
static const struct query_function {
	unsigned source;
	const char *name;
	int is_prefix;
	uint64_t cookie;
} query_functions[] = {
	/* (state, text): the text of the query, NULL when the backend is idle again. */
	{ LODE_CONTEXT_FROM_POSTGRES, "pgstat_report_activity", 0, LODE_CONTEXT_COOKIE(LODE_CONTEXT_SET, 1) },
	/* (command, thd, packet, length, …), and what waits for the next command. */
	{ LODE_CONTEXT_FROM_MARIADB, "_Z16dispatch_command19enum_server_commandP3THDPc", 1,
	  LODE_CONTEXT_COOKIE(LODE_CONTEXT_SET_OF_COMMAND, 2) },
	{ LODE_CONTEXT_FROM_MARIADB, "_Z10do_commandP3THD", 1, LODE_CONTEXT_COOKIE(LODE_CONTEXT_CLEAR, 0) },
};

struct query_search {
	const struct lode_context_sources *sources;
	const struct lode_elf *elf;
	struct lode_uprobe_place places[QUERY_PLACES];
	size_t count;
	unsigned found;
};

static int look_at_export(void *context, const char *name, const GElf_Sym *symbol)
{
	struct query_search *search = context;

	for (size_t i = 0; i < sizeof(query_functions) / sizeof(*query_functions); i++) {
		const struct query_function *function = &query_functions[i];
		struct lode_uprobe_place place = { 0, function->cookie };

		if (!(search->sources->wanted & function->source) ||
		    (function->is_prefix ? strncmp(name, function->name, strlen(function->name))
					 : strcmp(name, function->name)) ||
		    search->count == QUERY_PLACES ||
		    !lode_elf_offset_of(search->elf, symbol->st_value, &place.offset))
			continue;
		search->places[search->count++] = place;
		search->found |= function->source;
	}
	return 0;
}

static unsigned attach_queries(struct lode_context_sources *sources, const char *path)
{
	struct query_search search = { .sources = sources };
	struct lode_elf elf;

	if (!(sources->wanted & (LODE_CONTEXT_FROM_POSTGRES | LODE_CONTEXT_FROM_MARIADB)) ||
	    lode_elf_open(&elf, path))
		return 0;
	search.elf = &elf;
	lode_elf_each_export(&elf, look_at_export, &search);
	lode_elf_close(&elf);
	if (search.count)
		attach(sources, path, search.places, search.count);
	return search.found;
}

/* ---- OpenTelemetry ---- */

static enum lode_thread_local_state look_up(struct lode_context_sources *sources, const struct pending *pending)
{
	struct lode_thread_local_request request = {
		.pid = pending->pid,
		.path = pending->path,
		.name = OTEL_NAME,
		.start = pending->start,
		.offset = pending->offset,
	};
	struct lode_thread_local found;
	enum lode_thread_local_state state = lode_thread_local_find(&lode_live_memory, &request, &found);

	if (state == LODE_THREAD_LOCAL_FOUND)
		lode_recorder_set_context_process(sources->recorder, pending->pid,
						  &(struct lode_context_process){ .offset = found.offset,
										  .module = found.module });
	return state;
}

/* A process has a file that exports the variable. Takes ownership of `pending`'s path. */
static int begin_otel(struct lode_context_sources *sources, struct pending pending)
{
	enum lode_thread_local_state state = look_up(sources, &pending);

	sources->not_found += state == LODE_THREAD_LOCAL_NONE;
	if (state == LODE_THREAD_LOCAL_LATER && sources->pending_count < MAX_PENDING) {
		pending.since = lode_now();
		if (LODE_APPEND(sources->pending, sources->pending_count, sources->pending_capacity, pending) == 0)
			return 0;
		lode_free(pending.path);
		return LODE_SYSTEM;
	}
	lode_free(pending.path);
	return 0;
}

void lode_context_sources_retry(struct lode_context_sources *sources)
{
	size_t kept = 0;

	if (!sources)
		return;
	for (size_t i = 0; i < sources->pending_count; i++) {
		struct pending *pending = &sources->pending[i];

		if (look_up(sources, pending) == LODE_THREAD_LOCAL_LATER && lode_now() - pending->since < RETRY_NS)
			sources->pending[kept++] = *pending;
		else
			lode_free(pending->path);
	}
	sources->pending_count = kept;
}

/* ---- files ---- */

static int is_same(const struct file *a, const struct file *b)
{
	return a->device == b->device && a->number == b->number;
}

/* A file that is of interest, or NULL; `*is_new`: it was not looked at. If so it counts as looked at now. */
static const struct file *find_file(struct lode_context_sources *sources, const struct file *file, int *is_new)
{
	uint64_t hash = lode_hash_more(lode_hash_u64(file->number), file->device);
	struct file *place = &sources->seen[hash >> (64 - SEEN_BITS)];

	*is_new = 0;
	for (size_t i = 0; i < sources->file_count; i++)
		if (is_same(&sources->files[i], file))
			return &sources->files[i];
	*is_new = !is_same(place, file);
	*place = *file;
	return NULL;
}

static int look_into(struct lode_context_sources *sources, const char *path, struct file *file)
{
	unsigned found = attach_queries(sources, path);

	if (attach_marks(sources, path))
		found |= LODE_CONTEXT_FROM_MARKS;
	file->has_otel = sources->wanted & LODE_CONTEXT_FROM_OTEL && lode_thread_local_exists(path, OTEL_NAME);
	if (file->has_otel)
		found |= LODE_CONTEXT_FROM_OTEL;
	sources->found |= found;
	if (!found || sources->file_count >= MAX_FILES)
		return 0;
	return LODE_APPEND(sources->files, sources->file_count, sources->file_capacity, *file);
}

/* The file at `path`, of which process `pid` (0: none yet) has mapped what is at `offset`. Takes ownership of the path. */
static int look_at(struct lode_context_sources *sources, char *path, uint32_t pid, uint64_t start, uint64_t offset)
{
	const struct file *known;
	struct stat status;
	struct file file;
	int is_new, code = 0;

	if (!path)
		return LODE_SYSTEM;
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
		lode_free(path);
		return 0;
	}
	file = (struct file){ status.st_dev, status.st_ino, 0 };
	known = find_file(sources, &file, &is_new);
	if (is_new)
		code = look_into(sources, path, &file);
	if (!code && pid && (known ? known->has_otel : file.has_otel))
		return begin_otel(sources, (struct pending){ path, pid, start, offset, 0 });
	lode_free(path);
	return code;
}

struct visit {
	struct lode_context_sources *sources;
	uint32_t pid;
};

static int look_at_mapping(void *context, const struct lode_mapping *mapping)
{
	struct visit *visit = context;
	const struct lode_process_image *image = &visit->sources->processes->images->items[mapping->image];

	if (image->kind != LODE_MAPPED_FILE)
		return 0;
	return look_at(visit->sources, lode_process_image_path(image, visit->pid), visit->pid, mapping->start,
		       mapping->offset);
}

int lode_context_sources_look(struct lode_context_sources *sources)
{
	const struct lode_processes *processes = sources->processes;
	int code = 0;

	for (size_t i = 0; !code && i < processes->count; i++) {
		struct visit visit = { sources, processes->items[i].pid };

		code = lode_space_walk(&processes->spaces, &processes->items[i].space, look_at_mapping, &visit);
	}
	return code;
}

int lode_context_sources_command(struct lode_context_sources *sources, const char *command)
{
	char *path = lode_command_path(command, strlen(command));

	return path ? look_at(sources, path, 0, 0, 0) : 0;
}

/* ---- the sink ---- */

static int handle_change(void *context, const struct lode_change *change)
{
	struct lode_context_sources *sources = context;

	if (lode_change_maps_file(change) &&
	    look_at(sources, lode_change_path(change), change->pid, change->start, change->offset) < 0)
		return LODE_SYSTEM;
	return sources->next.change(sources->next.context, change);
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_context_sources *sources = context;

	return sources->next.stack(sources->next.context, stack);
}

static int handle_record(void *context, const struct lode_record *record)
{
	struct lode_context_sources *sources = context;

	return sources->next.record(sources->next.context, record);
}

static int handle_context(void *context, const struct lode_record_context *named)
{
	struct lode_context_sources *sources = context;

	return sources->next.named_context(sources->next.context, named);
}

struct lode_recorder_sink lode_context_sources_sink(struct lode_context_sources *sources)
{
	return (struct lode_recorder_sink){ sources, handle_stack, handle_change, handle_record, handle_context };
}

/* ---- all of it ---- */

int lode_context_sources_create(struct lode_context_sources **result, struct lode_recorder *recorder,
				unsigned wanted, const struct lode_processes *processes,
				const struct lode_recorder_sink *next, struct lode_error *error)
{
	struct lode_context_sources *sources = lode_calloc(1, sizeof(*sources));

	*result = sources;
	if (!sources)
		return lode_fail_memory(error);
	sources->recorder = recorder;
	sources->wanted = wanted;
	sources->processes = processes;
	sources->next = *next;
	return wanted & LODE_CONTEXT_FROM_PROBES ? lode_uprobes_possible(error) : 0;
}

void lode_context_sources_destroy(struct lode_context_sources *sources)
{
	if (!sources)
		return;
	for (size_t i = 0; i < sources->link_count; i++)
		close(sources->links[i]);
	for (size_t i = 0; i < sources->pending_count; i++)
		lode_free(sources->pending[i].path);
	for (size_t i = 0; i < sources->mark_count; i++)
		lode_free(sources->marks[i]);
	lode_free(sources->links);
	lode_free(sources->pending);
	lode_free(sources->marks);
	lode_free(sources->files);
	lode_free(sources);
}

void lode_context_sources_note(const struct lode_context_sources *sources, struct lode_notes *notes)
{
	if (!sources)
		return;
	lode_notes_add(notes, sources->failed, "files that could not be probed for contexts",
		       *sources->why.text ? sources->why.text : NULL);
	lode_notes_add(notes, sources->not_found + sources->pending_count,
		       "processes whose OpenTelemetry context was not found: the dynamic linker has not placed it",
		       NULL);
	for (size_t i = 0; i < SOURCES; i++)
		if (sources->wanted & ~sources->found & source_names[i].source)
			lode_notes_add(notes, 1, "sources of contexts that were not found",
				       source_names[i].missing);
}
