/*
 * A lock held across slow I/O: a wait bug behind a chain of waits.
 *
 * Three threads, as in many programs with a window: `ui` answers clicks and for
 * that looks at the folder list under its lock; `indexer` keeps the folder list
 * fresh; `disk` reads the files that the indexer asks for, slowly. Besides, a pool
 * of `worker` threads has nothing to do.
 *
 * bad:  the indexer takes the lock and then asks the disk. A user who clicks waits
 *       for the lock, whose holder waits for the disk: a chain of two waits, and
 *       neither the lock nor the disk looks guilty by itself.
 * good: the indexer asks the disk first and takes the lock only to put in what
 *       it got.
 *
 * Timing: a folder of `size` files takes the disk `size` ms. The indexer rests 10 ms
 * between folders, the user 20 ms between clicks. In the bad variant a click comes
 * 10 ms after the indexer took the lock, so it waits size - 10 ms, and all clicks
 * take CLICKS * (size + 10) ms; in the good one CLICKS * 20 ms.
 */
#include "demo.h"

#include <stdlib.h>

#define CLICKS          12
#define FOLDERS         64
#define BETWEEN_FOLDERS 10   /* ms */
#define BETWEEN_CLICKS  20   /* ms */
#define FILE_TIME       1000 /* us that the disk takes for a file */

static struct demo demo = {
	.program = "lock_chain",
	.about = "A click waits for a lock whose holder waits for a slow disk. Size: files in a folder, 1 ms "
		 "each.\n"
		 "Threads: workers that have nothing to do.",
	.size = 40,
	.smallest = 15,
	.largest = 1000,
	.threads = 2,
};

static struct demo_lock list_lock = DEMO_LOCK;
static uint64_t folder_sums[FOLDERS];
static volatile uint64_t picture; /* of the list; never shown */
static int quit;                  /* read and written atomically */

/* One request at a time: the indexer asks, the disk answers. */
static struct {
	struct demo_lock lock;
	struct demo_signal asked;
	struct demo_signal answered;
	int waiting; /* a request without an answer */
	uint64_t sum;
} request = { .lock = DEMO_LOCK, .asked = DEMO_SIGNAL, .answered = DEMO_SIGNAL };

static struct {
	struct demo_lock lock;
	struct demo_signal work;
} pool = { .lock = DEMO_LOCK, .work = DEMO_SIGNAL };

static int quitting(void)
{
	return __atomic_load_n(&quit, __ATOMIC_RELAXED);
}

/* ---- disk ---- */

static OWN_FRAME void await_disk_arm(void)
{
	IN_FRAME;
	demo_await_device(demo.size * FILE_TIME);
}

static OWN_FRAME uint64_t read_files_slowly(void)
{
	IN_FRAME;
	await_disk_arm();
	return demo_work(demo.size, 200000);
}

static OWN_FRAME void serve_requests(void *unused)
{
	IN_FRAME;
	uint64_t sum;

	(void)unused;
	demo_acquire(&request.lock);
	while (!quitting()) {
		if (!request.waiting) {
			demo_await(&request.asked, &request.lock);
			continue;
		}
		demo_release(&request.lock);
		sum = read_files_slowly();
		demo_acquire(&request.lock);
		request.sum = sum;
		request.waiting = 0;
		demo_give(&request.answered);
	}
	demo_release(&request.lock);
}

/* ---- indexer ---- */

static OWN_FRAME uint64_t fetch_from_disk(void)
{
	IN_FRAME;
	uint64_t sum;

	demo_acquire(&request.lock);
	request.waiting = 1;
	demo_give(&request.asked);
	while (request.waiting && !quitting())
		demo_await(&request.answered, &request.lock);
	sum = request.sum;
	demo_release(&request.lock);
	return sum;
}

static OWN_FRAME void refresh_folder_holding_lock(int folder)
{
	IN_FRAME;
	demo_acquire(&list_lock);
	folder_sums[folder] = fetch_from_disk();
	demo_release(&list_lock);
}

static OWN_FRAME void refresh_folder(int folder)
{
	IN_FRAME;
	uint64_t sum = fetch_from_disk();

	demo_acquire(&list_lock);
	folder_sums[folder] = sum;
	demo_release(&list_lock);
}

static OWN_FRAME void rest_between_folders(void)
{
	IN_FRAME;
	demo_rest(BETWEEN_FOLDERS);
}

static OWN_FRAME void keep_list_fresh(void *unused)
{
	IN_FRAME;

	(void)unused;
	for (int folder = 0; !quitting(); folder = (folder + 1) % FOLDERS) {
		if (demo.bad)
			refresh_folder_holding_lock(folder);
		else
			refresh_folder(folder);
		rest_between_folders();
	}
}

/* ---- pool ---- */

static OWN_FRAME void wait_for_work(void *unused)
{
	IN_FRAME;

	(void)unused;
	demo_acquire(&pool.lock);
	while (!quitting())
		demo_await(&pool.work, &pool.lock);
	demo_release(&pool.lock);
}

/* ---- ui ---- */

static OWN_FRAME void lock_folder_list(void)
{
	IN_FRAME;
	demo_acquire(&list_lock);
}

static OWN_FRAME uint64_t draw_folder_list(void)
{
	IN_FRAME;
	return demo_work(folder_sums[0], 500000);
}

static OWN_FRAME void handle_click(void)
{
	IN_FRAME;

	lock_folder_list();
	picture ^= draw_folder_list();
	demo_release(&list_lock);
}

static OWN_FRAME void wait_for_click(void)
{
	IN_FRAME;
	demo_rest(BETWEEN_CLICKS);
}

/* Returns how long the slowest click took. */
static OWN_FRAME uint64_t run_ui(void)
{
	IN_FRAME;
	uint64_t start, slowest = 0;

	for (int i = 0; i < CLICKS; i++) {
		wait_for_click();
		start = demo_clock(CLOCK_MONOTONIC);
		handle_click();
		start = demo_clock(CLOCK_MONOTONIC) - start;
		slowest = start > slowest ? start : slowest;
	}
	return slowest;
}

/* ---- all of it ---- */

static void start(struct demo_thread *threads)
{
	demo_thread_start(&threads[0], "disk", serve_requests, NULL);
	demo_thread_start(&threads[1], "indexer", keep_list_fresh, NULL);
	for (unsigned i = 0; i < demo.threads; i++)
		demo_thread_start(&threads[2 + i], "worker", wait_for_work, NULL);
}

static void stop(struct demo_thread *threads)
{
	__atomic_store_n(&quit, 1, __ATOMIC_RELAXED);
	demo_acquire(&request.lock);
	demo_give(&request.asked);
	demo_give(&request.answered);
	demo_release(&request.lock);
	demo_acquire(&pool.lock);
	demo_give(&pool.work);
	demo_release(&pool.lock);
	for (unsigned i = 0; i < 2 + demo.threads; i++)
		demo_join(&threads[i]);
}

int main(int argc, char **argv)
{
	struct demo_thread *threads;
	char result[64];

	demo_options(&demo, argc, argv);
	threads = demo_room(2 + demo.threads, sizeof(*threads));
	demo_start(&demo, "ui");
	{
		IN_FRAME;
		start(threads);
		snprintf(result, sizeof(result), "%d clicks, slowest %.1f ms", CLICKS, (double)run_ui() / 1e6);
		demo_stop(&demo);
		stop(threads);
	}
	demo_finish(&demo, result);
	free(threads);
	return 0;
}
