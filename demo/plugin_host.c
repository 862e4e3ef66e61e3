/*
 * A plug-in that is slow: the cause is outside the program (IntroPerf, section
 * 5.2).
 *
 * A viewer reads the pages of a document and shows each to its plug-ins, preview.so,
 * outline.so and spell.so, from its own folder. `reader` threads share the pages.
 *
 * bad:  the user has switched on a setting with which spell.so reads its word list
 *       anew for each page. The host's own code does just the same as before.
 * good: without the setting spell.so keeps what it read.
 *
 * Timing: a page costs the host a wait of 1 ms and the plug-ins about 0.4 ms of CPU
 * time each; in the bad variant spell.so takes another 6.8 ms, 6 ms of it a wait. So the
 * good variant takes about 2.2 ms * size / threads, the bad one 9 ms * size / threads.
 */
#include "demo.h"
#include "plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_TIME 1000 /* us that the disk takes for a page */

static struct demo demo = {
	.program = "plugin_host",
	.about = "A viewer is slow because one of its plug-ins is. Size: pages to show.\n"
		 "Threads: readers that share them.",
	.size = 200,
	.smallest = 1,
	.largest = 100000,
	.threads = 2,
};

static const char *const plugin_names[] = { "preview.so", "outline.so", "spell.so" };
#define PLUGINS (sizeof(plugin_names) / sizeof(*plugin_names))
static const struct plugin *plugins[PLUGINS];

struct reader {
	struct demo_thread thread;
	unsigned first; /* pages first, first + threads, ... */
	uint64_t work;
};

/* ---- plug-ins ---- */

static void load_plugin(size_t i)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *end;
	void *object;

	path[length > 0 ? length : 0] = '\0';
	end = strrchr(path, '/');
	if (!end)
		demo_fail("/proc/self/exe");
	strcpy(end + 1, plugin_names[i]);
	object = dlopen(path, RTLD_NOW);
	plugins[i] = object ? dlsym(object, "plugin") : NULL;
	if (!plugins[i]) {
		fprintf(stderr, "plugin_host: %s\n", dlerror());
		exit(4);
	}
}

static OWN_FRAME void open_plugins(void)
{
	IN_FRAME;

	for (size_t i = 0; i < PLUGINS; i++)
		plugins[i]->open(demo.bad);
}

static OWN_FRAME uint64_t call_plugins(unsigned page)
{
	IN_FRAME;
	uint64_t work = 0;

	for (size_t i = 0; i < PLUGINS; i++)
		work ^= plugins[i]->handle_page(page);
	return work;
}

/* ---- pages ---- */

static OWN_FRAME void fetch_page(void)
{
	IN_FRAME;
	demo_await_device(PAGE_TIME);
}

static OWN_FRAME uint64_t show_page(unsigned page)
{
	IN_FRAME;
	fetch_page();
	return call_plugins(page);
}

static OWN_FRAME void show_pages(void *argument)
{
	IN_FRAME;
	struct reader *reader = argument;

	for (unsigned page = reader->first; page < demo.size; page += demo.threads)
		reader->work ^= show_page(page);
}

/* ---- all of it ---- */

static OWN_FRAME void open_document(struct reader *readers)
{
	IN_FRAME;

	open_plugins();
	for (unsigned i = 0; i < demo.threads; i++) {
		readers[i].first = i;
		demo_thread_start(&readers[i].thread, "reader", show_pages, &readers[i]);
	}
	for (unsigned i = 0; i < demo.threads; i++)
		demo_join(&readers[i].thread);
}

int main(int argc, char **argv)
{
	struct reader *readers;
	uint64_t work = 0;
	char result[64];

	demo_options(&demo, argc, argv);
	for (size_t i = 0; i < PLUGINS; i++)
		load_plugin(i);
	readers = demo_room(demo.threads, sizeof(*readers));
	demo_start(&demo, "ui");
	{
		IN_FRAME;
		open_document(readers);
		demo_stop(&demo);
	}
	for (unsigned i = 0; i < demo.threads; i++)
		work ^= readers[i].work;
	snprintf(result, sizeof(result), "%u pages, result %016llx", demo.size, (unsigned long long)work);
	demo_finish(&demo, result);
	free(readers);
	return 0;
}
