/*
 * Call frame information: see cfi.h.
 *
 * libdw finds the entries and their parts; what remains is to read the two
 * encoded numbers of each, address and size. Their encoding, and what else the
 * entries of one compiler run have in common, is in a separate entry
 * (CIE) before them.
 */
#include "symbols/cfi.h"

#include "base/bisect.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

struct frames {
	Elf_Data *data;
	uint64_t address; /* of the section */
	int is_64;
	int swap;
	struct lode_cfi_shared *known; /* by offset, ascending */
	size_t count;
	size_t capacity;
};

uint64_t lode_cfi_signed(struct lode_cursor *cursor)
{
	uint64_t number = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = lode_cursor_u8(cursor);
		if (shift < 64)
			number |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 70);
	if (shift < 64 && byte & 0x40)
		number |= ~0ull << shift;
	return number;
}

/* A number in `encoding`, without what it is relative to. */
static uint64_t read_number(struct lode_cursor *cursor, uint8_t encoding, int is_64)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return is_64 ? lode_cursor_u64(cursor) : lode_cursor_u32(cursor);
	case DW_EH_PE_uleb128:
		return lode_cursor_varint(cursor);
	case DW_EH_PE_udata2:
		return lode_cursor_u16(cursor);
	case DW_EH_PE_udata4:
		return lode_cursor_u32(cursor);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return lode_cursor_u64(cursor);
	case DW_EH_PE_sleb128:
		return lode_cfi_signed(cursor);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)lode_cursor_u16(cursor);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)lode_cursor_u32(cursor);
	}
	cursor->failed = 1;
	return 0;
}

/* The encoding of addresses in the entries that share `cie`. */
static uint8_t pointer_encoding(const struct frames *frames, const Dwarf_CIE *cie)
{
	struct lode_cursor data = lode_cursor(cie->augmentation_data, cie->augmentation_data_size);
	const char *letter = cie->augmentation;

	if (!letter || *letter != 'z')
		return DW_EH_PE_absptr;
	data.swap = frames->swap;
	while (*++letter && !data.failed) {
		uint8_t encoding;

		switch (*letter) {
		case 'R':
			encoding = lode_cursor_u8(&data);
			return data.failed ? DW_EH_PE_omit : encoding;
		case 'L':
			lode_cursor_u8(&data);
			break;
		case 'P':
			encoding = lode_cursor_u8(&data);
			read_number(&data, encoding, frames->is_64);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return DW_EH_PE_omit;
		}
	}
	return DW_EH_PE_absptr;
}

static int remember(struct frames *frames, uint64_t offset, const Dwarf_CIE *cie)
{
	if (LODE_GROW(frames->known, frames->capacity, frames->count + 1) < 0)
		return -1;
	frames->known[frames->count++] = (struct lode_cfi_shared){
		.offset = offset,
		.encoding = pointer_encoding(frames, cie),
		.has_size = cie->augmentation && cie->augmentation[0] == 'z',
		.is_signal = cie->augmentation && strchr(cie->augmentation, 'S') != NULL,
		.code_alignment = cie->code_alignment_factor,
		.data_alignment = cie->data_alignment_factor,
		.return_register = cie->return_address_register,
		.program = cie->initial_instructions,
		.program_end = cie->initial_instructions_end,
	};
	return 0;
}

/* Entries mostly share the latest one; offsets ascend, so the others are found by halving. */
static const struct lode_cfi_shared *shared_entry(const struct frames *frames, uint64_t offset)
{
	size_t count = frames->count, at;

	if (count && frames->known[count - 1].offset == offset)
		return &frames->known[count - 1];
	at = LODE_BISECT(i, 0, count, frames->known[i].offset < offset);
	return at < count && frames->known[at].offset == offset ? &frames->known[at] : NULL;
}

/* Reads where the function is and steps to its program. Returns 0 when it is none that can be used. */
static int read_entry(const struct frames *frames, const Dwarf_FDE *fde, struct lode_cfi_function *function)
{
	const unsigned char *section = frames->data->d_buf;
	const struct lode_cfi_shared *shared = shared_entry(frames, fde->CIE_pointer);
	struct lode_cursor *cursor = &function->program;
	uint64_t size;
	uint8_t encoding;

	if (!shared || shared->encoding == DW_EH_PE_omit ||
	    (shared->encoding & 0x70 && (shared->encoding & 0x70) != DW_EH_PE_pcrel))
		return 0;
	encoding = shared->encoding;
	*cursor = lode_cursor(fde->start, (size_t)(fde->end - fde->start));
	cursor->swap = frames->swap;
	function->shared = shared;
	function->start = read_number(cursor, encoding, frames->is_64);
	if (encoding & DW_EH_PE_pcrel)
		function->start += frames->address + (uint64_t)(fde->start - section);
	if (!frames->is_64)
		function->start = (uint32_t)function->start;
	size = read_number(cursor, encoding & 0x0f, frames->is_64);
	if (shared->has_size)
		lode_cursor_bytes(cursor, lode_cursor_varint(cursor));
	/* A linker that threw a function away leaves its entry with address 0. */
	return !cursor->failed && function->start && size &&
	       !__builtin_add_overflow(function->start, size, &function->end);
}

static int open_section(const struct lode_elf *elf, const char *name, struct frames *frames)
{
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, name, &header);

	if (!section || header.sh_type == SHT_NOBITS)
		return -1;
	if (header.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return -1;
	frames->data = elf_rawdata(section, NULL);
	if (!frames->data || !frames->data->d_buf)
		return -1;
	frames->address = header.sh_addr;
	frames->is_64 = elf->header.e_ident[EI_CLASS] == ELFCLASS64;
	frames->swap = elf->header.e_ident[EI_DATA] == ELFDATA2MSB;
	return 0;
}

int lode_cfi_walk(const struct lode_elf *elf, const char *section,
		  int (*take)(void *context, const struct lode_cfi_function *function), void *context)
{
	bool is_eh_frame = strcmp(section, ".eh_frame") == 0;
	struct frames frames = { 0 };
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	int code = 0;

	if (open_section(elf, section, &frames) < 0)
		return 0;
	while (code == 0) {
		struct lode_cfi_function function;
		int end;

		next = offset; /* an entry too damaged to step over leaves it so */
		end = dwarf_next_cfi(elf->header.e_ident, frames.data, is_eh_frame, offset, &next, &entry);
		if (end == 1 || next <= offset)
			break;
		if (end == 0 && dwarf_cfi_cie_p(&entry))
			code = remember(&frames, offset, &entry.cie) < 0 ? LODE_SYSTEM : 0;
		else if (end == 0 && read_entry(&frames, &entry.fde, &function))
			code = take(context, &function);
		offset = next;
	}
	lode_free(frames.known);
	return code;
}

static int handle_bounds(void *context, const struct lode_cfi_function *function)
{
	struct lode_table_builder *builder = context;

	lode_table_add(builder, function->start, function->end, LODE_NONE, 0);
	return builder->failed ? LODE_SYSTEM : 0;
}

void lode_elf_read_frames(const struct lode_elf *elf, struct lode_table_builder *builder)
{
	if (lode_cfi_walk(elf, ".eh_frame", handle_bounds, builder) < 0)
		builder->failed = 1;
}
