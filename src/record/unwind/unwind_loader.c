/*
 * Unwind loader: see unwind_loader.h.
 *
 * Each version of an address space that some process has gets a run of mappings in the
 * shared array, written behind the last one; processes that were forked and changed nothing
 * share it. When the array is full, the runs that are still in use are written again from
 * its start. A walk in the kernel that meets a run while it is rewritten sees that its
 * mappings belong to another space, and the stack is copied.
 *
 * A table goes to the kernel once the program has loaded it, which happens when a copied
 * stack first needs it. Until then its mappings say that it is pending, and a walk that
 * finds no map at its place takes it for pending, too.
 */
#include "record/unwind/unwind_loader.h"

#include "base/error.h"
#include "base/hash_index.h"
#include "record/unwind/language_entries.h"
#include "record/unwind/map_reads.h"
#include "record/unwind/table_installer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Elements of the kernel's arrays take 8 bytes at least. */
#define SIZES_APART (8 / sizeof(struct lode_unwind_size))

/* A version of an address space. */
struct run {
	uint32_t space;
	uint32_t first;
	uint32_t count;
};

struct lode_unwind_loader {
	struct lode_process_unwinder *unwinder;
	struct lode_unwind_maps maps;
	uint64_t page_size;
	uint64_t known; /* until then all changes of processes are known */
	struct lode_table_installer *installer;
	struct lode_unwind_space *spaces;     /* of the kernel */
	struct lode_unwind_mapping *mappings; /* of the kernel */
	struct lode_unwind_size *sizes;       /* of the kernel */
	struct lode_unwind_rule *rules;       /* of the kernel */
	struct lode_language_entries languages;
	uint32_t *images; /* of the mappings */
	uint32_t used;    /* mappings */
	struct run *runs;
	size_t run_count;
	size_t run_capacity;
	struct lode_index run_index; /* by space */
	uint32_t *dirty;             /* pids */
	size_t dirty_count;
	size_t dirty_capacity;
	size_t rule_count;
	struct lode_index rule_index;
	/* By number of a table: its number in the kernel, LODE_UNWIND_NO_TABLE, or LODE_UNWIND_PENDING until it is looked at. */
	uint32_t *kernel_tables;
	size_t kernel_count;
	uint64_t sent; /* the unwinder's `asked`, when tables were last looked at */
	size_t kernel_capacity;
	uint32_t kernel_next;
	int has_pending; /* some mapping says so */
	uint64_t asked;  /* the unwinder's, when pending mappings were last looked at */
	struct lode_unwind_totals totals;
};

/* ---- memory of the kernel ---- */

static void *map_array(int fd, size_t count, size_t size)
{
	void *bytes = mmap(NULL, count * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); /* from the kernel */

	return bytes == MAP_FAILED ? NULL : bytes;
}

/* Every process has the vDSO, and its table is small: no stack has to ask for it. */
static int load_vdso(struct lode_unwind_loader *loader)
{
	struct lode_process_image image = { .path = "[vdso]", .build_id = "" };
	uint32_t number = lode_process_images_get(&loader->unwinder->images, &image), table;

	return number == LODE_NONE ? LODE_SYSTEM
				   : lode_process_unwinder_load_table(loader->unwinder, number, &table);
}

struct lode_unwind_loader *lode_unwind_loader_create(const struct lode_unwind_maps *maps,
						     struct lode_process_unwinder *unwinder)
{
	struct lode_unwind_loader *loader = lode_calloc(1, sizeof(*loader));

	if (!loader)
		return NULL;
	loader->unwinder = unwinder;
	loader->maps = *maps;
	loader->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	loader->kernel_next = 1;
	loader->rule_count = 1; /* number 0 is the empty rule, which the kernel has from the start */
	loader->images = lode_calloc(LODE_UNWIND_MAPPINGS, sizeof(*loader->images));
	loader->spaces = map_array(maps->spaces, LODE_UNWIND_SPACES, sizeof(*loader->spaces));
	loader->mappings = map_array(maps->mappings, LODE_UNWIND_MAPPINGS, sizeof(*loader->mappings));
	loader->sizes = map_array(maps->sizes, LODE_UNWIND_TABLES * SIZES_APART, sizeof(*loader->sizes));
	loader->rules = map_array(maps->rules, LODE_UNWIND_RULES, sizeof(*loader->rules));
	lode_language_entries_init(&loader->languages, unwinder, loader->spaces,
				   map_array(maps->languages, LODE_LANGUAGE_PROCESSES,
					     sizeof(*loader->languages.items)));
	loader->installer = lode_table_installer_create(maps->tables);
	if (loader->installer && loader->images && loader->spaces && loader->mappings && loader->sizes &&
	    loader->rules && loader->languages.items && load_vdso(loader) == 0)
		return loader;
	lode_unwind_loader_destroy(loader);
	return NULL;
}

void lode_unwind_loader_destroy(struct lode_unwind_loader *loader)
{
	if (!loader)
		return;
	lode_table_installer_destroy(loader->installer);
	if (loader->spaces)
		munmap(loader->spaces, LODE_UNWIND_SPACES * sizeof(*loader->spaces));
	if (loader->mappings)
		munmap(loader->mappings, LODE_UNWIND_MAPPINGS * sizeof(*loader->mappings));
	if (loader->sizes)
		munmap(loader->sizes, LODE_UNWIND_TABLES * SIZES_APART * sizeof(*loader->sizes));
	if (loader->rules)
		munmap(loader->rules, LODE_UNWIND_RULES * sizeof(*loader->rules));
	if (loader->languages.items)
		munmap(loader->languages.items, LODE_LANGUAGE_PROCESSES * sizeof(*loader->languages.items));
	lode_language_entries_release(&loader->languages);
	lode_free(loader->images);
	lode_free(loader->runs);
	lode_index_release(&loader->run_index);
	lode_free(loader->dirty);
	lode_index_release(&loader->rule_index);
	lode_free(loader->kernel_tables);
	lode_free(loader);
}

/* ---- rules and tables ---- */

/* The number of a rule in the kernel, added if it is new; 0, the empty rule, when there are too many. */
static uint16_t rule_number(struct lode_unwind_loader *loader, const struct lode_unwind_rule *rule, int *failed)
{
	uint64_t hash = lode_hash_bytes(rule, sizeof(*rule));
	size_t probe = 0;
	uint32_t id;

	if (!memcmp(rule, &loader->rules[0], sizeof(*rule)))
		return 0;
	while ((id = lode_index_next(&loader->rule_index, hash, &probe)) != LODE_NONE)
		if (!memcmp(&loader->rules[id], rule, sizeof(*rule)))
			return (uint16_t)id;
	if (loader->rule_count == LODE_UNWIND_RULES)
		return 0;
	if (lode_index_insert(&loader->rule_index, hash, (uint32_t)loader->rule_count) < 0) {
		*failed = 1;
		return 0;
	}
	loader->rules[loader->rule_count] = *rule;
	return (uint16_t)loader->rule_count++;
}

/* The numbers of a table's rules in the kernel; NULL when memory has run out. */
static uint16_t *rule_numbers(struct lode_unwind_loader *loader, const struct lode_unwind_table *table)
{
	uint16_t *numbers = lode_calloc(table->rule_count + 1, sizeof(*numbers));
	int failed = 0;

	for (size_t i = 0; numbers && i < table->rule_count; i++)
		numbers[i] = rule_number(loader, &table->dictionary[i], &failed);
	if (!failed)
		return numbers;
	lode_free(numbers);
	return NULL;
}

static uint32_t chunks_of(const struct lode_unwind_table *table)
{
	return (uint32_t)((table->count + LODE_UNWIND_CHUNK - 1) / LODE_UNWIND_CHUNK);
}

/* Sends a table on its way into the kernel, or finds that there is no place for it. Returns 0 or LODE_SYSTEM. */
static int send_table(struct lode_unwind_loader *loader, const struct lode_unwind_table *table, uint32_t *number)
{
	uint32_t chunks = chunks_of(table);
	uint16_t *numbers;
	uint32_t place;

	*number = LODE_UNWIND_NO_TABLE;
	if (!table->count)
		return 0;
	place = lode_table_installer_free_place(loader->installer);
	if (!place)
		place = loader->kernel_next < LODE_UNWIND_TABLES ? loader->kernel_next++ : 0;
	if (!place) {
		loader->totals.refused++;
		return 0;
	}
	numbers = rule_numbers(loader, table);
	if (!numbers)
		return LODE_SYSTEM;
	loader->sizes[place * SIZES_APART].chunks = chunks;
	lode_table_installer_add(loader->installer, place, table, numbers);
	loader->totals.tables++;
	loader->totals.rows += table->count;
	loader->totals.bytes += chunks * sizeof(struct lode_unwind_chunk);
	*number = place;
	return 0;
}

/* Tables that the program has loaded since the last time. */
static int load_tables(struct lode_unwind_loader *loader)
{
	const struct lode_process_unwinder *unwinder = loader->unwinder;
	int code = 0;

	if (loader->sent == unwinder->asked)
		return 0;
	loader->sent = unwinder->asked;
	while (!code && loader->kernel_count < unwinder->table_count)
		code = LODE_APPEND(loader->kernel_tables, loader->kernel_count, loader->kernel_capacity,
				   LODE_UNWIND_PENDING);
	for (size_t i = 0; !code && i < loader->kernel_count; i++)
		if (loader->kernel_tables[i] == LODE_UNWIND_PENDING && unwinder->tables[i].key)
			code = send_table(loader, &unwinder->tables[i].table, &loader->kernel_tables[i]);
	return code;
}

/* No mapping in the kernel refers to it any more. */
static int drop_table(void *context, uint32_t number, struct lode_unwind_table *table)
{
	struct lode_unwind_loader *loader = context;
	uint32_t place = number < loader->kernel_count ? loader->kernel_tables[number] : LODE_UNWIND_PENDING;

	if (place == LODE_UNWIND_NO_TABLE || place == LODE_UNWIND_PENDING) {
		lode_unwind_table_release(table);
	} else {
		if (lode_table_installer_remove(loader->installer, place, table) < 0)
			return LODE_SYSTEM;
		loader->totals.tables--;
		loader->totals.rows -= table->count;
		loader->totals.bytes -= chunks_of(table) * sizeof(struct lode_unwind_chunk);
	}
	if (number < loader->kernel_count)
		loader->kernel_tables[number] = LODE_UNWIND_PENDING;
	return 0;
}

/* Fills in the table and the bias of a mapping of an image. */
static void set_table(struct lode_unwind_loader *loader, struct lode_unwind_mapping *mapping, uint64_t offset,
		      uint32_t image)
{
	uint32_t number = lode_process_unwinder_known_table(loader->unwinder, image);
	const struct lode_unwind_table *table;
	uint64_t shift;
	int found;

	if (number == LODE_TABLE_NOT_ASKED) {
		mapping->bias = offset; /* kept here until then */
		mapping->table = LODE_UNWIND_PENDING;
		loader->has_pending = 1;
		return;
	}
	table = number == LODE_TABLE_ABSENT || number >= loader->kernel_count
			? NULL
			: &loader->unwinder->tables[number].table;
	found = table && lode_unwind_table_shift(table, offset, mapping->end - mapping->start, &shift);
	if (found)
		mapping->bias = mapping->start - offset - shift + table->base;
	/* Last: a walk in the kernel may look at it at any moment. */
	__atomic_store_n(&mapping->table, found ? loader->kernel_tables[number] : LODE_UNWIND_NO_TABLE,
			 __ATOMIC_RELEASE);
}

/* ---- mappings ---- */

struct filling {
	struct lode_unwind_loader *loader;
	uint32_t space;
	int full;
};

static int add_mapping(void *context, const struct lode_mapping *from)
{
	struct filling *filling = context;
	struct lode_unwind_loader *loader = filling->loader;
	struct lode_unwind_mapping mapping = { .start = from->start, .end = from->end, .space = filling->space };

	if (loader->used == LODE_UNWIND_MAPPINGS) {
		filling->full = 1;
		return 1;
	}
	/* Code that was generated at run time, and other memory without a file, has no table. */
	if (loader->unwinder->images.items[from->image].kind == LODE_MAPPED_ANONYMOUS ||
	    loader->unwinder->images.items[from->image].kind == LODE_MAPPED_NAMED)
		mapping.table = LODE_UNWIND_NO_TABLE;
	else
		set_table(loader, &mapping, from->offset, from->image);
	loader->images[loader->used] = from->image;
	loader->mappings[loader->used++] = mapping;
	return 0;
}

/* Writes the run of a space. Returns 1, 0 when there is no room for it, or LODE_SYSTEM. */
static int add_run(struct lode_unwind_loader *loader, const struct lode_space *space)
{
	struct filling filling = { loader, space->version, 0 };
	struct run run = { space->version, loader->used, 0 };

	if (lode_space_walk(&loader->unwinder->processes.spaces, space, add_mapping, &filling) < 0)
		return LODE_SYSTEM;
	if (filling.full) {
		loader->used = run.first;
		return 0;
	}
	run.count = loader->used - run.first;
	if (LODE_INDEX_APPEND(&loader->run_index, lode_hash_pair(2, run.space), loader->runs, loader->run_count,
			      loader->run_capacity, run) < 0)
		return LODE_SYSTEM;
	return 1;
}

static const struct run *find_run(const struct lode_unwind_loader *loader, uint32_t space)
{
	uint32_t id =
		LODE_INDEX_FIND(i, &loader->run_index, lode_hash_pair(2, space), loader->runs[i].space == space);

	return id == LODE_NONE ? NULL : &loader->runs[id];
}

static void clear_space(struct lode_unwind_space *space)
{
	__atomic_store_n(&space->id, 0, __ATOMIC_RELEASE);
}

static int has_code(const struct lode_unwind_loader *loader, const struct run *run, uint64_t start, uint64_t end)
{
	for (uint32_t i = run->first; i < run->first + run->count; i++)
		if (loader->mappings[i].start < end && loader->mappings[i].end > start &&
		    loader->mappings[i].table != LODE_UNWIND_NO_TABLE)
			return 1;
	return 0;
}

/*
 * What the kernel knows of a process may be out of date already: memory where it had
 * code was taken since. What is taken from now on, the kernel compares itself.
 */
static void mark_stale(struct lode_unwind_loader *loader, struct lode_unwind_space *space, const struct run *run)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (size_t i = 0; i < LODE_UNWIND_TAKEN; i++) {
		const struct lode_unwind_taken *taken = &loader->maps.taken[i];
		uint64_t t = __atomic_load_n(&taken->t, __ATOMIC_ACQUIRE);

		if (t <= loader->known || taken->pid != space->pid ||
		    !has_code(loader, run, taken->start, taken->end))
			continue;
		space->stale_id = run->space;
		space->stale = t + LODE_UNWIND_REPORT_NS;
	}
}

/* Where mappings are not reported: by what the kernel sees that they changed. */
static void set_code(const struct lode_unwind_loader *loader, struct lode_unwind_space *space,
		     const struct lode_process *process)
{
	space->quiet = lode_map_reads_quiet(process);
	__atomic_store_n(&space->code_pages, (uint32_t)(process->code_bytes / loader->page_size), __ATOMIC_RELEASE);
}

void lode_unwind_loader_doubt(struct lode_unwind_loader *loader)
{
	const struct lode_processes *processes = &loader->unwinder->processes;

	for (size_t i = 0; i < processes->count; i++) {
		struct lode_process *process = &processes->items[i];
		struct lode_unwind_space *space = &loader->spaces[process->pid % LODE_UNWIND_SPACES];

		/* Those whose first thread has ended cannot be read. */
		if (lode_processes_has_ended(processes, process->pid))
			continue;
		process->code_bytes = 0;
		if (space->pid == process->pid)
			__atomic_store_n(&space->code_pages, 0, __ATOMIC_RELEASE);
	}
}

/* ---- processes ---- */

/* Adds a process to the kernel's maps. Returns 1, 0 when its mappings did not fit, or LODE_SYSTEM. */
static int enter_process(struct lode_unwind_loader *loader, const struct lode_process *process)
{
	struct lode_unwind_space *space = &loader->spaces[process->pid % LODE_UNWIND_SPACES];
	uint32_t id = process->space.version, language;
	const struct run *run;
	int code;

	if (space->pid == process->pid && space->id == id) {
		set_code(loader, space, process);
		return 1;
	}
	code = find_run(loader, id) ? 1 : add_run(loader, &process->space);
	if (code <= 0)
		return code;
	if (lode_language_entries_find(&loader->languages, process, loader->known, &language) < 0)
		return LODE_SYSTEM;
	run = find_run(loader, id);
	clear_space(space);
	space->language = language;
	space->pid = process->pid;
	space->first = run->first;
	space->count = run->count;
	space->strays = 0;
	set_code(loader, space, process);
	/* Last: a walk in the kernel may look at it at any moment. */
	__atomic_store_n(&space->id, id, __ATOMIC_RELEASE);
	mark_stale(loader, space, run);
	return 1;
}

/* Writes the runs of all processes that live again. */
static int rewrite(struct lode_unwind_loader *loader)
{
	const struct lode_processes *processes = &loader->unwinder->processes;
	int code = 0;

	for (size_t i = 0; i < LODE_UNWIND_SPACES; i++)
		clear_space(&loader->spaces[i]);
	loader->used = 0;
	loader->run_count = 0;
	loader->has_pending = 0;
	lode_index_release(&loader->run_index);
	loader->totals.crowded = 0;
	for (size_t i = 0; code >= 0 && i < processes->count; i++) {
		if (!processes->items[i].space.root || lode_processes_has_ended(processes, processes->items[i].pid))
			continue;
		code = enter_process(loader, &processes->items[i]);
		if (code == 0) {
			clear_space(&loader->spaces[processes->items[i].pid % LODE_UNWIND_SPACES]);
			loader->totals.crowded++;
		}
	}
	return code < 0 ? code : 0;
}

/* ---- changes ---- */

int lode_unwind_loader_changed(struct lode_unwind_loader *loader, uint32_t pid)
{
	if (loader->dirty_count && loader->dirty[loader->dirty_count - 1] == pid)
		return 0;
	return LODE_APPEND(loader->dirty, loader->dirty_count, loader->dirty_capacity, pid);
}

int lode_unwind_loader_renumbered(struct lode_unwind_loader *loader, uint64_t t)
{
	int code;

	loader->known = t;
	code = rewrite(loader);
	return code ? code : lode_process_unwinder_drop_tables(loader->unwinder, drop_table, loader);
}

/* Mappings whose table has come meanwhile. */
static void settle_pending(struct lode_unwind_loader *loader)
{
	loader->has_pending = 0;
	loader->asked = loader->unwinder->asked;
	for (uint32_t i = 0; i < loader->used; i++)
		if (loader->mappings[i].table == LODE_UNWIND_PENDING)
			set_table(loader, &loader->mappings[i], loader->mappings[i].bias, loader->images[i]);
}

/* A process whose first thread has ended may go on with others, with what is known of it. */
static void keep_entry(struct lode_unwind_loader *loader, uint32_t pid)
{
	const struct lode_process *process = lode_processes_find(&loader->unwinder->processes, pid);
	struct lode_unwind_space *space = &loader->spaces[pid % LODE_UNWIND_SPACES];

	if (process && space->pid == pid && space->id)
		set_code(loader, space, process);
}

int lode_unwind_loader_flush(struct lode_unwind_loader *loader, uint64_t t)
{
	int code = load_tables(loader);

	loader->known = t;
	if (!code && loader->has_pending && loader->asked != loader->unwinder->asked)
		settle_pending(loader);
	if (!code)
		code = lode_language_entries_retry(&loader->languages, t);
	for (size_t i = 0; code >= 0 && i < loader->dirty_count; i++) {
		const struct lode_process *process;

		if (lode_processes_has_ended(&loader->unwinder->processes, loader->dirty[i])) {
			keep_entry(loader, loader->dirty[i]);
			continue;
		}
		process = lode_processes_get(&loader->unwinder->processes, loader->dirty[i]);
		code = process ? enter_process(loader, process) : LODE_SYSTEM;
		if (code == 0) {
			code = rewrite(loader);
			break;
		}
	}
	loader->dirty_count = 0;
	return code < 0 ? code : 0;
}

struct lode_unwind_totals lode_unwind_loader_totals(const struct lode_unwind_loader *loader)
{
	struct lode_unwind_totals totals = loader->totals;

	totals.rules = loader->rule_count;
	totals.refused += lode_table_installer_refused(loader->installer);
	return totals;
}
