/*
 * Code: see code.h.
 *
 * The plan (code_plan.h) says which bytes belong to which function. Here the
 * instructions of each function are decoded, piece by piece, into steps
 * (code_steps.h), and each step becomes an end, a callee or a mark. A jump ends
 * the function when it leads to the first instruction of another, or into the
 * procedure linkage table; one into the middle of another is not trusted, since it
 * may be data.
 *
 * Everything is appended once, function after function, so that the work is linear
 * in the bytes of the file.
 */
#include "symbols/code.h"

#include "base/bisect.h"
#include "base/sort_numbers.h"
#include "symbols/code_plan.h"
#include "symbols/code_steps.h"
#include "symbols/demangle.h"

#include <stdio.h>
#include <string.h>

/* Bytes that all shown names may take, times the size of the file; demangled ones can unfold without end. */
#define SHOWN_LIMIT 32

struct owned {
	struct lode_strings texts;
	uint32_t *named;    /* by text: the function of this name, or LODE_NONE */
	uint32_t *exported; /* by text: the function that other binaries get */
	size_t named_capacity;
	size_t exported_capacity;
};

struct reader {
	struct lode_code *code;
	struct owned *owned;
	struct lode_code_plan plan;
	void *disassembler;
	struct lode_steps steps;
	uint32_t *order; /* pieces, by function */
	size_t *first;   /* the first piece of each function in `order`, and one more */
	uint32_t *seen;  /* by callee: the last function that called it, plus one */
	size_t offset_capacity;
	size_t kind_capacity;
	size_t callee_capacity;
	size_t shown; /* bytes of names so far */
	int failed;
};

/* ---- decoding ---- */

/* Whether this machine's instructions are understood. */
/* Why instructions cannot be decoded; NULL: they can. */
static const char *why_undecoded(const struct reader *reader)
{
	const GElf_Ehdr *header = &reader->plan.elf.header;
	int fits = header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;

	if (fits && header->e_machine == EM_X86_64)
		return reader->disassembler ? NULL : lode_code_why_not_x86_64;
	return fits && header->e_machine == EM_AARCH64 ? NULL : "only code of x86-64 and aarch64 is read";
}

/* The first mark behind an address. */
static size_t mark_behind(const struct lode_linker_symbols *symbols, uint64_t address)
{
	return LODE_BISECT(i, 0, symbols->marks.count, symbols->marks.items[i].address <= address);
}

static void decode_run(struct reader *reader, const struct lode_plan_piece *piece, uint64_t from, uint64_t to)
{
	struct lode_code_run run = {
		.bytes = reader->plan.map.bytes + piece->start + (from - piece->address),
		.size = to - from,
		.address = from,
		.piece = piece->address,
		.piece_end = piece->address + (piece->end - piece->start),
	};

	if (from >= to)
		return;
	if (reader->plan.elf.header.e_machine == EM_AARCH64)
		lode_code_decode_aarch64(&run, &reader->steps);
	else
		lode_code_decode_x86_64(reader->disassembler, &run, &reader->steps);
}

/*
 * The steps of a piece, except what marks say is data. A mark of data before the
 * piece ends where the piece begins: code that was put in as plain bytes, as some
 * compilers' own libraries are, has symbols but no marks.
 */
static void decode_piece(struct reader *reader, const struct lode_plan_piece *piece)
{
	const struct lode_linker_symbols *symbols = &reader->plan.symbols;
	size_t next = mark_behind(symbols, piece->address);
	uint64_t end = piece->address + (piece->end - piece->start);
	uint64_t from = piece->address;
	int is_data = next && symbols->marks.items[next - 1].is_data &&
		      symbols->marks.items[next - 1].address == from;

	reader->steps.count = 0;
	for (; next < symbols->marks.count && symbols->marks.items[next].address < end; next++) {
		if (symbols->marks.items[next].is_data == is_data)
			continue;
		if (!is_data)
			decode_run(reader, piece, from, symbols->marks.items[next].address);
		from = symbols->marks.items[next].address;
		is_data = symbols->marks.items[next].is_data;
	}
	if (!is_data)
		decode_run(reader, piece, from, end);
}

/* ---- from steps to functions ---- */

static enum lode_probed_kind probed_kind(const struct reader *reader, uint64_t offset)
{
	const struct lode_map *map = &reader->plan.map;

	if (offset >= map->size)
		return LODE_PROBED_OTHER;
	return lode_code_probed_kind(reader->plan.elf.header.e_machine, map->bytes + offset, map->size - offset);
}

static void add_offset(struct reader *reader, uint64_t offset, uint32_t *count)
{
	struct lode_code *code = reader->code;

	if (code->offset_count >= LODE_NONE ||
	    LODE_GROW(code->offsets, reader->offset_capacity, code->offset_count + 1) < 0 ||
	    LODE_GROW(code->kinds, reader->kind_capacity, code->offset_count + 1) < 0) {
		reader->failed = 1;
		return;
	}
	code->kinds[code->offset_count] = (uint8_t)probed_kind(reader, offset);
	code->offsets[code->offset_count++] = offset;
	++*count;
}

static void add_callee(struct reader *reader, uint32_t function, uint32_t callee)
{
	size_t place = callee & LODE_CODE_IMPORT ? reader->plan.functions.count + (callee & ~LODE_CODE_IMPORT)
						 : callee;
	struct lode_code *code = reader->code;

	if (callee == function || reader->seen[place] == function + 1)
		return;
	if (code->callee_count >= LODE_NONE ||
	    LODE_GROW(code->callees, reader->callee_capacity, code->callee_count + 1) < 0) {
		reader->failed = 1;
		return;
	}
	reader->seen[place] = function + 1;
	code->callees[code->callee_count++] = callee;
	code->functions[function].callee_count++;
}

/* A call or jump to an address. Returns whether a function begins there that is not `function`. */
static int handle_target(struct reader *reader, uint32_t function, const struct lode_step *step)
{
	const struct lode_plan_piece *piece = lode_code_plan_at(&reader->plan, step->target);
	int begins;

	if (!piece || piece->function == LODE_NONE || piece->function == function)
		return 0;
	begins = piece->address == step->target;
	if (begins || step->kind == LODE_STEP_CALL)
		add_callee(reader, function, piece->function);
	return begins;
}

static void handle_slot(struct reader *reader, uint32_t function, const struct lode_step *step)
{
	uint32_t import = lode_code_slot_import(&reader->plan, step->target);

	if (import == LODE_NONE)
		reader->code->functions[function].indirect = 1;
	else
		add_callee(reader, function, import);
}

static void handle_step(struct reader *reader, uint32_t number, const struct lode_plan_piece *piece,
			const struct lode_step *step)
{
	struct lode_code_function *function = &reader->code->functions[number];
	int ends = 0;

	switch (step->kind) {
	case LODE_STEP_CALL:
	case LODE_STEP_BRANCH:
		handle_target(reader, number, step);
		break;
	case LODE_STEP_JUMP:
		ends = handle_target(reader, number, step);
		break;
	case LODE_STEP_RETURN:
		ends = 1;
		break;
	case LODE_STEP_LEAVE:
		ends = 1;
		function->indirect = 1;
		break;
	case LODE_STEP_POINTER:
		function->indirect = 1;
		break;
	case LODE_STEP_SLOT:
	case LODE_STEP_LEAVE_SLOT:
		ends = step->kind == LODE_STEP_LEAVE_SLOT;
		handle_slot(reader, number, step);
		break;
	case LODE_STEP_UNKNOWN:
		function->unknown_ends = 1;
		break;
	}
	if (ends)
		add_offset(reader, step->at - piece->address + piece->start, &function->end_count);
}

static int can_probe(const struct reader *reader, uint64_t offset)
{
	const struct lode_map *map = &reader->plan.map;

	if (reader->plan.elf.header.e_machine == EM_AARCH64)
		return lode_code_can_probe_aarch64(map->bytes + offset, map->size - offset);
	return lode_code_can_probe_x86_64(map->bytes + offset, map->size - offset);
}

/*
 * Where a piece that callers enter is probed. The kernel emulates the instructions that
 * most functions begin with, but not endbr64 (x86-64), which it steps over at ten times
 * the price; the code after it does not matter, because nothing calls it.
 */
static uint64_t entry_of(const struct reader *reader, const struct lode_plan_piece *piece)
{
	static const unsigned char landing[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct lode_map *map = &reader->plan.map;

	if (reader->plan.elf.header.e_machine != EM_X86_64 || piece->end - piece->start <= sizeof(landing) ||
	    piece->start > map->size || map->size - piece->start <= sizeof(landing) ||
	    memcmp(map->bytes + piece->start, landing, sizeof(landing)) != 0)
		return piece->start;
	return piece->start + sizeof(landing);
}

static void handle_entries(struct reader *reader, uint32_t number)
{
	struct lode_code_function *function = &reader->code->functions[number];

	function->first_entry = (uint32_t)reader->code->offset_count;
	for (size_t i = reader->first[number]; i < reader->first[number + 1]; i++) {
		const struct lode_plan_piece *piece = &reader->plan.pieces.items[reader->order[i]];

		if (!piece->entry)
			continue;
		add_offset(reader, entry_of(reader, piece), &function->entry_count);
		if (!can_probe(reader, entry_of(reader, piece)))
			function->unknown_ends = 1;
	}
}

static void handle_function(struct reader *reader, uint32_t number)
{
	struct lode_code *code = reader->code;
	struct lode_code_function *function = &code->functions[number];

	handle_entries(reader, number);
	function->first_end = (uint32_t)code->offset_count;
	function->first_callee = (uint32_t)code->callee_count;
	if (code->undecoded) {
		function->unknown_ends = 1;
		return;
	}
	for (size_t i = reader->first[number]; i < reader->first[number + 1] && !reader->failed; i++) {
		const struct lode_plan_piece *piece = &reader->plan.pieces.items[reader->order[i]];

		decode_piece(reader, piece);
		for (size_t step = 0; step < reader->steps.count && !reader->failed; step++)
			handle_step(reader, number, piece, &reader->steps.items[step]);
		reader->failed |= reader->steps.failed;
	}
	lode_sort_u32(code->callees + function->first_callee, function->callee_count);
}

/* ---- cold parts ---- */

/* Those that a piece jumps to belong to its function. */
static void adopt_targets(struct reader *reader, const struct lode_plan_piece *piece)
{
	decode_piece(reader, piece);
	for (size_t i = 0; i < reader->steps.count; i++) {
		const struct lode_step *step = &reader->steps.items[i];
		struct lode_plan_piece *target;

		if (step->kind != LODE_STEP_JUMP && step->kind != LODE_STEP_BRANCH)
			continue;
		target = lode_code_plan_at(&reader->plan, step->target);
		if (target && target->cold && target->function == LODE_NONE)
			target->function = piece->function;
	}
	reader->failed |= reader->steps.failed;
}

/* A cold part that nothing jumps to is a separate function. */
static void make_own_function(struct reader *reader, struct lode_plan_piece *piece)
{
	piece->function = lode_code_plan_add(&reader->plan, piece->record);
	piece->entry = piece->function != LODE_NONE;
	reader->failed |= piece->function == LODE_NONE;
}

static void settle_cold(struct reader *reader)
{
	struct lode_code_plan *plan = &reader->plan;
	size_t left = 0;

	for (size_t i = 0; i < plan->pieces.count; i++)
		left += plan->pieces.items[i].cold;
	for (size_t i = 0; left && !reader->code->undecoded && i < plan->pieces.count && !reader->failed; i++)
		if (plan->pieces.items[i].function < LODE_CODE_IMPORT && !plan->pieces.items[i].cold &&
		    !plan->pieces.items[i].stub)
			adopt_targets(reader, &plan->pieces.items[i]);
	for (size_t i = 0; left && i < plan->pieces.count && !reader->failed; i++)
		if (plan->pieces.items[i].cold && plan->pieces.items[i].function == LODE_NONE)
			make_own_function(reader, &plan->pieces.items[i]);
}

/* ---- names ---- */

/* Gives a text to a function, unless it has one. */
static void name_function(struct reader *reader, uint32_t **names, size_t *capacity, uint32_t text,
			  uint32_t function)
{
	size_t had = *capacity;

	if (text == LODE_NONE || lode_grow(names, capacity, (size_t)text + 1, sizeof(**names)) < 0) {
		reader->failed = 1;
		return;
	}
	for (size_t i = had; i < *capacity; i++)
		(*names)[i] = LODE_NONE;
	if ((*names)[text] == LODE_NONE)
		(*names)[text] = function;
}

/* The linker's names, of exported functions first. */
static void handle_linker_names(struct reader *reader)
{
	const struct lode_linker_symbols *symbols = &reader->plan.symbols;
	struct owned *owned = reader->owned;

	for (size_t i = 0; i < symbols->count && !reader->failed; i++) {
		const struct lode_linker_symbol *symbol = &symbols->items[i];
		const struct lode_plan_piece *piece = lode_code_plan_at(&reader->plan, symbol->address);
		uint32_t text;

		if (!piece || piece->function >= LODE_CODE_IMPORT || piece->stub)
			continue;
		text = lode_strings_add(&owned->texts, symbol->name, symbol->length);
		name_function(reader, &owned->named, &owned->named_capacity, text, piece->function);
		if (i < symbols->exported)
			name_function(reader, &owned->exported, &owned->exported_capacity, text, piece->function);
	}
}

/* Whether the names of a record and its rivals are still to be made readable; they are paid for in bytes. */
static int may_show(struct reader *reader, uint32_t record, uint32_t rivals)
{
	const struct lode_table *table = &reader->plan.image.table;

	for (uint32_t i = record; i <= record + rivals; i++) {
		const char *raw = lode_table_text(table, table->records[i].name);

		if (reader->shown > SHOWN_LIMIT * reader->plan.map.size)
			return 0;
		reader->shown += raw ? strnlen(raw, LODE_DEMANGLE_LIMIT) : 0;
	}
	return lode_table_text(table, table->records[record].name) != NULL;
}

static void show_base(const char *raw, struct lode_buffer *name)
{
	int cold = 0;
	size_t length = strnlen(raw, LODE_DEMANGLE_LIMIT);
	const char *version = memchr(raw + 1, '@', length ? length - 1 : 0);
	char *base;

	length = version ? (size_t)(version - raw) : length;
	base = lode_strndup(raw, lode_code_base_length(raw, length, &cold));
	if (base)
		lode_demangle(base, 1, name);
	else
		name->failed = 1;
	lode_free(base);
}

/* What a function is called on the screen. */
static void show_name(struct reader *reader, uint32_t record, struct lode_buffer *name)
{
	const struct lode_table *table = &reader->plan.image.table;
	uint32_t rivals = table->records[record].link;

	lode_buffer_clear(name);
	if (!may_show(reader, record, rivals))
		lode_buffer_print(name, "0x%llx", (unsigned long long)table->records[record].start);
	else if (rivals)
		lode_image_choose_name(table, record, rivals, 1, name);
	else
		show_base(lode_table_text(table, table->records[record].name), name);
	reader->shown += name->size;
}

static void handle_shown_names(struct reader *reader)
{
	struct owned *owned = reader->owned;
	struct lode_buffer name = { 0 };

	for (size_t i = 0; i < reader->plan.functions.count && !reader->failed; i++) {
		uint32_t text;

		show_name(reader, reader->plan.functions.items[i], &name);
		reader->failed |= name.failed;
		text = name.failed ? LODE_NONE : lode_strings_add(&owned->texts, name.bytes, name.size);
		name_function(reader, &owned->named, &owned->named_capacity, text, (uint32_t)i);
		if (text != LODE_NONE)
			reader->code->functions[i].name = lode_strings_get(&owned->texts, text);
	}
	lode_buffer_release(&name);
}

static void find_main(struct reader *reader)
{
	const struct lode_plan_piece *piece;
	uint64_t address;

	reader->code->main = lode_code_named(reader->code, "main");
	if (reader->code->main != LODE_NONE)
		return;
	address = lode_code_start(&reader->plan);
	piece = address ? lode_code_plan_at(&reader->plan, address) : NULL;
	if (piece && piece->address == address && piece->function < LODE_CODE_IMPORT)
		reader->code->main = piece->function;
}

/* ---- putting it together ---- */

/* Lists the pieces of each function, by counting them. */
static int order_pieces(struct reader *reader)
{
	const struct lode_code_plan *plan = &reader->plan;
	size_t *first = lode_calloc(plan->functions.count + 2, sizeof(*first));

	reader->first = first;
	reader->order = lode_realloc(NULL, plan->pieces.count + 1, sizeof(*reader->order));
	if (!first || !reader->order)
		return LODE_SYSTEM;
	for (size_t i = 0; i < plan->pieces.count; i++)
		if (plan->pieces.items[i].function < LODE_CODE_IMPORT && !plan->pieces.items[i].stub)
			first[plan->pieces.items[i].function + 2]++;
	for (size_t i = 2; i < plan->functions.count + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < plan->pieces.count; i++)
		if (plan->pieces.items[i].function < LODE_CODE_IMPORT && !plan->pieces.items[i].stub)
			reader->order[first[plan->pieces.items[i].function + 1]++] = (uint32_t)i;
	return 0;
}

static int copy_pieces(struct reader *reader)
{
	const struct lode_code_plan *plan = &reader->plan;
	struct lode_code *code = reader->code;

	code->pieces = lode_calloc(plan->pieces.count + 1, sizeof(*code->pieces));
	if (!code->pieces)
		return LODE_SYSTEM;
	for (size_t i = 0; i < plan->pieces.count; i++) {
		const struct lode_plan_piece *piece = &plan->pieces.items[i];

		if (piece->function < LODE_CODE_IMPORT && !piece->stub)
			code->pieces[code->piece_count++] =
				(struct lode_code_piece){ piece->start, piece->end, piece->function };
	}
	return 0;
}

static int copy_imports(struct reader *reader)
{
	const struct lode_strings *imports = &reader->plan.imports;
	struct lode_code *code = reader->code;

	code->imports = lode_calloc(imports->count, sizeof(*code->imports));
	if (!code->imports)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < imports->count; i++) {
		uint32_t text =
			lode_strings_add(&reader->owned->texts, imports->items[i].text, imports->items[i].length);

		if (text == LODE_NONE)
			return LODE_SYSTEM;
		code->imports[code->import_count++] = lode_strings_get(&reader->owned->texts, text);
	}
	return 0;
}

static int read_all(struct reader *reader)
{
	struct lode_code_plan *plan = &reader->plan;
	struct lode_code *code = reader->code;

	settle_cold(reader);
	code->functions = lode_calloc(plan->functions.count + 1, sizeof(*code->functions));
	reader->seen = lode_calloc(plan->functions.count + plan->imports.count, sizeof(*reader->seen));
	if (reader->failed || !code->functions || !reader->seen || order_pieces(reader) < 0 ||
	    copy_pieces(reader) < 0 || copy_imports(reader) < 0)
		return LODE_SYSTEM;
	code->count = plan->functions.count;
	for (uint32_t i = 0; i < code->count && !reader->failed; i++)
		handle_function(reader, i);
	handle_linker_names(reader);
	handle_shown_names(reader);
	if (reader->failed)
		return LODE_SYSTEM;
	find_main(reader);
	return 0;
}

static void release_reader(struct reader *reader)
{
	lode_code_plan_release(&reader->plan);
	lode_code_close_x86_64(reader->disassembler);
	lode_free(reader->steps.items);
	lode_free(reader->order);
	lode_free(reader->first);
	lode_free(reader->seen);
}

int lode_code_read(struct lode_code *code, const char *path, struct lode_error *error)
{
	struct reader reader = { .code = code };
	int result;

	memset(code, 0, sizeof(*code));
	code->main = LODE_NONE;
	result = lode_code_plan_make(&reader.plan, path, error);
	if (result == 0 && reader.plan.elf.header.e_machine == EM_X86_64)
		reader.disassembler = lode_code_open_x86_64();
	if (result == 0) {
		code->undecoded = why_undecoded(&reader);
		code->owned = reader.owned = lode_calloc(1, sizeof(*reader.owned));
		if (!reader.owned || lode_strings_init(&reader.owned->texts) < 0 || read_all(&reader) < 0)
			result = lode_fail_memory(error);
	}
	release_reader(&reader);
	if (result < 0)
		lode_code_release(code);
	return result;
}

void lode_code_release(struct lode_code *code)
{
	struct owned *owned = code->owned;

	if (owned) {
		lode_strings_release(&owned->texts);
		lode_free(owned->named);
		lode_free(owned->exported);
		lode_free(owned);
	}
	lode_free(code->functions);
	lode_free(code->pieces);
	lode_free(code->offsets);
	lode_free(code->kinds);
	lode_free(code->callees);
	lode_free(code->imports);
	memset(code, 0, sizeof(*code));
	code->main = LODE_NONE;
}

/* ---- looking up ---- */

uint32_t lode_code_find(const struct lode_code *code, uint64_t offset)
{
	size_t low = LODE_BISECT(i, 0, code->piece_count, code->pieces[i].start <= offset);
	return low && offset < code->pieces[low - 1].end ? code->pieces[low - 1].function : LODE_NONE;
}

static uint32_t look_up(const struct lode_strings *texts, const uint32_t *names, size_t count, const char *name)
{
	uint32_t text = lode_strings_find(texts, name, strlen(name));

	return text < count ? names[text] : LODE_NONE;
}

uint32_t lode_code_named(const struct lode_code *code, const char *name)
{
	const struct owned *owned = code->owned;

	return owned ? look_up(&owned->texts, owned->named, owned->named_capacity, name) : LODE_NONE;
}

uint32_t lode_code_exported(const struct lode_code *code, const char *name)
{
	const struct owned *owned = code->owned;

	return owned ? look_up(&owned->texts, owned->exported, owned->exported_capacity, name) : LODE_NONE;
}
