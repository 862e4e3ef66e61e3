/*
 * What a binary with PHP says: see php_image.h.
 *
 * Stripped binaries export what extensions use, and extensions name the interface that they were made for: "API20220829,NTS" is in
 * the binary, too, since some are built in. Its number stands for a version. "NTS": without threads; else what is global here would be
 * each thread's own.
 */
#include "process/languages/php_image.h"

#include "symbols/cold_part.h"

#include <stdlib.h>
#include <string.h>

/* What differs between versions; offsets in bytes. */
struct version {
	const char *interface;
	uint32_t minor; /* of 8 */
	uint32_t file;
	uint32_t module;
};

static const struct version versions[] = {
	{ "API20200930,", 0, 144, 64 }, { "API20210902,", 1, 144, 64 }, { "API20220829,", 2, 152, 80 },
	{ "API20230831,", 3, 144, 80 }, { "API20240924,", 4, 168, 96 },
};

/* In executor_globals. */
#define CURRENT_FRAME 488

/* The same in all of these versions. */
static const struct lode_python_layout layout = {
	.is_ordered = 1,
	.frame_code = 24, /* func */
	.frame_previous = 48,
	.frame_mark = 42, /* the third byte of the flags in the type of `This`: */
	.mark_bits = 2,   /* ZEND_CALL_TOP */
	.outermost = 2,
	/* What the check in a word is made of (lode_php_check). */
	.code_line = 0,
	.code_filename = 8,
	.code_name = 16,
};

/* Where a text is in the constants of the file; NULL: nowhere. */
static const char *find_constant(const struct lode_elf *elf, const char *text, size_t room)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, ".rodata", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const char *found = data && data->d_buf ? memmem(data->d_buf, data->d_size, text, strlen(text)) : NULL;

	return found && data->d_size - (size_t)(found - (const char *)data->d_buf) >= room ? found : NULL;
}

/* The version, whose layout is known; NULL: it is not, or the binary has threads. */
static const struct version *read_version(struct lode_php_image *image, const struct lode_elf *elf)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		size_t length = strlen(versions[i].interface);
		const char *found = find_constant(elf, versions[i].interface, length + 3);

		if (!found)
			continue;
		image->major = 8;
		image->minor = versions[i].minor;
		return memcmp(found + length, "NTS", 3) == 0 ? &versions[i] : NULL;
	}
	return NULL;
}

enum lode_php_support lode_php_image_read(struct lode_php_image *image, const struct lode_elf *elf)
{
	const struct version *version;
	GElf_Sym runs, globals;

	memset(image, 0, sizeof(*image));
	if (!lode_elf_exported(elf, "execute_ex", &runs) || !lode_elf_exports(elf, "zend_vm_stack_init"))
		return LODE_PHP_NONE;
	version = read_version(image, elf);
	if (!version || !lode_elf_exported(elf, "executor_globals", &globals) ||
	    globals.st_size < CURRENT_FRAME + sizeof(uint64_t))
		return LODE_PHP_UNSUPPORTED;
	image->frame = globals.st_value + CURRENT_FRAME;
	image->layout = layout;
	image->layout.code_file = version->file;
	image->file = version->file;
	image->line = version->file + 8;
	image->module = version->module;
	image->starts[0] = runs.st_value;
	image->ends[0] = runs.st_value + runs.st_size;
	if (lode_elf_cold_part(elf, image->starts[0], image->ends[0], &image->starts[1], &image->ends[1]) < 0)
		image->starts[1] = image->ends[1] = 0;
	return LODE_PHP_SUPPORTED;
}
