/*
 * Inlined methods: see hotspot_scopes.h.
 *
 * A list of places, in order of their addresses, has for each one where its innermost scope is described. A description begins with
 * three packed numbers: where that of the caller is (0: it has none), the number of the Method among those that the code
 * refers to, and the bytecode.
 *
 * Whether the bytes of packed numbers (hotspot_numbers.h) are larger by 1 shows in the outermost scope: its Method is the one that was
 * compiled.
 */
#include "process/languages/hotspot_scopes.h"

#include "process/languages/hotspot_numbers.h"

/* Places of one piece of code. */
#define PLACES (1u << 20)
/* Bytes of a description that are read. */
#define SCOPE_BYTES (3 * LODE_HOTSPOT_NUMBER_BYTES)

struct scopes {
	const struct lode_hotspot *hotspot;
	const struct lode_process_memory *memory;
	uint64_t blob;
	uint64_t descriptions;
	uint64_t metadata;
	uint64_t method; /* that was compiled */
};

static int read_bytes(const struct scopes *scopes, uint64_t address, void *bytes, size_t size)
{
	return lode_process_memory_read(scopes->memory, scopes->hotspot->pid, address, bytes, size);
}

/* The address behind a distance in the code's header, which is from the CodeBlob on; 0: it cannot be read. */
static uint64_t at_distance(const struct scopes *scopes, enum lode_hotspot_offset offset)
{
	int32_t distance;

	if (!read_bytes(scopes, scopes->blob + scopes->hotspot->offsets[offset], &distance, sizeof(distance)) ||
	    distance < 0)
		return 0;
	return scopes->blob + (uint32_t)distance;
}

/* What HotSpot keeps of a place; its size is checked. */
struct place {
	int32_t pc; /* from the start of the code */
	int32_t scope;
	int32_t unused[2];
};

/* The description of the first place at `pc` or behind it; -1: there is none. */
static int64_t find_place(const struct scopes *scopes, uint64_t pc)
{
	uint64_t places = at_distance(scopes, LODE_HOTSPOT_BLOB_PCS);
	uint64_t end = at_distance(scopes, LODE_HOTSPOT_BLOB_PCS_END), low = 0, high;
	struct place place = { 0 };

	if (!places || end <= places || scopes->hotspot->sizes[LODE_HOTSPOT_PC_SIZE] != sizeof(place))
		return -1;
	high = (end - places) / sizeof(place);
	if (high > PLACES)
		return -1;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_bytes(scopes, places + middle * sizeof(place), &place, sizeof(place)))
			return -1;
		if (place.pc < (int64_t)pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!read_bytes(scopes, places + low * sizeof(place), &place, sizeof(place)) || place.pc == INT32_MAX)
		return -1;
	return place.scope > 0 ? place.scope : -1;
}

static uint32_t read_scopes(const struct scopes *scopes, uint32_t description, unsigned add,
			    struct lode_hotspot_scope found[LODE_HOTSPOT_SCOPES])
{
	for (uint32_t count = 0; count < LODE_HOTSPOT_SCOPES;) {
		unsigned char bytes[SCOPE_BYTES];
		uint32_t caller, number;
		size_t at = 0;

		if (!read_bytes(scopes, scopes->descriptions + description, bytes, sizeof(bytes)))
			return 0;
		caller = lode_hotspot_number_at(bytes, sizeof(bytes), &at, add);
		number = lode_hotspot_number_at(bytes, sizeof(bytes), &at, add);
		if (!number || number > PLACES ||
		    !read_bytes(scopes, scopes->metadata + (number - 1) * 8ull, &found[count].method, 8))
			return 0;
		found[count++].bytecode = (int32_t)lode_hotspot_number_at(bytes, sizeof(bytes), &at, add) - 1;
		if (!caller)
			return found[count - 1].method == scopes->method ? count : 0;
		description = caller;
	}
	return 0;
}

uint32_t lode_hotspot_scopes(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
			     uint64_t blob, uint64_t start, uint64_t pc,
			     struct lode_hotspot_scope found[LODE_HOTSPOT_SCOPES])
{
	struct scopes scopes = { .hotspot = hotspot, .memory = memory, .blob = blob };
	const uint32_t *offsets = hotspot->offsets;
	uint32_t count = 0;
	int64_t place;

	scopes.metadata = at_distance(&scopes, LODE_HOTSPOT_BLOB_METADATA);
	if (!scopes.metadata ||
	    !read_bytes(&scopes, blob + offsets[LODE_HOTSPOT_BLOB_SCOPES], &scopes.descriptions, 8) ||
	    !read_bytes(&scopes, blob + offsets[LODE_HOTSPOT_BLOB_METHOD], &scopes.method, 8))
		return 0;
	place = find_place(&scopes, pc - start);
	for (unsigned add = 0; !count && place > 0 && add < 2; add++)
		count = read_scopes(&scopes, (uint32_t)place, add, found);
	return count;
}
