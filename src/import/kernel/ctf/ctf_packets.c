/*
 * Events of a file of CTF: see ctf_packets.h. A packet is a header, a context and events. An event is a header, a context
 * that all of its stream have, one of its own, and its fields.
 */
#include "import/kernel/ctf/ctf_packets.h"

#include "base/memory.h"
#include "trace/events.h"

#include <string.h>

#define MAGIC 0xc1fc1fc1u

/* The roles that count in each part. */
#define BIT(role)     ((uint32_t)1 << LODE_CTF_##role)
#define PACKET_HEADER (BIT(ROLE_MAGIC) | BIT(ROLE_STREAM) | BIT(ROLE_INSTANCE))
#define PACKET_CONTEXT                                                                                            \
	(BIT(ROLE_CPU) | BIT(ROLE_BEGIN) | BIT(ROLE_CONTENT) | BIT(ROLE_PACKET) | BIT(ROLE_DISCARDED))
#define EVENT_HEADER BIT(ROLE_ID)
#define EVENT_CONTEXT                                                                                             \
	(BIT(TID) | BIT(PID) | BIT(ROLE_VTID) | BIT(ROLE_VPID) | BIT(ROLE_PROCNAME) | BIT(ROLE_KERNEL_STACK) |    \
	 BIT(ROLE_USER_STACK))
#define EVENT_FIELDS (((uint32_t)1 << LODE_CTF_FIELDS) - 1)

static int fail_damaged(const struct lode_ctf_packets *packets, int code, const char *what,
			struct lode_error *error)
{
	if (code == LODE_SYSTEM)
		return lode_fail_memory(error);
	return lode_fail(error, LODE_BAD_INPUT, "%s: the packet at byte %zu is damaged: %s", packets->name,
			 packets->packet, what);
}

/* ---- LTTng's compact header ---- */

/*
 * The header of nearly all events of LTTng is one word: 5 bits of the event's id and 27 of the clock. Where the id is none,
 * a longer one follows, which is read by its type like any other.
 */
#define ID_BITS    5
#define CLOCK_BITS 27

static int is_bits(const struct lode_ctf_member *member, uint32_t size)
{
	const struct lode_ctf_type *type = member->type;

	return type->kind == LODE_CTF_INTEGER && type->size == size && type->align == 1 && !type->big &&
	       !type->is_signed;
}

/* Whether the first choice of this variant is a part of the clock. */
static int is_compact_clock(const struct lode_ctf_type *variant)
{
	const struct lode_ctf_type *clock;

	if (variant->kind != LODE_CTF_VARIANT || variant->is_signed || !variant->choice_count)
		return 0;
	clock = variant->members[variant->choices[0].member].type;
	return clock->kind == LODE_CTF_STRUCT && clock->align == 1 && clock->member_count == 1 &&
	       is_bits(&clock->members[0], CLOCK_BITS) && clock->members[0].type->clock &&
	       clock->members[0].slot == LODE_NONE && clock->members[0].role == LODE_CTF_ROLES;
}

static int is_compact(const struct lode_ctf_type *header)
{
	const struct lode_ctf_member *id = header->members;

	return header->kind == LODE_CTF_STRUCT && header->align == 8 && header->member_count == 2 &&
	       is_bits(id, ID_BITS) && !id->type->clock && id->role == LODE_CTF_ROLE_ID && id->slot != LODE_NONE &&
	       is_compact_clock(id[1].type) && id[1].type->slot == id->slot;
}

/* Reads such a header. Returns 0 where it is not there as a word, and then nothing has changed. */
static int read_compact(struct lode_ctf_packets *packets)
{
	const struct lode_ctf_member *id = packets->stream->event_header->members;
	const struct lode_ctf_choice *choice = id[1].type->choices;
	struct lode_ctf_values *values = packets->values;
	struct lode_ctf_place place = packets->place;
	uint32_t word, number;

	if (lode_ctf_align(&place, 8) < 0 || place.end - place.at < 32)
		return 0;
	memcpy(&word, place.bytes + (place.at >> 3), sizeof(word));
	number = word & ((1u << ID_BITS) - 1);
	if (number < choice->first || number > choice->last)
		return 0;
	place.at += 32;
	packets->place = place;
	packets->fields.slots[id->slot] = number;
	lode_ctf_advance_clock(&packets->fields, word >> ID_BITS, CLOCK_BITS);
	values->number[LODE_CTF_ROLE_ID] = number;
	values->seen = values->numbers = BIT(ROLE_ID);
	return 1;
}

/* ---- packets ---- */

/* The bytes of the packet and the bits of its content, as the context says. */
static int bound_packet(struct lode_ctf_packets *packets, const struct lode_ctf_values *values)
{
	uint64_t all = (uint64_t)(packets->size - packets->packet) * 8, packet = all, content;

	if (lode_ctf_has_number(values, LODE_CTF_ROLE_PACKET))
		packet = values->number[LODE_CTF_ROLE_PACKET];
	else if (lode_ctf_has_number(values, LODE_CTF_ROLE_CONTENT))
		packet = values->number[LODE_CTF_ROLE_CONTENT];
	content = lode_ctf_has_number(values, LODE_CTF_ROLE_CONTENT) ? values->number[LODE_CTF_ROLE_CONTENT]
								     : packet;
	if (packet > all || packet % 8 || !packet || content > packet || content < packets->place.at)
		return 0;
	packets->next_packet = packets->packet + (size_t)(packet / 8);
	packets->place.end = content;
	return 1;
}

static void count_discarded(struct lode_ctf_packets *packets, const struct lode_ctf_values *values)
{
	uint64_t count;

	if (!lode_ctf_has_number(values, LODE_CTF_ROLE_DISCARDED))
		return;
	count = values->number[LODE_CTF_ROLE_DISCARDED];
	if (packets->discarded != UINT64_MAX && count > packets->discarded)
		packets->discarded_sum += count - packets->discarded;
	packets->discarded = count;
}

static const char *read_packet_header(struct lode_ctf_packets *packets, int *code)
{
	const struct lode_ctf_type *type = packets->description->packet_header;
	const struct lode_ctf_stream_class *stream;
	struct lode_ctf_values *values = packets->values;
	uint64_t id;

	lode_ctf_values_clear(values, PACKET_HEADER);
	if (type && (*code = lode_ctf_read_struct(&packets->fields, &packets->place, type, 0, values)) < 0)
		return "its header is cut off";
	if (lode_ctf_has_number(values, LODE_CTF_ROLE_MAGIC) && values->number[LODE_CTF_ROLE_MAGIC] != MAGIC)
		return "it does not start with the mark of CTF";
	id = lode_ctf_has_number(values, LODE_CTF_ROLE_STREAM) ? values->number[LODE_CTF_ROLE_STREAM]
							       : packets->description->streams.items[0].id;
	packets->instance = lode_ctf_has_number(values, LODE_CTF_ROLE_INSTANCE)
				    ? values->number[LODE_CTF_ROLE_INSTANCE]
				    : UINT64_MAX;
	stream = lode_ctf_find_stream(packets->description, id);
	if (!stream || (packets->stream && packets->stream != stream))
		return "its stream is not described, or is another one than before";
	packets->stream = stream;
	packets->is_compact = is_compact(stream->event_header);
	return NULL;
}

static const char *read_packet_context(struct lode_ctf_packets *packets, int *code)
{
	const struct lode_ctf_type *type = packets->stream->packet_context;
	struct lode_ctf_values *values = packets->values;

	lode_ctf_values_clear(values, PACKET_CONTEXT);
	if (type && (*code = lode_ctf_read_struct(&packets->fields, &packets->place, type, 0, values)) < 0)
		return "its context is cut off";
	packets->cpu = lode_ctf_has_number(values, LODE_CTF_ROLE_CPU) &&
				       values->number[LODE_CTF_ROLE_CPU] < LODE_NO_CPU
			       ? (uint16_t)values->number[LODE_CTF_ROLE_CPU]
			       : LODE_NO_CPU;
	if (packets->packet == 0 && lode_ctf_has_number(values, LODE_CTF_ROLE_BEGIN))
		packets->begin = values->number[LODE_CTF_ROLE_BEGIN];
	count_discarded(packets, values);
	return bound_packet(packets, values) ? NULL : "its size is not possible";
}

/* Opens the packet at `next_packet`. */
static int open_packet(struct lode_ctf_packets *packets, struct lode_error *error)
{
	const char *trouble;
	int code = LODE_BAD_INPUT;

	packets->packet = packets->next_packet;
	packets->place = (struct lode_ctf_place){
		.bytes = packets->bytes + packets->packet,
		.end = (uint64_t)(packets->size - packets->packet) * 8,
	};
	trouble = read_packet_header(packets, &code);
	if (!trouble)
		trouble = read_packet_context(packets, &code);
	return trouble ? fail_damaged(packets, code, trouble, error) : 0;
}

int lode_ctf_packets_open(struct lode_ctf_packets *packets, const struct lode_ctf_description *description,
			  uint64_t *slots, struct lode_ctf_values *values, struct lode_error *error)
{
	packets->description = description;
	packets->fields.slots = slots;
	packets->values = values;
	packets->begin = packets->discarded = UINT64_MAX;
	return open_packet(packets, error);
}

/* ---- events ---- */

int lode_ctf_packets_next(struct lode_ctf_packets *packets, struct lode_error *error)
{
	struct lode_ctf_values *values = packets->values;
	int code;

	while (packets->place.at >= packets->place.end) {
		if (packets->next_packet >= packets->size)
			return 0;
		code = open_packet(packets, error);
		if (code < 0)
			return code;
	}
	lode_ctf_values_clear(values, EVENT_HEADER);
	code = packets->is_compact && read_compact(packets)
		       ? 0
		       : lode_ctf_read_struct(&packets->fields, &packets->place, packets->stream->event_header, 1,
					      values);
	if (code < 0)
		return fail_damaged(packets, code, "an event is cut off", error);
	packets->event = lode_ctf_find_event(packets->stream, lode_ctf_has_number(values, LODE_CTF_ROLE_ID)
								      ? values->number[LODE_CTF_ROLE_ID]
								      : 0);
	if (!packets->event)
		return fail_damaged(packets, LODE_BAD_INPUT, "an event is not described", error);
	packets->t = lode_ctf_nanoseconds(packets->description, packets->fields.clock);
	return 1;
}

static uint32_t context_number(const struct lode_ctf_values *values, unsigned role, unsigned other)
{
	if (lode_ctf_has_number(values, role))
		return (uint32_t)values->number[role];
	/* What is there under the first name, and no number, hides the other. */
	if (values->seen & lode_ctf_role_bit(role) || !lode_ctf_has_number(values, other))
		return UINT32_MAX;
	return (uint32_t)values->number[other];
}

/* Of a member that both contexts have, that of the stream counts. */
static int read_contexts(struct lode_ctf_packets *packets, struct lode_ctf_event *event)
{
	struct lode_ctf_values *values = packets->values;
	const struct lode_ctf_type *types[] = { packets->stream->event_context, packets->event->context };
	int code = 0;

	lode_ctf_values_clear(values, EVENT_CONTEXT);
	for (int i = 0; code == 0 && i < 2; i++) {
		if (types[i])
			code = lode_ctf_read_struct(&packets->fields, &packets->place, types[i], 0, values);
		values->wanted &= ~values->seen;
	}
	event->context_tid = context_number(values, LODE_CTF_TID, LODE_CTF_ROLE_VTID);
	event->context_pid = context_number(values, LODE_CTF_PID, LODE_CTF_ROLE_VPID);
	event->context_name = lode_ctf_text(values, LODE_CTF_ROLE_PROCNAME);
	event->kernel_stack = values->stack[0];
	event->kernel_depth = values->depth[0];
	event->user_stack = values->stack[1];
	event->user_depth = values->depth[1];
	return code;
}

/* Most fields are in none of two events that follow each other. */
static void keep_fields(const struct lode_ctf_values *values, struct lode_ctf_event *event)
{
	memset(event->has, 0, sizeof(event->has));
	memset(event->number, 0, sizeof(event->number));
	memset(event->text, 0, sizeof(event->text));
	for (uint32_t left = values->numbers & EVENT_FIELDS; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		event->has[i] = 1;
		event->number[i] = values->number[i];
	}
	for (uint32_t left = values->texts & EVENT_FIELDS; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		event->text[i] = values->text[i];
	}
}

int lode_ctf_packets_event(struct lode_ctf_packets *packets, struct lode_ctf_event *event, struct lode_error *error)
{
	struct lode_ctf_values *values = packets->values;
	const struct lode_ctf_type *payload = packets->event->payload;
	int code;

	event->name = packets->event->name;
	event->kind = (uint32_t)(packets->event - packets->description->events.items) + 1;
	event->t = packets->t;
	event->cpu = packets->cpu;
	code = read_contexts(packets, event);
	/* What was kept of the contexts stays valid: its texts and stacks have other roles. */
	lode_ctf_values_clear(values, EVENT_FIELDS);
	if (code == 0 && payload)
		code = lode_ctf_read_struct(&packets->fields, &packets->place, payload, 0, values);
	if (code < 0)
		return fail_damaged(packets, code, "an event is cut off", error);
	keep_fields(values, event);
	return 0;
}
