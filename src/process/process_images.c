/* Images: see process_images.h. The files of live processes are in image_files.c. */
#include "process/process_images.h"

#include "base/error.h"
#include "base/starts_with.h"

#include <string.h>
#include <unistd.h>

/* ---- the table ---- */

static uint64_t hash_image(const struct lode_process_image *image)
{
	uint64_t texts = lode_hash_more(lode_hash_bytes(image->path, strlen(image->path)),
					lode_hash_bytes(image->build_id, strlen(image->build_id)));

	return lode_hash_more(texts, image->mounts) + lode_hash_u64(image->base);
}

uint32_t lode_process_images_add(struct lode_process_images *images, const struct lode_process_image *wanted)
{
	uint64_t hash = hash_image(wanted);
	struct lode_process_image image = *wanted;
	uint32_t id;

	id = LODE_INDEX_FIND(i, &images->index, hash,
			     images->items[i].kind == image.kind && images->items[i].base == image.base &&
				     images->items[i].mounts == image.mounts &&
				     !strcmp(images->items[i].path, image.path) &&
				     !strcmp(images->items[i].build_id, image.build_id));
	if (id != LODE_NONE)
		return id;
	image.module = LODE_NONE;
	image.used = 0;
	image.fd = -1;
	image.canonical = (uint32_t)images->count;
	image.path = lode_arena_text(&images->arena, image.path, strlen(image.path));
	image.build_id = lode_arena_text(&images->arena, image.build_id, strlen(image.build_id));
	if (!image.path || !image.build_id || images->count >= LODE_PROCESS_IMAGES_LIMIT ||
	    LODE_INDEX_APPEND(&images->index, hash, images->items, images->count, images->capacity, image) < 0)
		return LODE_NONE;
	images->text_bytes += strlen(image.path) + strlen(image.build_id) + 2;
	return (uint32_t)images->count - 1;
}

uint32_t lode_process_images_add_mapped(struct lode_process_images *images, const struct lode_process_image *wanted)
{
	struct lode_process_image image = *wanted;
	char *map;
	uint32_t id;

	image.kind = lode_mapped_kind(image.path);
	if (image.kind == LODE_MAPPED_VDSO)
		image.mounts = 0;
	if (image.kind != LODE_MAPPED_ANONYMOUS)
		return lode_process_images_add(images, &image);
	map = lode_mapped_perf_map(image.pid);
	image.path = map;
	image.build_id = "";
	id = map ? lode_process_images_add(images, &image) : LODE_NONE;
	lode_free(map);
	return id;
}

int lode_process_images_init(struct lode_process_images *images)
{
	struct lode_process_image unknown = { .kind = LODE_MAPPED_NOTHING, .path = "", .build_id = "" };

	memset(images, 0, sizeof(*images));
	return lode_process_images_add(images, &unknown) == LODE_NONE ? LODE_SYSTEM : 0;
}

void lode_process_images_release(struct lode_process_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		lode_process_image_close(&images->items[i]);
	lode_free(images->items);
	lode_index_release(&images->index);
	lode_arena_release(&images->arena);
	memset(images, 0, sizeof(*images));
}

uint32_t lode_process_images_copy(struct lode_process_images *images, const struct lode_process_images *from,
				  uint32_t number)
{
	return lode_process_images_add(images, &from->items[number]);
}

size_t lode_process_images_bytes(const struct lode_process_images *images)
{
	return images->capacity * sizeof(*images->items) + lode_index_bytes(&images->index) +
	       images->text_bytes * 2; /* an arena's chunks are not always full */
}

void lode_process_image_close(struct lode_process_image *image)
{
	if (image->fd >= 0)
		close(image->fd);
	image->fd = -1;
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

/* The name of an image's module, and its kind. */
static enum lode_kind name_module(const struct lode_process_image *image, const char **name, size_t *length)
{
	switch (image->kind) {
	case LODE_MAPPED_KERNEL:
	case LODE_MAPPED_GUEST:
		*name = image->path;
		*length = strlen(*name);
		return LODE_KIND_KERNEL;
	case LODE_MAPPED_KERNEL_MODULE:
		kernel_module_name(image->path, name, length);
		return LODE_KIND_KERNEL;
	case LODE_MAPPED_KERNEL_CODE:
		*name = lode_starts_with(image->path, "bpf_") ? "bpf" : "kernel";
		*length = strlen(*name);
		return LODE_KIND_KERNEL;
	default:
		lode_mapped_name(image->path, name, length);
	}
	if (image->kind == LODE_MAPPED_ANONYMOUS)
		return LODE_KIND_JIT;
	return image->kind == LODE_MAPPED_VDSO ? LODE_KIND_LIBRARY : lode_mapped_module_kind(*name, *length);
}

int lode_process_image_enter(struct lode_process_image *image, struct lode_frames *frames)
{
	size_t before = frames->module_count, length;
	struct lode_module *module;
	enum lode_kind kind;
	const char *name;

	if (image->module != LODE_NONE)
		return 0;
	if (image->kind == LODE_MAPPED_NOTHING) {
		image->module = 0;
		return 0;
	}
	kind = name_module(image, &name, &length);
	image->module = lode_frames_module(frames, name, length);
	if (image->module == LODE_NONE)
		return LODE_SYSTEM;
	image->shares_name = frames->module_count == before;
	module = &frames->modules[image->module];
	if (!image->shares_name)
		module->kind = (uint8_t)kind;
	if (image->kind != LODE_MAPPED_FILE || module->path || module->kind == LODE_KIND_JIT)
		return 0;
	module->path = lode_strings_add(&frames->strings, image->path, strlen(image->path));
	module->build_id = lode_strings_add(&frames->strings, image->build_id, strlen(image->build_id));
	return module->path == LODE_NONE || module->build_id == LODE_NONE ? LODE_SYSTEM : 0;
}
