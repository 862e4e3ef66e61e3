/*
 * Code: the functions of a binary, found from its instructions: where each
 * begins, where it returns, and which others it calls.
 *
 * Functions come from the symbol table and, where there is none, from .eh_frame
 * (then they are called 0xSTART, as everywhere). What the compiler split off a
 * function (`.part.0`, `.cold`, `.constprop.0`, `.isra.0`, …) belongs to it: one
 * function, several pieces. Instructions are decoded for aarch64 (bl, b, ret) and,
 * by capstone, for x86-64. A `b` or `jmp` out of the function is a tail call: both
 * a call and a place where the function ends.
 *
 * Callers that probe entries and ends must know: one place can be both (a function
 * that is nothing but a tail call); a function can jump to its own entry, so
 * that it is entered twice at one stack pointer and ends once; and few ends are
 * left out, because they cannot be distinguished from other branches: a conditional branch
 * into another function, an indirect jump that does not look like leaving.
 *
 * Offsets are offsets in the file, as uprobes want them.
 */
#ifndef LODE_SYMBOLS_CODE_H
#define LODE_SYMBOLS_CODE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What an instruction is to a probe on it: the kernel emulates some and runs the others in a
 * copy, step by step. Most of what a hit costs depends on that (hunt/meter/live/probe_cost.h measures it).
 */
enum lode_probed_kind {
	LODE_PROBED_PUSH, /* pushes a register, or the frame record: how most functions begin */
	LODE_PROBED_NOP,
	LODE_PROBED_BRANCH, /* jumps and calls to a place in the code; on aarch64 also those by register, and adrp */
	LODE_PROBED_RETURN,
	LODE_PROBED_OTHER,
	LODE_PROBED_KINDS,
};

struct lode_code_function {
	const char *name;     /* demangled, without the suffix of a clone */
	uint32_t first_entry; /* in `offsets`: where callers enter (clones have entries of their own) */
	uint32_t entry_count;
	uint32_t first_end; /* in `offsets`: return instructions and tail calls */
	uint32_t end_count;
	uint32_t first_callee; /* in `callees`: each once, ascending */
	uint32_t callee_count;
	uint8_t indirect;     /* calls through pointers too: callees are not all */
	uint8_t unknown_ends; /* could not be decoded, or the kernel cannot probe it: do not probe */
};

struct lode_code_piece {
	uint64_t start; /* file offset */
	uint64_t end;
	uint32_t function;
};

/* A function of another binary, called through the PLT: LODE_CODE_IMPORT | index in `imports`. */
#define LODE_CODE_IMPORT 0x80000000u

struct lode_code {
	struct lode_code_function *functions;
	size_t count;
	struct lode_code_piece *pieces; /* by start; they do not overlap */
	size_t piece_count;
	uint64_t *offsets;
	uint8_t *kinds; /* enum lode_probed_kind, of each offset */
	size_t offset_count;
	uint32_t *callees; /* functions, or imports */
	size_t callee_count;
	const char **imports; /* as the linker knows them, without a version */
	size_t import_count;
	const char *undecoded; /* why no instruction was read, and what to do; NULL: they were */
	uint32_t main;         /* the function that the C library starts; LODE_NONE: not known */
	void *owned;
};

/*
 * Reads the code of the file at `path`, with names from its debug file where there
 * is one. Time and memory are linear in its size. LODE_BAD_INPUT when it is no ELF
 * file, LODE_SYSTEM when it cannot be opened or memory ran out; the struct is then
 * empty. What was read does not change: any number of threads may look things up.
 */
int lode_code_read(struct lode_code *code, const char *path, struct lode_error *error);
void lode_code_release(struct lode_code *code);
/* The function whose code holds a file offset; LODE_NONE: none. */
uint32_t lode_code_find(const struct lode_code *code, uint64_t offset);
/* The function of this name (as shown, or as the linker knows it); LODE_NONE: none. */
uint32_t lode_code_named(const struct lode_code *code, const char *name);
/* The function that other binaries get when they import this linker's name; LODE_NONE: none. */
uint32_t lode_code_exported(const struct lode_code *code, const char *name);
/* The kind of the instruction at `bytes`; `machine`: as ELF numbers it. */
enum lode_probed_kind lode_code_probed_kind(unsigned machine, const unsigned char *bytes, size_t size);

#endif
