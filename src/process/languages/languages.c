/*
 * Languages: see languages.h.
 *
 * Binaries are looked at once. Names are kept in language_names.h.
 */
#include "process/languages/languages.h"

#include "process/languages/language.h"
#include "process/languages/language_names.h"

#include <stdio.h>
#include <string.h>

/* A file that was looked at, and what it says. */
struct file {
	char *path;
	char *build_id;
	uint64_t mounts;
	uint64_t offset; /* of the segment with the runtime's code, and its address */
	uint64_t address;
	struct lode_language_binary binary;
};

struct lode_languages {
	unsigned wanted;
	struct lode_process_memory memory;
	int checks; /* the processes are those of this machine */
	int wants_lines;
	struct file **files;
	size_t file_count;
	size_t file_capacity;
	struct lode_language_runtime *runtimes; /* one of each pid; without a binary: it is not supported */
	size_t runtime_count;
	size_t runtime_capacity;
	struct lode_index runtime_index;
	struct lode_language_names names;
	uint64_t unreadable;
	uint64_t lineless;              /* places in functions */
	uint64_t unnamed;               /* beyond the limit */
	uint64_t refused;               /* times that the memory of a process may not be read, */
	uint64_t unfit[LODE_LANGUAGES]; /* and that a process was not what its binary says */
	uint64_t unsupported;           /* processes */
	const struct lode_language_binary *unsupported_binary; /* of one of them */
};

struct lode_languages *lode_languages_create(unsigned wanted, const struct lode_process_memory *memory)
{
	struct lode_languages *languages = lode_calloc(1, sizeof(*languages));

	if (!languages)
		return NULL;
	languages->wanted = wanted;
	languages->memory = *memory;
	languages->checks = memory->read == lode_live_memory.read;
	languages->names.limit = LODE_LANGUAGE_NAMES_LIMIT;
	return languages;
}

void lode_languages_want_lines(struct lode_languages *languages)
{
	languages->wants_lines = 1;
}

static void free_file(struct file *file)
{
	if (!file)
		return;
	lode_free(file->path);
	lode_free(file->build_id);
	lode_free(file->binary.data);
	lode_free(file);
}

void lode_languages_destroy(struct lode_languages *languages)
{
	if (!languages)
		return;
	for (size_t i = 0; i < languages->file_count; i++)
		free_file(languages->files[i]);
	lode_free(languages->files);
	for (size_t i = 0; i < languages->runtime_count; i++)
		lode_free(languages->runtimes[i].data);
	lode_free(languages->runtimes);
	lode_index_release(&languages->runtime_index);
	lode_language_names_release(&languages->names);
	lode_free(languages);
}

/* ---- binaries ---- */

static int has_part(const char *name, size_t length, const char *part)
{
	return memmem(name, length, part, strlen(part)) != NULL;
}

/* The language that a mapped file may have, by its name: opening every file that any process maps would take long. */
static const struct lode_language_kind *suspected_kind(const struct lode_languages *languages,
						       const struct lode_process_image *image)
{
	const char *name;
	size_t length;

	if (image->kind != LODE_MAPPED_FILE)
		return NULL;
	lode_mapped_name(image->path, &name, &length);
	for (int i = LODE_LANGUAGE_NONE + 1; i < LODE_LANGUAGES; i++)
		if (languages->wanted & LODE_LANGUAGE_BIT(i) &&
		    has_part(name, length, lode_language_kinds[i]->file) &&
		    !has_part(name, length, lode_language_kinds[i]->not_file))
			return lode_language_kinds[i];
	return NULL;
}

static struct file *find_file(const struct lode_languages *languages, const struct lode_process_image *image)
{
	for (size_t i = 0; i < languages->file_count; i++) {
		struct file *file = languages->files[i];

		if (file->mounts == image->mounts && !strcmp(file->path, image->path) &&
		    !strcmp(file->build_id, image->build_id))
			return file;
	}
	return NULL;
}

/* The segment that holds the runtime's code. */
static void find_segment(struct file *file, const struct lode_elf *elf)
{
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && gelf_getphdr(elf->elf, (int)i, &header); i++) {
		if (header.p_type != PT_LOAD || file->binary.code - header.p_vaddr >= header.p_filesz)
			continue;
		file->offset = header.p_offset;
		file->address = header.p_vaddr;
	}
}

static int read_file(struct file *file, const struct lode_language_kind *kind, int fd)
{
	struct lode_elf elf;
	char link[40];
	int code;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (lode_elf_open(&elf, link) < 0)
		return 0;
	file->binary.kind = kind;
	code = kind->read(&file->binary, &elf);
	if (code <= 0)
		file->binary.kind = NULL;
	else
		find_segment(file, &elf);
	lode_elf_close(&elf);
	return code < 0 ? code : 0;
}

static struct file *add_file(struct lode_languages *languages, const struct lode_process_image *image)
{
	struct file *file = lode_calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->mounts = image->mounts;
	file->path = lode_strdup(image->path);
	file->build_id = lode_strdup(image->build_id);
	if (file->path && file->build_id &&
	    LODE_APPEND(languages->files, languages->file_count, languages->file_capacity, file) == 0)
		return file;
	free_file(file);
	return NULL;
}

/* What a mapped file says, read if it is new; NULL when memory has run out. */
static const struct file *get_file(struct lode_languages *languages, struct lode_process_images *images,
				   uint32_t number, const struct lode_language_kind *kind)
{
	struct lode_process_image *image = &images->items[number];
	struct file *file = find_file(languages, image);
	int was_open = image->fd >= 0, code = 0;

	if (file)
		return file;
	file = add_file(languages, image);
	if (!file)
		return NULL;
	lode_process_image_open(images, number);
	if (image->fd >= 0)
		code = read_file(file, kind, image->fd);
	if (!was_open)
		lode_process_image_close(image);
	return code < 0 ? NULL : file;
}

/* ---- processes ---- */

static struct lode_language_runtime *find_runtime(const struct lode_languages *languages, uint32_t pid)
{
	uint32_t found = LODE_INDEX_FIND(i, &languages->runtime_index, lode_hash_pair(3, pid),
					 languages->runtimes[i].pid == pid);

	return found == LODE_NONE ? NULL : &languages->runtimes[found];
}

int lode_languages_knows(const struct lode_languages *languages, uint32_t pid)
{
	return find_runtime(languages, pid) != NULL;
}

static int enter_runtime(struct lode_languages *languages, const struct lode_language_runtime *runtime)
{
	struct lode_language_runtime *known = find_runtime(languages, runtime->pid);

	if (known) {
		lode_free(known->data);
		*known = *runtime;
		return 0;
	}
	return LODE_INDEX_APPEND(&languages->runtime_index, lode_hash_pair(3, runtime->pid), languages->runtimes,
				 languages->runtime_count, languages->runtime_capacity, *runtime);
}

struct search {
	struct lode_languages *languages;
	const struct lode_processes *processes;
	const struct file *file;
	uint64_t bias;
};

/* Returns 1 when the mapping holds the code of a runtime. */
static int look_at_mapping(void *context, const struct lode_mapping *mapping)
{
	struct search *search = context;
	struct lode_process_images *images = search->processes->images;
	const struct lode_language_kind *kind = suspected_kind(search->languages, &images->items[mapping->image]);
	const struct file *file;
	uint64_t at;

	if (!kind)
		return 0;
	file = get_file(search->languages, images, mapping->image, kind);
	if (!file)
		return LODE_SYSTEM;
	if (!file->binary.kind)
		return 0;
	search->file = file;
	if (!file->binary.is_supported)
		return 0;
	search->bias = mapping->start - mapping->offset + file->offset - file->address;
	at = file->binary.code + search->bias;
	return at >= mapping->start && at < mapping->end;
}

static void note_unsupported(struct lode_languages *languages, const struct file *file, uint32_t pid)
{
	struct lode_language_runtime runtime = { .pid = pid };

	if (!file || file->binary.is_supported || find_runtime(languages, pid))
		return;
	languages->unsupported++;
	languages->unsupported_binary = &file->binary;
	enter_runtime(languages, &runtime); /* counted once; if memory has run out, twice */
}

/* Returns 1, 0 or LODE_LANGUAGES_LATER. */
static int is_fit(struct lode_languages *languages, struct lode_language_runtime *runtime)
{
	enum lode_language_fit fit = languages->checks ? runtime->binary->kind->check(&languages->memory, runtime)
						       : LODE_LANGUAGE_FITS;

	languages->refused += fit == LODE_LANGUAGE_REFUSED;
	languages->unfit[runtime->binary->kind->language] += fit == LODE_LANGUAGE_UNFIT;
	return fit == LODE_LANGUAGE_EARLY ? LODE_LANGUAGES_LATER : fit == LODE_LANGUAGE_FITS;
}

int lode_languages_detect(struct lode_languages *languages, const struct lode_processes *processes,
			  const struct lode_process *process, struct lode_language_process *found)
{
	struct search search = { languages, processes, NULL, 0 };
	struct lode_language_runtime runtime;
	int code = languages->wanted
			   ? lode_space_walk(&processes->spaces, &process->space, look_at_mapping, &search)
			   : 0;

	if (code <= 0) {
		note_unsupported(languages, search.file, process->pid);
		return code;
	}
	runtime = (struct lode_language_runtime){ .binary = &search.file->binary,
						  .bias = search.bias,
						  .pid = process->pid,
						  .wants_lines = languages->wants_lines };
	code = is_fit(languages, &runtime);
	if (code != 1)
		return code;
	memset(found, 0, sizeof(*found));
	found->language = runtime.binary->kind->language;
	runtime.binary->kind->describe(&runtime, found);
	if (languages->wants_lines && runtime.binary->kind->describe_positions)
		runtime.binary->kind->describe_positions(&runtime, found);
	if (enter_runtime(languages, &runtime) < 0) {
		lode_free(runtime.data);
		return LODE_SYSTEM;
	}
	return 1;
}

int lode_languages_leave(const struct lode_languages *languages, uint32_t pid,
			 const struct lode_language_stack *stack, struct lode_unwind_state *state, uint64_t *word,
			 uint64_t *position)
{
	const struct lode_language_runtime *runtime = find_runtime(languages, pid);

	if (!runtime || !runtime->binary || !runtime->binary->kind->leave)
		return LODE_LANGUAGE_NOT_ITS_CODE;
	return runtime->binary->kind->leave(&languages->memory, runtime, stack, state, word, position);
}

int lode_languages_runs_code(const struct lode_languages *languages, uint32_t pid, uint64_t address)
{
	const struct lode_language_runtime *runtime = languages ? find_runtime(languages, pid) : NULL;

	return !runtime || !runtime->binary || !runtime->binary->kind->runs_code ||
	       runtime->binary->kind->runs_code(runtime, address);
}

/* ---- names ---- */

const struct lode_language_name *lode_languages_find(const struct lode_languages *languages, uint32_t pid,
						     uint64_t word, uint64_t position)
{
	return lode_language_names_find(&languages->names, pid, word, position);
}

/*
 * Reads a name and adds it, or sets that of `known`, if it is not NULL. Returns 1, 0 when it cannot be read, or
 * LODE_SYSTEM.
 */
static int read_name(struct lode_languages *languages, struct lode_language_name *name,
		     const struct lode_language_name *known)
{
	const struct lode_language_runtime *runtime = find_runtime(languages, name->pid);
	struct lode_buffer path = { 0 }, function = { 0 };
	struct lode_language_facts facts = { 0 };
	int code = 0;

	if (runtime && runtime->binary)
		code = runtime->binary->kind->read_name(&languages->memory, runtime, name->word, &path, &function,
							&facts);
	name->line = facts.line;
	name->is_coroutine = (uint32_t)facts.is_coroutine;
	if (path.failed || function.failed)
		code = LODE_SYSTEM;
	else if (code && known)
		code = lode_language_names_set(&languages->names, known, name, &path, &function) < 0 ? LODE_SYSTEM
												     : 1;
	else if (code)
		code = lode_language_names_add(&languages->names, name, &path, &function) < 0 ? LODE_SYSTEM : 1;
	lode_buffer_release(&path);
	lode_buffer_release(&function);
	return code;
}

/* Makes room for one more. Returns 1, 0 when there are too many, or LODE_SYSTEM. */
static int has_room(struct lode_languages *languages)
{
	if (languages->names.count >= languages->names.limit && lode_language_names_drop_gone(&languages->names) < 0)
		return LODE_SYSTEM;
	if (languages->names.count < 4 * LODE_LANGUAGE_NAMES_LIMIT)
		return 1;
	languages->unnamed++;
	return 0;
}

/* How often a name that could not be read is tried again. */
#define MAX_TRIES 8

/*
 * A function that comes back (a closure, the code of a file that is read for each request) often has its old address, and the word says
 * whether it is the same: so what was gone when its first stack arrived, while the recorder was busy, may be read later.
 */
static int learn_again(struct lode_languages *languages, const struct lode_language_name *known)
{
	struct lode_language_name name = *known;
	int code;

	if (*known->path || name.tries >= MAX_TRIES || strcmp(known->function, LODE_LANGUAGE_UNREADABLE) != 0)
		return 0;
	languages->names.items[known - languages->names.items].tries++;
	code = read_name(languages, &name, known);
	languages->unreadable -= code > 0 && languages->unreadable > 0;
	return code < 0 ? code : !code;
}

static int learn_function(struct lode_languages *languages, uint32_t pid, uint64_t word)
{
	struct lode_language_name name = { .word = word, .pid = pid };
	const struct lode_language_name *known = lode_languages_find(languages, pid, word, 0);
	int code = known ? learn_again(languages, known) : has_room(languages);

	if (code <= 0 || known)
		return code;
	code = read_name(languages, &name, NULL);
	if (!code)
		code = lode_language_names_copy(&languages->names, &name);
	if (code)
		return code < 0 ? code : 0;
	languages->unreadable++;
	code = lode_language_names_add_text(&languages->names, &name, "", LODE_LANGUAGE_UNREADABLE);
	return code < 0 ? code : 1;
}

/* The name with the line, which is read now; without where it cannot be read. */
static int learn_line(struct lode_languages *languages, uint32_t pid, uint64_t word, uint64_t position)
{
	const struct lode_language_runtime *runtime = find_runtime(languages, pid);
	const struct lode_language_name *function = lode_languages_find(languages, pid, word, 0);
	struct lode_language_name name = { .word = word, .pid = pid, .position = position };
	struct lode_buffer text = { 0 };
	uint32_t line = 0;
	int code;

	if (!function)
		return 0;
	if (runtime && runtime->binary && runtime->binary->kind->read_line)
		line = runtime->binary->kind->read_line(&languages->memory, runtime, word, position);
	code = line ? 0 : lode_language_names_copy(&languages->names, &name);
	if (code)
		return code < 0 ? code : 0;
	languages->lineless += !line;
	name.line = function->line;
	name.is_coroutine = function->is_coroutine;
	lode_buffer_text(&text, function->function);
	if (line)
		lode_buffer_print(&text, ":%u", line);
	lode_buffer_add(&text, "", 1);
	code = text.failed ? LODE_SYSTEM
			   : lode_language_names_add_text(&languages->names, &name, function->path, text.bytes);
	lode_buffer_release(&text);
	return code;
}

int lode_languages_learn(struct lode_languages *languages, uint32_t pid, uint64_t word, uint64_t position)
{
	int later = learn_function(languages, pid, word), code;

	if (later < 0 || !position || lode_languages_find(languages, pid, word, position))
		return later;
	code = has_room(languages);
	if (code > 0)
		code = learn_line(languages, pid, word, position);
	return code < 0 ? code : later;
}

uint64_t lode_languages_frame_word(const struct lode_languages *languages, uint32_t pid, uint64_t record,
				   int (*read)(void *context, uint64_t address, uint64_t *word), void *context)
{
	const struct lode_language_runtime *runtime = find_runtime(languages, pid);
	struct lode_language_stack stack = { context, read };

	if (!runtime || !runtime->binary || !runtime->binary->kind->frame_word)
		return 0;
	return runtime->binary->kind->frame_word(&languages->memory, runtime, record, &stack);
}

/* ---- notes ---- */

static void note_unsupported_processes(const struct lode_languages *languages, struct lode_notes *notes)
{
	const struct lode_language_binary *binary = languages->unsupported_binary;
	char text[200];

	if (!binary)
		return;
	snprintf(text, sizeof(text), "processes without their %s functions: %s %s is not known, only %s",
		 binary->kind->name, binary->kind->title, *binary->version ? binary->version : "of this version",
		 binary->kind->known);
	lode_notes_add(notes, languages->unsupported, text, NULL);
}

static void note_unfit(const struct lode_languages *languages, struct lode_notes *notes)
{
	for (int i = LODE_LANGUAGE_NONE + 1; i < LODE_LANGUAGES; i++) {
		char text[200];

		if (!languages->unfit[i])
			continue;
		snprintf(text, sizeof(text), "times that a process's %s functions were not recorded: %s",
			 lode_language_kinds[i]->name, lode_language_kinds[i]->unfit);
		lode_notes_add(notes, languages->unfit[i], text, NULL);
	}
}

void lode_languages_note(const struct lode_languages *languages, struct lode_notes *notes)
{
	lode_notes_add(notes, languages->unreadable,
		       "functions of languages without names: they, or their processes, were gone before they "
		       "could be read",
		       NULL);
	lode_notes_add(
		notes, languages->lineless,
		"places in functions of languages without their lines: they have none, or were gone before they "
		"could be read",
		NULL);
	lode_notes_add(notes, languages->unnamed, "functions of languages without names: there were too many",
		       NULL);
	lode_notes_add(notes, languages->refused,
		       "times that functions of a process's language were not recorded: its memory may not be "
		       "read; record as "
		       "root or with CAP_SYS_PTRACE",
		       NULL);
	note_unfit(languages, notes);
	note_unsupported_processes(languages, notes);
}
