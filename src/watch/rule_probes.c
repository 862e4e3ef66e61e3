/*
 * Probes of rules: see probes.h.
 *
 * A file is known by its device and number, under any path. Those that
 * were looked at lately are remembered in a table of fixed size; a file that it
 * has forgotten is looked at again. Those with marks, few, are remembered for good,
 * so that none is probed twice.
 */
#include "watch/rule_probes.h"

#include "base/hash.h"
#include "base/memory.h"
#include "record/load/command_path.h"
#include "record/load/uprobes.h"
#include "symbols/code.h"
#include "symbols/mark_notes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEEN_BITS   12
#define FILES_LIMIT 512

struct file {
	uint64_t device;
	uint64_t number;
};

struct lode_rule_probes {
	struct lode_recorder *recorder;
	const struct lode_record_rule *rules;
	size_t rule_count;
	const struct lode_processes *processes;
	int has_marks; /* some rule is about marks */
	struct file seen[1 << SEEN_BITS];
	struct file *attached; /* with marks that rules are about */
	size_t attached_count;
	size_t attached_capacity;
	int *links;
	size_t link_count;
	size_t link_capacity;
	struct lode_recorder_sink next;
	uint64_t failed; /* files whose marks could not be attached */
	struct lode_error why;
};

/* ---- attaching ---- */

struct places {
	struct lode_uprobe_place *items;
	size_t count;
	size_t capacity;
};

static int add_place(struct places *places, uint64_t offset, uint64_t cookie)
{
	return LODE_APPEND(places->items, places->count, places->capacity,
			   (struct lode_uprobe_place){ offset, cookie });
}

static int attach(struct lode_rule_probes *probes, int end, const char *path, const struct places *places,
		  struct lode_error *error)
{
	int link;

	if (!places->count)
		return 0;
	if (lode_grow(&probes->links, &probes->link_capacity, probes->link_count + 1, sizeof(*probes->links)) < 0)
		return lode_fail_memory(error);
	link = lode_uprobes_attach(lode_recorder_span_program(probes->recorder, end), path, places->items,
				   places->count, 0, error);
	if (link < 0)
		return link;
	probes->links[probes->link_count++] = link;
	return 0;
}

/* The ends first, so that nothing begins whose end is not seen. */
static int attach_both(struct lode_rule_probes *probes, const char *path, const struct places *begins,
		       const struct places *ends, struct lode_error *error)
{
	int code = attach(probes, 1, path, ends, error);

	return code ? code : attach(probes, 0, path, begins, error);
}

/* ---- functions ---- */

/* A file that some process has mapped and that is called so; for the caller to free. */
static char *find_mapped(const struct lode_processes *processes, const char *name, size_t length)
{
	for (size_t i = 0; processes && i < processes->images->count; i++) {
		const struct lode_process_image *image = &processes->images->items[i];
		size_t size = lode_mapped_length(image->path);

		if (image->kind == LODE_MAPPED_FILE && size > length && image->path[size - length - 1] == '/' &&
		    !memcmp(image->path + size - length, name, length))
			return lode_process_image_path(image, image->pid);
	}
	return NULL;
}

static char *find_binary(const struct lode_rule_probes *probes, const struct lode_record_rule *rule)
{
	char *path;

	if (memchr(rule->binary, '/', rule->binary_length))
		return lode_command_path(rule->binary, rule->binary_length);
	path = find_mapped(probes->processes, rule->binary, rule->binary_length);
	return path ? path : lode_command_path(rule->binary, rule->binary_length);
}

static int fail_function(const struct lode_record_rule *rule, const char *path, const char *sentence,
			 struct lode_error *error)
{
	return lode_fail(error, LODE_USAGE, "%s: function '%.*s' %s", path, (int)rule->length, rule->name,
			 sentence);
}

static int attach_code(struct lode_rule_probes *probes, const struct lode_record_rule *rule, const char *path,
		       const struct lode_code *code, const struct lode_code_function *function,
		       struct lode_error *error)
{
	struct places begins = { 0 }, ends = { 0 };
	int failed = 0, result;

	for (uint32_t i = 0; i < function->entry_count; i++)
		failed |= add_place(&begins, code->offsets[function->first_entry + i], rule->number);
	for (uint32_t i = 0; i < function->end_count; i++)
		failed |= add_place(&ends, code->offsets[function->first_end + i], rule->number);
	result = failed ? lode_fail_memory(error) : attach_both(probes, path, &begins, &ends, error);
	lode_free(begins.items);
	lode_free(ends.items);
	return result;
}

static int attach_named(struct lode_rule_probes *probes, const struct lode_record_rule *rule, const char *path,
			const struct lode_code *code, struct lode_error *error)
{
	char *name = lode_strndup(rule->name, rule->length);
	uint32_t number = name ? lode_code_named(code, name) : LODE_NONE;

	if (!name)
		return lode_fail_memory(error);
	lode_free(name);
	if (number == LODE_NONE)
		return fail_function(rule, path, "was not found; it may be inlined, or the file stripped", error);
	if (code->undecoded)
		return lode_fail(error, LODE_USAGE, "%s: function '%.*s' cannot be probed: %s", path,
				 (int)rule->length, rule->name, code->undecoded);
	if (code->functions[number].unknown_ends)
		return fail_function(rule, path,
				     "has code that cannot be read, so its end is not known; choose a caller",
				     error);
	if (!code->functions[number].end_count)
		return fail_function(rule, path, "never returns", error);
	return attach_code(probes, rule, path, code, &code->functions[number], error);
}

static int attach_function(struct lode_rule_probes *probes, const struct lode_record_rule *rule,
			   struct lode_error *error)
{
	char *path = find_binary(probes, rule);
	struct lode_code code;
	int result;

	if (!path)
		return lode_fail(error, LODE_USAGE,
				 "'%s': there is no command and no mapped file called '%.*s'; write its path",
				 rule->text, (int)rule->binary_length, rule->binary);
	result = lode_code_read(&code, path, error);
	if (!result) {
		result = attach_named(probes, rule, path, &code, error);
		lode_code_release(&code);
	}
	lode_free(path);
	return result;
}

/* ---- marks ---- */

static int is_same(const struct file *a, const struct file *b)
{
	return a->device == b->device && a->number == b->number;
}

/* Whether the file was looked at; if not, it counts as looked at now. */
static int was_seen(struct lode_rule_probes *probes, const struct file *file)
{
	uint64_t hash = lode_hash_more(lode_hash_u64(file->number), file->device);
	struct file *place = &probes->seen[hash >> (64 - SEEN_BITS)];

	if (is_same(place, file))
		return 1;
	*place = *file;
	for (size_t i = 0; i < probes->attached_count; i++)
		if (is_same(&probes->attached[i], file))
			return 1;
	return 0;
}

static int is_about(const struct lode_record_rule *rule, const struct lode_mark *mark)
{
	return rule->type == LODE_RULE_MARK && strlen(mark->name) == rule->length &&
	       !memcmp(mark->name, rule->name, rule->length);
}

static int collect_marks(const struct lode_rule_probes *probes, const struct lode_marks *marks,
			 struct places *begins, struct places *ends)
{
	for (size_t i = 0; i < marks->count; i++)
		for (size_t j = 0; j < probes->rule_count; j++)
			if (is_about(&probes->rules[j], &marks->items[i]) &&
			    add_place(marks->items[i].end ? ends : begins, marks->items[i].offset,
				      probes->rules[j].number | LODE_RECORD_SPAN_MARK) < 0)
				return LODE_SYSTEM;
	return 0;
}

/* Counts what cannot be attached: one unusual file must not end a recording. */
static int attach_marks(struct lode_rule_probes *probes, const struct file *file, const char *path)
{
	struct places begins = { 0 }, ends = { 0 };
	struct lode_marks marks;
	int code = lode_marks_read(&marks, path);

	if (code)
		return code;
	code = collect_marks(probes, &marks, &begins, &ends);
	if (!code && begins.count) {
		code = lode_grow(&probes->attached, &probes->attached_capacity, probes->attached_count + 1,
				 sizeof(*probes->attached));
		if (!code)
			probes->attached[probes->attached_count++] = *file;
		if (!code && (probes->attached_count > FILES_LIMIT ||
			      attach_both(probes, path, &begins, &ends, &probes->why) < 0))
			probes->failed++;
	}
	lode_free(begins.items);
	lode_free(ends.items);
	lode_marks_release(&marks);
	return code;
}

static int look_at(struct lode_rule_probes *probes, const char *path)
{
	struct stat status;
	struct file file;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	file = (struct file){ status.st_dev, status.st_ino };
	return was_seen(probes, &file) ? 0 : attach_marks(probes, &file, path);
}

int lode_rule_probes_command(struct lode_rule_probes *probes, const char *command)
{
	char *path;
	int code = 0;

	if (!probes->has_marks)
		return 0;
	path = lode_command_path(command, strlen(command));
	if (path)
		code = look_at(probes, path);
	lode_free(path);
	return code;
}

int lode_rule_probes_look(struct lode_rule_probes *probes)
{
	int code = 0;

	for (size_t i = 0; !code && probes->has_marks && i < probes->processes->images->count; i++) {
		const struct lode_process_image *image = &probes->processes->images->items[i];
		char *path = image->kind == LODE_MAPPED_FILE ? lode_process_image_path(image, image->pid) : NULL;

		if (path)
			code = look_at(probes, path);
		lode_free(path);
	}
	return code;
}

/* ---- the sink ---- */

static int handle_change(void *context, const struct lode_change *change)
{
	struct lode_rule_probes *probes = context;

	if (probes->has_marks && lode_change_maps_file(change)) {
		char *path = lode_change_path(change);
		int code = path ? look_at(probes, path) : LODE_SYSTEM;

		lode_free(path);
		if (code)
			return code;
	}
	return probes->next.change(probes->next.context, change);
}

static int handle_stack(void *context, const struct lode_record_stack *stack)
{
	struct lode_rule_probes *probes = context;

	return probes->next.stack(probes->next.context, stack);
}

static int handle_record(void *context, const struct lode_record *record)
{
	struct lode_rule_probes *probes = context;

	return probes->next.record(probes->next.context, record);
}

static int handle_context(void *context, const struct lode_record_context *named)
{
	struct lode_rule_probes *probes = context;

	return probes->next.named_context ? probes->next.named_context(probes->next.context, named) : 0;
}

struct lode_recorder_sink lode_rule_probes_sink(struct lode_rule_probes *probes,
						const struct lode_recorder_sink *next)
{
	if (!probes->has_marks)
		return *next; /* nothing to look for */
	probes->next = *next;
	return (struct lode_recorder_sink){ probes, handle_stack, handle_change, handle_record, handle_context };
}

/* ---- all of it ---- */

int lode_rule_probes_create(struct lode_rule_probes **result, struct lode_recorder *recorder,
			    const struct lode_record_rule *rules, size_t count,
			    const struct lode_processes *processes, struct lode_error *error)
{
	struct lode_rule_probes *probes = lode_calloc(1, sizeof(*probes));
	int code = 0;

	*result = probes;
	if (!probes)
		return lode_fail_memory(error);
	probes->recorder = recorder;
	probes->rules = rules;
	probes->rule_count = count;
	probes->processes = processes;
	for (size_t i = 0; !code && i < count; i++) {
		if (rules[i].type == LODE_RULE_MARK && !probes->has_marks) {
			probes->has_marks = 1;
			code = lode_uprobes_possible(error);
		}
		if (rules[i].type == LODE_RULE_FUNCTION)
			code = attach_function(probes, &rules[i], error);
	}
	return code;
}

void lode_rule_probes_destroy(struct lode_rule_probes *probes)
{
	if (!probes)
		return;
	for (size_t i = 0; i < probes->link_count; i++)
		close(probes->links[i]);
	lode_free(probes->links);
	lode_free(probes->attached);
	lode_free(probes);
}

void lode_rule_probes_note(const struct lode_rule_probes *probes, struct lode_notes *notes)
{
	lode_notes_add(notes, probes->failed, "files whose marks could not be attached",
		       *probes->why.text ? probes->why.text : NULL);
}
