/*
 * Where the return address is: the one question that call chains made from frame
 * pointers leave open on aarch64. A leaf function that has saved nothing has its
 * caller only in the link register, x30; the unwind tables tell for each address
 * whether x30 still holds it.
 *
 * libdw answers for one address at a time, in about two microseconds; a recording
 * asks many thousand times. Here one pass runs each function's program, following
 * x30 alone, and writes down the addresses where it is unchanged. The result is a
 * table like any other: searched without a lock, and cached. A record's link
 * tells the rule: 1 unchanged, 0 saved or lost.
 */
#include "symbols/cache.h"
#include "symbols/candidates.h"
#include "symbols/cfi.h"

#include "base/error.h"

#include <dwarf.h>
#include <string.h>

#define LINK_REGISTER 30
/* States that a program may have put aside; compilers use one or two. */
#define STATE_LIMIT 64

/* Not in every dwarf.h: aarch64's signed return addresses, the second with a known place. */
#define CFA_NEGATE_RETURN_STATE		0x2d
#define CFA_NEGATE_RETURN_STATE_WITH_PC 0x2c

/* A run of one function's program. */
struct run {
	struct lode_table_builder *builder;
	uint64_t start; /* of the stretch with the present rule */
	uint64_t position;
	uint64_t end;
	uint64_t alignment;
	int is_64;
	int unchanged;	     /* the present rule */
	int first_unchanged; /* the rule that `restore` goes back to */
	int stack[STATE_LIMIT];
	size_t depth;
};

static void set_rule(struct run *run, int unchanged)
{
	if (run->unchanged == unchanged)
		return;
	if (run->unchanged && run->position > run->start)
		lode_table_add(run->builder, run->start, run->position, LODE_NONE, 1);
	run->unchanged = unchanged;
	run->start = run->position;
}

static void set_rule_of(struct run *run, uint64_t number, int unchanged)
{
	if (number == LINK_REGISTER)
		set_rule(run, unchanged);
}

static void advance(struct run *run, uint64_t steps)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(steps, run->alignment, &bytes) || bytes > run->end - run->position)
		run->position = run->end;
	else
		run->position += bytes;
}

static void set_position(struct run *run, uint64_t position)
{
	if (position > run->position)
		run->position = position < run->end ? position : run->end;
}

static void skip_block(struct lode_cursor *program)
{
	lode_cursor_bytes(program, lode_cursor_varint(program));
}

/* Instructions that concern the frame's address: nothing to do but to step over them. */
static int skip_frame_address(uint8_t code, struct lode_cursor *program)
{
	switch (code) {
	case DW_CFA_def_cfa:
		lode_cursor_varint(program);
		lode_cursor_varint(program);
		return 1;
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_GNU_args_size:
		lode_cursor_varint(program);
		return 1;
	case DW_CFA_def_cfa_sf:
		lode_cursor_varint(program);
		lode_cfi_signed(program);
		return 1;
	case DW_CFA_def_cfa_offset_sf:
		lode_cfi_signed(program);
		return 1;
	case DW_CFA_def_cfa_expression:
		skip_block(program);
		return 1;
	case DW_CFA_nop:
	case CFA_NEGATE_RETURN_STATE:
	case CFA_NEGATE_RETURN_STATE_WITH_PC:
		return 1;
	default:
		return 0;
	}
}

/* Instructions that concern a register, whose number comes first. */
static int run_register_rule(struct run *run, uint8_t code, struct lode_cursor *program)
{
	uint64_t number;

	switch (code) {
	case DW_CFA_restore_extended:
		set_rule_of(run, lode_cursor_varint(program), run->first_unchanged);
		return 1;
	case DW_CFA_undefined:
		set_rule_of(run, lode_cursor_varint(program), 0);
		return 1;
	case DW_CFA_same_value:
		set_rule_of(run, lode_cursor_varint(program), 1);
		return 1;
	case DW_CFA_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_register:
	case DW_CFA_GNU_negative_offset_extended:
		number = lode_cursor_varint(program);
		lode_cursor_varint(program);
		break;
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset_sf:
		number = lode_cursor_varint(program);
		lode_cfi_signed(program);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		number = lode_cursor_varint(program);
		skip_block(program);
		break;
	default:
		return 0;
	}
	set_rule_of(run, number, 0);
	return 1;
}

static int run_move_or_state(struct run *run, uint8_t code, struct lode_cursor *program)
{
	switch (code) {
	case DW_CFA_set_loc:
		set_position(run, run->is_64 ? lode_cursor_u64(program) : lode_cursor_u32(program));
		return 1;
	case DW_CFA_advance_loc1:
		advance(run, lode_cursor_u8(program));
		return 1;
	case DW_CFA_advance_loc2:
		advance(run, lode_cursor_u16(program));
		return 1;
	case DW_CFA_advance_loc4:
		advance(run, lode_cursor_u32(program));
		return 1;
	case DW_CFA_remember_state:
		if (run->depth == STATE_LIMIT)
			return 0;
		run->stack[run->depth++] = run->unchanged;
		return 1;
	case DW_CFA_restore_state:
		if (!run->depth)
			return 0;
		set_rule(run, run->stack[--run->depth]);
		return 1;
	default:
		return 0;
	}
}

/* Runs a program. Returns 0 at its end, -1 at what is not understood. */
static int run_program(struct run *run, struct lode_cursor *program)
{
	while (lode_cursor_left(program) && run->position < run->end) {
		uint8_t code = lode_cursor_u8(program);
		uint8_t low = code & 0x3f;

		switch (code & 0xc0) {
		case DW_CFA_advance_loc:
			advance(run, low);
			continue;
		case DW_CFA_offset:
			lode_cursor_varint(program);
			set_rule_of(run, low, 0);
			continue;
		case DW_CFA_restore:
			set_rule_of(run, low, run->first_unchanged);
			continue;
		}
		if (!skip_frame_address(code, program) && !run_register_rule(run, code, program) &&
		    !run_move_or_state(run, code, program))
			return -1;
		if (program->failed)
			return -1;
	}
	return 0;
}

struct pass {
	struct lode_table_builder builder;
	int is_64;
};

static int take_function(void *context, const struct lode_cfi_function *function)
{
	struct pass *pass = context;
	const struct lode_cfi_shared *shared = function->shared;
	struct lode_cursor first =
		lode_cursor(shared->program, (size_t)(shared->program_end - shared->program));
	struct lode_cursor program = function->program;
	size_t before = pass->builder.count;
	struct run run = {
		.builder = &pass->builder,
		.start = function->start,
		.position = function->start,
		.end = function->end,
		.alignment = shared->code_alignment,
		.is_64 = pass->is_64,
		.unchanged = 1, /* where nothing is said, a function keeps x30 as it was */
		.first_unchanged = 1,
	};

	first.swap = program.swap;
	lode_table_add(&pass->builder, function->start, function->end, LODE_NONE, 0);
	if (run_program(&run, &first) < 0) {
		pass->builder.count = before;
		return 0;
	}
	run.first_unchanged = run.unchanged;
	if (run_program(&run, &program) < 0) {
		pass->builder.count = before;
		return 0;
	}
	run.position = run.end;
	set_rule(&run, !run.unchanged); /* ends the last stretch */
	return pass->builder.failed ? LODE_SYSTEM : 0;
}

/* .eh_frame is in the binary, .debug_frame in its debug file; the former wins. */
static int read_file(struct pass *pass, const char *file, const char *section)
{
	struct lode_elf elf;
	int code = 0;

	if (!file || !file[0] || lode_elf_open(&elf, file) < 0)
		return 0;
	pass->is_64 = elf.header.e_ident[EI_CLASS] == ELFCLASS64;
	if (elf.header.e_machine == EM_AARCH64)
		code = lode_cfi_walk(&elf, section, take_function, pass);
	lode_elf_close(&elf);
	return code;
}

static int read_rules(const struct lode_image *image, struct lode_table *table)
{
	const struct lode_origin *origin = &image->origin;
	const char *debug = origin->debug && origin->debug[0] ? origin->debug : origin->binary;
	struct pass pass = {0};

	if (read_file(&pass, debug, ".debug_frame") < 0 || read_file(&pass, origin->binary, ".eh_frame") < 0)
		pass.builder.failed = 1;
	return lode_table_finish(&pass.builder, table);
}

/* Both files matter: a debug file may come later. */
static char *identity_of(const struct lode_origin *origin)
{
	char *binary = lode_candidate_identity(origin->binary);
	char *debug = lode_candidate_identity(origin->debug);
	char *identity = binary && debug ? lode_format("%s%s", binary, debug) : NULL;

	lode_free(binary);
	lode_free(debug);
	return identity;
}

static int make_rules(void *context, struct lode_table *table)
{
	return read_rules(context, table);
}

int lode_image_load_unwind(struct lode_image *image)
{
	char *identity;
	int code;

	if (!image->origin.binary || !image->origin.debug)
		return 0;
	identity = identity_of(&image->origin);
	if (!identity)
		return LODE_SYSTEM;
	code = lode_cache_through(image, "unwind", image->origin.binary, identity, make_rules,
				  &image->unwind);
	lode_free(identity);
	return code;
}
