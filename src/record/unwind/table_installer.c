/* Table installer: see table_installer.h. */
#include "record/unwind/table_installer.h"

#include "base/memory.h"
#include "base/worker.h"
#include "record/bpf/unwind_maps.h"

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

/* Tables that are installed by one call, which waits once. */
#define TABLES_AT_A_TIME 64
/* Chunks that go to the kernel at a time. */
#define CHUNKS_AT_A_TIME 256

struct table {
	uint32_t place;
	struct lode_unwind_table rows;
	uint16_t *numbers; /* of the rules */
};

struct lode_table_installer {
	int tables;
	struct lode_worker worker;
	struct table *waiting;
	size_t count;
	size_t capacity;
	struct table *leaving; /* to be removed when none is waiting */
	size_t leaving_count;
	size_t leaving_capacity;
	uint32_t *free_places;
	size_t free_count;
	size_t free_capacity;
	uint64_t refused;
};

struct lode_table_installer *lode_table_installer_create(int tables)
{
	struct lode_table_installer *installer = lode_calloc(1, sizeof(*installer));

	if (!installer)
		return NULL;
	installer->tables = tables;
	lode_worker_init(&installer->worker);
	return installer;
}

static void fill_chunk(struct lode_unwind_chunk *chunk, const struct lode_unwind_table *table,
		       const uint16_t *numbers, size_t first)
{
	for (size_t i = 0; i < LODE_UNWIND_CHUNK; i++) {
		int there = first + i < table->count;
		uint16_t rule = there ? table->rules[first + i] : 0;

		chunk->starts[i] = there ? table->starts[first + i] : UINT32_MAX;
		chunk->rules[i] = rule < table->rule_count ? numbers[rule] : 0;
	}
}

/* Copies a table's rows into a map of the kernel. Returns 0, or -1 when it does not take them. */
static int fill_rows(int fd, const struct lode_unwind_table *table, const uint16_t *numbers, uint32_t chunk_count)
{
	struct lode_unwind_chunk *chunks = lode_calloc(CHUNKS_AT_A_TIME, sizeof(*chunks));
	uint32_t keys[CHUNKS_AT_A_TIME];
	int code = chunks ? 0 : -1;

	for (uint32_t done = 0; !code && done < chunk_count;) {
		uint32_t count = 0;

		while (count < CHUNKS_AT_A_TIME && done + count < chunk_count) {
			keys[count] = done + count;
			fill_chunk(&chunks[count], table, numbers, (size_t)(done + count) * LODE_UNWIND_CHUNK);
			count++;
		}
		done += count;
		if (bpf_map_update_batch(fd, keys, chunks, &count, NULL) < 0)
			code = -1;
	}
	lode_free(chunks);
	return code;
}

/* A table as a map in the kernel: its descriptor, or -1 when the kernel does not take it. */
static int make_rows(const struct table *table)
{
	struct bpf_map_create_opts options = { .sz = sizeof(options), .map_flags = BPF_F_INNER_MAP };
	uint32_t chunks = (uint32_t)((table->rows.count + LODE_UNWIND_CHUNK - 1) / LODE_UNWIND_CHUNK);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(uint32_t),
				sizeof(struct lode_unwind_chunk), chunks, &options);

	if (fd < 0 || fill_rows(fd, &table->rows, table->numbers, chunks) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What the kernel does not take is not in the map of maps: its stacks stay copies. */
static void install(struct lode_table_installer *installer, const struct table *tables, uint32_t all)
{
	uint32_t places[TABLES_AT_A_TIME] = { 0 }, count = 0, done;
	int fds[TABLES_AT_A_TIME] = { 0 };

	for (uint32_t i = 0; i < all; i++) {
		places[count] = tables[i].place;
		fds[count] = make_rows(&tables[i]);
		count += fds[count] >= 0;
		lode_free(tables[i].numbers);
		lode_unwind_table_drop_pages(&tables[i].rows); /* most stacks are walked in the kernel from now on */
	}
	__atomic_add_fetch(&installer->refused, all - count, __ATOMIC_RELAXED);
	done = count;
	if (count && bpf_map_update_batch(installer->tables, places, fds, &done, NULL) < 0)
		for (uint32_t i = 0; i < count; i++)
			bpf_map_update_elem(installer->tables, &places[i], &fds[i], BPF_ANY);
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]); /* the map of maps holds it */
}

/* Installs some of those that wait; with the lock held, which is given up meanwhile. */
static void install_some(struct lode_table_installer *installer)
{
	struct table some[TABLES_AT_A_TIME];
	uint32_t count = installer->count < TABLES_AT_A_TIME ? (uint32_t)installer->count : TABLES_AT_A_TIME;

	installer->count -= count;
	memcpy(some, installer->waiting + installer->count, count * sizeof(*some));
	pthread_mutex_unlock(&installer->worker.lock);
	install(installer, some, count);
	pthread_mutex_lock(&installer->worker.lock);
}

/* Removes one of those that are in place for certain, because none waits. When the kernel is done, no program uses it. */
static void remove_one(struct lode_table_installer *installer)
{
	struct table table = installer->leaving[--installer->leaving_count];

	pthread_mutex_unlock(&installer->worker.lock);
	bpf_map_delete_elem(installer->tables, &table.place);
	lode_unwind_table_release(&table.rows);
	pthread_mutex_lock(&installer->worker.lock);
	/* Without memory the place stays unused. */
	(void)!LODE_APPEND(installer->free_places, installer->free_count, installer->free_capacity, table.place);
}

static void *work(void *argument)
{
	struct lode_table_installer *installer = argument;

	pthread_mutex_lock(&installer->worker.lock);
	for (;;) {
		if (installer->count)
			install_some(installer);
		else if (installer->worker.ending)
			break;
		else if (installer->leaving_count)
			remove_one(installer);
		else
			pthread_cond_wait(&installer->worker.changed, &installer->worker.lock);
	}
	pthread_mutex_unlock(&installer->worker.lock);
	return NULL;
}

void lode_table_installer_add(struct lode_table_installer *installer, uint32_t place,
			      const struct lode_unwind_table *rows, uint16_t *numbers)
{
	struct table table = { place, *rows, numbers };
	int taken = 0;

	pthread_mutex_lock(&installer->worker.lock);
	if (lode_worker_start(&installer->worker, work, installer) &&
	    lode_grow(&installer->waiting, &installer->capacity, installer->count + 1, sizeof(table)) == 0) {
		installer->waiting[installer->count++] = table;
		taken = 1;
		pthread_cond_signal(&installer->worker.changed);
	}
	pthread_mutex_unlock(&installer->worker.lock);
	if (!taken)
		install(installer, &table, 1);
}

int lode_table_installer_remove(struct lode_table_installer *installer, uint32_t place,
				const struct lode_unwind_table *rows)
{
	struct table table = { place, *rows, NULL };
	int code;

	pthread_mutex_lock(&installer->worker.lock);
	code = LODE_APPEND(installer->leaving, installer->leaving_count, installer->leaving_capacity, table);
	if (!code && lode_worker_start(&installer->worker, work, installer))
		pthread_cond_signal(&installer->worker.changed);
	else if (!code)
		remove_one(installer);
	pthread_mutex_unlock(&installer->worker.lock);
	return code;
}

uint32_t lode_table_installer_free_place(struct lode_table_installer *installer)
{
	uint32_t place;

	pthread_mutex_lock(&installer->worker.lock);
	place = installer->free_count ? installer->free_places[--installer->free_count] : 0;
	pthread_mutex_unlock(&installer->worker.lock);
	return place;
}

uint64_t lode_table_installer_refused(struct lode_table_installer *installer)
{
	return __atomic_load_n(&installer->refused, __ATOMIC_RELAXED);
}

void lode_table_installer_destroy(struct lode_table_installer *installer)
{
	if (!installer)
		return;
	lode_worker_release(&installer->worker);
	for (size_t i = 0; i < installer->leaving_count; i++)
		lode_unwind_table_release(&installer->leaving[i].rows);
	lode_free(installer->leaving);
	lode_free(installer->free_places);
	lode_free(installer->waiting);
	lode_free(installer);
}
