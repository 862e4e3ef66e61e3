/*
 * Packing: see packed_records.h.
 *
 * A record begins with two bytes that say what it is and which of its fields
 * follow: most records have few. Whether it has a context is in the lowest bit behind them, before the CPU.
 */
#include "watch/packed_records.h"

#include "process/languages/language_words.h"

enum field {
	HAS_COST = 1,
	HAS_DELAY = 2,
	HAS_USER = 4,
	HAS_KERNEL = 8,
	HAS_WAKER = 16,
	HAS_VALUE = 32,
	HAS_WEIGHT = 64,
	HAS_OBJECT = 128,
};

static unsigned char *put(unsigned char *to, uint64_t number)
{
	while (number >= 0x80) {
		*to++ = (unsigned char)(number | 0x80);
		number >>= 7;
	}
	*to++ = (unsigned char)number;
	return to;
}

/* Small numbers of either sign become small ones. */
static uint64_t fold(uint64_t difference)
{
	return difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63);
}

static uint64_t unfold(uint64_t folded)
{
	return folded >> 1 ^ (uint64_t) - (int64_t)(folded & 1);
}

static unsigned fields_of(const struct lode_record *record, const struct lode_pack_references *references)
{
	unsigned fields = 0;

	fields |= record->cost ? HAS_COST : 0;
	fields |= record->delay ? HAS_DELAY : 0;
	fields |= references->user ? HAS_USER : 0;
	fields |= references->kernel ? HAS_KERNEL : 0;
	fields |= references->waker || references->waker_user || references->waker_kernel ? HAS_WAKER : 0;
	fields |= record->value ? HAS_VALUE : 0;
	fields |= record->weight > 1 ? HAS_WEIGHT : 0;
	fields |= record->object.kind || record->object.argument ? HAS_OBJECT : 0;
	return fields;
}

/* Words of `peer` that mean something. */
static int peer_words(const struct lode_record_object *object)
{
	if (object->kind == LODE_WAITED_SOCKET)
		return 4;
	if (object->kind == LODE_WAITED_FILE)
		return 2;
	return object->kind >= LODE_WAITED_FUTEX && object->kind <= LODE_WAITED_FUTEX_PI;
}

static unsigned char *put_object(unsigned char *at, const struct lode_record_object *object)
{
	*at++ = object->kind;
	*at++ = object->family;
	at = put(at, object->argument);
	at = put(at, object->detail);
	at = put(at, object->port);
	for (int i = 0; i < peer_words(object); i++)
		at = put(at, object->peer[i]);
	return at;
}

size_t lode_pack_record(unsigned char *to, const struct lode_record *record,
			const struct lode_pack_references *references, uint64_t previous)
{
	unsigned fields = fields_of(record, references);
	unsigned char *at = to;

	*at++ = (unsigned char)fields;
	*at++ = (unsigned char)(record->type << 4 | (record->flags & 15));
	at = put(at, (uint64_t)record->cpu << 1 | (record->context != 0));
	if (record->context)
		at = put(at, record->context);
	at = put(at, fold(lode_record_end(record) - previous));
	at = put(at, references->thread);
	if (fields & HAS_COST)
		at = put(at, record->cost);
	if (fields & HAS_DELAY)
		at = put(at, record->delay);
	if (fields & HAS_USER)
		at = put(at, references->user);
	if (fields & HAS_KERNEL)
		at = put(at, references->kernel);
	if (fields & HAS_WAKER) {
		at = put(at, references->waker);
		at = put(at, references->waker_user);
		at = put(at, references->waker_kernel);
	}
	if (fields & HAS_VALUE)
		at = put(at, record->value);
	if (fields & HAS_WEIGHT)
		at = put(at, record->weight);
	if (fields & HAS_OBJECT)
		at = put_object(at, &record->object);
	return (size_t)(at - to);
}

static uint32_t take32(struct lode_cursor *cursor)
{
	return (uint32_t)lode_cursor_varint(cursor);
}

static void decode_object(struct lode_cursor *cursor, struct lode_record_object *object)
{
	object->kind = lode_cursor_u8(cursor);
	object->family = lode_cursor_u8(cursor);
	object->argument = lode_cursor_varint(cursor);
	object->detail = take32(cursor);
	object->port = (uint16_t)lode_cursor_varint(cursor);
	for (int i = 0; i < peer_words(object); i++)
		object->peer[i] = take32(cursor);
}

void lode_unpack_record(struct lode_cursor *cursor, struct lode_record *record,
			struct lode_pack_references *references, uint64_t previous)
{
	unsigned fields = lode_cursor_u8(cursor), kind = lode_cursor_u8(cursor);
	uint64_t end, cpu;

	*record = (struct lode_record){ .type = (uint8_t)(kind >> 4), .flags = kind & 15 };
	*references = (struct lode_pack_references){ 0 };
	cpu = lode_cursor_varint(cursor);
	record->cpu = (uint16_t)(cpu >> 1);
	if (cpu & 1)
		record->context = take32(cursor);
	end = previous + unfold(lode_cursor_varint(cursor));
	references->thread = take32(cursor);
	if (fields & HAS_COST)
		record->cost = lode_cursor_varint(cursor);
	if (fields & HAS_DELAY)
		record->delay = lode_cursor_varint(cursor);
	if (fields & HAS_USER)
		references->user = take32(cursor);
	if (fields & HAS_KERNEL)
		references->kernel = take32(cursor);
	if (fields & HAS_WAKER) {
		references->waker = take32(cursor);
		references->waker_user = take32(cursor);
		references->waker_kernel = take32(cursor);
	}
	if (fields & HAS_VALUE)
		record->value = take32(cursor);
	record->weight = fields & HAS_WEIGHT ? take32(cursor) : 0;
	if (fields & HAS_OBJECT)
		decode_object(cursor, &record->object);
	record->t = end - record->cost - record->delay;
}

/* ---- stacks ---- */

size_t lode_pack_stack(unsigned char *to, const struct lode_record_stack *stack)
{
	unsigned char *at = to;
	uint64_t previous = 0;

	*at++ = (unsigned char)(stack->user | stack->has_link << 1 | stack->guessed << 2 | stack->sampled << 3 |
				stack->end << 4 | (stack->languages & LODE_STACK_HAS_WORDS) << 7);
	at = put(at, stack->id);
	at = put(at, stack->count);
	for (uint32_t i = 0; i < stack->count; i++) {
		at = put(at, fold(stack->addresses[i] - previous));
		previous = stack->addresses[i];
	}
	return (size_t)(at - to);
}

void lode_unpack_stack(struct lode_cursor *cursor, struct lode_record_stack *stack)
{
	unsigned kind = lode_cursor_u8(cursor);
	uint64_t previous = 0;

	stack->user = kind & 1;
	stack->has_link = kind >> 1 & 1;
	stack->guessed = kind >> 2 & 1;
	stack->sampled = kind >> 3 & 1;
	stack->end = (kind >> 4 & 7) < LODE_STACK_ENDS ? kind >> 4 & 7 : LODE_STACK_UNKNOWN;
	stack->languages = kind >> 7 ? LODE_STACK_HAS_WORDS : 0;
	stack->pid = 0;
	memset(stack->unused, 0, sizeof(stack->unused));
	stack->id = lode_cursor_varint(cursor);
	stack->count = take32(cursor);
	if (stack->count > LODE_RECORD_FRAMES + 1)
		stack->count = 0;
	for (uint32_t i = 0; i < stack->count; i++)
		stack->addresses[i] = previous += unfold(lode_cursor_varint(cursor));
}

/* ---- changes ---- */

size_t lode_pack_change(unsigned char *to, const struct lode_change *change, uint64_t position)
{
	size_t length = change->text ? strnlen(change->text, LODE_PACKED_TEXT) : 0;
	unsigned char *at = to;

	*at++ = (unsigned char)(change->type | (change->executed ? 16 : 0) | (change->text ? 32 : 0));
	at = put(at, position);
	at = put(at, change->t);
	at = put(at, change->pid);
	at = put(at, change->tid);
	at = put(at, change->parent_pid);
	at = put(at, change->parent_tid);
	at = put(at, change->start);
	at = put(at, change->end - change->start);
	at = put(at, change->offset);
	at = put(at, change->mounts);
	*at++ = change->build_id_size;
	memcpy(at, change->build_id, change->build_id_size);
	at += change->build_id_size;
	at = put(at, length);
	if (length)
		memcpy(at, change->text, length);
	return (size_t)(at + length - to);
}

static void decode_bytes(struct lode_cursor *cursor, void *to, size_t size, size_t room)
{
	const void *bytes = lode_cursor_bytes(cursor, size);

	if (bytes && size && size <= room)
		memcpy(to, bytes, size);
}

void lode_unpack_change(struct lode_cursor *cursor, struct lode_change *change, char *text, uint64_t *position)
{
	unsigned kind = lode_cursor_u8(cursor);
	size_t length;

	*change = (struct lode_change){ .type = (enum lode_change_type)(kind & 15), .executed = !!(kind & 16) };
	*position = lode_cursor_varint(cursor);
	change->t = lode_cursor_varint(cursor);
	change->pid = take32(cursor);
	change->tid = take32(cursor);
	change->parent_pid = take32(cursor);
	change->parent_tid = take32(cursor);
	change->start = lode_cursor_varint(cursor);
	change->end = change->start + lode_cursor_varint(cursor);
	change->offset = lode_cursor_varint(cursor);
	change->mounts = lode_cursor_varint(cursor);
	change->build_id_size = lode_cursor_u8(cursor);
	decode_bytes(cursor, change->build_id, change->build_id_size, sizeof(change->build_id));
	length = (size_t)lode_cursor_varint(cursor);
	decode_bytes(cursor, text, length, LODE_PACKED_TEXT);
	text[length <= LODE_PACKED_TEXT ? length : 0] = '\0';
	change->text = kind & 32 ? text : NULL;
}
