/*
 * Lock names: see lock_names.h.
 *
 * Addresses are looked up in /proc/PID/maps. Zero-initialized variables (.bss)
 * have no file: they follow directly after the data of their binary, which is mapped
 * from it, so that the distance gives their address there.
 */
#include "hunt/meter/live/lock_names.h"

#include "base/error.h"
#include "base/memory.h"
#include "symbols/variable_names.h"
#include "symbols/mapping_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	int writable;
	int shared;
	char path[4096]; /* "": none */
};

/* A line of the table. Returns 0, or LODE_BAD_INPUT when it is none. */
static int read_line(const char *line, struct mapping *mapping)
{
	unsigned long long start, end, offset;
	char rights[8];
	int at = 0;
	size_t length;

	if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, rights, &offset, &at) < 4 || !at)
		return LODE_BAD_INPUT;
	length = strcspn(line + at, "\n");
	if (length >= sizeof(mapping->path))
		length = sizeof(mapping->path) - 1;
	mapping->start = start;
	mapping->end = end;
	mapping->offset = offset;
	mapping->writable = rights[1] == 'w';
	mapping->shared = rights[3] == 's';
	memcpy(mapping->path, line + at, length);
	mapping->path[length] = '\0';
	return 0;
}

/*
 * The mapping that holds an address, and the last one of a file that is before
 * it without a gap, or is it. Returns 0, or LODE_BAD_INPUT when there is none.
 */
static int find_mapping(uint32_t pid, uint64_t address, struct mapping *mapping, struct mapping *binary)
{
	char path[32], *line = NULL;
	size_t capacity = 0;
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	file = fopen(path, "re"); /* from the kernel */
	memset(binary, 0, sizeof(*binary));
	mapping->end = 0;
	while (file && !found && getline(&line, &capacity, file) > 0) {
		uint64_t before = mapping->end;

		if (read_line(line, mapping) < 0)
			continue;
		if (mapping->start != before)
			binary->path[0] = '\0';
		if (lode_mapped_kind(mapping->path) == LODE_MAPPED_FILE)
			*binary = *mapping;
		found = address >= mapping->start && address < mapping->end;
	}
	free(line); /* from getline */
	if (file)
		fclose(file);
	return found ? 0 : LODE_BAD_INPUT;
}

/* Opens the file that is mapped; by its path where the kernel does not permit to do so by its mapping. */
static int open_mapped(uint32_t pid, const struct mapping *mapping, struct lode_elf *elf)
{
	char *path =
		lode_format("/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start, mapping->end);
	int code = path ? lode_elf_open(elf, path) : LODE_SYSTEM;

	lode_free(path);
	if (!code)
		return 0;
	path = lode_format("/proc/%" PRIu32 "/root%s", pid, mapping->path);
	code = path ? lode_elf_open(elf, path) : LODE_SYSTEM;
	lode_free(path);
	return code;
}

/* Appends the variable at an address of a process that has mapped `binary`. */
static int put_variable(uint32_t pid, const struct mapping *binary, uint64_t address, struct lode_buffer *name)
{
	struct lode_elf elf;
	uint64_t start;
	int code;

	if (open_mapped(pid, binary, &elf) < 0)
		return LODE_BAD_INPUT;
	code = lode_data_address(&elf, binary->offset, binary->writable, &start);
	if (!code)
		code = lode_data_name(&elf, start + (address - binary->start), name);
	lode_elf_close(&elf);
	return code;
}

/* Appends the memory region of an address without a symbol; nothing where nothing is known. */
static void put_region(const struct mapping *mapping, uint64_t address, uint32_t thread, struct lode_buffer *text)
{
	const char *name;
	size_t length;

	lode_mapped_name(mapping->path, &name, &length);
	if (mapping->shared && mapping->path[0])
		lode_buffer_print(text, "shared memory %s+0x%" PRIx64, mapping->path,
				  address - mapping->start + mapping->offset);
	else if (mapping->shared)
		lode_buffer_text(text, "shared memory");
	else if (!strcmp(mapping->path, "[heap]"))
		lode_buffer_text(text, "heap");
	else if (thread)
		lode_buffer_print(text, "stack of thread %" PRIu32, thread);
	else if (lode_mapped_kind(mapping->path) == LODE_MAPPED_FILE)
		lode_buffer_print(text, "data of %.*s", (int)length, name);
}

/* The whole name. */
static void put_name(uint32_t pid, uint64_t address,
		     uint32_t (*thread_in)(void *context, uint64_t start, uint64_t end), void *context,
		     struct lode_buffer *text)
{
	struct mapping mapping, binary;
	const char *module;
	size_t length;

	if (find_mapping(pid, address, &mapping, &binary) < 0) {
		lode_buffer_print(text, "0x%" PRIx64, address);
		return;
	}
	lode_mapped_name(binary.path, &module, &length);
	lode_buffer_print(text, "%.*s!", (int)length, module);
	if (binary.path[0] && !mapping.shared && !put_variable(pid, &binary, address, text)) {
		lode_buffer_print(text, " (0x%" PRIx64 ")", address);
		return;
	}
	lode_buffer_clear(text);
	lode_buffer_print(text, "0x%" PRIx64 " (", address);
	length = text->size;
	put_region(&mapping, address,
		   strcmp(mapping.path, "[stack]") ? thread_in(context, mapping.start, mapping.end) : pid, text);
	if (text->size == length)
		text->size -= 2;
	else
		lode_buffer_byte(text, ')');
}

void lode_lock_name(uint32_t pid, uint64_t address,
		    uint32_t (*thread_in)(void *context, uint64_t start, uint64_t end), void *context, char *text,
		    size_t size)
{
	struct lode_buffer name = { 0 };

	put_name(pid, address, thread_in, context, &name);
	if (name.failed || !name.size)
		snprintf(text, size, "0x%" PRIx64, address);
	else
		snprintf(text, size, "%.*s", (int)name.size, name.bytes);
	lode_buffer_release(&name);
}

uint64_t lode_lock_address(uint32_t pid, uint64_t low, unsigned bits)
{
	char path[32], *line = NULL;
	struct mapping mapping;
	uint64_t found = 0;
	size_t capacity = 0, count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	file = fopen(path, "re"); /* from the kernel */
	while (file && getline(&line, &capacity, file) > 0) {
		uint64_t address;

		if (read_line(line, &mapping) < 0 || !mapping.writable)
			continue;
		address = (mapping.start >> bits << bits) | low;
		if (address < mapping.start)
			address += 1ull << bits;
		if (address < mapping.end) {
			found = address;
			count++;
		}
	}
	free(line); /* from getline */
	if (file)
		fclose(file);
	return count == 1 ? found : 0;
}
