/*
 * A small program with a performance bug, for the demo.
 *
 *	lock_chain good|bad [CLICKS]
 *
 * Three threads, as in many programs with a window: `ui` answers clicks and for
 * that looks at the folder list under its lock; `indexer` keeps the folder list
 * fresh; `disk` reads and writes the files that the indexer asks for, slowly.
 *
 * bad:  the indexer takes the lock and then asks the disk. Whoever clicks waits
 *       for the lock, whose holder waits for the disk: a chain of two waits, and
 *       neither the lock nor the disk looks guilty by itself.
 * good: the indexer asks the disk first and takes the lock only to put in what
 *       it got.
 *
 * Prints how long the clicks took. Functions that matter are not inlined, so that
 * stacks show them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OWN_FRAME __attribute__((noinline))
#define BLOCK 65536
#define FOLDERS 64
#define CLICKS_AT_MOST 100000

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t folder_sums[FOLDERS];
static int quit; /* read and written atomically */

/* One request at a time: the indexer asks, the disk answers. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int folder; /* asked for; -1: nothing */
	int done;
	uint64_t sum;
} request = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, -1, 0, 0 };

static volatile uint64_t keep; /* so that work is not optimised away */

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static OWN_FRAME void sleep_ms(unsigned ms)
{
	struct timespec time = { 0, (long)ms * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- disk ---- */

static OWN_FRAME uint64_t sum_block(const unsigned char *block)
{
	uint64_t sum = 0;

	for (int round = 0; round < 8; round++)
		for (size_t i = 0; i < BLOCK; i++)
			sum = sum * 31 + block[i];
	return sum;
}

static OWN_FRAME void write_through(int fd, const unsigned char *block)
{
	if (pwrite(fd, block, BLOCK, 0) != BLOCK || fsync(fd) < 0) {
		perror("lock_chain: temporary file");
		exit(4);
	}
}

static OWN_FRAME uint64_t read_file_slowly(int fd, int folder)
{
	static unsigned char block[BLOCK];

	memset(block, folder, sizeof(block));
	write_through(fd, block);
	sleep_ms(60); /* the arm of the disk moves */
	if (pread(fd, block, BLOCK, 0) != BLOCK)
		exit(4);
	return sum_block(block);
}

static OWN_FRAME void serve_requests(int fd)
{
	uint64_t sum;
	int folder;

	pthread_mutex_lock(&request.lock);
	while (!__atomic_load_n(&quit, __ATOMIC_RELAXED)) {
		if (request.folder < 0 || request.done) {
			pthread_cond_wait(&request.changed, &request.lock);
			continue;
		}
		folder = request.folder;
		pthread_mutex_unlock(&request.lock);
		sum = read_file_slowly(fd, folder);
		pthread_mutex_lock(&request.lock);
		request.sum = sum;
		request.done = 1;
		pthread_cond_broadcast(&request.changed);
	}
	pthread_mutex_unlock(&request.lock);
}

static void *disk_main(void *file)
{
	pthread_setname_np(pthread_self(), "disk");
	serve_requests(fileno(file));
	return NULL;
}

/* ---- indexer ---- */

static OWN_FRAME uint64_t fetch_from_disk(int folder)
{
	uint64_t sum;

	pthread_mutex_lock(&request.lock);
	request.folder = folder;
	request.done = 0;
	pthread_cond_broadcast(&request.changed);
	while (!request.done && !__atomic_load_n(&quit, __ATOMIC_RELAXED))
		pthread_cond_wait(&request.changed, &request.lock);
	request.folder = -1;
	sum = request.sum;
	pthread_mutex_unlock(&request.lock);
	return sum;
}

static OWN_FRAME void refresh_folder_holding_lock(int folder)
{
	pthread_mutex_lock(&list_lock);
	folder_sums[folder] = fetch_from_disk(folder);
	pthread_mutex_unlock(&list_lock);
}

static OWN_FRAME void refresh_folder(int folder)
{
	uint64_t sum = fetch_from_disk(folder);

	pthread_mutex_lock(&list_lock);
	folder_sums[folder] = sum;
	pthread_mutex_unlock(&list_lock);
}

static void *indexer_main(void *bad)
{
	pthread_setname_np(pthread_self(), "indexer");
	for (int folder = 0; !__atomic_load_n(&quit, __ATOMIC_RELAXED); folder = (folder + 1) % FOLDERS) {
		if (bad)
			refresh_folder_holding_lock(folder);
		else
			refresh_folder(folder);
		sleep_ms(5);
	}
	return NULL;
}

/* ---- ui ---- */

static OWN_FRAME void lock_folder_list(void)
{
	pthread_mutex_lock(&list_lock);
}

static OWN_FRAME void draw_folder_list(void)
{
	for (int round = 0; round < 2000; round++)
		for (int i = 0; i < FOLDERS; i++)
			keep += folder_sums[i] ^ (uint64_t)round;
}

static OWN_FRAME void show_folder_list(void)
{
	lock_folder_list();
	draw_folder_list();
	pthread_mutex_unlock(&list_lock);
}

static OWN_FRAME uint64_t handle_click(void)
{
	uint64_t start = now_ns();

	show_folder_list();
	return now_ns() - start;
}

static OWN_FRAME void wait_for_click(void)
{
	sleep_ms(20);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static OWN_FRAME void run_ui(const char *variant, size_t clicks)
{
	uint64_t *taken = calloc(clicks, sizeof(*taken));

	if (!taken)
		exit(4);
	pthread_setname_np(pthread_self(), "ui");
	for (size_t i = 0; i < clicks; i++) {
		wait_for_click();
		taken[i] = handle_click();
	}
	qsort(taken, clicks, sizeof(*taken), by_size);
	printf("lock_chain %s: %zu clicks answered in %.1f ms (median), %.1f ms (worst)\n", variant, clicks,
	       (double)taken[clicks / 2] / 1e6, (double)taken[clicks - 1] / 1e6);
	free(taken);
}

static void stop(pthread_t disk, pthread_t indexer)
{
	__atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&request.lock);
	pthread_cond_broadcast(&request.changed);
	pthread_mutex_unlock(&request.lock);
	pthread_join(indexer, NULL);
	pthread_join(disk, NULL);
}

int main(int argc, char **argv)
{
	int bad = argc > 1 && strcmp(argv[1], "bad") == 0;
	long clicks = argc > 2 ? strtol(argv[2], NULL, 10) : 40;
	pthread_t disk, indexer;
	FILE *file;

	if (argc < 2 || argc > 3 || (!bad && strcmp(argv[1], "good") != 0) || clicks < 1 || clicks > CLICKS_AT_MOST) {
		fprintf(stderr, "usage: lock_chain good|bad [CLICKS]\n");
		return 2;
	}
	file = tmpfile();
	if (!file || pthread_create(&disk, NULL, disk_main, file) != 0 ||
	    pthread_create(&indexer, NULL, indexer_main, bad ? file : NULL) != 0) {
		perror("lock_chain");
		return 4;
	}
	run_ui(argv[1], (size_t)clicks);
	stop(disk, indexer);
	fclose(file);
	return 0;
}
