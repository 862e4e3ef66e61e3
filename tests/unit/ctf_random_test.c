/*
 * The own decoder of CTF against libbabeltrace2, on random traces: types of all kinds and alignments, both byte orders,
 * three kinds of event headers, several streams, files and packets. Each event, as the importer sees it, must be equal.
 */
#include "import_fixture.h"

#include "base/random.h"
#include "import/kernel/ctf/ctf_module.h"
#include "import/kernel/ctf/ctf_native.h"
#include "temporary.h"

#include <dirent.h>

#define TRACES 200

enum node_kind { NUMBER, ENUMERATION, FLOATING, STRING, STRUCTURE, VARIANT, LIST, KINDS };

/* A type, and the value of it that was written last. */
struct node {
	enum node_kind kind;
	unsigned size, align, is_signed, big, characters;
	char name[24];
	struct node *children[8];
	unsigned count;
	unsigned length;        /* of a list that refers to no other */
	struct node *reference; /* the length of a list, the tag of a variant */
	unsigned small;         /* a list refers to it */
	uint64_t value;
};

struct trace {
	struct lode_random random;
	struct node nodes[4000];
	size_t used;
	struct lode_buffer text; /* the metadata */
	struct lode_buffer data;
	uint64_t at; /* the bit in `data`, from the start of the packet */
	size_t packet;
	int big;
	unsigned names;
	unsigned tick; /* of the clock, in nanoseconds */
};

static size_t below(struct trace *trace, size_t limit)
{
	return lode_random_below(&trace->random, limit);
}

/* ---- types ---- */

static struct node *make_node(struct trace *trace, enum node_kind kind)
{
	struct node *node = &trace->nodes[trace->used++];

	assert_true(trace->used < sizeof(trace->nodes) / sizeof(*trace->nodes));
	*node = (struct node){ .kind = kind, .align = 1 };
	return node;
}

static void choose_number(struct trace *trace, struct node *node)
{
	static const unsigned sizes[] = { 8, 16, 32, 64, 32, 64, 8, 24 };

	node->size = below(trace, 2) ? sizes[below(trace, 8)] : 1 + (unsigned)below(trace, 64);
	node->align = 1u << below(trace, 7);
	node->is_signed = below(trace, 3) == 0;
	node->big = (unsigned)trace->big;
	if (node->size % 8 == 0 && node->align >= 8 && below(trace, 4) == 0)
		node->big = !node->big;
	node->characters = below(trace, 3) == 0;
}

static void print_number(struct trace *trace, const struct node *node, const char *map)
{
	lode_buffer_print(&trace->text, "integer { size = %u; align = %u; signed = %s; ", node->size, node->align,
			  node->is_signed ? "true" : "false");
	if ((int)node->big != trace->big)
		lode_buffer_print(&trace->text, "byte_order = %s; ", node->big ? "be" : "le");
	if (node->characters)
		lode_buffer_text(&trace->text, "encoding = UTF8; ");
	lode_buffer_print(&trace->text, "%s}", map);
}

static struct node *print_type(struct trace *trace, enum node_kind kind, struct node *const *known, size_t count,
			       unsigned depth);

/* Three labels: -4, 0 to 1 and 5 to 6, or without the first. */
static struct node *print_enumeration(struct trace *trace)
{
	struct node *node = make_node(trace, ENUMERATION);

	do
		choose_number(trace, node);
	while (node->size < 5);
	node->characters = 0;
	lode_buffer_text(&trace->text, "enum : ");
	print_number(trace, node, "");
	lode_buffer_print(&trace->text, " { %s, b = 0 ... 1, \"c\" = 5 ... 6 }",
			  node->is_signed ? "a = -4" : "a = 9");
	return node;
}

static struct node *print_list(struct trace *trace, struct node *const *known, size_t count, unsigned depth)
{
	struct node *node = make_node(trace, LIST), *element;
	enum node_kind kind = below(trace, 4) ? NUMBER : (enum node_kind)below(trace, LIST);

	element = print_type(trace, kind == VARIANT ? STRING : kind, known, count, depth + 1);
	node->children[node->count++] = element;
	node->align = element->align;
	node->length = (unsigned)below(trace, 20);
	for (size_t i = 0; i < count && !node->reference; i++)
		if (known[i]->kind == NUMBER && !known[i]->is_signed && known[i]->size >= 4 && below(trace, 3))
			node->reference = known[i];
	if (node->reference)
		node->reference->small = 1;
	return node;
}

static struct node *print_variant(struct trace *trace, struct node *const *known, size_t count, unsigned depth)
{
	struct node *tag = NULL, *node;

	for (size_t i = 0; i < count; i++)
		if (known[i]->kind == ENUMERATION)
			tag = known[i];
	if (!tag)
		return print_type(trace, NUMBER, known, count, depth);
	node = make_node(trace, VARIANT);
	node->reference = tag;
	lode_buffer_print(&trace->text, "variant <%s> { ", tag->name);
	/* references out of a variant are too much for the library */
	for (unsigned i = 0; i < 3; i++) {
		enum node_kind kind = (enum node_kind)below(trace, VARIANT);

		node->children[node->count++] = print_type(trace, kind, NULL, 0, depth + 1);
		lode_buffer_print(&trace->text, " %c; ", "abc"[i]);
	}
	lode_buffer_text(&trace->text, "}");
	return node;
}

/* Names that matter, each once, and others. */
static void choose_name(struct trace *trace, struct node *structure, struct node *node, unsigned depth)
{
	static const char *const names[] = {
		"prev_tid", "prev_state", "next_tid",       "prev_comm",  "next_comm", "tid",
		"pid",      "comm",       "name",           "vtid",       "procname",  "callstack_kernel",
		"vpid",     "cpu_id",     "callstack_user", "timestamp_x"
	};
	const char *name = depth && below(trace, 8) ? NULL : names[below(trace, 16)];

	for (unsigned i = 0; name && i < structure->count; i++) {
		const char *taken = structure->children[i]->name;

		if (!strcmp(taken + (*taken == '_'), name))
			name = NULL;
	}
	if (name)
		snprintf(node->name, sizeof(node->name), "%s%s", below(trace, 2) ? "_" : "", name);
	else
		snprintf(node->name, sizeof(node->name), "field%u", trace->names++);
}

/* Members may refer to those before them, of this structure and of those around it. */
static struct node *print_structure(struct trace *trace, struct node *const *known, size_t count, unsigned depth)
{
	struct node *node = make_node(trace, STRUCTURE), *all[64];
	unsigned members = 1 + (unsigned)below(trace, 6), align = 1u << below(trace, 7);

	if (count)
		memcpy(all + 8, known, (count < 56 ? count : 56) * sizeof(*known));
	lode_buffer_text(&trace->text, "struct { ");
	for (unsigned i = 0; i < members; i++) {
		/* what is next to it first, the last one first of all */
		size_t seen = i;
		struct node *member, *list[64];

		for (unsigned k = 0; k < i; k++)
			list[k] = node->children[i - 1 - k];
		for (size_t k = 0; k < count && seen < 64; k++) {
			int hidden = 0;

			for (unsigned m = 0; m < i; m++)
				hidden |= !strcmp(node->children[m]->name, all[8 + k]->name);
			if (!hidden && k < 56)
				list[seen++] = all[8 + k];
		}
		member = print_type(trace, (enum node_kind)below(trace, KINDS), list, seen, depth + 1);
		choose_name(trace, node, member, depth);
		lode_buffer_print(&trace->text, " %s", member->name);
		if (member->kind == LIST && member->reference)
			lode_buffer_print(&trace->text, "[ %s ]", member->reference->name);
		else if (member->kind == LIST)
			lode_buffer_print(&trace->text, "[%u]", member->length);
		lode_buffer_text(&trace->text, "; ");
		node->children[node->count++] = member;
		node->align = member->align > node->align ? member->align : node->align;
	}
	lode_buffer_text(&trace->text, "}");
	if (below(trace, 4) == 0) {
		lode_buffer_print(&trace->text, " align(%u)", align);
		node->align = align > node->align ? align : node->align;
	}
	return node;
}

static struct node *print_type(struct trace *trace, enum node_kind kind, struct node *const *known, size_t count,
			       unsigned depth)
{
	struct node *node;

	if (depth > 4 && kind >= STRUCTURE)
		kind = (enum node_kind)below(trace, STRUCTURE);
	switch (kind) {
	case ENUMERATION:
		return print_enumeration(trace);
	case STRUCTURE:
		return print_structure(trace, known, count, depth);
	case VARIANT:
		return print_variant(trace, known, count, depth);
	case LIST:
		/* a list within another needs a structure around it */
		return print_list(trace, known, count, depth);
	case STRING:
		node = make_node(trace, STRING);
		node->align = 8;
		lode_buffer_text(&trace->text, below(trace, 2) ? "string" : "string { encoding = UTF8; }");
		return node;
	case FLOATING:
		node = make_node(trace, FLOATING);
		node->size = below(trace, 2) ? 32 : 64;
		node->align = 8u << below(trace, 3);
		node->big = (unsigned)trace->big;
		lode_buffer_print(
			&trace->text,
			"floating_point { exp_dig = %u; mant_dig = %u; align = %u; byte_order = native; }",
			node->size == 32 ? 8 : 11, node->size == 32 ? 24 : 53, node->align);
		return node;
	default:
		node = make_node(trace, NUMBER);
		choose_number(trace, node);
		print_number(trace, node, "");
		return node;
	}
}

/* ---- values ---- */

static void put_bits(struct trace *trace, uint64_t value, unsigned size, int big)
{
	for (unsigned i = 0; i < size; i++, trace->at++) {
		uint64_t bit = value >> (big ? size - 1 - i : i) & 1;
		size_t byte = trace->packet + trace->at / 8;

		while (byte >= trace->data.size)
			lode_buffer_byte(&trace->data, 0);
		trace->data.bytes[byte] |= (char)(bit << (big ? 7 - trace->at % 8 : trace->at % 8));
	}
}

/* A number of whole bytes is swapped where its order is not the trace's; its bits are still counted as the trace's are. */
static void put_number(struct trace *trace, const struct node *node, uint64_t value)
{
	put_bits(trace, value, node->size, (int)node->big);
}

static void align_to(struct trace *trace, unsigned align)
{
	while (trace->at % align)
		put_bits(trace, 0, 1, trace->big);
}

static void put_value(struct trace *trace, struct node *node);

static void put_enumeration(struct trace *trace, struct node *node)
{
	static const uint64_t of_signed[] = { (uint64_t)-4, 0, 1, 5, 6 }, of_unsigned[] = { 9, 0, 1, 5, 6 };

	node->value = (node->is_signed ? of_signed : of_unsigned)[below(trace, 5)];
	put_number(trace, node, node->value);
}

static unsigned choice_of(const struct node *tag)
{
	return tag->value == (uint64_t)-4 || tag->value == 9 ? 0 : tag->value < 2 ? 1 : 2;
}

static void put_value(struct trace *trace, struct node *node)
{
	unsigned length;

	align_to(trace, node->align);
	switch (node->kind) {
	case NUMBER:
		node->value = node->small ? below(trace, 8) : lode_random_next(&trace->random);
		if (!node->small && below(trace, 3) == 0)
			node->value &= 0x7f;
		put_number(trace, node, node->value);
		break;
	case ENUMERATION:
		put_enumeration(trace, node);
		break;
	case FLOATING:
		put_number(trace, node, below(trace, 1000));
		break;
	case STRING:
		/* never empty: the library shows the text before it then */
		for (length = 1 + (unsigned)below(trace, 12); length; length--)
			put_bits(trace, 'a' + below(trace, 26), 8, trace->big);
		put_bits(trace, 0, 8, trace->big);
		break;
	case VARIANT:
		put_value(trace, node->children[choice_of(node->reference)]);
		break;
	case LIST:
		length = node->reference ? (unsigned)node->reference->value : node->length;
		while (length--)
			put_value(trace, node->children[0]);
		break;
	default:
		for (unsigned i = 0; i < node->count; i++)
			put_value(trace, node->children[i]);
	}
}

/* ---- the trace ---- */

struct stream {
	struct node *context; /* of all events, or NULL */
	struct node *event_contexts[4];
	struct node *payloads[4];
};

enum header { COMPACT, LARGE, PLAIN };

static void print_head(struct trace *trace, enum header header, unsigned frequency)
{
	static const char *const headers[] = {
		"struct { enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id; "
		"variant <id> { struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } "
		"compact; "
		"struct { uint32_t id; stamp_t timestamp; } extended; } v; } align(8)",
		"struct { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id; variant <id> { struct { "
		"integer { size = 32; align = 8; map = clock.c.value; } timestamp; } compact; "
		"struct { uint32_t id; stamp_t timestamp; } extended; } v; } align(8)",
		"struct { uint32_t id; stamp_t timestamp; }",
	};

	lode_buffer_print(&trace->text,
			  "/* CTF 1.8 */\ntypealias integer { size = 32; align = 8; } := uint32_t;\n"
			  "typealias integer { size = 16; } := uint16_t;\ntypealias integer { size = 64; align = "
			  "8; } := unsigned "
			  "long;\ntrace { major = 1; minor = 8; byte_order = %s; packet.header := struct { "
			  "uint32_t magic; uint32_t "
			  "stream_id; unsigned long stream_instance_id; }; };\nenv { hostname = \"h\"; "
			  "kernel_release = \"6.1\"; "
			  "number = -3; };\nclock { name = c; freq = %u; offset_s = 7; offset = 3000; };\n"
			  "typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp_t;\n"
			  "struct head %s;\n",
			  trace->big ? "be" : "le", frequency, headers[header] + strlen("struct "));
}

static void print_streams(struct trace *trace, struct stream *streams, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		lode_buffer_print(
			&trace->text,
			"stream { id = %u; packet.context := struct { unsigned long content_size; "
			"stamp_t timestamp_begin; stamp_t timestamp_end; unsigned long packet_size; "
			"uint32_t cpu_id; unsigned long events_discarded; }; event.header := struct head;",
			i);
		streams[i].context = NULL;
		if (below(trace, 2)) {
			lode_buffer_text(&trace->text, " event.context := ");
			streams[i].context = print_structure(trace, NULL, 0, 0);
			lode_buffer_text(&trace->text, ";");
		}
		lode_buffer_text(&trace->text, " };\n");
		for (unsigned k = 0; k < 4; k++) {
			lode_buffer_print(&trace->text, "event { name = \"event%u\"; id = %u; stream_id = %u;", k,
					  k * 29, i);
			streams[i].event_contexts[k] = NULL;
			if (below(trace, 3) == 0) {
				lode_buffer_text(&trace->text, " context := ");
				streams[i].event_contexts[k] = print_structure(trace, NULL, 0, 0);
				lode_buffer_text(&trace->text, ";");
			}
			lode_buffer_text(&trace->text, " fields := ");
			streams[i].payloads[k] = print_structure(trace, NULL, 0, 0);
			lode_buffer_text(&trace->text, "; };\n");
		}
	}
}

static void put_event_head(struct trace *trace, enum header header, unsigned id, uint64_t t, uint64_t before)
{
	unsigned bits = header == COMPACT ? 27 : 32;
	int extended = t - before >= (uint64_t)1 << bits || (header == COMPACT && id > 30) || below(trace, 5) == 0;

	align_to(trace, 8);
	if (header == PLAIN) {
		put_bits(trace, id, 32, trace->big);
		put_bits(trace, t, 64, trace->big);
		return;
	}
	put_bits(trace, extended ? (header == COMPACT ? 31 : 65535) : id, header == COMPACT ? 5 : 16, trace->big);
	if (!extended) {
		put_bits(trace, t, bits, trace->big);
		return;
	}
	align_to(trace, 8);
	put_bits(trace, id, 32, trace->big);
	put_bits(trace, t, 64, trace->big);
}

/* Writes a number over the eight bytes at `at` of the packet. */
static void patch(struct trace *trace, uint64_t at, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		trace->data.bytes[trace->packet + at + i] = (char)(value >> 8 * (trace->big ? 7 - i : i));
}

static void put_packet(struct trace *trace, const struct stream *stream, enum header header, unsigned id,
		       unsigned instance, uint64_t *t, uint64_t *discarded)
{
	uint64_t content;

	trace->packet = trace->data.size;
	trace->at = 0;
	*t += 16; /* the library sorts packets by where they begin */
	*discarded += below(trace, 2) ? below(trace, 50) : 0;
	put_bits(trace, 0xc1fc1fc1, 32, trace->big);
	put_bits(trace, id, 32, trace->big);
	put_bits(trace, instance, 64, trace->big);
	put_bits(trace, 0, 64, trace->big); /* content_size, below */
	put_bits(trace, *t, 64, trace->big);
	put_bits(trace, 0, 64, trace->big); /* timestamp_end, below */
	put_bits(trace, 0, 64, trace->big); /* packet_size, below */
	put_bits(trace, instance, 32, trace->big);
	put_bits(trace, *discarded, 64, trace->big);
	for (size_t events = below(trace, 12); events; events--) {
		uint64_t before = *t;
		unsigned event = (unsigned)below(trace, 4);

		/* the times of streams differ, as their order at the same time may */
		*t += 16 * (below(trace, 4) ? below(trace, 1000) : (uint64_t)below(trace, 1u << 24) * 8);
		put_event_head(trace, header, event * 29, *t, before);
		if (stream->context)
			put_value(trace, stream->context);
		if (stream->event_contexts[event])
			put_value(trace, stream->event_contexts[event]);
		put_value(trace, stream->payloads[event]);
	}
	content = trace->at;
	while (trace->at % 64 || below(trace, 3))
		put_bits(trace, 0, 1, trace->big);
	align_to(trace, 64);
	patch(trace, 16, content);
	patch(trace, 32, *t);
	patch(trace, 40, trace->at);
}

static void write_bytes(const char *folder, const char *name, const struct lode_buffer *bytes)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes->bytes, 1, bytes->size, file), bytes->size);
	fclose(file);
}

/* Streams of one or two instances, each in one or two files. */
static void write_trace(struct trace *trace, const char *folder)
{
	enum header header = (enum header)below(trace, 3);
	struct stream streams[3];
	unsigned count = 1 + (unsigned)below(trace, 3), number = 0;
	char name[32];

	trace->big = (int)below(trace, 2);
	trace->tick = below(trace, 2) ? 1 : 1000;
	print_head(trace, header, 1000000000 / trace->tick);
	print_streams(trace, streams, count);
	write_bytes(folder, "metadata", &trace->text);
	for (unsigned i = 0; i < count; i++)
		for (size_t instance = 0; instance <= below(trace, 2); instance++, number++) {
			uint64_t t = 16 * below(trace, 1u << 28) + number, discarded = below(trace, 3);

			for (size_t file = 0; file <= below(trace, 2); file++) {
				lode_buffer_clear(&trace->data);
				for (size_t packets = 1 + below(trace, 4); packets; packets--)
					put_packet(trace, &streams[i], header, i, (unsigned)instance, &t,
						   &discarded);
				snprintf(name, sizeof(name), "channel_%u_%zu", number, file);
				write_bytes(folder, name, &trace->data);
			}
		}
}

/* ---- both ways of reading ---- */

struct reading {
	struct lode_buffer text;
	unsigned tick;
	uint64_t discarded;
	char environment[40];
};

static int print_event(void *context, const struct lode_ctf_event *event, struct lode_error *error)
{
	struct reading *reading = context;
	struct lode_buffer *text = &reading->text;

	(void)error;
	/* the library computes in doubles, which can cost it a nanosecond */
	lode_buffer_print(text, "%llu %s cpu=%u tid=%u pid=%u name=%s",
			  (unsigned long long)((event->t + reading->tick / 2) / reading->tick), event->name,
			  event->cpu, event->context_tid, event->context_pid,
			  event->context_name ? event->context_name : "-");
	for (int i = 0; i < LODE_CTF_FIELDS; i++)
		if (event->has[i])
			lode_buffer_print(text, " %d=%llx", i, (unsigned long long)event->number[i]);
		else if (event->text[i])
			lode_buffer_print(text, " %d='%s'", i, event->text[i]);
	for (size_t i = 0; i < event->kernel_depth; i++)
		lode_buffer_print(text, " k%llx", (unsigned long long)event->kernel_stack[i]);
	for (size_t i = 0; i < event->user_depth; i++)
		lode_buffer_print(text, " u%llx", (unsigned long long)event->user_stack[i]);
	lode_buffer_byte(text, '\n');
	return 0;
}

static void add_discarded(void *context, uint64_t count)
{
	((struct reading *)context)->discarded += count;
}

static void keep_environment(void *context, const char *host, const char *kernel)
{
	snprintf(((struct reading *)context)->environment, 40, "%s %s", host, kernel);
}

static void remove_folder(const char *folder)
{
	DIR *files = opendir(folder);
	struct dirent *entry;
	char path[600];

	while (files && (entry = readdir(files))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	closedir(files);
	rmdir(folder);
}

/* The first line that differs. */
static void show_difference(const struct trace *trace, const char *ours, const char *theirs)
{
	while (*ours && *ours == *theirs) {
		const char *end = strchr(ours, '\n'), *other = strchr(theirs, '\n');

		if (!end || !other || end - ours != other - theirs ||
		    memcmp(ours, theirs, (size_t)(end - ours)) != 0)
			break;
		ours = end + 1;
		theirs = other + 1;
	}
	fprintf(stderr, "%s\nours:   %.*s\ntheirs: %.*s\n", trace->text.bytes, (int)strcspn(ours, "\n"), ours,
		(int)strcspn(theirs, "\n"), theirs);
}

/* Returns 0 when there is no library. */
static int compare_readings(const struct trace *trace, const char *folder, size_t *events, size_t *compared)
{
	struct reading ours = { .tick = trace->tick }, theirs = ours;
	struct lode_ctf_taker taker = { print_event, add_discarded, keep_environment, &ours };
	struct lode_error error = { 0 };
	int code = lode_ctf_read_native(folder, &taker, &error);

	if (code)
		fprintf(stderr, "%s\n%s\n", trace->text.bytes, error.text);
	assert_int_equal(code, 0);
	taker.context = &theirs;
	code = lode_ctf_read_library(folder, &taker, "", &error);
	if (code < 0 && strstr(error.text, "cannot be loaded")) {
		lode_buffer_release(&ours.text);
		return 0;
	}
	/* It breaks down or refuses some references out of variants, lists and structures of the same name. */
	if (code < 0) {
		lode_buffer_release(&ours.text);
		lode_buffer_release(&theirs.text);
		return 1;
	}
	lode_buffer_byte(&ours.text, '\0');
	lode_buffer_byte(&theirs.text, '\0');
	if (strcmp(ours.text.bytes, theirs.text.bytes) != 0)
		show_difference(trace, ours.text.bytes, theirs.text.bytes);
	assert_string_equal(ours.text.bytes, theirs.text.bytes);
	assert_int_equal(ours.discarded, theirs.discarded);
	assert_string_equal(ours.environment, theirs.environment);
	for (const char *at = ours.text.bytes; (at = strchr(at, '\n')); at++)
		++*events;
	++*compared;
	lode_buffer_release(&ours.text);
	lode_buffer_release(&theirs.text);
	return 1;
}

static void random_traces_are_read_as_the_library_reads_them(void **state)
{
	struct trace *trace = lode_calloc(1, sizeof(*trace));
	size_t events = 0, compared = 0;
	int library = 1;

	(void)state;
	assert_non_null(trace);
	for (uint64_t seed = 1; library && seed <= TRACES; seed++) {
		char folder[100];

		trace->random = lode_random_piece(5, seed);
		trace->used = 0;
		lode_buffer_clear(&trace->text);
		assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
		write_trace(trace, folder);
		lode_buffer_byte(&trace->text, '\0');
		library = compare_readings(trace, folder, &events, &compared);
		remove_folder(folder);
	}
	lode_buffer_release(&trace->text);
	lode_buffer_release(&trace->data);
	lode_free(trace);
	if (!library)
		skip();
	assert_true(events > TRACES);
	assert_true(compared > TRACES / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces_are_read_as_the_library_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
