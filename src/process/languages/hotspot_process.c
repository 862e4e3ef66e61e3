/*
 * What a process says of its HotSpot: see hotspot_process.h.
 *
 * Code heaps keep their places from the start of the virtual machine on. Of the interpreter's code, which is made once, the parts
 * that calls begin with are looked at: the instruction that sets the frame pointer is where the frame is there.
 */
#include "process/languages/hotspot_process.h"

#include "process/languages/language_words.h"

#include <string.h>

/* No struct of HotSpot that is read is larger. */
#define OFFSET_LIMIT 4096
/* All code heaps together are at most 2 GB: calls must reach. */
#define CODE_LIMIT (1ull << 31)
/* Codelets of the interpreter, and bytes of them, that are looked at; OpenJDK 17 has 271 in 90 kB. */
#define CODELETS        1024
#define INTERPRETER_MAX (4u << 20)
#define ENTRY_BYTES     1024
/* From this version on no byte of a packed number is 0. */
#define FIRST_WITHOUT_ZEROS 20

struct reading {
	struct lode_hotspot *hotspot;
	const struct lode_process_memory *memory;
	uint32_t pid;
	int failed;
};

static uint64_t word_at(struct reading *reading, uint64_t address)
{
	uint64_t word = 0;

	if (!lode_process_memory_read(reading->memory, reading->pid, address, &word, sizeof(word)))
		reading->failed = 1;
	return word;
}

static uint32_t number_at(struct reading *reading, uint64_t address)
{
	uint32_t number = 0;

	if (!lode_process_memory_read(reading->memory, reading->pid, address, &number, sizeof(number)))
		reading->failed = 1;
	return number;
}

static uint64_t field(struct reading *reading, uint64_t object, enum lode_hotspot_offset offset)
{
	return word_at(reading, object + reading->hotspot->offsets[offset]);
}

/* ---- offsets ---- */

/* Offsets in what is read of a CodeBlob in the kernel. */
static int fits_blob(const struct lode_hotspot_process *code)
{
	const uint32_t offsets[] = { code->blob_name,       code->blob_size,     code->blob_frame_complete,
				     code->blob_frame_size, code->blob_code_end, code->blob_code_start,
				     code->blob_method,     code->blob_deopt,    code->blob_deopt_mh };

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		if (offsets[i] > LODE_HOTSPOT_BLOB_BYTES - 8 || offsets[i] & 3)
			return 0;
	return !((code->blob_name | code->blob_code_start | code->blob_code_end | code->blob_method |
		  code->blob_deopt | code->blob_deopt_mh) &
		 7);
}

static enum lode_hotspot_state read_offsets(struct reading *reading, const struct lode_hotspot_image *image,
					    uint64_t bias)
{
	struct lode_hotspot *hotspot = reading->hotspot;
	const uint32_t *offsets = hotspot->offsets;
	int zeros = 0;

	for (int i = 0; i < LODE_HOTSPOT_OFFSETS; i++) {
		uint64_t offset = image->rows[i] ? word_at(reading, image->rows[i] + bias) : 0;

		if (offset >= OFFSET_LIMIT)
			return LODE_HOTSPOT_WRONG;
		hotspot->offsets[i] = (uint32_t)offset;
		zeros += !offset;
	}
	/* The library fills the table in when it is loaded. */
	if (reading->failed || zeros == LODE_HOTSPOT_OFFSETS)
		return LODE_HOTSPOT_EARLY;
	memcpy(hotspot->sizes, image->sizes, sizeof(hotspot->sizes));
	hotspot->code.block_header = hotspot->sizes[LODE_HOTSPOT_BLOCK_SIZE];
	hotspot->code.blob_name = offsets[LODE_HOTSPOT_BLOB_NAME];
	hotspot->code.blob_size = offsets[LODE_HOTSPOT_BLOB_SIZE];
	hotspot->code.blob_frame_complete = offsets[LODE_HOTSPOT_BLOB_COMPLETE];
	hotspot->code.blob_frame_size = offsets[LODE_HOTSPOT_BLOB_FRAME];
	hotspot->code.blob_code_start = offsets[LODE_HOTSPOT_BLOB_START];
	hotspot->code.blob_code_end = offsets[LODE_HOTSPOT_BLOB_END];
	hotspot->code.blob_method = offsets[LODE_HOTSPOT_BLOB_METHOD];
	hotspot->code.blob_deopt = offsets[LODE_HOTSPOT_BLOB_DEOPT];
	hotspot->code.blob_deopt_mh = offsets[LODE_HOTSPOT_BLOB_DEOPT_MH];
	hotspot->code.blob_original = offsets[LODE_HOTSPOT_BLOB_ORIGINAL];
	hotspot->code.method_const = offsets[LODE_HOTSPOT_METHOD_CONST];
	hotspot->code.const_name = offsets[LODE_HOTSPOT_CONST_NAME];
	return fits_blob(&hotspot->code) ? LODE_HOTSPOT_READY : LODE_HOTSPOT_WRONG;
}

/* ---- code heaps ---- */

static enum lode_hotspot_state read_heap(struct reading *reading, uint64_t heap, struct lode_hotspot_heap *found)
{
	const uint32_t *offsets = reading->hotspot->offsets;
	struct lode_hotspot_process *code = &reading->hotspot->code;
	uint64_t memory = heap + offsets[LODE_HOTSPOT_HEAP_MEMORY];

	found->start = field(reading, memory, LODE_HOTSPOT_SPACE_START);
	found->end = field(reading, memory, LODE_HOTSPOT_SPACE_END);
	found->segments = field(reading, heap + offsets[LODE_HOTSPOT_HEAP_SEGMAP], LODE_HOTSPOT_SPACE_LOW);
	code->segment_shift = number_at(reading, heap + offsets[LODE_HOTSPOT_HEAP_SHIFT]);
	if (reading->failed || !found->segments)
		return LODE_HOTSPOT_EARLY;
	if (found->start >= found->end || found->end - found->start > CODE_LIMIT || code->segment_shift < 3 ||
	    code->segment_shift > 16 || found->end >> LODE_LANGUAGE_CHECK)
		return LODE_HOTSPOT_WRONG;
	if (!code->start || found->start < code->start)
		code->start = found->start;
	if (found->end > code->end)
		code->end = found->end;
	return LODE_HOTSPOT_READY;
}

static enum lode_hotspot_state read_heaps(struct reading *reading, uint64_t variable)
{
	uint64_t array = word_at(reading, variable), data;
	enum lode_hotspot_state state = LODE_HOTSPOT_READY;
	uint32_t count;

	if (!array)
		return LODE_HOTSPOT_EARLY;
	count = number_at(reading, array + reading->hotspot->offsets[LODE_HOTSPOT_ARRAY_LENGTH]);
	data = field(reading, array, LODE_HOTSPOT_ARRAY_DATA);
	if (reading->failed || !count)
		return LODE_HOTSPOT_EARLY;
	if (count > LODE_HOTSPOT_HEAPS)
		return LODE_HOTSPOT_WRONG;
	for (uint32_t i = 0; i < count && state == LODE_HOTSPOT_READY; i++)
		state = read_heap(reading, word_at(reading, data + i * sizeof(uint64_t)),
				  &reading->hotspot->code.heaps[i]);
	return state;
}

/* ---- the interpreter ---- */

/* Where code sets the frame pointer, as a distance from its start; `size` when it does not. */
static uint64_t find_framed(const unsigned char *code, uint64_t size)
{
#ifdef __aarch64__
	for (uint64_t at = 0; at + 4 <= size; at += 4) {
		uint32_t instruction;

		memcpy(&instruction, code + at, sizeof(instruction));
		/* add x29, sp, #number */
		if ((instruction & 0xff8003ff) == 0x910003fd)
			return at + 4;
	}
#else
	for (uint64_t at = 0; at + 3 <= size; at++)
		if (code[at] == 0x48 && ((code[at + 1] == 0x8b && code[at + 2] == 0xec) ||
					 (code[at + 1] == 0x89 && code[at + 2] == 0xe5)))
			return at + 3;
#endif
	return size;
}

static void add_entry(struct reading *reading, uint64_t codelet, uint32_t size, uint32_t *count)
{
	struct lode_hotspot_entry *entry = &reading->hotspot->code.entries[*count];
	uint32_t header = reading->hotspot->sizes[LODE_HOTSPOT_CODELET_HEADER];
	unsigned char code[ENTRY_BYTES];
	size_t got;

	if (*count == LODE_HOTSPOT_ENTRIES || size <= header)
		return;
	got = reading->memory->read(reading->memory->context, reading->pid, codelet + header, code,
				    size - header < sizeof(code) ? size - header : sizeof(code));
	entry->start = codelet;
	entry->framed = codelet + header + find_framed(code, got);
	entry->end = codelet + size;
	(*count)++;
}

static int is_entry(struct reading *reading, uint64_t description)
{
	static const char start[] = "method entry point (kind = ", *const kinds[] = { "zerolocals", "native" };
	char text[64] = "";

	if (!description)
		return 0;
	reading->memory->read(reading->memory->context, reading->pid, description, text, sizeof(text) - 1);
	if (strncmp(text, start, sizeof(start) - 1) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(text + sizeof(start) - 1, kinds[i], strlen(kinds[i])))
			return 1;
	return 0;
}

static enum lode_hotspot_state read_interpreter(struct reading *reading, uint64_t variable)
{
	struct lode_hotspot_process *code = &reading->hotspot->code;
	const uint32_t *offsets = reading->hotspot->offsets;
	uint64_t queue = word_at(reading, variable), at;
	uint32_t limit, count, entries = 0;

	if (!queue)
		return LODE_HOTSPOT_EARLY;
	at = code->interpreter_start = field(reading, queue, LODE_HOTSPOT_QUEUE_BUFFER);
	limit = number_at(reading, queue + offsets[LODE_HOTSPOT_QUEUE_LIMIT]);
	count = number_at(reading, queue + offsets[LODE_HOTSPOT_QUEUE_COUNT]);
	if (reading->failed || !count)
		return LODE_HOTSPOT_EARLY;
	code->interpreter_end = at + limit;
	if (at < code->start || limit > INTERPRETER_MAX || code->interpreter_end > code->end || count > CODELETS)
		return LODE_HOTSPOT_WRONG;
	for (uint32_t i = 0; i < count && at < code->interpreter_end; i++) {
		uint32_t size = number_at(reading, at + offsets[LODE_HOTSPOT_CODELET_SIZE]);

		if (!size || size > limit)
			return LODE_HOTSPOT_EARLY; /* it is being made */
		if (is_entry(reading, field(reading, at, LODE_HOTSPOT_CODELET_DESCRIPTION)))
			add_entry(reading, at, size, &entries);
		at += size;
	}
	return entries ? LODE_HOTSPOT_READY : LODE_HOTSPOT_EARLY;
}

enum lode_hotspot_state lode_hotspot_read(struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
					  const struct lode_hotspot_image *image, uint64_t bias, uint32_t pid)
{
	struct reading reading = { hotspot, memory, pid, 0 };
	enum lode_hotspot_state state;

	memset(hotspot, 0, sizeof(*hotspot));
	hotspot->pid = pid;
	hotspot->packed_add = image->version >= FIRST_WITHOUT_ZEROS;
	state = read_offsets(&reading, image, bias);
	if (state == LODE_HOTSPOT_READY)
		state = read_heaps(&reading, image->variables[LODE_HOTSPOT_CODE_HEAPS] + bias);
	if (state == LODE_HOTSPOT_READY)
		state = read_interpreter(&reading, image->variables[LODE_HOTSPOT_INTERPRETER] + bias);
	return state;
}
