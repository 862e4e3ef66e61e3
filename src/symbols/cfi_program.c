/*
 * Call frame programs: see cfi_program.h.
 *
 * A program is a list of changes to a row of rules (CFA, return address, frame
 * pointer), interleaved with steps through the code. Registers other than these are
 * ignored: no compiler needs them to find the next frame, except for r10 in the
 * prologue of functions that realign their stack on x86-64. There vfork() keeps its
 * return address in rdi, out of its child's reach; it is treated as the link register.
 *
 * Expressions are matched against the few shapes that occur in practice (counted in
 * Debian's binaries: more than 99.9 % of rows are covered): realigned stacks, PLT
 * stubs, signal frames, and assembly that saved the stack pointer on the stack.
 */
#include "symbols/cfi_program.h"

#include <dwarf.h>
#include <string.h>

/* States that a program may have pushed; compilers use one or two. */
#define STATE_LIMIT 64

/* Not in every dwarf.h: aarch64's signed return addresses, the second with a known place. */
#define CFA_NEGATE_RETURN_STATE         0x2d
#define CFA_NEGATE_RETURN_STATE_WITH_PC 0x2c

/* Offsets in the frame that Linux makes for a signal handler on aarch64: x29, sp and pc of the interrupted code. */
#define AARCH64_SIGNAL_FP 544
#define AARCH64_SIGNAL_SP 560
#define AARCH64_SIGNAL_PC 568

/* DWARF's numbers of the registers that matter. */
struct registers {
	uint64_t sp;
	uint64_t fp;
	uint64_t scratch; /* UINT64_MAX: none */
	uint64_t link;
	uint64_t pc; /* the column of the return address; 0 on machines that name it in the CIE */
};

static const struct registers x86_64 = { 7, 6, 10, 5, 16 };
static const struct registers aarch64 = { 31, 29, UINT64_MAX, 30, 30 };

enum place {
	KEPT,
	AT_CFA,
	AT_FP, /* the frame pointer plus offset */
	AT_SP, /* the stack pointer plus offset: only in signal frames */
	IN_LINK,
	UNDEFINED,
	UNKNOWN,
};

struct where {
	enum place place;
	int64_t offset;
};

enum cfa { FROM_REGISTER, FROM_MEMORY, FROM_PLT, FROM_UNKNOWN };

struct row {
	enum cfa cfa;
	uint64_t cfa_register;
	int64_t cfa_offset;
	int64_t cfa_add; /* FROM_MEMORY: added to what was read; FROM_PLT: the threshold */
	struct where pc;
	struct where fp;
};

struct run {
	const struct registers *registers;
	uint64_t start; /* of the stretch with the present row */
	uint64_t position;
	uint64_t end;
	const struct lode_cfi_shared *shared;
	int machine;
	int is_64;
	struct row row;
	struct row first; /* what `restore` goes back to */
	struct row stack[STATE_LIMIT];
	size_t depth;
	int (*take)(void *context, uint64_t start, const struct lode_unwind_rule *rule);
	void *context;
	int code; /* what `take` returned */
};

/* ---- from rows to rules ---- */

static int fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

static uint8_t place_of(const struct where *where)
{
	switch (where->place) {
	case AT_CFA:
		return LODE_PLACE_CFA;
	case AT_FP:
		return LODE_PLACE_FP;
	default:
		return LODE_PLACE_KEPT;
	}
}

/* Returns 0 when there is no rule of this shape. */
static int set_cfa(const struct run *run, struct lode_unwind_rule *rule)
{
	const struct row *row = &run->row;
	int from_sp = row->cfa_register == run->registers->sp, from_fp = row->cfa_register == run->registers->fp;

	if (!fits(row->cfa_offset) || row->cfa_add < INT8_MIN || row->cfa_add > INT8_MAX)
		return 0;
	rule->cfa_offset = (int32_t)row->cfa_offset;
	switch (row->cfa) {
	case FROM_REGISTER:
		if (!from_sp && !from_fp && row->cfa_register != run->registers->scratch)
			return 0;
		rule->cfa = from_sp ? LODE_CFA_SP : from_fp ? LODE_CFA_FP : LODE_CFA_SCRATCH;
		return 1;
	case FROM_MEMORY:
		rule->cfa = from_sp ? LODE_CFA_SP_DEREF : LODE_CFA_FP_DEREF;
		rule->cfa_add = (int8_t)row->cfa_add;
		return from_sp || from_fp;
	case FROM_PLT:
		rule->cfa = LODE_CFA_PLT;
		rule->cfa_add = (int8_t)row->cfa_add;
		return from_sp;
	default:
		return 0;
	}
}

static struct lode_unwind_rule signal_rule(const struct run *run)
{
	const struct row *row = &run->row;
	struct lode_unwind_rule none = { 0 }, rule = { 0 };

	if (run->machine == EM_AARCH64)
		return (struct lode_unwind_rule){ .cfa = LODE_CFA_SIGNAL_LINK,
						  .cfa_offset = AARCH64_SIGNAL_SP,
						  .return_offset = AARCH64_SIGNAL_PC,
						  .frame_offset = AARCH64_SIGNAL_FP };
	if (row->cfa != FROM_MEMORY || row->cfa_add || row->cfa_register != run->registers->sp ||
	    row->pc.place != AT_SP || row->fp.place != AT_SP || !fits(row->cfa_offset) || !fits(row->pc.offset) ||
	    !fits(row->fp.offset))
		return none;
	rule.cfa = LODE_CFA_SIGNAL;
	rule.cfa_offset = (int32_t)row->cfa_offset;
	rule.return_offset = (int32_t)row->pc.offset;
	rule.frame_offset = (int32_t)row->fp.offset;
	return rule;
}

/*
 * The functions of glibc's dynamic linker that linkage tables jump to are described as if
 * the two registers that the table pushed were the caller's: the return address then is
 * above the CFA.
 */
static void count_pushed_by_linkage(struct lode_unwind_rule *rule)
{
	if (rule->cfa != LODE_CFA_SP || rule->return_at != LODE_PLACE_CFA || rule->return_offset != 8)
		return;
	rule->cfa_offset += 16;
	rule->return_offset -= 16;
	if (rule->frame_at == LODE_PLACE_CFA)
		rule->frame_offset -= 16;
}

static struct lode_unwind_rule make_rule(const struct run *run)
{
	const struct row *row = &run->row;
	struct lode_unwind_rule none = { 0 }, rule = { 0 };

	if (row->pc.place == UNDEFINED) {
		rule.return_at = LODE_PLACE_NONE;
		return rule;
	}
	if (run->shared->is_signal)
		return signal_rule(run);
	if (!set_cfa(run, &rule) || row->pc.place == UNKNOWN || row->pc.place == AT_SP || row->fp.place == UNKNOWN ||
	    row->fp.place == AT_SP || row->fp.place == IN_LINK || !fits(row->pc.offset) || !fits(row->fp.offset))
		return none;
	if (row->pc.place == KEPT && run->machine != EM_AARCH64)
		return none;
	rule.return_at = place_of(&row->pc);
	rule.return_offset = rule.return_at == LODE_PLACE_KEPT ? 0 : (int32_t)row->pc.offset;
	rule.frame_at = place_of(&row->fp);
	rule.frame_offset = rule.frame_at == LODE_PLACE_KEPT ? 0 : (int32_t)row->fp.offset;
	if (run->machine == EM_AARCH64)
		count_pushed_by_linkage(&rule);
	return rule;
}

/* The present row holds from `start` to `position`. */
static void end_stretch(struct run *run)
{
	struct lode_unwind_rule rule;

	if (run->position <= run->start || run->code)
		return;
	rule = make_rule(run);
	run->code = run->take(run->context, run->start, &rule);
	run->start = run->position;
}

/* ---- steps through the code ---- */

static void set_position(struct run *run, uint64_t position)
{
	uint64_t before = run->position;

	if (position <= before)
		return;
	run->position = position < run->end ? position : run->end;
	end_stretch(run);
}

static void advance(struct run *run, uint64_t steps)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(steps, run->shared->code_alignment, &bytes) || bytes > run->end - run->position)
		bytes = run->end - run->position;
	set_position(run, run->position + bytes);
}

/* ---- expressions ---- */

/* The register and offset of a leading DW_OP_bregN; 0 when there is none. */
static int read_base(struct lode_cursor *block, uint64_t *number, int64_t *offset)
{
	uint8_t code = lode_cursor_u8(block);

	if (code >= DW_OP_breg0 && code <= DW_OP_breg31)
		*number = (uint64_t)(code - DW_OP_breg0);
	else if (code == DW_OP_bregx)
		*number = lode_cursor_varint(block);
	else
		return 0;
	*offset = (int64_t)lode_cfi_signed(block);
	return !block->failed;
}

/* `rip & 15 >= N, shifted by 3, added`: how linkers describe the two halves of a PLT entry. */
static int read_plt(struct lode_cursor block, struct row *row)
{
	uint64_t number;
	int64_t offset;
	uint8_t threshold;

	if (!read_base(&block, &number, &offset) || number != x86_64.pc || offset ||
	    lode_cursor_u8(&block) != DW_OP_lit15 || lode_cursor_u8(&block) != DW_OP_and)
		return 0;
	threshold = lode_cursor_u8(&block);
	if (threshold < DW_OP_lit0 || threshold > DW_OP_lit31 || lode_cursor_u8(&block) != DW_OP_ge ||
	    lode_cursor_u8(&block) != DW_OP_lit3 || lode_cursor_u8(&block) != DW_OP_shl ||
	    lode_cursor_u8(&block) != DW_OP_plus || block.failed || lode_cursor_left(&block))
		return 0;
	row->cfa = FROM_PLT;
	row->cfa_add = threshold - DW_OP_lit0;
	return 1;
}

/* What follows the dereference: nothing, or a constant that is added. */
static int read_addition(struct lode_cursor *block, int64_t *add)
{
	uint8_t code;

	*add = 0;
	if (!lode_cursor_left(block))
		return 1;
	code = lode_cursor_u8(block);
	if (code == DW_OP_plus_uconst) {
		*add = (int64_t)lode_cursor_varint(block);
	} else if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
		*add = code - DW_OP_lit0;
		if (lode_cursor_u8(block) != DW_OP_plus)
			return 0;
	} else {
		return 0;
	}
	return !block->failed && !lode_cursor_left(block);
}

static struct lode_cursor decode_block(struct lode_cursor *program)
{
	uint64_t size = lode_cursor_varint(program);
	const void *bytes = lode_cursor_bytes(program, size);

	return lode_cursor(bytes ? bytes : program->next, bytes ? (size_t)size : 0);
}

static void set_cfa_expression(struct run *run, struct lode_cursor block)
{
	struct row *row = &run->row;

	row->cfa = FROM_UNKNOWN;
	if (!read_base(&block, &row->cfa_register, &row->cfa_offset))
		return;
	if (run->machine == EM_X86_64 && read_plt(block, row))
		return;
	if (lode_cursor_u8(&block) == DW_OP_deref && read_addition(&block, &row->cfa_add))
		row->cfa = FROM_MEMORY;
}

/* The value is in memory where the expression says. */
static struct where read_place(const struct run *run, struct lode_cursor block)
{
	struct where where = { UNKNOWN, 0 };
	uint64_t number;

	if (!read_base(&block, &number, &where.offset) || lode_cursor_left(&block))
		return where;
	if (number == run->registers->sp)
		where.place = AT_SP;
	else if (number == run->registers->fp)
		where.place = AT_FP;
	return where;
}

/* ---- instructions ---- */

static struct where *column(struct run *run, struct row *row, uint64_t number)
{
	if (number == run->registers->fp)
		return &row->fp;
	return number == run->shared->return_register ? &row->pc : NULL;
}

static void set_column(struct run *run, uint64_t number, enum place place, int64_t offset)
{
	struct where *where = column(run, &run->row, number);

	if (where)
		*where = (struct where){ place, offset };
}

static void restore_column(struct run *run, uint64_t number)
{
	struct where *where = column(run, &run->row, number);

	if (where)
		*where = *column(run, &run->first, number);
}

static int64_t factored(const struct run *run, uint64_t number)
{
	int64_t offset;

	/* What does not fit is no offset that a rule can have. */
	return __builtin_mul_overflow((int64_t)number, run->shared->data_alignment, &offset) ? INT64_MAX : offset;
}

static void define_cfa(struct run *run, uint64_t number, int64_t offset)
{
	run->row.cfa = FROM_REGISTER;
	run->row.cfa_register = number;
	run->row.cfa_offset = offset;
	run->row.cfa_add = 0;
}

static int run_cfa(struct run *run, uint8_t code, struct lode_cursor *program)
{
	uint64_t number;

	switch (code) {
	case DW_CFA_def_cfa:
		number = lode_cursor_varint(program);
		define_cfa(run, number, (int64_t)lode_cursor_varint(program));
		return 1;
	case DW_CFA_def_cfa_sf:
		number = lode_cursor_varint(program);
		define_cfa(run, number, factored(run, lode_cfi_signed(program)));
		return 1;
	case DW_CFA_def_cfa_register:
		define_cfa(run, lode_cursor_varint(program), run->row.cfa_offset);
		return 1;
	case DW_CFA_def_cfa_offset:
		run->row.cfa_offset = (int64_t)lode_cursor_varint(program);
		return 1;
	case DW_CFA_def_cfa_offset_sf:
		run->row.cfa_offset = factored(run, lode_cfi_signed(program));
		return 1;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(run, decode_block(program));
		return 1;
	case DW_CFA_GNU_args_size:
		lode_cursor_varint(program);
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
static int run_register(struct run *run, uint8_t code, struct lode_cursor *program)
{
	uint64_t number;
	struct where where;

	switch (code) {
	case DW_CFA_restore_extended:
		restore_column(run, lode_cursor_varint(program));
		return 1;
	case DW_CFA_undefined:
		set_column(run, lode_cursor_varint(program), UNDEFINED, 0);
		return 1;
	case DW_CFA_same_value:
		set_column(run, lode_cursor_varint(program), KEPT, 0);
		return 1;
	case DW_CFA_offset_extended:
		number = lode_cursor_varint(program);
		set_column(run, number, AT_CFA, factored(run, lode_cursor_varint(program)));
		return 1;
	case DW_CFA_offset_extended_sf:
		number = lode_cursor_varint(program);
		set_column(run, number, AT_CFA, factored(run, lode_cfi_signed(program)));
		return 1;
	case DW_CFA_GNU_negative_offset_extended:
		number = lode_cursor_varint(program);
		set_column(run, number, AT_CFA, -factored(run, lode_cursor_varint(program)));
		return 1;
	case DW_CFA_expression:
		number = lode_cursor_varint(program);
		where = read_place(run, decode_block(program));
		set_column(run, number, where.place, where.offset);
		return 1;
	case DW_CFA_register:
		number = lode_cursor_varint(program);
		set_column(run, number, lode_cursor_varint(program) == run->registers->link ? IN_LINK : UNKNOWN, 0);
		return 1;
	case DW_CFA_val_offset:
		number = lode_cursor_varint(program);
		lode_cursor_varint(program);
		set_column(run, number, UNKNOWN, 0);
		return 1;
	case DW_CFA_val_offset_sf:
		number = lode_cursor_varint(program);
		lode_cfi_signed(program);
		set_column(run, number, UNKNOWN, 0);
		return 1;
	case DW_CFA_val_expression:
		number = lode_cursor_varint(program);
		decode_block(program);
		set_column(run, number, UNKNOWN, 0);
		return 1;
	default:
		return 0;
	}
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
		run->stack[run->depth++] = run->row;
		return 1;
	case DW_CFA_restore_state:
		if (!run->depth)
			return 0;
		run->row = run->stack[--run->depth];
		return 1;
	default:
		return 0;
	}
}

/* Returns 0 at the program's end, -1 at what is not understood. */
static int run_program(struct run *run, struct lode_cursor *program)
{
	while (lode_cursor_left(program) && run->position < run->end && !run->code) {
		uint8_t code = lode_cursor_u8(program);
		uint8_t low = code & 0x3f;

		switch (code & 0xc0) {
		case DW_CFA_advance_loc:
			advance(run, low);
			continue;
		case DW_CFA_offset:
			set_column(run, low, AT_CFA, factored(run, lode_cursor_varint(program)));
			continue;
		case DW_CFA_restore:
			restore_column(run, low);
			continue;
		}
		if (!run_cfa(run, code, program) && !run_register(run, code, program) &&
		    !run_move_or_state(run, code, program))
			return -1;
		if (program->failed)
			return -1;
	}
	return 0;
}

int lode_cfi_run(const struct lode_cfi_function *function, int machine, int is_64,
		 int (*take)(void *context, uint64_t start, const struct lode_unwind_rule *rule), void *context)
{
	const struct lode_cfi_shared *shared = function->shared;
	struct lode_cursor first = lode_cursor(shared->program, (size_t)(shared->program_end - shared->program));
	struct lode_cursor program = function->program;
	struct run run = {
		.registers = machine == EM_AARCH64 ? &aarch64 : &x86_64,
		.start = function->start,
		.position = function->start,
		.end = function->end,
		.shared = shared,
		.machine = machine,
		.is_64 = is_64,
		.row = { .cfa = FROM_UNKNOWN },
		.take = take,
		.context = context,
	};
	int bad;

	first.swap = program.swap;
	bad = run_program(&run, &first) < 0;
	run.first = run.row;
	if (!bad)
		bad = run_program(&run, &program) < 0;
	if (bad)
		run.row.cfa = FROM_UNKNOWN; /* from here to the end nothing is known */
	run.position = run.end;
	end_stretch(&run);
	return run.code;
}
