/*
 * The symbolizer: the register of images. See symbols.h.
 *
 * An image is known by its kind and its build-id, or its path where there is no
 * build-id. Registering only makes the struct; what is in it is loaded when it
 * is first needed (image.c). One lock guards the register, each image has its own.
 */
#include "symbols/debuginfod_library.h"
#include "symbols/symbol_cache.h"
#include "symbols/image.h"

#include "base/error.h"
#include "base/hash_index.h"

#include <ctype.h>
#include <string.h>

struct lode_symbolizer {
	struct lode_symbols_options options; /* texts are copies of our own */
	char *cache;
	pthread_mutex_t lock;
	struct lode_image **images;
	size_t count;
	size_t capacity;
	struct lode_index index;
};

/* ---- making and freeing ---- */

static int copy_paths(struct lode_symbolizer *symbolizer, const char *const *paths)
{
	size_t count = 0;
	char **copies;

	while (paths && paths[count])
		count++;
	copies = lode_calloc(count + 1, sizeof(*copies));
	if (!copies)
		return LODE_SYSTEM;
	symbolizer->options.paths = (const char *const *)copies;
	for (size_t i = 0; i < count; i++) {
		copies[i] = lode_strdup(paths[i]);
		if (!copies[i])
			return LODE_SYSTEM;
	}
	return 0;
}

static int copy_options(struct lode_symbolizer *symbolizer, const struct lode_symbols_options *options)
{
	struct lode_error why = { "" };

	symbolizer->options = *options;
	symbolizer->options.paths = NULL;
	symbolizer->options.root = NULL;
	symbolizer->cache = lode_cache_folder(options->cache, &why);
	lode_notes_add(options->notes, why.text[0] != '\0', "symbol caches not used", why.text);
	symbolizer->options.cache = symbolizer->cache;
	if (!symbolizer->cache || copy_paths(symbolizer, options->paths) < 0)
		return LODE_SYSTEM;
	if (options->root && options->root[0]) {
		symbolizer->options.root = lode_strdup(options->root);
		if (!symbolizer->options.root)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_symbolizer_create(struct lode_symbolizer **symbolizer, const struct lode_symbols_options *options,
			   struct lode_error *error)
{
	static const struct lode_symbols_options none;
	int code = options && options->debuginfod ? lode_debuginfod_check(error) : 0;
	struct lode_symbolizer *made;

	*symbolizer = NULL;
	if (code < 0)
		return code;
	made = lode_calloc(1, sizeof(*made));
	if (!made)
		return lode_fail_memory(error);
	pthread_mutex_init(&made->lock, NULL);
	if (copy_options(made, options ? options : &none) < 0) {
		lode_symbolizer_destroy(made);
		return lode_fail_memory(error);
	}
	*symbolizer = made;
	return 0;
}

void lode_symbolizer_destroy(struct lode_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->count; i++)
		lode_image_release(symbolizer->images[i]);
	lode_free(symbolizer->images);
	lode_index_release(&symbolizer->index);
	for (size_t i = 0; symbolizer->options.paths && symbolizer->options.paths[i]; i++)
		lode_free((void *)(uintptr_t)symbolizer->options.paths[i]);
	lode_free((void *)(uintptr_t)symbolizer->options.paths);
	lode_free((void *)(uintptr_t)symbolizer->options.root);
	lode_free(symbolizer->cache);
	pthread_mutex_destroy(&symbolizer->lock);
	lode_free(symbolizer);
}

/* ---- the register ---- */

/* The key by which an image is looked up. */
struct wanted {
	enum lode_image_kind kind;
	const char *path;
	const char *build_id;       /* "" when unknown */
	const char *reference_name; /* kernel */
	uint64_t reference;
	uid_t owner; /* perf map */
};

/* Build-ids are compared and put into paths as lower-case text. */
static char *copy_build_id(const char *build_id)
{
	char *copy = lode_strdup(build_id ? build_id : "");

	for (char *at = copy; at && *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return copy;
}

static struct lode_image *make_image(struct lode_symbolizer *symbolizer, const struct wanted *wanted)
{
	struct lode_image *image = lode_calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	pthread_mutex_init(&image->lock, NULL);
	image->kind = wanted->kind;
	image->options = &symbolizer->options;
	image->cache = symbolizer->cache;
	image->demangle = !symbolizer->options.no_demangle && wanted->kind != LODE_IMAGE_KERNEL;
	image->reference = wanted->reference;
	image->owner = wanted->owner;
	image->build_id = lode_strdup(wanted->build_id);
	image->reference_name = lode_strdup(wanted->reference_name);
	if (LODE_GROW(image->paths.items, image->paths.capacity, 1) == 0)
		image->paths.items[0] = lode_strdup(wanted->path);
	image->paths.count = image->paths.items && image->paths.items[0];
	if (!image->build_id || !image->reference_name || !image->paths.count) {
		lode_image_release(image);
		return NULL;
	}
	return image;
}

static uint64_t hash_key(const struct wanted *wanted)
{
	const char *key = wanted->build_id[0] ? wanted->build_id : wanted->path;

	return lode_hash_more(lode_hash_bytes(key, strlen(key)), wanted->kind);
}

static int is_same(const struct lode_image *image, const struct wanted *wanted)
{
	if (image->kind != wanted->kind || strcmp(image->build_id, wanted->build_id) != 0)
		return 0;
	/* A kernel's list, and where it was started, are part of what it is. */
	if (image->kind == LODE_IMAGE_KERNEL &&
	    (image->reference != wanted->reference || strcmp(image->reference_name, wanted->reference_name) != 0))
		return 0;
	/* A binary with a build-id may be in several places. */
	return (wanted->build_id[0] && image->kind != LODE_IMAGE_KERNEL) ||
	       strcmp(image->paths.items[0], wanted->path) == 0;
}

/* The same build under one more path: one more place to look, unless it was looked for already. */
static void learn_path(struct lode_image *image, const char *path)
{
	char *copy;

	if (atomic_load(&image->loaded) || !path[0])
		return;
	pthread_mutex_lock(&image->lock);
	for (size_t i = 0; i < image->paths.count && path; i++)
		if (strcmp(image->paths.items[i], path) == 0)
			path = NULL;
	if (path && !atomic_load(&image->loaded) && image->paths.count < 16 && (copy = lode_strdup(path))) {
		if (LODE_PUSH(&image->paths, copy) < 0)
			lode_free(copy);
	}
	pthread_mutex_unlock(&image->lock);
}

static struct lode_image *add_image(struct lode_symbolizer *symbolizer, struct lode_image *image, uint64_t hash)
{
	if (!image)
		return NULL;
	if (LODE_GROW(symbolizer->images, symbolizer->capacity, symbolizer->count + 1) < 0 ||
	    lode_index_insert(&symbolizer->index, hash, (uint32_t)symbolizer->count) < 0) {
		lode_image_release(image);
		return NULL;
	}
	symbolizer->images[symbolizer->count++] = image;
	return image;
}

/* The image, registered if new. With the lock held. */
static struct lode_image *find_or_add(struct lode_symbolizer *symbolizer, const struct wanted *wanted)
{
	uint64_t hash = hash_key(wanted);
	uint32_t known = LODE_INDEX_FIND(i, &symbolizer->index, hash, is_same(symbolizer->images[i], wanted));

	if (known == LODE_NONE)
		return add_image(symbolizer, make_image(symbolizer, wanted), hash);
	if (wanted->kind == LODE_IMAGE_BINARY)
		learn_path(symbolizer->images[known], wanted->path);
	return symbolizer->images[known];
}

static struct lode_image *get(struct lode_symbolizer *symbolizer, struct wanted wanted)
{
	char *id = copy_build_id(wanted.build_id);
	struct lode_image *image;

	if (!id)
		return NULL;
	wanted.build_id = id;
	wanted.path = wanted.path ? wanted.path : "";
	wanted.reference_name = wanted.reference_name ? wanted.reference_name : "";
	pthread_mutex_lock(&symbolizer->lock);
	image = find_or_add(symbolizer, &wanted);
	pthread_mutex_unlock(&symbolizer->lock);
	lode_free(id);
	return image;
}

struct lode_image *lode_symbolizer_binary(struct lode_symbolizer *symbolizer, const char *path,
					  const char *build_id)
{
	return get(symbolizer, (struct wanted){ LODE_IMAGE_BINARY, path, build_id, NULL, 0, 0 });
}

struct lode_image *lode_symbolizer_vdso(struct lode_symbolizer *symbolizer, const char *build_id)
{
	return get(symbolizer, (struct wanted){ LODE_IMAGE_VDSO, "[vdso]", build_id, NULL, 0, 0 });
}

struct lode_image *lode_symbolizer_perf_map(struct lode_symbolizer *symbolizer, const char *path, uid_t owner)
{
	return get(symbolizer, (struct wanted){ LODE_IMAGE_PERF_MAP, path, NULL, NULL, 0, owner });
}

struct lode_image *lode_symbolizer_kernel(struct lode_symbolizer *symbolizer, const char *build_id,
					  const char *kallsyms, const char *reference_name, uint64_t reference)
{
	return get(symbolizer,
		   (struct wanted){ LODE_IMAGE_KERNEL, kallsyms, build_id, reference_name, reference, 0 });
}
