/* Table installer: see table_installer.h. */
#include "record/table_installer.h"

#include "base/memory.h"
#include "base/quiet_thread.h"

#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

/* Tables that are installed by one call, which waits once. */
#define TABLES_AT_A_TIME 64

struct table {
	uint32_t place;
	int fd;
};

struct lode_table_installer {
	int tables;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct table *waiting;
	size_t count;
	size_t capacity;
	pthread_t thread;
	int started;
	int ending;
};

struct lode_table_installer *lode_table_installer_create(int tables)
{
	struct lode_table_installer *installer = lode_calloc(1, sizeof(*installer));

	if (!installer)
		return NULL;
	installer->tables = tables;
	pthread_mutex_init(&installer->lock, NULL);
	pthread_cond_init(&installer->more, NULL);
	return installer;
}

/* What the kernel does not take is not in the map of maps: its stacks stay copies. */
static void install(const struct lode_table_installer *installer, const struct table *tables, uint32_t count)
{
	uint32_t places[TABLES_AT_A_TIME] = { 0 }, done = count;
	int fds[TABLES_AT_A_TIME] = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		places[i] = tables[i].place;
		fds[i] = tables[i].fd;
	}
	if (bpf_map_update_batch(installer->tables, places, fds, &done, NULL) < 0)
		for (uint32_t i = 0; i < count; i++)
			bpf_map_update_elem(installer->tables, &places[i], &fds[i], BPF_ANY);
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]); /* the map of maps holds it */
}

static void *work(void *argument)
{
	struct lode_table_installer *installer = argument;

	pthread_mutex_lock(&installer->lock);
	for (;;) {
		struct table some[TABLES_AT_A_TIME];
		uint32_t count;

		while (!installer->count && !installer->ending)
			pthread_cond_wait(&installer->more, &installer->lock);
		if (!installer->count)
			break;
		count = installer->count < TABLES_AT_A_TIME ? (uint32_t)installer->count : TABLES_AT_A_TIME;
		installer->count -= count;
		memcpy(some, installer->waiting + installer->count, count * sizeof(*some));
		pthread_mutex_unlock(&installer->lock);
		install(installer, some, count);
		pthread_mutex_lock(&installer->lock);
	}
	pthread_mutex_unlock(&installer->lock);
	return NULL;
}

void lode_table_installer_add(struct lode_table_installer *installer, uint32_t place, int fd)
{
	struct table table = { place, fd };
	int taken = 0;

	pthread_mutex_lock(&installer->lock);
	if (!installer->started)
		installer->started = lode_quiet_thread(&installer->thread, work, installer) == 0;
	if (installer->started &&
	    lode_grow(&installer->waiting, &installer->capacity, installer->count + 1, sizeof(table)) == 0) {
		installer->waiting[installer->count++] = table;
		taken = 1;
		pthread_cond_signal(&installer->more);
	}
	pthread_mutex_unlock(&installer->lock);
	if (!taken)
		install(installer, &table, 1);
}

void lode_table_installer_destroy(struct lode_table_installer *installer)
{
	if (!installer)
		return;
	pthread_mutex_lock(&installer->lock);
	installer->ending = 1;
	pthread_cond_signal(&installer->more);
	pthread_mutex_unlock(&installer->lock);
	if (installer->started)
		pthread_join(installer->thread, NULL);
	pthread_cond_destroy(&installer->more);
	pthread_mutex_destroy(&installer->lock);
	lode_free(installer->waiting);
	lode_free(installer);
}
