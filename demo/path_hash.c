/*
 * A hash function that asks the file system (StackMine's example: a hash table of
 * components keyed by path, whose GetHashCode called GetShortPathName).
 *
 * At start-up `loader` threads, each with a share of the components, read each
 * component once and enter it into a table; then each component looks up the two
 * that it needs. The table grows as it fills and hashes its entries anew.
 *
 * bad:  so that two spellings of a path meet in one entry, component_hash turns the
 *       path into its canonical form first: realpath, lstat and a read of the file.
 *       A hash table hashes often: about four times a component.
 * good: component_hash looks at the text of the path, which is canonical already.
 *
 * Timing: the folder stands for one on a slow volume, that takes 1 ms for each time
 * it is asked. A component is asked for once in any case. So the good variant takes
 * (1 ms + 0.4 ms of CPU) * size / threads; the bad one another 4 to 5 ms * size /
 * threads, a wait (and a little CPU time in the kernel) below component_hash.
 */
#include "demo.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VOLUME_TIME   1000 /* us that the volume takes to answer */
#define FIRST_BUCKETS 16
#define NEEDS         2 /* other components that a component looks up */

struct component {
	char path[PATH_MAX];
	struct component *next; /* in its bucket */
	uint64_t code;
};

struct table {
	struct component **buckets;
	size_t bucket_count; /* a power of two */
	size_t count;
};

struct share {
	struct demo_thread thread;
	struct table table;
	unsigned first; /* components first, first + threads, ... */
	uint64_t hashes;
	uint64_t missing;
};

static struct demo demo = {
	.program = "path_hash",
	.about = "Start-up is slow because a hash function asks the file system. Size: components to load.\n"
		 "Threads: loaders that share them.",
	.size = 300,
	.smallest = 1,
	.largest = 100000,
	.threads = 2,
};

static char folder[PATH_MAX];
static struct component *components;

/* ---- the volume ---- */

static OWN_FRAME void await_volume(void)
{
	IN_FRAME;
	demo_await_device(VOLUME_TIME);
}

static OWN_FRAME void read_head(const char *path, char *head, size_t size)
{
	IN_FRAME;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	await_volume();
	length = file < 0 ? -1 : read(file, head, size - 1);
	if (length < 0)
		demo_fail(path);
	head[length] = '\0';
	close(file);
}

/* ---- the hash table ---- */

/* The name that all spellings of a path have in common. */
static OWN_FRAME void canonical_path_name(const char *path, char name[PATH_MAX])
{
	IN_FRAME;
	struct stat status;
	char head[64];

	if (!realpath(path, name) || lstat(name, &status) < 0)
		demo_fail(path);
	read_head(name, head, sizeof(head)); /* a link of the kind that holds its target as text? */
}

static OWN_FRAME uint64_t hash_text(const char *path)
{
	uint64_t hash = 14695981039346656037u;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 1099511628211u;
	return hash ^ hash >> 32;
}

static OWN_FRAME uint64_t component_hash(struct share *share, const char *path)
{
	IN_FRAME;
	char name[PATH_MAX];

	share->hashes++;
	if (!demo.bad)
		return hash_text(path);
	canonical_path_name(path, name);
	return hash_text(name);
}

static struct component **bucket_of(struct share *share, const char *path)
{
	return &share->table.buckets[component_hash(share, path) & (share->table.bucket_count - 1)];
}

static OWN_FRAME void table_grow(struct share *share)
{
	IN_FRAME;
	struct table old = share->table;
	struct component *component, *next, **bucket;

	share->table.bucket_count = old.bucket_count ? old.bucket_count * 2 : FIRST_BUCKETS;
	share->table.buckets = demo_room(share->table.bucket_count, sizeof(*share->table.buckets));
	for (size_t i = 0; i < old.bucket_count; i++)
		for (component = old.buckets[i]; component; component = next) {
			next = component->next;
			bucket = bucket_of(share, component->path);
			component->next = *bucket;
			*bucket = component;
		}
	free(old.buckets);
}

static OWN_FRAME void table_add(struct share *share, struct component *component)
{
	IN_FRAME;
	struct component **bucket;

	if (share->table.count == share->table.bucket_count)
		table_grow(share);
	bucket = bucket_of(share, component->path);
	component->next = *bucket;
	*bucket = component;
	share->table.count++;
}

static OWN_FRAME struct component *table_find(struct share *share, const char *path)
{
	IN_FRAME;
	struct component *component = *bucket_of(share, path);

	while (component && strcmp(component->path, path) != 0)
		component = component->next;
	return component;
}

/* ---- loading ---- */

static OWN_FRAME void load_component(struct component *component)
{
	IN_FRAME;
	char head[64];

	read_head(component->path, head, sizeof(head));
	component->code = demo_work(hash_text(head), 500000);
}

static OWN_FRAME void connect_component(struct share *share, unsigned i)
{
	IN_FRAME;

	for (unsigned need = 1; need <= NEEDS; need++) {
		unsigned other = i + need * demo.threads;

		if (other >= demo.size)
			other = share->first;
		share->missing += !table_find(share, components[other].path);
	}
}

static OWN_FRAME void load_components(void *argument)
{
	IN_FRAME;
	struct share *share = argument;

	for (unsigned i = share->first; i < demo.size; i += demo.threads) {
		load_component(&components[i]);
		table_add(share, &components[i]);
	}
	for (unsigned i = share->first; i < demo.size; i += demo.threads)
		connect_component(share, i);
	free(share->table.buckets);
}

/* ---- all of it ---- */

static void make_file(struct component *component, unsigned i)
{
	int file;

	if (snprintf(component->path, PATH_MAX, "%s/component-%05u", folder, i) >= PATH_MAX)
		demo_fail(folder);
	file = open(component->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0 || dprintf(file, "component %u\n", i) < 0 || close(file) < 0)
		demo_fail(component->path);
}

static void make_files(void)
{
	const char *given = getenv("TMPDIR"), *where = given && *given ? given : "/tmp";
	char template[PATH_MAX];

	if (snprintf(template, sizeof(template), "%s/path_hash-XXXXXX", where) >= PATH_MAX || !mkdtemp(template) ||
	    !realpath(template, folder))
		demo_fail("temporary folder");
	components = demo_room(demo.size, sizeof(*components));
	for (unsigned i = 0; i < demo.size; i++)
		make_file(&components[i], i);
}

static void remove_files(void)
{
	for (unsigned i = 0; i < demo.size; i++)
		unlink(components[i].path);
	rmdir(folder);
	free(components);
}

static OWN_FRAME void start_up(struct share *shares)
{
	IN_FRAME;

	for (unsigned i = 0; i < demo.threads; i++) {
		shares[i].first = i;
		demo_thread_start(&shares[i].thread, "loader", load_components, &shares[i]);
	}
	for (unsigned i = 0; i < demo.threads; i++)
		demo_join(&shares[i].thread);
}

int main(int argc, char **argv)
{
	struct share *shares;
	uint64_t hashes = 0, missing = 0;
	char result[80];

	demo_options(&demo, argc, argv);
	make_files();
	shares = demo_room(demo.threads, sizeof(*shares));
	demo_start(&demo, "ui");
	{
		IN_FRAME;
		start_up(shares);
		demo_stop(&demo);
	}
	for (unsigned i = 0; i < demo.threads; i++) {
		hashes += shares[i].hashes;
		missing += shares[i].missing;
	}
	snprintf(result, sizeof(result), "%llu hashes, %llu missing", (unsigned long long)hashes,
		 (unsigned long long)missing);
	demo_finish(&demo, result);
	remove_files();
	free(shares);
	return missing ? 4 : 0;
}
