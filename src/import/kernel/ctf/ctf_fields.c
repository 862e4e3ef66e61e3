/*
 * Fields of CTF out of bits: see ctf_fields.h.
 *
 * Bits of a little-endian trace are counted from the least significant one of each byte, those of a big-endian one from
 * the most significant. Alignment counts from the start of the packet.
 */
#include "import/kernel/ctf/ctf_fields.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

#define CHARACTERS 63 /* kept of a text that is a list of numbers */

/* ---- bits ---- */

int lode_ctf_align(struct lode_ctf_place *place, uint32_t align)
{
	place->at = (place->at + align - 1) & ~(uint64_t)(align - 1);
	return place->at <= place->end ? 0 : LODE_BAD_INPUT;
}

static uint64_t load_bytes(const unsigned char *bytes, unsigned count, int big)
{
	uint64_t number = 0;
	uint32_t word;
	uint16_t half;

	switch (count) {
	case 8:
		memcpy(&number, bytes, 8);
		return big ? __builtin_bswap64(number) : number;
	case 4:
		memcpy(&word, bytes, 4);
		return big ? __builtin_bswap32(word) : word;
	case 2:
		memcpy(&half, bytes, 2);
		return big ? __builtin_bswap16(half) : half;
	default:
		return bytes[0];
	}
}

/* Bits that do not start or end with a byte; those before `end` may be read. */
static uint64_t gather_bits(const unsigned char *bytes, uint64_t at, uint64_t end, unsigned size, int big)
{
	uint64_t number = 0;

	if (!big && (at & 7) + size <= 64 && end - (at & ~(uint64_t)7) >= 64) {
		number = load_bytes(bytes + (at >> 3), 8, 0) >> (at & 7);
		return size < 64 ? number & (((uint64_t)1 << size) - 1) : number;
	}

	for (unsigned got = 0, take; got < size; got += take, at += take) {
		unsigned offset = at & 7, left = size - got;
		uint64_t bits;

		take = 8 - offset < left ? 8 - offset : left;
		bits = (bytes[at >> 3] >> (big ? 8 - offset - take : offset)) & ((1u << take) - 1);
		number = big ? number << take | bits : number | bits << got;
	}
	return number;
}

static int read_integer(struct lode_ctf_place *place, const struct lode_ctf_type *type, uint64_t *number)
{
	unsigned size = type->size;

	if (lode_ctf_align(place, type->align) < 0 || size > place->end - place->at)
		return LODE_BAD_INPUT;
	if (!(place->at & 7) && (size == 32 || size == 64 || size == 8 || size == 16))
		*number = load_bytes(place->bytes + (place->at >> 3), size / 8, type->big);
	else
		*number = gather_bits(place->bytes, place->at, place->end, size, type->big);
	if (type->is_signed && size < 64 && *number >> (size - 1) & 1)
		*number |= ~(uint64_t)0 << size;
	place->at += size;
	return 0;
}

/* A clock of fewer than 64 bits continues the one before; it went round once where it is behind it. */
void lode_ctf_advance_clock(struct lode_ctf_fields *fields, uint64_t number, unsigned size)
{
	uint64_t mask;

	if (size == 64) {
		fields->clock = number;
		return;
	}
	mask = ((uint64_t)1 << size) - 1;
	number &= mask;
	if (number < (fields->clock & mask))
		fields->clock += mask + 1;
	fields->clock = (fields->clock & ~mask) | number;
}

/* ---- texts ---- */

static int read_string(struct lode_ctf_place *place, const char **text)
{
	const unsigned char *start, *end;

	if (lode_ctf_align(place, 8) < 0)
		return LODE_BAD_INPUT;
	start = place->bytes + (place->at >> 3);
	end = memchr(start, '\0', (size_t)((place->end - place->at) >> 3));
	if (!end)
		return LODE_BAD_INPUT;
	*text = (const char *)start;
	place->at += (uint64_t)(end - start + 1) * 8;
	return 0;
}

/* Characters in whole bytes, up to the first that is 0. */
static int keep_characters(struct lode_ctf_values *values, unsigned role, const unsigned char *bytes, size_t length)
{
	struct lode_buffer *room = &values->room[role];
	const unsigned char *end = length ? memchr(bytes, '\0', length) : NULL;

	lode_buffer_clear(room);
	lode_buffer_add(room, bytes, end ? (size_t)(end - bytes) : length);
	lode_buffer_byte(room, '\0');
	if (room->failed)
		return LODE_SYSTEM;
	values->text[role] = room->bytes;
	values->texts |= lode_ctf_role_bit(role);
	return 0;
}

/* Characters in whole bytes that stay, up to the first that is 0; a copy where there is none. */
static int keep_lasting(struct lode_ctf_values *values, unsigned role, const unsigned char *bytes, size_t length)
{
	if (!length || !memchr(bytes, '\0', length))
		return keep_characters(values, role, bytes, length);
	values->text[role] = (const char *)bytes;
	values->texts |= lode_ctf_role_bit(role);
	return 0;
}

/* ---- arrays ---- */

/* Whether the elements are characters in whole bytes. */
static int is_text(const struct lode_ctf_type *element)
{
	return element->kind == LODE_CTF_INTEGER && element->text && element->size == 8 && element->align == 8;
}

/* Steps over all elements of an array of numbers. */
static int skip_numbers(struct lode_ctf_place *place, const struct lode_ctf_type *element, uint64_t length)
{
	uint64_t stride = ((uint64_t)element->size + element->align - 1) & ~(uint64_t)(element->align - 1), bits;

	if (!length)
		return 0;
	if (__builtin_mul_overflow(length - 1, stride, &bits) || bits > place->end - place->at)
		return LODE_BAD_INPUT;
	place->at += bits;
	if (element->size > place->end - place->at)
		return LODE_BAD_INPUT;
	place->at += element->size;
	return 0;
}

/* Addresses of a stack, or numbers that are characters. */
static int keep_numbers(struct lode_ctf_place *place, const struct lode_ctf_type *element, uint64_t length,
			unsigned role, struct lode_ctf_values *values)
{
	int user = role == LODE_CTF_ROLE_USER_STACK, stack = user || role == LODE_CTF_ROLE_KERNEL_STACK;
	unsigned char characters[CHARACTERS];
	uint64_t limit = stack ? LODE_CTF_STACK_LIMIT : CHARACTERS, number;

	for (uint64_t i = 0; i < length && i < limit; i++) {
		if (read_integer(place, element, &number) < 0)
			return LODE_BAD_INPUT;
		if (stack)
			values->stack[user][i] = number;
		else
			characters[i] = (unsigned char)number;
	}
	limit = length < limit ? length : limit;
	if (length > limit &&
	    (lode_ctf_align(place, element->align) < 0 || skip_numbers(place, element, length - limit) < 0))
		return LODE_BAD_INPUT;
	if (!stack)
		return keep_characters(values, role, characters, (size_t)limit);
	values->depth[user] = (size_t)limit;
	values->texts |= lode_ctf_role_bit(role);
	return 0;
}

static int read_value(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
		      const struct lode_ctf_type *type, int nested, struct lode_ctf_values *values);

/* An element that occupies nothing is like all behind it. */
static int skip_elements(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
			 const struct lode_ctf_type *element, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++) {
		uint64_t before = place->at;
		int code = read_value(fields, place, element, 0, NULL);

		if (code < 0)
			return code;
		if (place->at == before)
			break;
	}
	return 0;
}

static int read_array(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
		      const struct lode_ctf_type *type, unsigned role, struct lode_ctf_values *values)
{
	const struct lode_ctf_type *element = type->element;
	uint64_t length = type->slot == LODE_NONE ? type->length : fields->slots[type->slot];
	const unsigned char *start;

	if (lode_ctf_align(place, type->align) < 0)
		return LODE_BAD_INPUT;
	if (values && element->kind != LODE_CTF_INTEGER && !length)
		return keep_characters(values, role, NULL, 0);
	if (element->kind != LODE_CTF_INTEGER && element->kind != LODE_CTF_FLOAT)
		return skip_elements(fields, place, element, length);
	if (values && element->kind == LODE_CTF_INTEGER && !is_text(element))
		return keep_numbers(place, element, length, role, values);
	start = place->bytes + (place->at >> 3);
	if (skip_numbers(place, element, length) < 0)
		return LODE_BAD_INPUT;
	return values && element->kind == LODE_CTF_INTEGER ? keep_lasting(values, role, start, (size_t)length) : 0;
}

/* ---- members ---- */

static int read_variant(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
			const struct lode_ctf_type *type, int nested, struct lode_ctf_values *values)
{
	uint64_t flip = type->is_signed ? (uint64_t)1 << 63 : 0, tag = fields->slots[type->slot] ^ flip;

	for (uint32_t i = 0; i < type->choice_count; i++) {
		const struct lode_ctf_choice *choice = &type->choices[i];

		if (tag >= (choice->first ^ flip) && tag <= (choice->last ^ flip))
			return read_value(fields, place, type->members[choice->member].type, nested, values);
	}
	return LODE_BAD_INPUT;
}

static int read_number(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
		       const struct lode_ctf_member *member, struct lode_ctf_values *values)
{
	uint64_t number;

	if (read_integer(place, member->type, &number) < 0)
		return LODE_BAD_INPUT;
	if (member->slot != LODE_NONE)
		fields->slots[member->slot] = number;
	if (member->type->clock && member->role != LODE_CTF_ROLE_END)
		lode_ctf_advance_clock(fields, number, member->type->size);
	if (values) {
		values->number[member->role] = number;
		values->numbers |= lode_ctf_role_bit(member->role);
	}
	return 0;
}

static int read_member(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
		       const struct lode_ctf_member *member, int nested, struct lode_ctf_values *values)
{
	const struct lode_ctf_type *type = member->type;
	struct lode_ctf_values *kept = values && values->wanted & lode_ctf_role_bit(member->role) ? values : NULL;
	const char *text;

	if (kept)
		kept->seen |= lode_ctf_role_bit(member->role);
	switch (type->kind) {
	case LODE_CTF_INTEGER:
		return read_number(fields, place, member, kept);
	case LODE_CTF_ARRAY:
		return read_array(fields, place, type, member->role, kept);
	case LODE_CTF_STRING:
		if (read_string(place, &text) < 0)
			return LODE_BAD_INPUT;
		if (kept) {
			kept->text[member->role] = text;
			kept->texts |= lode_ctf_role_bit(member->role);
		}
		return 0;
	default:
		return read_value(fields, place, type, nested, nested ? values : NULL);
	}
}

/* A value without a name. */
static int read_value(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
		      const struct lode_ctf_type *type, int nested, struct lode_ctf_values *values)
{
	const struct lode_ctf_member nameless = { .type = type, .slot = LODE_NONE, .role = LODE_CTF_ROLES };
	uint64_t number;

	switch (type->kind) {
	case LODE_CTF_STRUCT:
		return lode_ctf_read_struct(fields, place, type, nested, values);
	case LODE_CTF_VARIANT:
		return read_variant(fields, place, type, nested, values);
	case LODE_CTF_FLOAT:
		return read_integer(place, type, &number);
	default:
		return read_member(fields, place, &nameless, 0, NULL);
	}
}

/* read_member for an integer that is plain. */
static inline int read_plain(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
			     const struct lode_ctf_member *member, struct lode_ctf_values *values)
{
	const struct lode_ctf_type *type = member->type;
	uint32_t bit = lode_ctf_role_bit(member->role);
	int wanted = values && values->wanted & bit;
	uint64_t number;

	place->at = (place->at + 7) & ~(uint64_t)7;
	if (place->at > place->end || type->size > place->end - place->at)
		return LODE_BAD_INPUT;
	if (wanted || member->slot != LODE_NONE) {
		number = load_bytes(place->bytes + (place->at >> 3), type->size / 8, type->big);
		if (type->is_signed && type->size < 64 && number >> (type->size - 1) & 1)
			number |= ~(uint64_t)0 << type->size;
		if (member->slot != LODE_NONE)
			fields->slots[member->slot] = number;
		if (wanted) {
			values->seen |= bit;
			values->numbers |= bit;
			values->number[member->role] = number;
		}
	}
	place->at += type->size;
	return 0;
}

int lode_ctf_read_struct(struct lode_ctf_fields *fields, struct lode_ctf_place *place,
			 const struct lode_ctf_type *type, int nested, struct lode_ctf_values *values)
{
	int code = lode_ctf_align(place, type->align);

	for (uint32_t i = 0; code == 0 && i < type->member_count; i++)
		code = type->members[i].type->plain ? read_plain(fields, place, &type->members[i], values)
						    : read_member(fields, place, &type->members[i], nested, values);
	return code;
}

void lode_ctf_values_clear(struct lode_ctf_values *values, uint32_t wanted)
{
	values->wanted = wanted;
	values->seen = values->numbers = values->texts = 0;
	values->depth[0] = values->depth[1] = 0;
}

void lode_ctf_values_release(struct lode_ctf_values *values)
{
	for (int i = 0; i < LODE_CTF_ROLES; i++)
		lode_buffer_release(&values->room[i]);
}
