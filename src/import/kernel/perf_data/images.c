/*
 * Images: see images.h.
 *
 * An image is known by its path and build-id, so a library that a thousand
 * processes map is one image, and each of its addresses is looked up once.
 */
#include "import/kernel/perf_data/images.h"

#include "base/memory.h"
#include "base/quiet_thread.h"
#include "base/starts_with.h"
#include "symbols/mapping_kind.h"
#include "symbols/unwind_table.h"

#include <string.h>
#include <sys/utsname.h>

/* ---- the table ---- */

static uint64_t hash_image(const char *path, const char *build_id, uint64_t start)
{
	return lode_hash_bytes(path, strlen(path)) * 31 + lode_hash_bytes(build_id, strlen(build_id)) +
	       lode_hash_u64(start);
}

static uint32_t add_image(struct lode_perf_images *images, const struct lode_perf_image *wanted)
{
	uint64_t hash = hash_image(wanted->path, wanted->build_id, wanted->start);
	struct lode_perf_image image = *wanted;
	uint32_t id;

	id = LODE_INDEX_FIND(i, &images->index, hash,
			     images->items[i].kind == image.kind && images->items[i].start == image.start &&
				     !strcmp(images->items[i].path, image.path) &&
				     !strcmp(images->items[i].build_id, image.build_id));
	if (id != LODE_NONE)
		return id;
	image.path = lode_arena_text(&images->arena, image.path, strlen(image.path));
	image.build_id = lode_arena_text(&images->arena, image.build_id, strlen(image.build_id));
	if (!image.path || !image.build_id || images->count >= LODE_PERF_IMAGE_DATA - 1 ||
	    LODE_INDEX_APPEND(&images->index, hash, images->items, images->count, images->capacity, image) < 0)
		return LODE_NONE;
	return (uint32_t)images->count - 1;
}

static int add_fixed_images(struct lode_perf_images *images)
{
	static const struct lode_perf_image fixed[] = {
		[LODE_PERF_IMAGE_UNKNOWN] = { .kind = LODE_PERF_UNKNOWN, .path = "", .build_id = "" },
		[LODE_PERF_IMAGE_KERNEL] = { .kind = LODE_PERF_KERNEL, .path = "kernel", .build_id = "" },
		[LODE_PERF_IMAGE_GUEST] = { .kind = LODE_PERF_GUEST, .path = "guest", .build_id = "" },
	};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (add_image(images, &fixed[i]) == LODE_NONE)
			return LODE_SYSTEM;
	return 0;
}

int lode_perf_images_init(struct lode_perf_images *images, const struct lode_perf_facts *facts,
			  const struct lode_import_options *options)
{
	memset(images, 0, sizeof(*images));
	images->facts = facts;
	images->options = options;
	return add_fixed_images(images);
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
	lode_free(images->items);
	lode_index_release(&images->index);
	lode_arena_release(&images->arena);
	memset(images, 0, sizeof(*images));
}

/* ---- what is mapped ---- */

static uint32_t add_perf_map(struct lode_perf_images *images, uint32_t pid)
{
	struct lode_perf_image image = { .kind = LODE_PERF_PERF_MAP, .build_id = "" };
	char *path = lode_mapped_perf_map(pid);
	uint32_t id;

	image.path = path;
	id = path ? add_image(images, &image) : LODE_NONE;
	lode_free(path);
	return id;
}

uint32_t lode_perf_images_user(struct lode_perf_images *images, const char *path, const char *build_id,
			       uint32_t pid)
{
	static const enum lode_perf_image_kind kinds[] = {
		[LODE_MAPPED_FILE] = LODE_PERF_BINARY,
		[LODE_MAPPED_VDSO] = LODE_PERF_VDSO,
		[LODE_MAPPED_NAMED] = LODE_PERF_NAMED,
	};
	enum lode_mapped mapped = lode_mapped_kind(path);
	struct lode_perf_image image = { .path = path, .build_id = build_id };

	if (mapped == LODE_MAPPED_ANONYMOUS)
		return add_perf_map(images, pid);
	image.kind = kinds[mapped];
	if (!*build_id)
		image.build_id = lode_perf_build_ids_find(&images->facts->build_ids, path);
	return add_image(images, &image);
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
	struct lode_perf_image image = { .kind = LODE_PERF_KERNEL_MODULE,
					 .path = path,
					 .build_id = build_id,
					 .start = start };

	if (!is_kernel_itself(path))
		return add_image(images, &image);
	if (strstr(path, "_stext"))
		images->reference_name = "_stext";
	else if (strstr(path, "_text"))
		images->reference_name = "_text";
	if (images->reference_name)
		images->reference = offset;
	if (!*images->items[LODE_PERF_IMAGE_KERNEL].build_id && *build_id) {
		const char *copy = lode_arena_text(&images->arena, build_id, strlen(build_id));

		if (!copy)
			return LODE_NONE;
		images->items[LODE_PERF_IMAGE_KERNEL].build_id = copy;
	}
	return LODE_PERF_IMAGE_KERNEL;
}

uint32_t lode_perf_images_kernel_code(struct lode_perf_images *images, const char *name, uint64_t start)
{
	struct lode_perf_image image = { .kind = LODE_PERF_KERNEL_CODE,
					 .path = name,
					 .build_id = "",
					 .start = start };

	return add_image(images, &image);
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
	const char *build_id = images->items[LODE_PERF_IMAGE_KERNEL].build_id;

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

static struct lode_image *open_image(struct lode_perf_images *images, const struct lode_perf_image *image)
{
	switch (image->kind) {
	case LODE_PERF_KERNEL:
	case LODE_PERF_KERNEL_MODULE:
		return open_kernel(images);
	case LODE_PERF_BINARY:
		return open_binary(images, image->path, image->build_id);
	case LODE_PERF_VDSO:
		return lode_symbolizer_vdso(images->symbolizer, image->build_id);
	case LODE_PERF_PERF_MAP:
		return lode_symbolizer_perf_map(images->symbolizer, image->path, 0);
	default:
		return NULL;
	}
}

static int has_symbols(const struct lode_perf_images *images, const struct lode_perf_image *image)
{
	switch (image->kind) {
	case LODE_PERF_KERNEL:
	case LODE_PERF_KERNEL_MODULE:
		return *kernel_build_id(images) || is_this_kernel(images);
	case LODE_PERF_VDSO:
		return *image->build_id || is_this_kernel(images);
	case LODE_PERF_BINARY:
		return *image->build_id || images->options->symbol_paths || is_this_machine(images);
	case LODE_PERF_PERF_MAP:
		return 1;
	default:
		return 0;
	}
}

static enum lode_perf_unwind_state unwind_state(struct lode_image *file)
{
	if (!lode_image_is_found(file))
		return LODE_PERF_UNWIND_MISSING;
	return lode_image_unwind(file)->count ? LODE_PERF_UNWIND_THERE : LODE_PERF_UNWIND_ABSENT;
}

int lode_perf_images_load_unwind(struct lode_perf_images *images, uint32_t number)
{
	struct lode_perf_image *image = &images->items[number];
	struct lode_image *file;

	if (image->unwind_state != LODE_PERF_UNWIND_NOT_ASKED)
		return 0;
	if (image->kind != LODE_PERF_BINARY && image->kind != LODE_PERF_VDSO) {
		image->unwind_state = LODE_PERF_UNWIND_ABSENT;
		return 0;
	}
	image->unwind_state = LODE_PERF_UNWIND_MISSING;
	if (!has_symbols(images, image))
		return 0;
	file = open_image(images, image);
	if (!file)
		return LODE_SYSTEM;
	image->unwind_state = unwind_state(file);
	if (image->unwind_state == LODE_PERF_UNWIND_THERE)
		image->unwind = lode_image_unwind(file);
	return 0;
}

static void note_foreign(const struct lode_perf_images *images, const struct lode_perf_image *image)
{
	if (image->kind == LODE_PERF_KERNEL || image->kind == LODE_PERF_KERNEL_MODULE ||
	    image->kind == LODE_PERF_VDSO || image->kind == LODE_PERF_BINARY)
		lode_notes_add(images->options->notes, 1,
			       "files of another machine without a build-id, left without names", image->path);
}

/* Build-ids that came too late in the file for the replay. */
static void apply_late_build_ids(struct lode_perf_images *images)
{
	const struct lode_perf_build_ids *late = &images->facts->late_build_ids;

	for (size_t i = 0; i < images->count; i++) {
		struct lode_perf_image *image = &images->items[i];

		if ((image->kind == LODE_PERF_BINARY || image->kind == LODE_PERF_VDSO) && !*image->build_id)
			image->build_id = lode_perf_build_ids_find(late, image->path);
	}
	if (!*kernel_build_id(images))
		images->items[LODE_PERF_IMAGE_KERNEL].build_id = listed_kernel_build_id(late);
}

int lode_perf_images_settle(struct lode_perf_images *images)
{
	stop_prefetcher(images);
	apply_late_build_ids(images);
	for (size_t i = 0; !images->options->no_symbols && i < images->count; i++) {
		struct lode_perf_image *image = &images->items[i];

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

uint64_t lode_perf_image_address(const struct lode_perf_image *image, uint64_t address)
{
	if (image->symbols && lode_perf_image_by_offset(image))
		return lode_image_address(image->symbols, address);
	return address;
}

/* ---- modules ---- */

/* `nf_tables` from `[nf_tables]` and from `/lib/modules/…/nf_tables.ko.xz`. */
static void kernel_module_name(const char *path, const char **name, size_t *length)
{
	const char *slash = strrchr(path, '/');
	const char *end;

	*name = slash ? slash + 1 : path;
	if (**name == '[') {
		*name += 1;
		*length = strcspn(*name, "]");
		return;
	}
	end = strstr(*name, ".ko");
	*length = end ? (size_t)(end - *name) : strlen(*name);
}

static enum lode_kind kind_of(const struct lode_perf_image *image, const char *name, size_t length)
{
	switch (image->kind) {
	case LODE_PERF_KERNEL:
	case LODE_PERF_KERNEL_MODULE:
	case LODE_PERF_KERNEL_CODE:
	case LODE_PERF_GUEST:
		return LODE_KIND_KERNEL;
	case LODE_PERF_PERF_MAP:
		return LODE_KIND_JIT;
	case LODE_PERF_VDSO:
		return LODE_KIND_LIBRARY;
	default:
		return lode_mapped_module_kind(name, length);
	}
}

static void name_of(const struct lode_perf_image *image, const char *symbol_module, const char **name,
		    size_t *length)
{
	*name = image->path;
	if (symbol_module)
		*name = symbol_module;
	else if (image->kind == LODE_PERF_KERNEL_CODE)
		*name = lode_starts_with(image->path, "bpf_") ? "bpf" : "kernel";
	*length = strlen(*name);
	if (symbol_module)
		return;
	if (image->kind == LODE_PERF_KERNEL_MODULE)
		kernel_module_name(image->path, name, length);
	else if (image->kind == LODE_PERF_BINARY || image->kind == LODE_PERF_PERF_MAP)
		lode_mapped_name(image->path, name, length);
}

uint32_t lode_perf_image_module(const struct lode_perf_image *image, const char *symbol_module,
				struct lode_frames *frames)
{
	struct lode_module *module;
	const char *name;
	size_t length;
	uint32_t id;

	if (image->kind == LODE_PERF_UNKNOWN)
		return 0;
	name_of(image, symbol_module, &name, &length);
	id = lode_frames_module(frames, name, length);
	if (id == LODE_NONE)
		return LODE_NONE;
	module = &frames->modules[id];
	module->kind = (uint8_t)kind_of(image, name, length);
	if (image->kind != LODE_PERF_BINARY || module->path || module->kind == LODE_KIND_JIT)
		return id;
	module->path = lode_strings_add(&frames->strings, image->path, strlen(image->path));
	module->build_id = lode_strings_add(&frames->strings, image->build_id, strlen(image->build_id));
	return module->path == LODE_NONE || module->build_id == LODE_NONE ? LODE_NONE : id;
}
