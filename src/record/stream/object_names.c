/* Names of objects: see object_names.h. */
#include "record/stream/object_names.h"

#include "base/starts_with.h"
#include "record/stream/record_objects.h"
#include "symbols/demangle.h"
#include "trace/objects.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON_LOCK "gil:python"
#define PAGE        "page:"
#define STORED_FILE "file:"

/* The kernel's functions of a stack, from the innermost on, that may say what it waits for. */
#define INNERMOST 6

/* A text of record_objects.h. */
struct futex {
	char found; /* LODE_FUTEX_… */
	uint64_t address;
	uint32_t image; /* LODE_NONE: none */
	uint64_t offset;
	uint64_t distance;
};

int lode_object_names_init(struct lode_object_names *names, struct lode_dictionary *dictionary,
			   const struct lode_process_images *images)
{
	memset(names, 0, sizeof(*names));
	names->dictionary = dictionary;
	names->images = images;
	names->wait_count = dictionary->tree.count;
	names->image_count = images->count;
	names->waits = lode_calloc(names->wait_count + 1, sizeof(*names->waits));
	names->variables = lode_calloc(names->image_count + 1, sizeof(struct lode_variables *));
	names->learnt = lode_calloc(LODE_LEARNT_FUTEXES, sizeof(*names->learnt));
	return names->waits && names->variables && names->learnt ? 0 : LODE_SYSTEM;
}

void lode_object_names_release(struct lode_object_names *names)
{
	for (size_t i = 0; names->variables && i < names->image_count; i++)
		if (names->variables[i]) {
			lode_variables_release(names->variables[i]);
			lode_free(names->variables[i]);
		}
	lode_free(names->variables);
	lode_free(names->waits);
	lode_free(names->learnt);
	lode_free(names->named);
	lode_index_release(&names->index);
	memset(names, 0, sizeof(*names));
}

/* ---- what is waited for ---- */

static int parse(const char *text, struct futex *futex)
{
	char *at = NULL;

	*futex = (struct futex){ .found = LODE_FUTEX_UNKNOWN, .image = LODE_NONE };
	text += strlen(LODE_FUTEX_TEXT);
	if (!text[0] || text[1] != ':')
		return 0;
	futex->found = text[0];
	futex->address = strtoull(text + 2, &at, 16);
	if (*at != ':' || !at[1])
		return 1;
	futex->image = (uint32_t)strtoul(at + 1, &at, 16);
	futex->offset = *at == ':' ? strtoull(at + 1, &at, 16) : 0;
	futex->distance = *at == ':' ? strtoull(at + 1, &at, 16) : 0;
	return 1;
}

static const struct lode_stack_wait *wait_of(struct lode_object_names *names, uint32_t node)
{
	struct lode_stack_wait *wait = &names->waits[node < names->wait_count ? node : 0];

	if (!wait->is_known && node < names->wait_count) {
		wait->function = (uint8_t)lode_wait_function(names->dictionary, node, &wait->caller);
		wait->is_known = 1;
	}
	return wait;
}

/* Whether what was found beside a futex of this kind is its holder. */
static int is_holder(enum lode_wait_function function, char found)
{
	switch (function) {
	case LODE_WAITS_MUTEX:
		return found == LODE_FUTEX_OWNER || found == LODE_FUTEX_SURE;
	case LODE_WAITS_RWLOCK:
		return found == LODE_FUTEX_WRITER;
	case LODE_WAITS_JOIN:
		return found == LODE_FUTEX_WORD;
	case LODE_WAITS_LOCK:
	case LODE_WAITS_UNKNOWN:
		return found == LODE_FUTEX_SURE;
	default:
		return 0;
	}
}

static const char *kind_of(enum lode_wait_function function, char found)
{
	switch (function) {
	case LODE_WAITS_MUTEX:
	case LODE_WAITS_RWLOCK:
	case LODE_WAITS_LOCK:
	case LODE_WAITS_MONITOR:
		return "lock";
	case LODE_WAITS_CONDITION:
	case LODE_WAITS_SIGNAL:
	case LODE_WAITS_SCRIPT_CONDITION:
		return "condition";
	case LODE_WAITS_JOIN:
		return "thread";
	default:
		return found == LODE_FUTEX_SURE ? "lock" : "futex";
	}
}

/* ---- its name ---- */

static struct lode_variables *variables_of(struct lode_object_names *names, uint32_t image)
{
	struct lode_variables *variables = names->variables[image];

	if (variables)
		return variables;
	variables = names->variables[image] = lode_calloc(1, sizeof(*variables));
	if (variables && names->images->items[image].symbols &&
	    lode_variables_load(variables, names->images->items[image].symbols) < 0)
		return NULL;
	return variables;
}

/* Threads wait at a word inside a lock: one that is a variable of its own, not part of a larger one, has just its name. */
static int is_whole_lock(enum lode_wait_function function, uint64_t size)
{
	return (function == LODE_WAITS_CONDITION && size == sizeof(pthread_cond_t)) ||
	       (function == LODE_WAITS_RWLOCK && size == sizeof(pthread_rwlock_t)) ||
	       (function == LODE_WAITS_SIGNAL && size == sizeof(pthread_barrier_t));
}

static int put_variable(struct lode_object_names *names, const struct futex *futex,
			enum lode_wait_function function, struct lode_buffer *text)
{
	const struct lode_process_image *image;
	const struct lode_variable *variable;
	struct lode_variables *variables;
	uint64_t address;

	if (futex->image >= names->image_count)
		return 0;
	image = &names->images->items[futex->image];
	variables = image->symbols ? variables_of(names, futex->image) : NULL;
	address = variables ? lode_image_address(image->symbols, futex->offset) + futex->distance : 0;
	if (!variables || !lode_variables_has(variables, address))
		return 0;
	variable = lode_variables_find(variables, address);
	if (variable && (function == LODE_WAITS_CONDITION || function == LODE_WAITS_MUTEX) &&
	    !strcmp(variable->name, "_PyRuntime")) {
		/* The only ones there are the interpreter lock's; the function that takes it often has no name. */
		lode_buffer_clear(text);
		lode_buffer_text(text, PYTHON_LOCK);
	} else if (variable) {
		lode_demangle(variable->name, 1, text);
		if (address != variable->start && !is_whole_lock(function, variable->size))
			lode_buffer_print(text, "+0x%" PRIx64, address - variable->start);
	} else {
		const char *slash = strrchr(image->path, '/');

		lode_buffer_print(text, "%s+0x%" PRIx64, slash ? slash + 1 : image->path, address);
	}
	return 1;
}

static void put_caller(const struct lode_object_names *names, const char *words, uint32_t caller,
		       struct lode_buffer *text)
{
	uint32_t frame = names->dictionary->tree.nodes[caller].frame;
	const struct lode_frames *frames = &names->dictionary->frames;

	if (!caller)
		return;
	lode_buffer_text(text, words);
	if (lode_starts_with(lode_frames_function(frames, frame), "0x"))
		lode_buffer_print(text, "%s!", lode_frames_module_name(frames, frame));
	lode_buffer_text(text, lode_frames_function(frames, frame));
}

/* Who waits for one condition, or one reader-writer lock, does so at one of two words that lie beside each other. */
static struct futex first_word(const struct futex *futex, enum lode_wait_function function)
{
	struct futex first = *futex;

	if (function == LODE_WAITS_CONDITION || function == LODE_WAITS_RWLOCK) {
		first.distance -= first.address & 4;
		first.address -= first.address & 4;
	}
	return first;
}

static void put_name(struct lode_object_names *names, const struct futex *waited,
		     const struct lode_stack_wait *wait, struct lode_buffer *text)
{
	enum lode_wait_function function = (enum lode_wait_function)wait->function;
	struct futex futex = first_word(waited, function);

	if (function == LODE_WAITS_GIL) {
		lode_buffer_text(text, PYTHON_LOCK);
		return;
	}
	lode_buffer_print(text, "%s:", kind_of(function, futex.found));
	if (function == LODE_WAITS_MONITOR) {
		lode_buffer_text(text, "monitor");
		put_caller(names, LODE_LOCK_ENTERED_IN, wait->caller, text);
	} else if (function == LODE_WAITS_SCRIPT_CONDITION) {
		put_caller(names, LODE_CONDITION_IN, wait->caller, text);
	} else if (function != LODE_WAITS_JOIN && futex.address && !put_variable(names, &futex, function, text)) {
		lode_buffer_print(text, "0x%" PRIx64, futex.address);
		put_caller(names, " first seen in ", wait->caller, text);
	}
}

/* ---- texts that were made before ---- */

static uint32_t add_named(struct lode_object_names *names, const struct lode_named_object *key, uint64_t hash,
			  const struct futex *futex, const struct lode_stack_wait *wait)
{
	struct lode_buffer text = { 0 };
	struct lode_named_object named = *key;

	put_name(names, futex, wait, &text);
	named.text = text.failed ? LODE_NONE
				 : lode_strings_add(&names->dictionary->frames.strings, text.bytes, text.size);
	lode_buffer_release(&text);
	if (named.text == LODE_NONE || LODE_INDEX_APPEND(&names->index, hash, names->named, names->named_count,
							 names->named_capacity, named) < 0)
		return LODE_NONE;
	return named.text;
}

static uint32_t find_named(struct lode_object_names *names, uint32_t raw, const struct futex *futex,
			   const struct lode_stack_wait *wait)
{
	struct lode_named_object key = { .raw = raw, .function = wait->function };
	uint64_t hash;
	uint32_t found;

	if (wait->function == LODE_WAITS_MONITOR || wait->function == LODE_WAITS_SCRIPT_CONDITION) {
		key.raw = 0;
		key.caller = wait->caller;
	}
	hash = lode_hash_u64((uint64_t)key.raw << 32 | (key.caller << 4 ^ key.function));
	found = LODE_INDEX_FIND(i, &names->index, hash,
				names->named[i].raw == key.raw && names->named[i].function == key.function &&
					names->named[i].caller == key.caller);
	return found == LODE_NONE ? add_named(names, &key, hash, futex, wait) : names->named[found].text;
}

/* ---- futexes that are known from other waits ---- */

static struct lode_learnt_futex *learnt_place(const struct lode_object_names *names, const struct futex *futex)
{
	uint64_t hash = lode_hash_u64(futex->address + futex->image * 0x9e3779b97f4a7c15u);

	return &names->learnt[hash % LODE_LEARNT_FUTEXES];
}

void lode_object_names_learn(struct lode_object_names *names, const char *text, uint32_t node)
{
	const struct lode_stack_wait *wait;
	struct futex futex;

	if (!lode_starts_with(text, LODE_FUTEX_TEXT) || !parse(text, &futex))
		return;
	wait = wait_of(names, node);
	if (wait->function != LODE_WAITS_UNKNOWN)
		*learnt_place(names, &futex) = (struct lode_learnt_futex){ futex.address, futex.distance, *wait };
}

/* What a wait at a futex is in: by its own stack or, where that has no functions of the user's, by others at the same futex. */
static const struct lode_stack_wait *wait_at(struct lode_object_names *names, const struct futex *futex,
					     uint32_t node)
{
	const struct lode_stack_wait *wait = wait_of(names, node);
	const struct lode_learnt_futex *learnt = learnt_place(names, futex);

	if (wait->function != LODE_WAITS_UNKNOWN || wait->caller || !futex->address ||
	    learnt->address != futex->address || learnt->distance != futex->distance)
		return wait;
	return &learnt->wait;
}

/*
 * Whether a page was found (page_faults.bpf.h) that is not what the wait was for: the kernel's functions say that no fault was
 * being handled. Where they have no names, or were not recorded, there is no such doubt.
 */
static int is_stale_page(const struct lode_object_names *names, const char *text, uint32_t node)
{
	const struct lode_dictionary *dictionary = names->dictionary;
	int is_named = 0;

	if (!lode_starts_with(text, PAGE) || !text[strlen(PAGE)])
		return 0;
	for (; node; node = dictionary->tree.nodes[node].parent) {
		uint32_t frame = dictionary->tree.nodes[node].frame;
		const char *name = lode_frames_function(&dictionary->frames, frame);

		if (dictionary->frames.modules[dictionary->frames.items[frame].module].kind != LODE_KIND_KERNEL)
			break;
		if (strstr(name, "handle_mm_fault") || strstr(name, "hugetlb_fault"))
			return 0;
		is_named |= !lode_starts_with(name, "0x");
	}
	return is_named;
}

/* Functions of the kernel that take a lock or stop a thread, by how their names begin. */
static int is_locking(const char *name)
{
	static const char *const starts[] = { "schedule",       "__schedule", "preempt_schedule", "io_schedule",
					      "mutex_",         "__mutex_",   "ww_mutex_",        "down_",
					      "__down_",        "rwsem_",     "__rwsem_",         "rt_mutex_",
					      "__rt_",          "percpu_",    "__percpu_",        "mmap_read_lock",
					      "mmap_write_lock" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (lode_starts_with(name, starts[i]))
			return 1;
	return 0;
}

/* The function of the kernel that takes the lock a thread waits for; 0: not known. */
static uint32_t locking_caller(const struct lode_dictionary *dictionary, uint32_t node)
{
	int found = 0;

	for (; node; node = dictionary->tree.nodes[node].parent) {
		uint32_t frame = dictionary->tree.nodes[node].frame;
		int is_lock = is_locking(lode_frames_function(&dictionary->frames, frame));

		if (dictionary->frames.modules[dictionary->frames.items[frame].module].kind != LODE_KIND_KERNEL)
			return 0;
		if (found && !is_lock)
			return node;
		found |= is_lock;
	}
	return 0;
}

static uint32_t name_kernel_lock(struct lode_object_names *names, const char *text, uint32_t node)
{
	struct lode_buffer name = { 0 };
	uint32_t found;

	lode_buffer_print(&name, "lock:" LODE_LOCK_OF_KERNEL "%s", text + strlen(LODE_KERNEL_LOCK_TEXT));
	if (strcmp(text, LODE_KERNEL_LOCK_TEXT "mmap_lock") != 0)
		put_caller(names, " taken in ", locking_caller(names->dictionary, node), &name);
	found = name.failed ? LODE_NONE
			    : lode_strings_add(&names->dictionary->frames.strings, name.bytes, name.size);
	lode_buffer_release(&name);
	return found;
}

/* Whether a wait for a file is one for a lock on it, which the kernel's innermost functions say. */
static int is_file_lock(const struct lode_object_names *names, const char *text, uint32_t node)
{
	static const char *const known[] = { "flock_lock_inode_wait", "locks_lock_inode_wait",
					     "posix_lock_inode_wait", "do_lock_file_wait",
					     "fcntl_setlk",           "__do_sys_flock" };
	const struct lode_dictionary *dictionary = names->dictionary;

	if (!lode_starts_with(text, STORED_FILE) || !text[strlen(STORED_FILE)])
		return 0;
	for (int i = 0; node && i < INNERMOST; i++, node = dictionary->tree.nodes[node].parent) {
		const char *name = lode_frames_function(&dictionary->frames, dictionary->tree.nodes[node].frame);

		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
			if (!strcmp(name, known[k]))
				return 1;
	}
	return 0;
}

static uint32_t name_file_lock(struct lode_object_names *names, const char *text)
{
	const char *path = text + strlen(STORED_FILE), *device = strstr(path, LODE_OBJECT_ON);
	struct lode_buffer name = { 0 };
	uint32_t found;

	lode_buffer_print(&name, "lock:" LODE_LOCK_ON_FILE "%.*s",
			  (int)(device ? device - path : (long)strlen(path)), path);
	found = name.failed ? LODE_NONE
			    : lode_strings_add(&names->dictionary->frames.strings, name.bytes, name.size);
	lode_buffer_release(&name);
	return found;
}

uint32_t lode_object_names_find(struct lode_object_names *names, uint32_t raw, const char *text, uint32_t node,
				uint32_t *holder)
{
	const struct lode_stack_wait *wait;
	struct futex futex;

	if (!lode_starts_with(text, LODE_FUTEX_TEXT)) {
		*holder = LODE_NONE;
		if (lode_starts_with(text, LODE_KERNEL_LOCK_TEXT))
			return name_kernel_lock(names, text, node);
		if (is_stale_page(names, text, node))
			return 0;
		if (is_file_lock(names, text, node))
			return name_file_lock(names, text);
		return lode_strings_add(&names->dictionary->frames.strings, text, strlen(text));
	}
	parse(text, &futex);
	lode_object_names_learn(names, text, node);
	wait = wait_at(names, &futex, node);
	if (!is_holder((enum lode_wait_function)wait->function, futex.found))
		*holder = LODE_NONE;
	return find_named(names, raw, &futex, wait);
}
