/*
 * The kernel's symbols: which list is used for which recording.
 *
 * A list that came with the recording is used as it is. Otherwise, if the
 * recording's kernel is the one that runs here, /proc/kallsyms is used, else the
 * copy of kallsyms that perf keeps by build-id, else a vmlinux. Where the kernel
 * was moved between the recording and the list (address randomisation), the
 * reference symbol shows by how much; modules move on their own, so their names
 * are then left out.
 *
 * Reading /proc/kallsyms makes the kernel unpack all its names, so the result is
 * cached. It is valid as long as the machine stays up and has the same modules
 * and BPF programs, which is cheap to check. If that cannot be checked, nothing
 * is cached.
 */
#include "base/hex.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbol_files.h"
#include "symbols/elf.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"

#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LIVE_KALLSYMS     "/proc/kallsyms"
#define KALLSYMS_LIMIT    (1ul << 30)
#define BPF_PROGRAM_LIMIT 65536

/* ---- what runs here ---- */

/* Finds the build-id among ELF notes. */
static void build_id_of_notes(struct lode_cursor *notes, char text[LODE_BUILD_ID_TEXT])
{
	while (lode_cursor_left(notes) >= 12) {
		uint32_t name_size = lode_cursor_u32(notes);
		uint32_t size = lode_cursor_u32(notes);
		uint32_t type = lode_cursor_u32(notes);
		const char *name = lode_cursor_bytes(notes, ((uint64_t)name_size + 3) & ~3ull);
		const unsigned char *bits = lode_cursor_bytes(notes, ((uint64_t)size + 3) & ~3ull);

		if (notes->failed)
			return;
		if (type != NT_GNU_BUILD_ID || name_size != 4 || memcmp(name, "GNU", 4) != 0)
			continue;
		lode_hex(text, bits, size < LODE_BUILD_ID_TEXT / 2 ? size : LODE_BUILD_ID_TEXT / 2);
		return;
	}
}

static void running_build_id(char text[LODE_BUILD_ID_TEXT])
{
	struct lode_buffer bytes = { 0 };
	struct lode_cursor notes;

	text[0] = '\0';
	if (lode_image_read_file("/sys/kernel/notes", 1u << 20, &bytes, NULL) == 0) {
		notes = lode_cursor(bytes.bytes, bytes.size);
		build_id_of_notes(&notes, text);
	}
	lode_buffer_release(&bytes);
}

/* Appends the numbers of all loaded BPF programs. Returns 0 when they cannot be asked. */
static int add_bpf_programs(struct lode_buffer *buffer)
{
	union bpf_attr request;
	uint32_t last = 0;

	for (unsigned i = 0; i < BPF_PROGRAM_LIMIT; i++) {
		memset(&request, 0, sizeof(request));
		request.start_id = last;
		if (syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &request, sizeof(request)) < 0)
			return errno == ENOENT || errno == ENOSYS;
		last = request.next_id;
		lode_buffer_u32(buffer, last);
	}
	return 0;
}

/* What changes whenever /proc/kallsyms may. "" when that is not known, NULL when memory ran out. */
static char *running_identity(void)
{
	struct lode_buffer boot = { 0 }, parts = { 0 };
	char *identity = NULL;
	int known;

	known = lode_image_read_file("/proc/sys/kernel/random/boot_id", 4096, &boot, NULL) == 0;
	/* No such file: a kernel without modules. */
	if (access("/proc/modules", F_OK) == 0)
		known &= lode_image_read_file("/proc/modules", 16u << 20, &parts, NULL) == 0;
	known &= add_bpf_programs(&parts);
	if (!boot.failed && !parts.failed)
		identity = known ? lode_format("running %.*s %016llx", (int)boot.size, boot.bytes,
					       (unsigned long long)lode_digest_bytes(parts.bytes, parts.size))
				 : lode_strdup("");
	lode_buffer_release(&boot);
	lode_buffer_release(&parts);
	return identity;
}

/* ---- kallsyms ---- */

static void note_kallsyms(const struct lode_image *image, const char *path, const struct lode_kallsyms *kallsyms)
{
	if (kallsyms->hidden && !kallsyms->shown)
		lode_notes_add(image->options->notes, 1,
			       "kernel addresses hidden in kallsyms: run as root or with CAP_SYSLOG, or set "
			       "kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1",
			       path);
	lode_notes_add(image->options->notes, kallsyms->skipped, "lines of kallsyms not understood", path);
}

static int read_kallsyms(struct lode_image *image, const char *path, struct lode_cached *cached)
{
	struct lode_table_builder builder = { 0 };
	struct lode_kallsyms kallsyms = { 0 };
	struct lode_buffer bytes = { 0 };
	struct lode_error error = { "" };
	int code = LODE_BAD_INPUT;

	if (lode_image_read_file(path, KALLSYMS_LIMIT, &bytes, &error) == 0)
		code = lode_image_parse_kallsyms(&builder, bytes.bytes, bytes.size, &kallsyms);
	else
		lode_notes_add(image->options->notes, 1, "lists of kernel symbols not read", error.text);
	if (code == 0)
		code = lode_table_finish(&builder, &cached->table);
	note_kallsyms(image, path, &kallsyms);
	cached->extra[0] = kallsyms.text;
	cached->extra[1] = kallsyms.stext;
	lode_table_builder_release(&builder);
	lode_buffer_release(&bytes);
	return code;
}

static void undo_randomisation(struct lode_image *image, const uint64_t extra[2])
{
	const char *name = image->reference_name;
	uint64_t known = 0, lost = 0;

	if (strcmp(name, "_text") == 0)
		known = extra[0];
	else if (strcmp(name, "_stext") == 0)
		known = extra[1];
	if (!known || !image->reference || known == image->reference)
		return;
	image->shift = image->reference - known;
	image->core_only = 1;
	for (size_t i = 0; i < image->table.count; i++)
		lost += image->table.records[i].link != LODE_NONE;
	lode_notes_add(image->options->notes, lost,
		       "functions of kernel modules without names: the machine was rebooted since the recording",
		       NULL);
}

/* Through the cache, when `identity` says what the list depends on. */
static int load_kallsyms(struct lode_image *image, const char *path, char *identity)
{
	char *file = NULL;
	struct lode_cached cached = { 0 };
	struct lode_error error = { "" };
	int code = LODE_BAD_INPUT;

	if (identity && *identity && image->cache[0])
		file = lode_cache_path(image->cache, image->build_id, path, "symbols");
	if (file && lode_cache_read(file, &cached) == 0) {
		if (strcmp(cached.origin.identity, identity) == 0)
			code = 0;
		else
			lode_cached_release(&cached);
	}
	if (code < 0) {
		code = read_kallsyms(image, path, &cached);
		if (code == 0 && file && cached.table.count) {
			cached.origin.identity = identity;
			if (lode_cache_write(file, &cached, &error) < 0)
				lode_notes_add(image->options->notes, 1, "symbol tables that could not be cached",
					       error.text);
			cached.origin.identity = NULL;
		}
	}
	if (code == 0 && cached.table.count) {
		image->table = cached.table;
		memset(&cached.table, 0, sizeof(cached.table));
		undo_randomisation(image, cached.extra);
	} else if (code == 0) {
		code = LODE_BAD_INPUT;
	}
	lode_cached_release(&cached);
	lode_free(file);
	return code;
}

static int load_kallsyms_file(struct lode_image *image, const char *path)
{
	int live = strcmp(path, LIVE_KALLSYMS) == 0;
	char *identity = live ? running_identity() : lode_candidate_identity(path);
	int code = identity ? load_kallsyms(image, path, identity) : LODE_SYSTEM;

	lode_free(identity);
	return code;
}

/* ---- vmlinux ---- */

static int add_path(struct lode_image *image, char *path)
{
	if (path && LODE_PUSH(&image->paths, path) == 0)
		return 0;
	lode_free(path);
	return LODE_SYSTEM;
}

static int add_vmlinux_paths(struct lode_image *image)
{
	struct utsname name;

	if (add_path(image, lode_strdup("vmlinux")) < 0)
		return LODE_SYSTEM;
	if (uname(&name) < 0)
		return 0;
	if (add_path(image, lode_format("/boot/vmlinux-%s", name.release)) < 0 ||
	    add_path(image, lode_format("/usr/lib/debug/boot/vmlinux-%s", name.release)) < 0 ||
	    add_path(image, lode_format("/lib/modules/%s/build/vmlinux", name.release)) < 0)
		return LODE_SYSTEM;
	return add_path(image, lode_format("/usr/lib/debug/lib/modules/%s/vmlinux", name.release));
}

/* Link-time addresses are useful only together with a reference. */
static int load_vmlinux(struct lode_image *image)
{
	struct lode_elf elf;
	const char *file;
	uint64_t known;
	int code;

	if (!image->build_id[0])
		return LODE_BAD_INPUT;
	code = add_vmlinux_paths(image);
	if (code == 0)
		code = lode_image_load_binary(image);
	if (code < 0 || !image->table.count)
		return code;
	image->from_vmlinux = 1;
	file = image->origin.debug[0] ? image->origin.debug : image->origin.binary;
	if (!image->reference || lode_elf_open(&elf, file) < 0)
		return 0;
	known = lode_elf_symbol_value(&elf, image->reference_name);
	if (known)
		image->shift = image->reference - known;
	lode_elf_close(&elf);
	return 0;
}

/* perf's copy for a kernel that does not run here. */
static int load_kept_kallsyms(struct lode_image *image)
{
	const char *home = getenv("HOME");
	const char *id = image->build_id;
	int code = LODE_BAD_INPUT;
	char *path;

	if (!home || strlen(id) < 4 || id[strspn(id, "0123456789abcdef")])
		return LODE_BAD_INPUT;
	path = lode_format("%s/.debug/.build-id/%.2s/%s/kallsyms", home, id, id + 2);
	if (!path)
		return LODE_SYSTEM;
	if (access(path, R_OK) == 0)
		code = load_kallsyms_file(image, path);
	lode_free(path);
	return code;
}

int lode_image_load_kernel(struct lode_image *image)
{
	char own[LODE_BUILD_ID_TEXT];
	int code = LODE_BAD_INPUT;

	if (image->paths.items[0][0])
		return load_kallsyms_file(image, image->paths.items[0]);
	running_build_id(own);
	if (!image->build_id[0] || strcmp(image->build_id, own) == 0)
		code = load_kallsyms_file(image, LIVE_KALLSYMS);
	if (code == LODE_BAD_INPUT)
		code = load_kept_kallsyms(image);
	if (code == LODE_BAD_INPUT)
		code = load_vmlinux(image);
	return code;
}
