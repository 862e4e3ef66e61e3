/* Languages: see languages.h. */
#include "process/languages/languages.h"

#include "base/arena.h"
#include "process/languages/python_threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that are kept; frames beyond have none. */
#define NAMES_LIMIT (1u << 20)

/* A binary that may have an interpreter in it, and what it says. */
struct binary {
	char *path;
	char *build_id;
	uint64_t mounts;
	enum lode_python_support support;
	struct lode_python_image python;
	uint64_t offset; /* in the file, of the segment with the function that runs code, and its address */
	uint64_t address;
};

struct lode_languages {
	unsigned wanted;
	struct lode_process_memory memory;
	int checks; /* the processes are those of the machine: what is found is compared with their threads */
	struct binary **binaries;
	size_t binary_count;
	size_t binary_capacity;
	struct lode_python_process *processes; /* the latest one of each pid counts */
	size_t process_count;
	size_t process_capacity;
	struct lode_index process_index;
	struct lode_language_name *names;
	size_t name_count;
	size_t name_capacity;
	struct lode_index name_index; /* by pid and word */
	struct lode_index word_index; /* by word */
	struct lode_arena arena;
	uint64_t unreadable;
	uint64_t unsupported; /* processes */
	uint64_t refused;     /* times that the memory of a process may not be read */
	uint64_t unfit;       /* processes whose interpreter does not look like its version */
	uint32_t unsupported_version;
};

const char *lode_language_text(enum lode_language language)
{
	return language == LODE_LANGUAGE_PYTHON ? "python" : "native";
}

static enum lode_language language_named(const char *name, size_t length)
{
	for (int i = LODE_LANGUAGE_NONE + 1; i < LODE_LANGUAGES; i++) {
		const char *text = lode_language_text((enum lode_language)i);

		if (strlen(text) == length && !memcmp(text, name, length))
			return (enum lode_language)i;
	}
	return LODE_LANGUAGE_NONE;
}

int lode_languages_parse(const char *list, unsigned *bits, struct lode_error *error)
{
	*bits = list ? 0 : LODE_LANGUAGES_ALL;
	if (!list || !strcmp(list, "none"))
		return 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		enum lode_language language = language_named(list, length);

		if (language == LODE_LANGUAGE_NONE)
			return lode_fail(error, LODE_USAGE,
					 "--languages: '%.*s' is not a language whose functions are known; use "
					 "'python', or 'none'",
					 (int)(length < 100 ? length : 100), list);
		*bits |= LODE_LANGUAGE_BIT(language);
		if (!list[length])
			return 0;
		list += length + 1;
	}
}

struct lode_languages *lode_languages_create(unsigned wanted, const struct lode_process_memory *memory)
{
	struct lode_languages *languages = lode_calloc(1, sizeof(*languages));

	if (!languages)
		return NULL;
	languages->wanted = wanted;
	languages->memory = *memory;
	languages->checks = memory->read == lode_live_memory.read;
	return languages;
}

void lode_languages_destroy(struct lode_languages *languages)
{
	if (!languages)
		return;
	for (size_t i = 0; i < languages->binary_count; i++) {
		lode_free(languages->binaries[i]->path);
		lode_free(languages->binaries[i]->build_id);
		lode_free(languages->binaries[i]);
	}
	lode_free(languages->binaries);
	lode_free(languages->processes);
	lode_index_release(&languages->process_index);
	lode_free(languages->names);
	lode_index_release(&languages->name_index);
	lode_index_release(&languages->word_index);
	lode_arena_release(&languages->arena);
	lode_free(languages);
}

/* ---- binaries ---- */

/* Whether it is worth a look: opening every file that any process maps would take long. */
static int may_have_python(const struct lode_process_image *image)
{
	const char *name;
	size_t length;

	if (image->kind != LODE_MAPPED_FILE)
		return 0;
	lode_mapped_name(image->path, &name, &length);
	return memmem(name, length, "python", strlen("python")) != NULL;
}

static struct binary *find_binary(const struct lode_languages *languages, const struct lode_process_image *image)
{
	for (size_t i = 0; i < languages->binary_count; i++) {
		struct binary *binary = languages->binaries[i];

		if (binary->mounts == image->mounts && !strcmp(binary->path, image->path) &&
		    !strcmp(binary->build_id, image->build_id))
			return binary;
	}
	return NULL;
}

/* The segment that holds the function. */
static void find_segment(struct binary *binary, const struct lode_elf *elf)
{
	uint64_t address = binary->python.starts[0];
	size_t count = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(elf->elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && gelf_getphdr(elf->elf, (int)i, &header); i++) {
		if (header.p_type != PT_LOAD || address - header.p_vaddr >= header.p_filesz)
			continue;
		binary->offset = header.p_offset;
		binary->address = header.p_vaddr;
	}
}

static void read_binary(struct binary *binary, int fd)
{
	struct lode_elf elf;
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (lode_elf_open(&elf, link) < 0)
		return;
	binary->support = lode_python_image_read(&binary->python, &elf);
	find_segment(binary, &elf);
	lode_elf_close(&elf);
}

/* What a mapped binary says, read if it is new; NULL when memory has run out. */
static struct binary *get_binary(struct lode_languages *languages, struct lode_process_images *images,
				 uint32_t number)
{
	struct lode_process_image *image = &images->items[number];
	struct binary *binary = find_binary(languages, image);
	int was_open = image->fd >= 0;

	if (binary)
		return binary;
	binary = lode_calloc(1, sizeof(*binary));
	if (!binary ||
	    LODE_APPEND(languages->binaries, languages->binary_count, languages->binary_capacity, binary) < 0) {
		lode_free(binary);
		return NULL;
	}
	binary->mounts = image->mounts;
	binary->path = lode_strdup(image->path);
	binary->build_id = lode_strdup(image->build_id);
	if (!binary->path || !binary->build_id) {
		languages->binary_count--;
		lode_free(binary->path);
		lode_free(binary->build_id);
		lode_free(binary);
		return NULL;
	}
	lode_process_image_open(images, number);
	if (image->fd >= 0)
		read_binary(binary, image->fd);
	if (!was_open)
		lode_process_image_close(image);
	return binary;
}

/* ---- processes ---- */

static struct lode_python_process *find_process(const struct lode_languages *languages, uint32_t pid)
{
	uint32_t found = LODE_INDEX_FIND(i, &languages->process_index, lode_hash_pair(3, pid),
					 languages->processes[i].pid == pid);

	return found == LODE_NONE ? NULL : &languages->processes[found];
}

static int enter_process(struct lode_languages *languages, const struct lode_python_process *process)
{
	struct lode_python_process *known = find_process(languages, process->pid);

	if (known) {
		*known = *process;
		return 0;
	}
	return LODE_INDEX_APPEND(&languages->process_index, lode_hash_pair(3, process->pid), languages->processes,
				 languages->process_count, languages->process_capacity, *process);
}

struct search {
	struct lode_languages *languages;
	const struct lode_processes *processes;
	const struct binary *binary;
	uint64_t bias;
};

static int look_at_mapping(void *context, const struct lode_mapping *mapping)
{
	struct search *search = context;
	struct lode_process_images *images = search->processes->images;
	const struct binary *binary;
	uint64_t at;

	if (!may_have_python(&images->items[mapping->image]))
		return 0;
	binary = get_binary(search->languages, images, mapping->image);
	if (!binary)
		return LODE_SYSTEM;
	if (binary->support == LODE_PYTHON_NONE)
		return 0;
	search->binary = binary;
	if (binary->support == LODE_PYTHON_UNSUPPORTED)
		return 0;
	/* Where the function would be, if this mapping holds it. */
	search->bias = mapping->start - mapping->offset + binary->offset - binary->address;
	at = binary->python.starts[0] + search->bias;
	return at >= mapping->start && at < mapping->end;
}

/* ---- checking ---- */

/* Threads of a process that are compared with those that its interpreter lists. */
#define THREADS 256

struct numbers {
	uint32_t pid;
	uint64_t items[THREADS];
	size_t count;
};

/* The number of a thread in its innermost PID namespace: the last one of a list. */
static uint64_t innermost_number(uint32_t pid, uint32_t tid)
{
	char text[4096], *at, *end;
	uint64_t number = tid;

	if (lode_proc_text(text, sizeof(text), "/proc/%u/task/%u/status", pid, tid) < 0)
		return tid;
	at = strstr(text, "\nNSpid:");
	for (at = at ? at + strlen("\nNSpid:") : text; *at == '\t'; at = end) {
		uint64_t next = strtoul(at, &end, 10);

		if (end == at)
			break;
		number = next;
	}
	return number;
}

static int note_number(void *context, uint32_t tid)
{
	struct numbers *numbers = context;

	numbers->items[numbers->count++] = innermost_number(numbers->pid, tid);
	return numbers->count == THREADS;
}

/* Whether the interpreter of a process can be what its version says. */
static int is_fit(struct lode_languages *languages, const struct lode_python_process *process)
{
	struct numbers numbers = { .pid = process->pid };
	uint64_t head;

	if (!languages->checks)
		return 1;
	errno = 0;
	if (!lode_process_memory_read(&languages->memory, process->pid,
				      process->image->interpreters + process->bias, &head, sizeof(head)) &&
	    errno == EPERM) {
		languages->refused++;
		return 0;
	}
	lode_proc_threads(process->pid, note_number, &numbers);
	if (lode_python_fits(&languages->memory, process, numbers.items, numbers.count))
		return 1;
	languages->unfit++;
	return 0;
}

static void note_unsupported(struct lode_languages *languages, const struct binary *binary, uint32_t pid)
{
	struct lode_python_process process = { NULL, 0, pid };

	if (!binary || binary->support != LODE_PYTHON_UNSUPPORTED || find_process(languages, pid))
		return;
	languages->unsupported++;
	languages->unsupported_version = binary->python.version;
	enter_process(languages, &process); /* counted once; if memory has run out, twice */
}

int lode_languages_detect(struct lode_languages *languages, const struct lode_processes *processes,
			  const struct lode_process *process, struct lode_language_process *found)
{
	struct search search = { languages, processes, NULL, 0 };
	struct lode_python_process process_found;
	const struct lode_python_image *python;
	int code;

	if (!(languages->wanted & LODE_LANGUAGE_BIT(LODE_LANGUAGE_PYTHON)))
		return 0;
	code = lode_space_walk(&processes->spaces, &process->space, look_at_mapping, &search);
	if (code <= 0) {
		note_unsupported(languages, search.binary, process->pid);
		return code;
	}
	python = &search.binary->python;
	*found = (struct lode_language_process){ .language = LODE_LANGUAGE_PYTHON,
						 .interpreters = python->interpreters + search.bias,
						 .layout = python->layout };
	for (int i = 0; i < LODE_PYTHON_PARTS; i++) {
		found->starts[i] = python->starts[i] ? python->starts[i] + search.bias : 0;
		found->ends[i] = python->ends[i] ? python->ends[i] + search.bias : 0;
	}
	process_found = (struct lode_python_process){ python, search.bias, process->pid };
	if (!is_fit(languages, &process_found))
		return 0;
	if (enter_process(languages, &process_found) < 0)
		return LODE_SYSTEM;
	return 1;
}

int lode_languages_knows(const struct lode_languages *languages, uint32_t pid)
{
	return find_process(languages, pid) != NULL;
}

/* ---- names ---- */

static uint64_t name_hash(uint32_t pid, uint64_t word)
{
	return lode_hash_more(word, pid);
}

const struct lode_language_name *lode_languages_find(const struct lode_languages *languages, uint32_t pid,
						     uint64_t word)
{
	uint32_t found = LODE_INDEX_FIND(i, &languages->name_index, name_hash(pid, word),
					 languages->names[i].word == word && languages->names[i].pid == pid);

	return found == LODE_NONE ? NULL : &languages->names[found];
}

/*
 * A forked process that is gone had the objects of its parent at the same addresses: what another process has there. Others
 * have their objects elsewhere, because the kernel places their memory at random.
 */
static int copy_relative(const struct lode_languages *languages, struct lode_language_name *name)
{
	uint32_t found = LODE_INDEX_FIND(i, &languages->word_index, lode_hash_u64(name->word),
					 languages->names[i].word == name->word && *languages->names[i].path);

	if (found == LODE_NONE)
		return 0;
	name->path = languages->names[found].path;
	name->module = languages->names[found].module;
	name->function = languages->names[found].function;
	name->line = languages->names[found].line;
	return 1;
}

/* Returns 1, 0 when it cannot be read, or LODE_SYSTEM. */
static int read_name(struct lode_languages *languages, struct lode_language_name *name)
{
	const struct lode_python_process *process = find_process(languages, name->pid);
	struct lode_buffer path = { 0 }, function = { 0 };
	const char *slash;
	int code = 0;

	if (process && process->image)
		code = lode_python_name(&languages->memory, process, name->word, &path, &function, &name->line);
	if (code) {
		name->path = lode_arena_text(&languages->arena, path.bytes, strlen(path.bytes));
		name->function = lode_arena_text(&languages->arena, function.bytes, strlen(function.bytes));
	}
	if (path.failed || function.failed || (code && (!name->path || !name->function)))
		code = LODE_SYSTEM;
	if (code > 0) {
		slash = strrchr(name->path, '/');
		name->module = slash && slash[1] ? slash + 1 : name->path;
	}
	lode_buffer_release(&path);
	lode_buffer_release(&function);
	return code;
}

int lode_languages_learn(struct lode_languages *languages, uint32_t pid, uint64_t word)
{
	struct lode_language_name name = { .word = word, .pid = pid };
	int code;

	if (languages->name_count >= NAMES_LIMIT || lode_languages_find(languages, pid, word))
		return 0;
	code = read_name(languages, &name);
	if (code < 0)
		return code;
	if (!code && !copy_relative(languages, &name)) {
		name.path = "";
		name.module = lode_language_text(lode_language_of(word));
		name.function = LODE_LANGUAGE_UNREADABLE;
		languages->unreadable++;
	}
	if (lode_index_insert(&languages->word_index, lode_hash_u64(word), (uint32_t)languages->name_count) < 0)
		return LODE_SYSTEM;
	return LODE_INDEX_APPEND(&languages->name_index, name_hash(pid, word), languages->names,
				 languages->name_count, languages->name_capacity, name);
}

void lode_languages_note(const struct lode_languages *languages, struct lode_notes *notes)
{
	char text[160];
	uint32_t version = languages->unsupported_version;

	lode_notes_add(
		notes, languages->unreadable,
		"Python functions without names: they, or their processes, were gone before they could be read",
		NULL);
	lode_notes_add(notes, languages->refused,
		       "times that a process's Python functions were not recorded: its memory may not be read; "
		       "record as root or with CAP_SYS_PTRACE",
		       NULL);
	lode_notes_add(notes, languages->unfit,
		       "times that a process's Python functions were not recorded: its threads are not where its "
		       "version has them",
		       NULL);
	snprintf(text,
		 sizeof(text), "processes whose Python functions are not shown: CPython %u.%u; 3.11 to 3.14 with a global lock are known",
		 version >> 24, version >> 16 & 0xff);
	lode_notes_add(
		notes, languages->unsupported,
		version ? text : "processes whose Python functions are not shown: CPython before 3.11; 3.11 to 3.14 are known",
		NULL);
}
