/*
 * Stores what a walk of a thread of a running CPython reads, as test data (tests/data/python), so that other versions than the
 * installed one are tested:
 *
 *	python_capture PYTHON PID TID > IMAGE
 *
 * PYTHON is the binary with the interpreter. The process should be stopped, or sleep. tests/data/python/README has the format.
 */
#include "process/languages/python_lines.h"
#include "process/languages/python_threads.h"
#include "base/proc_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mapped {
	const char *path;
	uint64_t address; /* in the file's segments */
	uint64_t offset;
	uint64_t bias;
};

static int take_mapping(void *context, const struct lode_proc_mapping *mapping)
{
	struct mapped *mapped = context;
	const char *name = strrchr(mapped->path, '/'), *own = strrchr(mapping->path, '/');

	if (!name || !own || strcmp(name, own) || mapping->rights[2] != 'x')
		return 0;
	mapped->bias = mapping->start - mapping->offset + mapped->offset - mapped->address;
	return 1;
}

static size_t read_and_print(void *context, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
	size_t got = lode_live_memory.read(context, pid, address, bytes, size);

	if (!got)
		return 0;
	printf("memory %" PRIx64 " ", address);
	for (size_t i = 0; i < got; i++)
		printf("%02x", ((unsigned char *)bytes)[i]);
	printf("\n");
	return got;
}

static void print_words(const char *name, const void *words, size_t size)
{
	printf("%s", name);
	for (size_t i = 0; i < size / sizeof(uint32_t); i++)
		printf(" %" PRIu32, ((const uint32_t *)words)[i]);
	printf("\n");
}

static void find_segment(const struct lode_elf *elf, const struct lode_python_image *image, struct mapped *mapped)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(elf->elf, &count);
	for (size_t i = 0; i < count && gelf_getphdr(elf->elf, (int)i, &header); i++)
		if (header.p_type == PT_LOAD && image->starts[0] - header.p_vaddr < header.p_filesz) {
			mapped->offset = header.p_offset;
			mapped->address = header.p_vaddr;
		}
}

static void print_frames(const struct lode_process_memory *memory, const struct lode_python_process *process,
			 const uint64_t *chain, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct lode_buffer path = { 0 }, function = { 0 };
		struct lode_language_facts facts = { 0 };

		if (chain[i] >> LODE_LANGUAGE_SHIFT == LODE_LANGUAGE_POSITION)
			printf("at %" PRIu32 "\n", lode_python_line(memory, process, chain[i - 1], chain[i]));
		else if (lode_language_of(chain[i]) != LODE_LANGUAGE_PYTHON)
			printf("place\n");
		else if (lode_python_name(memory, process, chain[i], &path, &function, &facts))
			printf("frame %s %" PRIu32 " %s\n", function.bytes, facts.line, path.bytes);
		lode_buffer_release(&path);
		lode_buffer_release(&function);
	}
}

int main(int count, char **arguments)
{
	struct lode_process_memory memory = { NULL, read_and_print };
	struct lode_python_process process = { 0 };
	struct lode_python_image image;
	struct mapped mapped = { 0 };
	uint64_t chain[512], state, number;
	struct lode_elf elf;

	if (count != 4 || lode_elf_open(&elf, arguments[1]) < 0 ||
	    lode_python_image_read(&image, &elf) != LODE_PYTHON_SUPPORTED) {
		fprintf(stderr, "usage: python_capture PYTHON PID TID > IMAGE\n");
		return 2;
	}
	mapped.path = arguments[1];
	find_segment(&elf, &image, &mapped);
	process.image = &image;
	image.layout.frame_position = image.lines.frame_position;
	process.pid = (uint32_t)strtoul(arguments[2], NULL, 10);
	number = strtoul(arguments[3], NULL, 10);
	lode_proc_mappings(process.pid, take_mapping, &mapped);
	process.bias = mapped.bias;
	printf("python %" PRIx32 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", image.version, process.bias,
	       image.interpreters, image.code_type, number);
	print_words("layout", &image.layout, sizeof(image.layout));
	print_words("objects", &image.objects, sizeof(image.objects));
	print_words("lines", &image.lines, sizeof(image.lines));
	state = lode_python_thread(&memory, &process, number);
	print_frames(&memory, &process, chain, lode_python_chain(&memory, &process, state, chain, 512));
	lode_elf_close(&elf);
	return 0;
}
