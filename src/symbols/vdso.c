/*
 * The vDSO: code that the kernel maps into every process. No file has it, but
 * our own process does, and it is the same in all processes of one kernel.
 */
#include "symbols/vdso.h"

#include "symbols/elf.h"
#include "symbols/image.h"

#include "base/error.h"
#include "base/proc_files.h"

#include <string.h>
#include <sys/auxv.h>

/* No vDSO is larger; one that says so is not ours. */
#define VDSO_LIMIT (1u << 20)

struct vdso {
	uint64_t start;
	size_t size; /* 0: /proc does not say */
};

static int find_size(void *context, const struct lode_proc_mapping *mapping)
{
	struct vdso *vdso = context;

	if (mapping->start == vdso->start && mapping->end - mapping->start < VDSO_LIMIT)
		vdso->size = (size_t)(mapping->end - mapping->start);
	return mapping->start == vdso->start;
}

static int read_image(const struct lode_elf *elf, struct lode_table *table)
{
	struct lode_table_builder builder = { 0 };

	lode_elf_read_frames(elf, &builder);
	if (lode_elf_read_symbols(elf, elf, &builder) < 0)
		builder.failed = 1;
	lode_elf_read_loads(elf, 0, &builder);
	return lode_table_finish(&builder, table);
}

char *lode_vdso_copy(size_t *size)
{
	struct vdso vdso = { .start = getauxval(AT_SYSINFO_EHDR) };
	char *copy = NULL;

	if (vdso.start)
		lode_proc_mappings(0, find_size, &vdso);
	*size = vdso.size;
	if (*size)
		copy = lode_alloc(*size);
	if (copy)
		memcpy(copy, (const void *)(uintptr_t)vdso.start, *size);
	return copy;
}

int lode_image_load_vdso(struct lode_image *image)
{
	char own[LODE_BUILD_ID_TEXT];
	struct lode_elf elf;
	size_t size;
	char *copy = lode_vdso_copy(&size);
	int code = LODE_BAD_INPUT;

	if (copy && lode_elf_memory(&elf, copy, size) == 0) {
		lode_elf_build_id(&elf, own);
		if (!image->build_id[0] || strcmp(image->build_id, own) == 0)
			code = read_image(&elf, &image->table);
		lode_elf_close(&elf);
	}
	lode_free(copy);
	if (size && !copy)
		return LODE_SYSTEM;
	/* Of another kernel: perf may have kept a copy. */
	return code == LODE_BAD_INPUT && image->build_id[0] ? lode_image_load_binary(image) : code;
}
