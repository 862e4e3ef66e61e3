/* Images of a recording: see recorded_images.h. */
#include "import/kernel/perf_data/recorded_images.h"

#include "base/memory.h"
#include "base/quiet_thread.h"
#include "base/starts_with.h"

#include <string.h>
#include <sys/utsname.h>

int lode_perf_images_init(struct lode_perf_images *images, const struct lode_perf_facts *facts,
			  const struct lode_import_options *options)
{
	struct lode_process_image kernel = { .kind = LODE_MAPPED_KERNEL, .path = "kernel", .build_id = "" };
	struct lode_process_image guest = { .kind = LODE_MAPPED_GUEST, .path = "guest", .build_id = "" };

	memset(images, 0, sizeof(*images));
	images->facts = facts;
	images->options = options;
	if (lode_process_images_init(&images->table) < 0 ||
	    lode_process_images_add(&images->table, &kernel) != LODE_PERF_IMAGE_KERNEL ||
	    lode_process_images_add(&images->table, &guest) != LODE_PERF_IMAGE_GUEST)
		return LODE_SYSTEM;
	return 0;
}

static void stop_prefetcher(struct lode_perf_images *images)
{
	if (!images->prefetching)
		return;
	atomic_store(&images->stop, 1);
	pthread_join(images->prefetcher, NULL);
	images->prefetching = 0;
}

void lode_perf_images_release(struct lode_perf_images *images)
{
	stop_prefetcher(images);
	lode_symbolizer_destroy(images->symbolizer);
	lode_free(images->prefetched);
	lode_process_images_release(&images->table);
	memset(images, 0, sizeof(*images));
}

/* ---- what is mapped ---- */

uint32_t lode_perf_images_user(struct lode_perf_images *images, const char *path, const char *build_id,
			       uint32_t pid)
{
	struct lode_process_image image = { .path = path, .build_id = build_id, .pid = pid };

	if (!*build_id)
		image.build_id = lode_perf_build_ids_find(&images->facts->build_ids, path);
	return lode_process_images_add_mapped(&images->table, &image);
}

/* The kernel is mapped as `[kernel.kallsyms]_text`: the address of _text is in place of the file offset.
 */
static int is_kernel_itself(const char *path)
{
	return lode_starts_with(path, "[kernel") || lode_starts_with(path, "[guest.kernel") ||
	       strstr(path, "vmlinux") != NULL;
}

uint32_t lode_perf_images_kernel(struct lode_perf_images *images, const char *path, const char *build_id,
				 uint64_t start, uint64_t offset)
{
	struct lode_process_image *kernel = &images->table.items[LODE_PERF_IMAGE_KERNEL];
	struct lode_process_image image = { .kind = LODE_MAPPED_KERNEL_MODULE,
					    .path = path,
					    .build_id = build_id,
					    .base = start };

	if (!is_kernel_itself(path))
		return lode_process_images_add(&images->table, &image);
	if (strstr(path, "_stext"))
		images->reference_name = "_stext";
	else if (strstr(path, "_text"))
		images->reference_name = "_text";
	if (images->reference_name)
		images->reference = offset;
	if (!*kernel->build_id && *build_id) {
		const char *copy = lode_arena_text(&images->table.arena, build_id, strlen(build_id));

		if (!copy)
			return LODE_NONE;
		kernel->build_id = copy;
	}
	return LODE_PERF_IMAGE_KERNEL;
}

uint32_t lode_perf_images_kernel_code(struct lode_perf_images *images, const char *name, uint64_t start)
{
	struct lode_process_image image = { .kind = LODE_MAPPED_KERNEL_CODE,
					    .path = name,
					    .build_id = "",
					    .base = start };

	return lode_process_images_add(&images->table, &image);
}

/* ---- symbols ---- */

/* The file of a path that was deleted is another one by now, unless its build-id is the same. */
static struct lode_image *open_binary(struct lode_perf_images *images, const char *path, const char *build_id)
{
	size_t length = lode_mapped_length(path);
	struct lode_image *image;
	char *plain;

	if (!*build_id || !path[length])
		return lode_symbolizer_binary(images->symbolizer, path, build_id);
	plain = lode_strndup(path, length);
	image = plain ? lode_symbolizer_binary(images->symbolizer, plain, build_id) : NULL;
	lode_free(plain);
	return image;
}

static const char *listed_kernel_build_id(const struct lode_perf_build_ids *build_ids)
{
	for (size_t i = 0; i < build_ids->count; i++)
		if (build_ids->items[i].kernel && is_kernel_itself(build_ids->items[i].path))
			return build_ids->items[i].build_id;
	return "";
}

static const char *kernel_build_id(const struct lode_perf_images *images)
{
	const char *build_id = images->table.items[LODE_PERF_IMAGE_KERNEL].build_id;

	return *build_id ? build_id : listed_kernel_build_id(&images->facts->build_ids);
}

/*
 * Without a build-id only what runs here can replace the kernel, its vDSO and
 * the files of a recording: it must be of the same release, or at least of the
 * same kind of machine, or names would be made up. What the recording lacks
 * counts as the same.
 */
static int is_this_machine(const struct lode_perf_images *images)
{
	const char *arch = images->facts->arch;
	struct utsname own;

	return !arch || uname(&own) < 0 || strcmp(arch, own.machine) == 0;
}

static int is_this_kernel(const struct lode_perf_images *images)
{
	const char *release = images->facts->kernel;
	struct utsname own;

	return is_this_machine(images) && (!release || uname(&own) < 0 || strcmp(release, own.release) == 0);
}

static struct lode_image *open_kernel(struct lode_perf_images *images)
{
	return lode_symbolizer_kernel(images->symbolizer, kernel_build_id(images), images->facts->kallsyms,
				      images->reference_name ? images->reference_name : "_text", images->reference);
}

static void *prefetch(void *argument)
{
	struct lode_perf_images *images = argument;

	for (size_t i = 0; i < images->prefetched_count && !atomic_load(&images->stop); i++)
		lode_image_load(images->prefetched[i]);
	return NULL;
}

static void add_prefetched(struct lode_perf_images *images, struct lode_image *image)
{
	if (image)
		images->prefetched[images->prefetched_count++] = image;
}

/* A binary may be at any of the paths that its build-id has: all are known before one is opened. */
static void register_binaries(struct lode_perf_images *images, size_t count)
{
	const struct lode_perf_facts *facts = images->facts;

	if (images->reference_name && (*kernel_build_id(images) || is_this_kernel(images)))
		add_prefetched(images, open_kernel(images));
	for (size_t i = 0; i < count; i++) {
		const struct lode_perf_build_id *entry = &facts->build_ids.items[i];

		if (!entry->kernel && *entry->path == '/')
			add_prefetched(images, open_binary(images, entry->path, entry->build_id));
	}
}

int lode_perf_images_start(struct lode_perf_images *images)
{
	struct lode_symbols_options symbols = {
		.paths = images->options->symbol_paths,
		.cache = images->options->cache,
		.machine = is_this_machine(images) ? 0 : lode_perf_facts_machine(images->facts),
		.debuginfod = images->options->debuginfod,
		.notes = images->options->notes,
	};
	size_t count = images->facts->build_ids.count;

	images->prefetched = lode_calloc(count + 1, sizeof(*images->prefetched));
	if (!images->prefetched || lode_symbolizer_create(&images->symbolizer, &symbols, NULL) < 0)
		return LODE_SYSTEM;
	register_binaries(images, count);
	/* Failing here costs only time: what is not loaded now is loaded when it is needed. */
	if (images->prefetched_count && images->options->jobs != 1 && !images->options->no_symbols)
		images->prefetching = lode_quiet_thread(&images->prefetcher, prefetch, images) == 0;
	return 0;
}

static struct lode_image *open_image(struct lode_perf_images *images, const struct lode_process_image *image)
{
	switch (image->kind) {
	case LODE_MAPPED_KERNEL:
	case LODE_MAPPED_KERNEL_MODULE:
		return open_kernel(images);
	case LODE_MAPPED_FILE:
		return open_binary(images, image->path, image->build_id);
	case LODE_MAPPED_VDSO:
		return lode_symbolizer_vdso(images->symbolizer, image->build_id);
	case LODE_MAPPED_ANONYMOUS:
		return lode_symbolizer_perf_map(images->symbolizer, image->path, 0);
	default:
		return NULL;
	}
}

static int has_symbols(const struct lode_perf_images *images, const struct lode_process_image *image)
{
	switch (image->kind) {
	case LODE_MAPPED_KERNEL:
	case LODE_MAPPED_KERNEL_MODULE:
		return *kernel_build_id(images) || is_this_kernel(images);
	case LODE_MAPPED_VDSO:
		return *image->build_id || is_this_kernel(images);
	case LODE_MAPPED_FILE:
		return *image->build_id || images->options->symbol_paths || is_this_machine(images);
	case LODE_MAPPED_ANONYMOUS:
		return 1;
	default:
		return 0;
	}
}

int lode_perf_images_file(struct lode_perf_images *images, uint32_t number, struct lode_image **file)
{
	const struct lode_process_image *image = &images->table.items[number];

	*file = NULL;
	if ((image->kind != LODE_MAPPED_FILE && image->kind != LODE_MAPPED_VDSO) || !has_symbols(images, image))
		return 0;
	*file = open_image(images, image);
	return *file ? 0 : LODE_SYSTEM;
}

static void note_foreign(const struct lode_perf_images *images, const struct lode_process_image *image)
{
	if (image->kind == LODE_MAPPED_KERNEL || image->kind == LODE_MAPPED_KERNEL_MODULE ||
	    image->kind == LODE_MAPPED_VDSO || image->kind == LODE_MAPPED_FILE)
		lode_notes_add(images->options->notes, 1,
			       "files of another machine without a build-id, left without names", image->path);
}

/* Build-ids that came too late in the file for the replay. */
static void apply_late_build_ids(struct lode_perf_images *images)
{
	const struct lode_perf_build_ids *late = &images->facts->late_build_ids;

	for (size_t i = 0; i < images->table.count; i++) {
		struct lode_process_image *image = &images->table.items[i];

		if ((image->kind == LODE_MAPPED_FILE || image->kind == LODE_MAPPED_VDSO) && !*image->build_id)
			image->build_id = lode_perf_build_ids_find(late, image->path);
	}
	if (!*kernel_build_id(images))
		images->table.items[LODE_PERF_IMAGE_KERNEL].build_id = listed_kernel_build_id(late);
}

int lode_perf_images_settle(struct lode_perf_images *images)
{
	stop_prefetcher(images);
	apply_late_build_ids(images);
	for (size_t i = 0; !images->options->no_symbols && i < images->table.count; i++) {
		struct lode_process_image *image = &images->table.items[i];

		if (!image->used)
			continue;
		if (!has_symbols(images, image)) {
			note_foreign(images, image);
			continue;
		}
		image->symbols = open_image(images, image);
		if (!image->symbols)
			return LODE_SYSTEM;
	}
	return 0;
}
