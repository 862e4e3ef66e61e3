/*
 * Files of images: see process_images.h.
 *
 * A file in another mount namespace (a container's) or below another root (a chroot's)
 * is reached through a process that has it, as long as that lives. What is open is later
 * read through /proc/self/fd, unless its path still leads to the same file: then
 * by its path, near which debug files may be.
 */
#include "process/process_images.h"

#include "base/error.h"
#include "base/proc_files.h"
#include "symbols/elf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Perf maps of other users are not believed, and when they are read the process may be gone. The effective user writes
 * files; a user of a container is the one that it is outside, for files as well.
 */
static void learn_owner(struct lode_process_image *image)
{
	char text[4096], *line;
	unsigned user;

	lode_proc_text(text, sizeof(text), "/proc/%u/status", image->pid);
	line = strstr(text, "\nUid:");
	if (line && sscanf(line, "\nUid: %*u %u", &user) == 1)
		image->owner = user;
}

uint32_t lode_process_images_get(struct lode_process_images *images, const struct lode_process_image *wanted)
{
	uint32_t id = lode_process_images_add_mapped(images, wanted);

	if (id != LODE_NONE && images->items[id].kind == LODE_MAPPED_ANONYMOUS && !images->items[id].owner)
		learn_owner(&images->items[id]);
	return id;
}

/* ---- opening ---- */

/* The number that the process has in its own, innermost, process namespace; it names its perf map by that. */
static uint32_t inner_pid(uint32_t pid)
{
	char text[4096], *line;
	uint32_t inner = pid;

	lode_proc_text(text, sizeof(text), "/proc/%u/status", pid);
	line = strstr(text, "\nNSpid:");
	if (line) {
		line[1 + strcspn(line + 1, "\n")] = '\0';
		sscanf(strrchr(line, '\t') ? strrchr(line, '\t') : "", "%u", &inner);
	}
	return inner;
}

/* Where the recorder finds the file, for the caller to free. */
static char *reachable_path(const struct lode_process_image *image)
{
	char map[32];

	if (!image->mounts)
		return lode_strndup(image->path, lode_mapped_length(image->path));
	if (image->kind == LODE_MAPPED_ANONYMOUS)
		return lode_proc_root_path(image->pid, map,
					   (size_t)snprintf(map, sizeof(map), "/tmp/perf-%u.map",
							    inner_pid(image->pid)));
	return lode_proc_root_path(image->pid, image->path, lode_mapped_length(image->path));
}

/* Opens its perf map, unless that is another user's, a link or a pipe: then it remembers why. */
static int open_perf_map(struct lode_process_images *images, struct lode_process_image *image)
{
	char *path = reachable_path(image);
	struct lode_error error = { "" };
	int fd;

	learn_owner(image); /* it may have changed its user since */
	fd = path ? lode_perf_map_open(path, image->owner, &error) : -1;
	lode_free(path);
	if (fd == LODE_BAD_INPUT && !image->refusal)
		image->refusal = lode_arena_text(&images->arena, error.text, strlen(error.text));
	return fd < 0 ? -1 : fd;
}

static int open_path(char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

	lode_free(path);
	return fd;
}

/*
 * A file that was deleted, or that the process sees elsewhere, is reached by the
 * mapping itself while its process lives. A deleted one whose build-id is not
 * known is not looked for by its path: the file there now is another one.
 */
static int open_mapped(const struct lode_process_images *images, const struct lode_process_image *image)
{
	int deleted = image->path[lode_mapped_length(image->path)] != '\0', fd = -1;

	if (images->files && image->kind == LODE_MAPPED_FILE)
		fd = lode_held_files_open(images->files, image->path, image->build_id);
	if (fd >= 0)
		return fd;
	if (image->kind == LODE_MAPPED_FILE && (deleted || image->mounts))
		fd = open_path(lode_format("/proc/%u/map_files/%llx-%llx", image->pid,
					   (unsigned long long)image->start, (unsigned long long)image->end));
	if (fd < 0 && (!deleted || *image->build_id))
		fd = open_path(reachable_path(image));
	return fd;
}

/* Opens the image's file and finds its build-id; a file with another build-id than was mapped is none. */
static void open_file(struct lode_process_images *images, struct lode_process_image *image)
{
	char build_id[LODE_BUILD_ID_TEXT] = "", link[40];
	struct lode_elf elf;

	if (image->kind == LODE_MAPPED_ANONYMOUS) {
		image->fd = open_perf_map(images, image);
		return;
	}
	image->fd = open_mapped(images, image);
	if (image->fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
	if (!lode_elf_open(&elf, link)) {
		lode_elf_build_id(&elf, build_id);
		lode_elf_close(&elf);
	}
	if (*image->build_id && strcmp(build_id, image->build_id) != 0) {
		close(image->fd);
		image->fd = -1;
	} else if (!*image->build_id && *build_id) {
		const char *copy = lode_arena_text(&images->arena, build_id, strlen(build_id));

		image->build_id = copy ? copy : "";
	}
}

void lode_process_image_open(struct lode_process_images *images, uint32_t number)
{
	struct lode_process_image *image = &images->items[number];

	if (image->fd < 0 && (image->kind == LODE_MAPPED_FILE || image->kind == LODE_MAPPED_ANONYMOUS))
		open_file(images, image);
}

/*
 * The same file is reported in two ways: by /proc without its build-id, and with
 * it when it is mapped. The image used before under the same name represents it.
 */
static void find_canonical(struct lode_process_images *images, struct lode_process_image *image)
{
	for (uint32_t i = 0; image->shares_name && *image->build_id && i < images->count; i++) {
		const struct lode_process_image *other = &images->items[i];

		if (other != image && other->module == image->module && other->canonical == i &&
		    !strcmp(other->build_id, image->build_id)) {
			image->canonical = i;
			image->shares_name = 0;
		}
	}
}

int lode_process_image_use(struct lode_process_images *images, uint32_t number, struct lode_frames *frames)
{
	struct lode_process_image *image = &images->items[number];

	if (image->used)
		return 0;
	image->used = 1;
	lode_process_image_open(images, number);
	if (image->fd < 0 && image->kind == LODE_MAPPED_FILE && !images->unreadable++)
		images->unreadable_path = image->path;
	if (lode_process_image_enter(image, frames) < 0)
		return LODE_SYSTEM;
	find_canonical(images, image);
	return 0;
}

/* ---- symbols ---- */

static int still_leads_to(const char *path, const char *build_id)
{
	char found[LODE_BUILD_ID_TEXT] = "";
	struct lode_elf elf;

	if (!*build_id || lode_elf_open(&elf, path))
		return 0;
	lode_elf_build_id(&elf, found);
	lode_elf_close(&elf);
	return strcmp(found, build_id) == 0;
}

/* Where it could not be opened, reading it by its path says why. */
static struct lode_image *open_map_symbols(struct lode_process_images *images, struct lode_process_image *image,
					   struct lode_symbolizer *symbolizer)
{
	struct lode_image *symbols = NULL;
	char link[40], *path;

	if (image->fd < 0)
		open_file(images, image); /* it may have come by now */
	if (image->fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
		return lode_symbolizer_perf_map(symbolizer, link, LODE_PERF_MAP_OPEN);
	}
	path = reachable_path(image);
	if (path && image->refusal && access(path, F_OK) < 0) {
		images->refused_maps++;
		images->refusal = image->refusal;
	}
	if (path)
		symbols = lode_symbolizer_perf_map(symbolizer, path, image->owner);
	lode_free(path);
	return symbols;
}

static struct lode_image *open_symbols(struct lode_process_images *images, struct lode_process_image *image,
				       struct lode_symbolizer *symbolizer)
{
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
	switch (image->kind) {
	case LODE_MAPPED_VDSO:
		return lode_symbolizer_vdso(symbolizer, image->build_id);
	case LODE_MAPPED_ANONYMOUS:
		return open_map_symbols(images, image, symbolizer);
	default:
		if (image->fd < 0 || (!image->mounts && still_leads_to(image->path, image->build_id)))
			return lode_symbolizer_binary(symbolizer, image->path, image->build_id);
		return lode_symbolizer_binary(symbolizer, link, image->build_id);
	}
}

int lode_process_images_settle(struct lode_process_images *images, struct lode_symbolizer *symbolizer,
			       struct lode_notes *notes)
{
	for (size_t i = 1; i < images->count; i++) {
		struct lode_process_image *image = &images->items[i];

		if (!image->used || image->kind == LODE_MAPPED_NAMED || image->canonical != i)
			continue;
		image->symbols = open_symbols(images, image, symbolizer);
		if (!image->symbols)
			return LODE_SYSTEM;
	}
	lode_notes_add(notes, images->unreadable, "files that were gone before they could be opened",
		       images->unreadable_path);
	lode_notes_add(notes, images->refused_maps, LODE_NOTE_PERF_MAPS_NOT_READ, images->refusal);
	return 0;
}

char *lode_process_image_path(const struct lode_process_image *image, uint32_t pid)
{
	size_t length = lode_mapped_length(image->path);

	if (!image->mounts)
		return lode_strndup(image->path, length);
	return lode_proc_root_path(pid, image->path, length);
}

int lode_change_maps_file(const struct lode_change *change)
{
	return change->type == LODE_CHANGE_MAP && change->text[0] == '/' &&
	       lode_mapped_kind(change->text) == LODE_MAPPED_FILE;
}

char *lode_change_path(const struct lode_change *change)
{
	if (change->mounts == LODE_MOUNTS_OWN)
		return lode_strdup(change->text);
	return lode_proc_root_path(change->pid, change->text, strlen(change->text));
}
