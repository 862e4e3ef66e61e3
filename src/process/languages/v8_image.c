/*
 * What a binary with V8 in it says: see v8_image.h.
 *
 * The variables are there for debuggers that look at core files. A value of 0 is in no byte of the file (.bss). All
 * are needed, and what the kernel's programs rely on is checked here: pointers of 8 bytes (no pointer compression), their
 * tags, the two slots of a frame side by side, and small offsets.
 */
#include "process/languages/v8_image.h"

#include "base/starts_with.h"

#include <string.h>

#define PREFIX "v8dbg_"

/* Without the prefix; */
static const char *const names[LODE_V8_VALUES] = {
	[LODE_V8_FRAME_CONTEXT] = "off_fp_context_or_frame_type",
	[LODE_V8_FRAME_FUNCTION] = "off_fp_function",
	[LODE_V8_TAG_VALUE] = "HeapObjectTag",
	[LODE_V8_TAG_BITS] = "HeapObjectTagMask",
	[LODE_V8_SMALL_SHIFT] = "SmiShiftSize",
	[LODE_V8_SMALL_TAG_SHIFT] = "SmiValueShift",
	[LODE_V8_POINTER_BYTES] = "TaggedSize",
	[LODE_V8_FUNCTION_SHARED] = "class_JSFunction__shared__SharedFunctionInfo",
	[LODE_V8_SHARED_TYPE] = "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
	[LODE_V8_SHARED_SCOPE] = "class_SharedFunctionInfo__name_or_scope_info__Object",
	[LODE_V8_SHARED_SCRIPT] = "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	[LODE_V8_MAP_TYPE] = "class_Map__instance_type__uint16_t",
	[LODE_V8_SCRIPT_TYPE] = "type_Script__SCRIPT_TYPE",
	[LODE_V8_SCRIPT_NAME] = "class_Script__name__Object",
	[LODE_V8_SCRIPT_SOURCE] = "class_Script__source__Object",
	[LODE_V8_SCOPE_TYPE] = "type_ScopeInfo__SCOPE_INFO_TYPE",
	[LODE_V8_SCOPE_LOCALS] = "scopeinfo_idx_ncontextlocals",
	[LODE_V8_SCOPE_FIRST] = "scopeinfo_idx_first_vars",
	[LODE_V8_ODDBALL_TYPE] = "type_Oddball__ODDBALL_TYPE",
	[LODE_V8_NOT_STRING] = "IsNotStringMask",
	[LODE_V8_STRING_LENGTH] = "class_String__length__int32_t",
	[LODE_V8_STRING_FORM] = "StringRepresentationMask",
	[LODE_V8_STRING_CONS] = "ConsStringTag",
	[LODE_V8_STRING_EXTERNAL] = "ExternalStringTag",
	[LODE_V8_STRING_SLICED] = "SlicedStringTag",
	[LODE_V8_STRING_THIN] = "ThinStringTag",
	[LODE_V8_STRING_WIDTH] = "StringEncodingMask",
	[LODE_V8_STRING_ONE_BYTE] = "OneByteStringTag",
	[LODE_V8_ONE_BYTE_TEXT] = "class_SeqOneByteString__chars__char",
	[LODE_V8_TWO_BYTE_TEXT] = "class_SeqTwoByteString__chars__char",
	[LODE_V8_CONS_FIRST] = "class_ConsString__first__String",
	[LODE_V8_CONS_SECOND] = "class_ConsString__second__String",
	[LODE_V8_SLICED_PARENT] = "class_SlicedString__parent__String",
	[LODE_V8_SLICED_OFFSET] = "class_SlicedString__offset__SMI",
	[LODE_V8_THIN_ACTUAL] = "class_ThinString__actual__String",
	[LODE_V8_EXTERNAL_TEXT] = "class_ExternalString__resource__Object",
};

struct reading {
	struct lode_v8_image *image;
	const struct lode_elf *elf;
	uint64_t found; /* bits of values */
};

static int32_t value_at(const struct lode_elf *elf, uint64_t address)
{
	int32_t value = 0;

	return lode_elf_initial_bytes(elf, address, &value, sizeof(value)) ? value : 0;
}

static void note_value(struct reading *reading, const char *name, const GElf_Sym *symbol)
{
	for (int i = 0; i < LODE_V8_VALUES; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		reading->image->values[i] = value_at(reading->elf, symbol->st_value);
		reading->found |= 1ull << i;
	}
}

static int note_export(void *context, const char *name, const GElf_Sym *symbol)
{
	struct reading *reading = context;
	struct lode_v8_image *image = reading->image;

	if (lode_starts_with(name, PREFIX))
		note_value(reading, name + strlen(PREFIX), symbol);
	else if (!lode_starts_with(name, "_ZN2v8"))
		return 0;
	else if (!strcmp(name, "_ZN2v88internal7Version6major_E"))
		image->major = (uint32_t)value_at(reading->elf, symbol->st_value);
	else if (!strcmp(name, "_ZN2v88internal7Version6minor_E"))
		image->minor = (uint32_t)value_at(reading->elf, symbol->st_value);
	else if (!image->code && GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
		image->code = symbol->st_value;
	return 0;
}

/* ---- checking ---- */

/* No object that is looked at is larger, and no type of one greater. */
#define OFFSET_LIMIT 1024
#define TYPE_LIMIT   0x10000

/* Those that are distances in an object, or in a frame. */
static int are_offsets(const int32_t *values)
{
	static const uint8_t offsets[] = {
		LODE_V8_FUNCTION_SHARED, LODE_V8_SHARED_SCOPE,  LODE_V8_SHARED_SCRIPT, LODE_V8_MAP_TYPE,
		LODE_V8_SCRIPT_NAME,     LODE_V8_SCRIPT_SOURCE, LODE_V8_STRING_LENGTH, LODE_V8_ONE_BYTE_TEXT,
		LODE_V8_TWO_BYTE_TEXT,   LODE_V8_CONS_FIRST,    LODE_V8_CONS_SECOND,   LODE_V8_SLICED_PARENT,
		LODE_V8_SLICED_OFFSET,   LODE_V8_THIN_ACTUAL,   LODE_V8_EXTERNAL_TEXT,
	};

	for (size_t i = 0; i < sizeof(offsets); i++)
		if (values[offsets[i]] <= 0 || values[offsets[i]] > OFFSET_LIMIT)
			return 0;
	return values[LODE_V8_SHARED_SCOPE] <= LODE_V8_SHARED_BYTES - 8 && !(values[LODE_V8_SHARED_SCOPE] & 7) &&
	       values[LODE_V8_SHARED_SCRIPT] <= LODE_V8_SHARED_BYTES - 8 && !(values[LODE_V8_SHARED_SCRIPT] & 7);
}

static int is_type(int32_t value)
{
	return value > 0 && value < TYPE_LIMIT;
}

/* Pointers as they are without pointer compression, and small numbers in the upper half of a word. */
static int are_pointers_plain(const int32_t *values)
{
	return values[LODE_V8_POINTER_BYTES] == 8 && values[LODE_V8_TAG_VALUE] == LODE_V8_TAG &&
	       values[LODE_V8_TAG_BITS] == LODE_V8_TAG_MASK &&
	       values[LODE_V8_SMALL_SHIFT] + values[LODE_V8_SMALL_TAG_SHIFT] == 32;
}

static int is_known(const int32_t *values)
{
	return are_pointers_plain(values) && are_offsets(values) &&
	       values[LODE_V8_FRAME_FUNCTION] == values[LODE_V8_FRAME_CONTEXT] - 8 &&
	       values[LODE_V8_FRAME_CONTEXT] < 0 && values[LODE_V8_FRAME_CONTEXT] > -OFFSET_LIMIT &&
	       is_type(values[LODE_V8_SHARED_TYPE]) && is_type(values[LODE_V8_SCRIPT_TYPE]) &&
	       is_type(values[LODE_V8_SCOPE_TYPE]) && is_type(values[LODE_V8_ODDBALL_TYPE]) &&
	       /* A ScopeInfo of another form has the function's name elsewhere. */
	       values[LODE_V8_SCOPE_LOCALS] == 2 && values[LODE_V8_SCOPE_FIRST] == 3;
}

enum lode_v8_support lode_v8_image_read(struct lode_v8_image *image, const struct lode_elf *elf)
{
	struct reading reading = { image, elf, 0 };
	const int32_t *values = image->values;

	memset(image, 0, sizeof(*image));
	lode_elf_each_export(elf, note_export, &reading);
	if (!image->code)
		return LODE_V8_NONE;
	if (reading.found != (1ull << LODE_V8_VALUES) - 1 || !is_known(values))
		return LODE_V8_UNSUPPORTED;
	image->layout = (struct lode_v8_layout){
		.frame_slots = values[LODE_V8_FRAME_FUNCTION],
		.function_shared = (uint32_t)values[LODE_V8_FUNCTION_SHARED],
		.shared_scope = (uint32_t)values[LODE_V8_SHARED_SCOPE],
		.shared_script = (uint32_t)values[LODE_V8_SHARED_SCRIPT],
		.map_type = (uint32_t)values[LODE_V8_MAP_TYPE],
		.shared_type = (uint32_t)values[LODE_V8_SHARED_TYPE],
	};
	return LODE_V8_SUPPORTED;
}
