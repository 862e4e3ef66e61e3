/*
 * Plain lines: see plain_event.h.
 *
 * One pass over the line. `at` walks to `end`; every function returns whether what
 * it expects is there and steps behind it. What is accepted here, events.c would
 * accept with the same meaning; when in doubt, refuse.
 */
#include "import/text/plain_event.h"

#include <string.h>

struct walk {
	const char *at;
	const char *end;
	unsigned seen; /* bit: field of the table below */
	int failed;    /* memory has run out */
};

enum {
	TYPE,
	T,
	COST,
	DELAY,
	PID,
	TID,
	CPU,
	WEIGHT,
	WAKER,
	STACK,
	WAKER_STACK,
	NAME,
	OBJECT,
	HOLDER,
	CONTEXT,
	FIELDS
};

#define BIT(field) (1u << (field))

static const struct {
	const char *name;
	size_t length;
	uint64_t most; /* numbers: the largest allowed */
} fields[FIELDS] = {
	[TYPE] = { "type", 4, 0 },
	[T] = { "t", 1, UINT64_MAX },
	[COST] = { "cost", 4, UINT64_MAX },
	[DELAY] = { "delay", 5, UINT64_MAX },
	[PID] = { "pid", 3, LODE_NO_PID - 1 },
	[TID] = { "tid", 3, UINT32_MAX - 1 },
	[CPU] = { "cpu", 3, LODE_NO_CPU - 1 },
	[WEIGHT] = { "weight", 6, UINT32_MAX },
	[WAKER] = { "waker", 5, UINT32_MAX - 1 },
	[STACK] = { "stack", 5, 0 },
	[WAKER_STACK] = { "waker_stack", 11, 0 },
	[NAME] = { "name", 4, 0 },
	[OBJECT] = { "object", 6, 0 },
	[HOLDER] = { "holder", 6, UINT32_MAX - 1 },
	[CONTEXT] = { "context", 7, 0 },
};

static void skip_blanks(struct walk *walk)
{
	while (walk->at != walk->end && (*walk->at == ' ' || *walk->at == '\t'))
		walk->at++;
}

/* A mark with blanks on both sides. */
static int parse_mark(struct walk *walk, char mark)
{
	skip_blanks(walk);
	if (walk->at == walk->end || *walk->at != mark)
		return 0;
	walk->at++;
	skip_blanks(walk);
	return 1;
}

/* Whether one of eight bytes is a quote, a backslash or a control character. */
static int has_special(const char *bytes)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
	uint64_t word, quote, backslash;

	memcpy(&word, bytes, sizeof(word));
	quote = word ^ ones * '"';
	backslash = word ^ ones * '\\';
	return (((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash)) &
			       high
		       ? 1
		       : 0;
}

static int parse_text(struct walk *walk, struct lode_span *text)
{
	const char *at;

	if (walk->at == walk->end || *walk->at != '"')
		return 0;
	at = ++walk->at;
	while (walk->end - at >= 8 && !has_special(at))
		at += 8;
	while (at != walk->end && *at != '"') {
		if (*at == '\\' || (unsigned char)*at < 0x20)
			return 0;
		at++;
	}
	if (at == walk->end)
		return 0;
	*text = (struct lode_span){ walk->at, (size_t)(at - walk->at) };
	walk->at = at + 1;
	return 1;
}

static int parse_number(struct walk *walk, uint64_t most, uint64_t *number)
{
	const char *first = walk->at;

	*number = 0;
	for (; walk->at != walk->end && *walk->at >= '0' && *walk->at <= '9'; walk->at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*walk->at - '0'), number))
			return 0;
	if (walk->at == first || (*first == '0' && walk->at - first > 1))
		return 0;
	return *number <= most;
}

static int parse_frames(struct walk *walk, struct lode_plain_event *event)
{
	struct lode_span frame;

	do {
		if (!parse_text(walk, &frame))
			return 0;
		if (LODE_PUSH(&event->frames, frame) < 0) {
			walk->failed = 1;
			return 0;
		}
	} while (parse_mark(walk, ','));
	return 1;
}

static int parse_stack(struct walk *walk, struct lode_plain_event *event, struct lode_plain_stack *stack)
{
	if (!parse_mark(walk, '['))
		return 0;
	stack->written.text = walk->at;
	stack->first = event->frames.count;
	if (walk->at != walk->end && *walk->at == '"' && !parse_frames(walk, event))
		return 0;
	stack->written.length = (size_t)(walk->at - stack->written.text);
	stack->count = event->frames.count - stack->first;
	return parse_mark(walk, ']') && stack->count <= LODE_STACK_DEPTH_LIMIT;
}

static int find_field(struct lode_span key)
{
	for (int i = 0; i < FIELDS; i++)
		if (fields[i].length == key.length && memcmp(fields[i].name, key.text, key.length) == 0)
			return i;
	return FIELDS;
}

static int parse_type(struct walk *walk, struct lode_plain_event *event)
{
	struct lode_span text;

	if (!parse_text(walk, &text))
		return 0;
	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		const char *name = lode_event_type_name((enum lode_event_type)type);

		if (strlen(name) == text.length && memcmp(name, text.text, text.length) == 0) {
			event->type = (enum lode_event_type)type;
			return 1;
		}
	}
	return 0;
}

static void put_number(struct lode_plain_event *event, int field, uint64_t number)
{
	switch (field) {
	case T:
		event->t = number;
		break;
	case COST:
		event->cost = number;
		break;
	case DELAY:
		event->delay = number;
		break;
	case PID:
		event->pid = (uint32_t)number;
		break;
	case TID:
		event->tid = (uint32_t)number;
		break;
	case CPU:
		event->cpu = (uint16_t)number;
		break;
	case WEIGHT:
		event->weight = (uint32_t)number;
		break;
	case HOLDER:
		event->holder = (uint32_t)number;
		break;
	default:
		event->waker = (uint32_t)number;
	}
}

static int parse_value(struct walk *walk, struct lode_plain_event *event, int field)
{
	uint64_t number;

	switch (field) {
	case TYPE:
		return parse_type(walk, event);
	case NAME:
		return parse_text(walk, &event->name);
	case OBJECT:
		return parse_text(walk, &event->object);
	case CONTEXT:
		return parse_text(walk, &event->context);
	case STACK:
		return parse_stack(walk, event, &event->stack);
	case WAKER_STACK:
		return parse_stack(walk, event, &event->waker_stack);
	default:
		if (!parse_number(walk, fields[field].most, &number))
			return 0;
		put_number(event, field, number);
		return 1;
	}
}

static int parse_member(struct walk *walk, struct lode_plain_event *event)
{
	struct lode_span key;
	int field;

	if (!parse_text(walk, &key) || !parse_mark(walk, ':'))
		return 0;
	field = find_field(key);
	if (field == FIELDS || walk->seen & BIT(field))
		return 0;
	walk->seen |= BIT(field);
	return parse_value(walk, event, field);
}

/* Whether the line has what its type must have, and nothing that it must not have. */
static int is_whole(const struct lode_plain_event *event, unsigned seen)
{
	const unsigned must = BIT(TYPE) | BIT(T) | BIT(TID);

	if ((seen & must) != must || !event->weight)
		return 0;
	return event->type == LODE_CALL ? !(seen & BIT(COST)) : !!(seen & BIT(COST));
}

static void begin(struct lode_plain_event *event)
{
	*event = (struct lode_plain_event){
		.pid = LODE_NO_PID,
		.waker = LODE_NONE,
		.holder = LODE_NONE,
		.weight = 1,
		.cpu = LODE_NO_CPU,
		.frames = { .items = event->frames.items, .capacity = event->frames.capacity },
	};
}

int lode_plain_event_read(struct lode_plain_event *event, const char *line, size_t length)
{
	struct walk walk = { .at = line, .end = line + length };
	int fits;

	begin(event);
	fits = parse_mark(&walk, '{');
	while (fits) {
		fits = parse_member(&walk, event);
		if (!fits || !parse_mark(&walk, ','))
			break;
	}
	if (walk.failed)
		return LODE_SYSTEM;
	return fits && parse_mark(&walk, '}') && walk.at == walk.end && is_whole(event, walk.seen);
}

void lode_plain_event_release(struct lode_plain_event *event)
{
	lode_free(event->frames.items);
	memset(event, 0, sizeof(*event));
}
