/*
 * Types in TSDL: see tsdl_types.h.
 *
 * A parser of one token ahead, from the top down. What it does not know it says, and leaves to libbabeltrace2: escapes in
 * texts, references to other scopes than the structures around a field, types with their own name inside others,
 * fields of two byte orders within a byte.
 */
#include "import/kernel/ctf/tsdl_types.h"

#include "base/memory.h"
#include "import/kernel/ctf/ctf_field_names.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_LIMIT  32
#define NAME_LIMIT   4 /* words of the name of a type */
#define FIELDS_LIMIT (1u << 20)

/* All are looked through one by one. */
#define ALIAS_LIMIT  256
#define MEMBER_LIMIT 1024
#define TAG_LIMIT    4096

/* The members of a structure that is being read; what is in it may refer to them. */
struct scope {
	const struct scope *outer;
	struct lode_ctf_member *members;
	size_t count;
	size_t capacity;
};

static const struct lode_ctf_type *parse_type(struct lode_tsdl_parser *parser, const struct scope *scope);

void *lode_tsdl_not_understood(struct lode_tsdl_parser *parser, const char *what)
{
	const struct lode_tsdl_token *token = &parser->tokens.token;

	if (!parser->code) {
		lode_fail(parser->why, LODE_BAD_INPUT, "line %u, at '%.*s': %s", parser->tokens.line,
			  (int)(token->length < 40 ? token->length : 40), token->text, what);
		parser->code = 1;
	}
	return NULL;
}

static void *fail_memory(struct lode_tsdl_parser *parser)
{
	if (!parser->code)
		parser->code = lode_fail_memory(parser->why);
	return NULL;
}

int lode_tsdl_expect(struct lode_tsdl_parser *parser, const char *word)
{
	char what[40];

	if (parser->code || lode_tsdl_skip(&parser->tokens, word))
		return !parser->code;
	snprintf(what, sizeof(what), "'%s' is missing", word);
	lode_tsdl_not_understood(parser, what);
	return 0;
}

char *lode_tsdl_word(struct lode_tsdl_parser *parser, int quoted)
{
	const struct lode_tsdl_token *token = &parser->tokens.token;
	char *word;

	if (parser->code)
		return NULL;
	if (token->kind != LODE_TSDL_NAME && !(quoted && token->kind == LODE_TSDL_TEXT))
		return lode_tsdl_not_understood(parser, "a name is missing");
	word = lode_arena_text(&parser->arena, token->text, token->length);
	lode_tsdl_advance(&parser->tokens);
	return word ? word : fail_memory(parser);
}

uint64_t lode_tsdl_number(struct lode_tsdl_parser *parser)
{
	int negative = lode_tsdl_skip(&parser->tokens, "-");
	uint64_t number = parser->tokens.token.number;

	if (parser->tokens.token.kind != LODE_TSDL_NUMBER) {
		lode_tsdl_not_understood(parser, "a number is missing");
		return 0;
	}
	lode_tsdl_advance(&parser->tokens);
	return negative ? -number : number;
}

static struct lode_ctf_type *make_type(struct lode_tsdl_parser *parser, enum lode_ctf_kind kind)
{
	struct lode_ctf_type *type = parser->code ? NULL : lode_arena_alloc(&parser->arena, sizeof(*type));

	if (!type)
		return fail_memory(parser);
	*type = (struct lode_ctf_type){ .kind = kind, .align = 1, .slot = LODE_NONE, .fields = 1 };
	return type;
}

/* ---- names of types ---- */

/* The words of a type's name, joined by spaces. */
struct name {
	char text[200];
	size_t length;
	int words;
};

/* Takes the next word of a name; 0: there is none. */
static int scan_word(struct lode_tsdl_tokens *tokens, struct name *name)
{
	const struct lode_tsdl_token *token = &tokens->token;

	if (token->kind != LODE_TSDL_NAME || name->words == NAME_LIMIT ||
	    name->length + token->length + 2 > sizeof(name->text))
		return 0;
	if (name->words++)
		name->text[name->length++] = ' ';
	memcpy(name->text + name->length, token->text, token->length);
	name->length += token->length;
	name->text[name->length] = '\0';
	lode_tsdl_advance(tokens);
	return 1;
}

static const struct lode_ctf_type *find_alias(const struct lode_tsdl_parser *parser, const char *name)
{
	for (size_t i = parser->aliases.count; i-- > 0;)
		if (!strcmp(parser->aliases.items[i].name, name))
			return parser->aliases.items[i].type;
	return NULL;
}

/* The `struct` or `enum` of this name, which was described before. */
static const struct lode_ctf_type *find_tagged(struct lode_tsdl_parser *parser, const char *tag, const char *name,
					       const char *unknown)
{
	const struct lode_ctf_type *found;
	char known[200];

	snprintf(known, sizeof(known), "%s%s", tag, name);
	found = find_alias(parser, known);
	return found ? found : lode_tsdl_not_understood(parser, unknown);
}

/* A copy of some items in the arena. */
static void *keep(struct lode_tsdl_parser *parser, const void *items, size_t size)
{
	void *copy = lode_arena_alloc(&parser->arena, size);

	return copy ? memcpy(copy, items, size) : fail_memory(parser);
}

static void add_alias(struct lode_tsdl_parser *parser, const char *prefix, const char *name,
		      const struct lode_ctf_type *type)
{
	size_t size = strlen(prefix) + strlen(name) + 1;
	char *text;

	if (parser->code)
		return;
	text = lode_arena_bytes(&parser->arena, size);
	if (!text || LODE_RESERVE(&parser->aliases, 1) < 0) {
		fail_memory(parser);
		return;
	}
	snprintf(text, size, "%s%s", prefix, name);
	if (find_alias(parser, text))
		lode_tsdl_not_understood(parser, "the type is described twice");
	if (parser->aliases.count == ALIAS_LIMIT)
		lode_tsdl_not_understood(parser, "there are too many named types");
	parser->aliases.items[parser->aliases.count++] = (struct lode_tsdl_alias){ text, type };
}

/* A type of several words, such as `unsigned long`, is followed by the name of a member: the longest that is known. */
static const struct lode_ctf_type *parse_named(struct lode_tsdl_parser *parser)
{
	struct lode_tsdl_tokens after = parser->tokens, best = after;
	const struct lode_ctf_type *type = NULL, *found;
	struct name name = { .length = 0 };

	while (scan_word(&after, &name)) {
		found = find_alias(parser, name.text);
		if (found) {
			type = found;
			best = after;
		}
	}
	if (!type)
		return lode_tsdl_not_understood(parser, "the type is not known");
	parser->tokens = best;
	return type;
}

/* ---- numbers ---- */

static int parse_boolean(struct lode_tsdl_parser *parser)
{
	if (lode_tsdl_skip(&parser->tokens, "true") || lode_tsdl_skip(&parser->tokens, "TRUE"))
		return 1;
	if (lode_tsdl_skip(&parser->tokens, "false") || lode_tsdl_skip(&parser->tokens, "FALSE"))
		return 0;
	return lode_tsdl_number(parser) != 0;
}

static int parse_order(struct lode_tsdl_parser *parser)
{
	static const struct {
		const char *name;
		int big;
	} orders[] = { { "le", 0 }, { "be", 1 }, { "network", 1 } };

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (lode_tsdl_skip(&parser->tokens, orders[i].name))
			return orders[i].big;
	if (!lode_tsdl_skip(&parser->tokens, "native"))
		lode_tsdl_not_understood(parser, "the byte order is not known");
	return parser->big;
}

/* `UTF8` or `none`, also between quotes. */
static int parse_encoding(struct lode_tsdl_parser *parser)
{
	const char *word = lode_tsdl_word(parser, 1);

	if (!word || !strcmp(word, "none"))
		return 0;
	if (strcmp(word, "UTF8") != 0 && strcmp(word, "utf8") != 0 && strcmp(word, "UTF-8") != 0 &&
	    strcmp(word, "utf-8") != 0 && strcmp(word, "ASCII") != 0 && strcmp(word, "ascii") != 0)
		lode_tsdl_not_understood(parser, "the encoding is not known");
	return 1;
}

/* `clock.NAME.value` */
static void parse_map(struct lode_tsdl_parser *parser, struct lode_ctf_type *type)
{
	const char *name;

	lode_tsdl_expect(parser, "clock");
	lode_tsdl_expect(parser, ".");
	name = lode_tsdl_word(parser, 0);
	lode_tsdl_expect(parser, ".");
	lode_tsdl_expect(parser, "value");
	if (name && (!parser->clock || strcmp(name, parser->clock) != 0))
		lode_tsdl_not_understood(parser, "the clock is not known");
	type->clock = type->has_clock = 1;
}

/* What is shown in which base does not matter here. */
static void skip_base(struct lode_tsdl_parser *parser)
{
	if (parser->tokens.token.kind == LODE_TSDL_NUMBER)
		lode_tsdl_number(parser);
	else
		lode_tsdl_word(parser, 0);
}

static void parse_number_setting(struct lode_tsdl_parser *parser, struct lode_ctf_type *type, const char *name)
{
	uint64_t number;

	if (!strcmp(name, "signed")) {
		type->is_signed = parse_boolean(parser) != 0;
	} else if (!strcmp(name, "byte_order")) {
		type->big = parse_order(parser) != 0;
	} else if (!strcmp(name, "encoding") && type->kind == LODE_CTF_INTEGER) {
		type->text = parse_encoding(parser) != 0;
	} else if (!strcmp(name, "base")) {
		skip_base(parser);
	} else if (!strcmp(name, "map") && type->kind == LODE_CTF_INTEGER) {
		parse_map(parser, type);
	} else {
		number = lode_tsdl_number(parser);
		if (number > 4096)
			lode_tsdl_not_understood(parser, "the number is too large");
		else if (!strcmp(name, "size") && type->kind == LODE_CTF_INTEGER)
			type->size = (uint32_t)number;
		else if (!strcmp(name, "align"))
			type->align = (uint32_t)number;
		else if (type->kind == LODE_CTF_FLOAT && (!strcmp(name, "exp_dig") || !strcmp(name, "mant_dig")))
			type->size += (uint32_t)number;
		else
			lode_tsdl_not_understood(parser, "the property is not known");
	}
}

static void check_number(struct lode_tsdl_parser *parser, struct lode_ctf_type *type)
{
	int whole = type->size % 8 == 0;

	if (!type->align)
		type->align = whole ? 8 : 1;
	if (!type->size || type->size > 64 || (type->align & (type->align - 1)))
		lode_tsdl_not_understood(parser, "the size or alignment is not possible");
	if (type->big != parser->big && (!whole || type->align < 8))
		lode_tsdl_not_understood(parser, "bits of two byte orders may meet in a byte");
	if (type->kind == LODE_CTF_FLOAT && type->size != 32 && type->size != 64)
		lode_tsdl_not_understood(parser, "the size is not possible");
	type->min_bits = type->size;
	type->plain = type->kind == LODE_CTF_INTEGER && type->align == 8 && !type->clock &&
		      (type->size == 8 || type->size == 16 || type->size == 32 || type->size == 64);
}

/* `{ NAME = VALUE; … }` behind the words `integer` and `floating_point` */
static const struct lode_ctf_type *parse_number_type(struct lode_tsdl_parser *parser, enum lode_ctf_kind kind)
{
	struct lode_ctf_type *type = make_type(parser, kind);
	const char *name;

	if (!type)
		return NULL;
	type->align = 0;
	type->big = parser->big != 0;
	lode_tsdl_expect(parser, "{");
	while (!parser->code && !lode_tsdl_skip(&parser->tokens, "}")) {
		name = lode_tsdl_word(parser, 0);
		if (lode_tsdl_expect(parser, "="))
			parse_number_setting(parser, type, name);
		lode_tsdl_expect(parser, ";");
	}
	check_number(parser, type);
	return type;
}

static const struct lode_ctf_type *parse_string(struct lode_tsdl_parser *parser)
{
	struct lode_ctf_type *type = make_type(parser, LODE_CTF_STRING);

	if (!type)
		return NULL;
	type->align = 8;
	type->min_bits = 8;
	if (!lode_tsdl_skip(&parser->tokens, "{"))
		return type;
	lode_tsdl_expect(parser, "encoding");
	lode_tsdl_expect(parser, "=");
	parse_encoding(parser);
	lode_tsdl_expect(parser, ";");
	lode_tsdl_expect(parser, "}");
	return type;
}

/* ---- enumerations ---- */

static int out_of_range(const struct lode_ctf_type *type, const struct lode_ctf_label *label)
{
	return type->is_signed ? (int64_t)label->first > (int64_t)label->last : label->first > label->last;
}

/* `NAME`, `NAME = FIRST` or `NAME = FIRST ... LAST` */
static void parse_label(struct lode_tsdl_parser *parser, const struct lode_ctf_type *type,
			struct lode_ctf_label *label, uint64_t next)
{
	label->name = lode_tsdl_word(parser, 1);
	label->first = label->last = next;
	if (!parser->code && lode_tsdl_skip(&parser->tokens, "=")) {
		label->first = label->last = lode_tsdl_number(parser);
		if (lode_tsdl_skip(&parser->tokens, "..."))
			label->last = lode_tsdl_number(parser);
	}
	if (!parser->code && out_of_range(type, label))
		lode_tsdl_not_understood(parser, "the range ends before it starts");
}

static void parse_labels(struct lode_tsdl_parser *parser, struct lode_ctf_type *type)
{
	struct lode_ctf_label *labels = NULL;
	size_t count = 0, capacity = 0;

	lode_tsdl_expect(parser, "{");
	while (!parser->code && !lode_tsdl_at(&parser->tokens, "}")) {
		if (lode_grow(&labels, &capacity, count + 1, sizeof(*labels)) < 0) {
			fail_memory(parser);
			break;
		}
		parse_label(parser, type, &labels[count], count ? labels[count - 1].last + 1 : 0);
		count++;
		if (!lode_tsdl_skip(&parser->tokens, ","))
			break;
	}
	lode_tsdl_expect(parser, "}");
	if (!parser->code && count) {
		type->labels = keep(parser, labels, count * sizeof(*labels));
		type->label_count = (uint32_t)count;
	}
	lode_free(labels);
}

/* `enum [NAME] : INTEGER { … }`, or the name alone. */
static const struct lode_ctf_type *parse_enumeration(struct lode_tsdl_parser *parser, const struct scope *scope)
{
	const char *name = parser->tokens.token.kind == LODE_TSDL_NAME ? lode_tsdl_word(parser, 0) : NULL;
	const struct lode_ctf_type *base;
	struct lode_ctf_type *type;

	if (name && !lode_tsdl_at(&parser->tokens, ":"))
		return find_tagged(parser, "enum ", name, "the enumeration is not known");
	if (!lode_tsdl_expect(parser, ":"))
		return NULL;
	base = parse_type(parser, scope);
	type = make_type(parser, LODE_CTF_INTEGER);
	if (!type)
		return NULL;
	if (!base || base->kind != LODE_CTF_INTEGER)
		return lode_tsdl_not_understood(parser, "an enumeration is not of integers");
	*type = *base;
	type->text = 0;
	parse_labels(parser, type);
	if (name)
		add_alias(parser, "enum ", name, type);
	return type;
}

/* ---- structures and variants ---- */

static enum lode_ctf_role role_of(const char *name)
{
	static const char *const names[LODE_CTF_ROLES] = {
		[LODE_CTF_ROLE_VTID] = "vtid",
		[LODE_CTF_ROLE_VPID] = "vpid",
		[LODE_CTF_ROLE_PROCNAME] = "procname",
		[LODE_CTF_ROLE_KERNEL_STACK] = "callstack_kernel",
		[LODE_CTF_ROLE_USER_STACK] = "callstack_user",
		[LODE_CTF_ROLE_CPU] = "cpu_id",
		[LODE_CTF_ROLE_MAGIC] = "magic",
		[LODE_CTF_ROLE_STREAM] = "stream_id",
		[LODE_CTF_ROLE_INSTANCE] = "stream_instance_id",
		[LODE_CTF_ROLE_BEGIN] = "timestamp_begin",
		[LODE_CTF_ROLE_END] = "timestamp_end",
		[LODE_CTF_ROLE_CONTENT] = "content_size",
		[LODE_CTF_ROLE_PACKET] = "packet_size",
		[LODE_CTF_ROLE_DISCARDED] = "events_discarded",
		[LODE_CTF_ROLE_ID] = "id",
	};
	int role = 0;

	name += *name == '_'; /* in front of each name that LTTng writes */
	while (role < LODE_CTF_FIELDS && strcmp(lode_ctf_field_names[role], name) != 0)
		role++;
	while (role >= LODE_CTF_FIELDS && role < LODE_CTF_ROLES && strcmp(names[role], name) != 0)
		role++;
	return (enum lode_ctf_role)role;
}

/* The member with this name in the structures around, those next to it first. */
static struct lode_ctf_member *find_member(const struct scope *scope, const char *name)
{
	for (; scope; scope = scope->outer)
		for (size_t i = scope->count; i-- > 0;)
			if (!strcmp(scope->members[i].name, name))
				return &scope->members[i];
	return NULL;
}

/* The integer that a name refers to. */
static struct lode_ctf_member *parse_reference(struct lode_tsdl_parser *parser, const struct scope *scope)
{
	const char *name = lode_tsdl_word(parser, 0);
	struct lode_ctf_member *member = name ? find_member(scope, name) : NULL;

	if (parser->code)
		return NULL;
	if (!member || lode_tsdl_at(&parser->tokens, ".") || member->type->kind != LODE_CTF_INTEGER)
		return lode_tsdl_not_understood(parser, "it refers to no integer of the structures around it");
	if (member->slot == LODE_NONE)
		member->slot = parser->slots++;
	return member;
}

/* `[N]` or `[NAME]` behind a member's name. */
static const struct lode_ctf_type *parse_length(struct lode_tsdl_parser *parser, const struct scope *scope,
						const struct lode_ctf_type *element)
{
	struct lode_ctf_type *type = make_type(parser, LODE_CTF_ARRAY);
	const struct lode_ctf_member *length;

	if (!type || !element)
		return NULL;
	type->element = element;
	type->align = element->align;
	type->has_clock = element->has_clock;
	type->fields = element->fields + 1;
	if (parser->tokens.token.kind == LODE_TSDL_NUMBER) {
		type->length = lode_tsdl_number(parser);
		type->min_bits = type->length ? element->min_bits : 0;
	} else {
		length = parse_reference(parser, scope);
		if (length && length->type->is_signed)
			return lode_tsdl_not_understood(parser, "a length may be negative");
		type->slot = length ? length->slot : LODE_NONE;
	}
	lode_tsdl_expect(parser, "]");
	return type;
}

static void add_member(struct lode_tsdl_parser *parser, struct scope *scope, const char *name,
		       const struct lode_ctf_type *type)
{
	if (parser->code)
		return;
	for (size_t i = 0; i < scope->count; i++)
		if (!strcmp(scope->members[i].name, name)) {
			lode_tsdl_not_understood(parser, "the name is there already");
			return;
		}
	if (scope->count == MEMBER_LIMIT) {
		lode_tsdl_not_understood(parser, "there are too many members");
		return;
	}
	if (LODE_APPEND(scope->members, scope->count, scope->capacity,
			(struct lode_ctf_member){ .name = name,
						  .type = type,
						  .slot = LODE_NONE,
						  .role = role_of(name) }) < 0)
		fail_memory(parser);
}

/* `{ TYPE NAME [LENGTH]…; … }`. `inside`: what the members may refer to. */
static void parse_members(struct lode_tsdl_parser *parser, struct scope *members, const struct scope *inside)
{
	const struct lode_ctf_type *type;
	const char *name;

	lode_tsdl_expect(parser, "{");
	while (!parser->code && !lode_tsdl_skip(&parser->tokens, "}")) {
		type = parse_type(parser, inside);
		name = lode_tsdl_word(parser, 0);
		while (!parser->code && lode_tsdl_skip(&parser->tokens, "["))
			type = parse_length(parser, inside, type);
		lode_tsdl_expect(parser, ";");
		add_member(parser, members, name, type);
	}
}

/* Moves the members into the arena and sums them up. */
static void finish_members(struct lode_tsdl_parser *parser, struct lode_ctf_type *type, struct scope *members)
{
	if (!parser->code && members->count)
		type->members = keep(parser, members->members, members->count * sizeof(*members->members));
	for (size_t i = 0; !parser->code && i < members->count; i++) {
		const struct lode_ctf_type *member = members->members[i].type;
		int variant = type->kind == LODE_CTF_VARIANT;

		type->member_count++;
		type->fields += member->fields;
		type->has_clock |= member->has_clock;
		if (!variant)
			type->min_bits += member->min_bits;
		else if (!i || member->min_bits < type->min_bits)
			type->min_bits = member->min_bits;
		if (!variant && member->align > type->align)
			type->align = member->align;
		if (type->fields > FIELDS_LIMIT || type->min_bits > FIELDS_LIMIT)
			lode_tsdl_not_understood(parser, "the type is too large");
	}
	lode_free(members->members);
}

/* `align(BITS)` behind a structure */
static void parse_align(struct lode_tsdl_parser *parser, struct lode_ctf_type *type)
{
	uint64_t align;

	if (!lode_tsdl_skip(&parser->tokens, "align"))
		return;
	lode_tsdl_expect(parser, "(");
	align = lode_tsdl_number(parser);
	lode_tsdl_expect(parser, ")");
	if (!align || align > 4096 || (align & (align - 1)))
		lode_tsdl_not_understood(parser, "the alignment is not possible");
	else if (align > type->align)
		type->align = (uint32_t)align;
}

/* `struct [NAME] { … } [align(N)]`, or the name alone. */
static const struct lode_ctf_type *parse_struct(struct lode_tsdl_parser *parser, const struct scope *outer)
{
	const char *name = parser->tokens.token.kind == LODE_TSDL_NAME ? lode_tsdl_word(parser, 0) : NULL;
	struct scope scope = { .outer = outer };
	struct lode_ctf_type *type;

	if (name && !lode_tsdl_at(&parser->tokens, "{"))
		return find_tagged(parser, "struct ", name, "the structure is not known");
	type = make_type(parser, LODE_CTF_STRUCT);
	if (!type)
		return NULL;
	parse_members(parser, &scope, &scope);
	finish_members(parser, type, &scope);
	parse_align(parser, type);
	if (name)
		add_alias(parser, "struct ", name, type);
	return type;
}

/* Which member is for which value of the tag. */
static void choose_members(struct lode_tsdl_parser *parser, struct lode_ctf_type *type,
			   const struct lode_ctf_type *tag)
{
	type->is_signed = tag->is_signed;
	type->choices = lode_arena_alloc(&parser->arena, tag->label_count * sizeof(*type->choices));
	if (!type->choices) {
		fail_memory(parser);
		return;
	}
	for (uint32_t i = 0; i < tag->label_count; i++)
		for (uint32_t k = 0; k < type->member_count; k++)
			if (!strcmp(tag->labels[i].name, type->members[k].name))
				type->choices[type->choice_count++] =
					(struct lode_ctf_choice){ tag->labels[i].first, tag->labels[i].last, k };
	if (type->choice_count < type->member_count)
		lode_tsdl_not_understood(parser, "a member of the variant is never chosen");
}

/* `variant <TAG> { … }` */
static const struct lode_ctf_type *parse_variant(struct lode_tsdl_parser *parser, const struct scope *outer)
{
	struct scope members = { 0 };
	const struct lode_ctf_member *tag;
	const struct lode_ctf_type *tag_type;
	struct lode_ctf_type *type = make_type(parser, LODE_CTF_VARIANT);

	lode_tsdl_expect(parser, "<");
	tag = parse_reference(parser, outer);
	lode_tsdl_expect(parser, ">");
	if (!type || !tag)
		return NULL;
	tag_type = tag->type;
	type->slot = tag->slot;
	if (!tag_type->label_count || tag_type->label_count > TAG_LIMIT)
		return lode_tsdl_not_understood(parser, "the tag is no enumeration, or a large one");
	parse_members(parser, &members, outer);
	finish_members(parser, type, &members);
	if (!parser->code)
		choose_members(parser, type, tag_type);
	return type;
}

/* ---- all ---- */

static const struct lode_ctf_type *parse_kind(struct lode_tsdl_parser *parser, const struct scope *scope)
{
	if (lode_tsdl_skip(&parser->tokens, "integer"))
		return parse_number_type(parser, LODE_CTF_INTEGER);
	if (lode_tsdl_skip(&parser->tokens, "floating_point"))
		return parse_number_type(parser, LODE_CTF_FLOAT);
	if (lode_tsdl_skip(&parser->tokens, "string"))
		return parse_string(parser);
	if (lode_tsdl_skip(&parser->tokens, "enum"))
		return parse_enumeration(parser, scope);
	if (lode_tsdl_skip(&parser->tokens, "struct"))
		return parse_struct(parser, scope);
	if (lode_tsdl_skip(&parser->tokens, "variant"))
		return parse_variant(parser, scope);
	return parse_named(parser);
}

static const struct lode_ctf_type *parse_type(struct lode_tsdl_parser *parser, const struct scope *scope)
{
	const struct lode_ctf_type *type;

	if (parser->code)
		return NULL;
	if (++parser->depth > DEPTH_LIMIT)
		return lode_tsdl_not_understood(parser, "types are nested too deep");
	type = parse_kind(parser, scope);
	parser->depth--;
	return parser->code ? NULL : type;
}

const struct lode_ctf_type *lode_tsdl_type(struct lode_tsdl_parser *parser)
{
	return parse_type(parser, NULL);
}

void lode_tsdl_alias(struct lode_tsdl_parser *parser)
{
	int named = lode_tsdl_skip(&parser->tokens, "typealias");
	const struct lode_ctf_type *type = lode_tsdl_type(parser);
	struct name name = { .length = 0 };

	if (!named)
		return;
	lode_tsdl_expect(parser, ":=");
	while (!parser->code && scan_word(&parser->tokens, &name))
		;
	if (!name.words)
		lode_tsdl_not_understood(parser, "the name of the type is missing");
	add_alias(parser, "", name.text, type);
}
