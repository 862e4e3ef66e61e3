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
#include "base/proc_files.h"
#include "symbols/variable_names.h"
#include "symbols/mapping_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	int writable;
	int shared;
	char path[4096]; /* "": none */
};

static void copy_mapping(struct mapping *mapping, const struct lode_proc_mapping *line)
{
	mapping->start = line->start;
	mapping->end = line->end;
	mapping->offset = line->offset;
	mapping->writable = line->rights[1] == 'w';
	mapping->shared = line->rights[3] == 's';
	snprintf(mapping->path, sizeof(mapping->path), "%s", line->path);
}

struct wanted {
	uint64_t address;
	struct mapping *mapping; /* that holds it */
	struct mapping *binary;  /* the last one of a file that is before it without a gap, or is it */
};

/* 1 when the address is in this mapping. */
static int compare_mapping(void *context, const struct lode_proc_mapping *line)
{
	struct wanted *wanted = context;
	uint64_t before = wanted->mapping->end;

	copy_mapping(wanted->mapping, line);
	if (line->start != before)
		wanted->binary->path[0] = '\0';
	if (lode_mapped_kind(line->path) == LODE_MAPPED_FILE)
		*wanted->binary = *wanted->mapping;
	return wanted->address >= line->start && wanted->address < line->end;
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
	path = lode_proc_root_path(pid, mapping->path, strlen(mapping->path));
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
	struct wanted wanted = { address, &mapping, &binary };
	const char *module;
	size_t length;

	memset(&binary, 0, sizeof(binary));
	mapping.end = 0;
	if (!lode_proc_mappings(pid, compare_mapping, &wanted)) {
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

struct low_bits {
	uint64_t low;
	unsigned bits;
	uint64_t found;
	size_t count;
};

static int compare_low_bits(void *context, const struct lode_proc_mapping *mapping)
{
	struct low_bits *wanted = context;
	uint64_t address = (mapping->start >> wanted->bits << wanted->bits) | wanted->low;

	if (address < mapping->start)
		address += 1ull << wanted->bits;
	if (mapping->rights[1] == 'w' && address < mapping->end) {
		wanted->found = address;
		wanted->count++;
	}
	return 0;
}

uint64_t lode_lock_address(uint32_t pid, uint64_t low, unsigned bits)
{
	struct low_bits wanted = { .low = low, .bits = bits };

	lode_proc_mappings(pid, compare_low_bits, &wanted);
	return wanted.count == 1 ? wanted.found : 0;
}
