/*
 * Programs: see program.h.
 *
 * The functions of a binary get numbers in a row, so that the number of one is that
 * of the binary's first plus its number in the code.
 *
 * An import is resolved once, to the first binary, in order of adding, that exports
 * its name: when its own binary is added, by those before it and by itself; else
 * when the binary comes that has it. Each binary lists who calls each of its
 * imports, so that resolving one later costs only its callers.
 */
#include "hunt/meter/program.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/id_array.h"
#include "base/strings.h"
#include "symbols/mapping_kind.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct binary {
	struct stat file; /* which it is */
	struct lode_code code;
	uint32_t first;     /* number of its first function in the program */
	uint8_t *resolved;  /* by import */
	size_t *first_call; /* by import: in `callers`; and one more */
	uint32_t *callers;  /* numbers in the code */
};

/* Who a function calls. */
struct callees {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

struct call {
	uint32_t caller;
	uint32_t callee;
};

struct lode_program {
	struct binary **binaries;
	size_t binary_count;
	size_t binary_capacity;
	struct lode_arena arena; /* of the functions, which never move */
	struct lode_program_function **functions;
	struct callees *callees; /* by function */
	size_t count;
	size_t function_capacity;
	size_t callees_capacity;
	struct lode_strings names;
	uint32_t *named; /* by text: the first function of this name, or LODE_NONE */
	size_t named_capacity;
	uint32_t *modules; /* by text: the number of the module of this name, or LODE_NONE */
	size_t modules_capacity;
	struct call *calls;
	size_t call_count;
	size_t call_capacity;
	struct lode_index by_call; /* of calls */
	int failed;                /* memory ran out */
};

int lode_program_create(struct lode_program **program, struct lode_error *error)
{
	*program = lode_calloc(1, sizeof(**program));
	if (*program && lode_strings_init(&(*program)->names) == 0)
		return 0;
	lode_program_destroy(*program);
	*program = NULL;
	return lode_fail_memory(error);
}

static void destroy_binary(struct binary *binary)
{
	if (!binary)
		return;
	lode_code_release(&binary->code);
	lode_free(binary->resolved);
	lode_free(binary->first_call);
	lode_free(binary->callers);
	lode_free(binary);
}

void lode_program_destroy(struct lode_program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->binary_count; i++)
		destroy_binary(program->binaries[i]);
	for (size_t i = 0; i < program->count; i++)
		lode_free(program->callees[i].items);
	lode_free(program->binaries);
	lode_free(program->functions);
	lode_free(program->callees);
	lode_free(program->named);
	lode_free(program->modules);
	lode_free(program->calls);
	lode_index_release(&program->by_call);
	lode_strings_release(&program->names);
	lode_arena_release(&program->arena);
	lode_free(program);
}

/* ---- functions ---- */

static int fail(struct lode_program *program)
{
	program->failed = 1;
	return LODE_SYSTEM;
}

/* Remembers the number that has a name, unless another has it already. */
static int name_number(struct lode_program *program, uint32_t **by_text, size_t *capacity, uint32_t text,
		       uint32_t number)
{
	uint32_t *place = lode_id_place(by_text, capacity, text);

	if (!place)
		return fail(program);
	if (*place == LODE_NONE)
		*place = number;
	return 0;
}

/* Adds a number whose whole name is `text`. */
static int add_number(struct lode_program *program, uint32_t text, const char *module, uint32_t binary,
		      uint32_t code, int is_module)
{
	struct lode_program_function *function = lode_arena_alloc(&program->arena, sizeof(*function));

	if (!function || program->count >= LODE_NONE ||
	    LODE_GROW(program->functions, program->function_capacity, program->count + 1) < 0 ||
	    LODE_GROW(program->callees, program->callees_capacity, program->count + 1) < 0)
		return fail(program);
	*function = (struct lode_program_function){
		.name = lode_strings_get(&program->names, text),
		.module = module,
		.binary = binary,
		.code = code,
		.is_module = is_module,
	};
	program->functions[program->count] = function;
	program->callees[program->count] = (struct callees){ 0 };
	program->count++;
	return 0;
}

static int add_function(struct lode_program *program, uint32_t text, const char *module, uint32_t binary,
			uint32_t code)
{
	if (add_number(program, text, module, binary, code, 0) < 0)
		return LODE_SYSTEM;
	return name_number(program, &program->named, &program->named_capacity, text, (uint32_t)program->count - 1);
}

static uint32_t find_named(const struct lode_program *program, const char *name)
{
	uint32_t text = lode_strings_find(&program->names, name, strlen(name));

	return text < program->named_capacity ? program->named[text] : LODE_NONE;
}

uint32_t lode_program_named(struct lode_program *program, const char *name)
{
	const char *end = strchr(name, '!');
	uint32_t known = find_named(program, name);
	uint32_t text, module;

	if (known != LODE_NONE)
		return known;
	text = lode_strings_add(&program->names, name, strlen(name));
	module = lode_strings_add(&program->names, name, end ? (size_t)(end - name) : 0);
	if (text == LODE_NONE || module == LODE_NONE) {
		fail(program);
		return LODE_NONE;
	}
	if (add_function(program, text, lode_strings_get(&program->names, module), LODE_NONE, LODE_NONE) < 0)
		return LODE_NONE;
	return (uint32_t)program->count - 1;
}

void lode_program_set_scripted(struct lode_program *program, uint32_t function)
{
	program->functions[function]->is_scripted = 1;
}

int lode_program_module(struct lode_program *program, uint32_t function, uint32_t *module)
{
	const char *name = program->functions[function]->module;
	uint32_t text;

	*module = LODE_NONE;
	if (!name[0])
		return 0;
	text = lode_strings_add(&program->names, name, strlen(name));
	if (text == LODE_NONE)
		return fail(program);
	if (text >= program->modules_capacity || program->modules[text] == LODE_NONE) {
		if (add_number(program, text, name, LODE_NONE, LODE_NONE, 1) < 0 ||
		    name_number(program, &program->modules, &program->modules_capacity, text,
				(uint32_t)program->count - 1) < 0)
			return LODE_SYSTEM;
	}
	*module = program->modules[text];
	return 0;
}

int lode_program_is_module(const struct lode_program *program, uint32_t function)
{
	return function < program->count && program->functions[function]->is_module;
}

size_t lode_program_count(const struct lode_program *program)
{
	return program->count;
}

const struct lode_program_function *lode_program_function(const struct lode_program *program, uint32_t function)
{
	return program->functions[function];
}

/* ---- calls ---- */

static int is_known(const struct lode_program *program, uint64_t hash, const struct call *call)
{
	return LODE_INDEX_FIND(i, &program->by_call, hash,
			       program->calls[i].caller == call->caller &&
				       program->calls[i].callee == call->callee) != LODE_NONE;
}

int lode_program_add_call(struct lode_program *program, uint32_t caller, uint32_t callee)
{
	struct call call = { caller, callee };
	uint64_t hash = lode_hash_pair(caller, callee);
	struct callees *callees = &program->callees[caller];

	if (is_known(program, hash, &call))
		return 0;
	if (program->call_count >= LODE_NONE ||
	    LODE_GROW(program->calls, program->call_capacity, program->call_count + 1) < 0 ||
	    LODE_GROW(callees->items, callees->capacity, callees->count + 1) < 0 ||
	    lode_index_insert(&program->by_call, hash, (uint32_t)program->call_count) < 0)
		return fail(program);
	program->calls[program->call_count++] = call;
	callees->items[callees->count++] = callee;
	return 1;
}

const uint32_t *lode_program_callees(const struct lode_program *program, uint32_t function, size_t *count)
{
	*count = program->callees[function].count;
	return program->callees[function].items;
}

/* ---- binaries ---- */

/* Lists the callers of each import, by counting them. */
static int list_callers(struct binary *binary)
{
	const struct lode_code *code = &binary->code;
	size_t *first = lode_calloc(code->import_count + 2, sizeof(*first));

	binary->first_call = first;
	binary->callers = lode_calloc(code->callee_count + 1, sizeof(*binary->callers));
	binary->resolved = lode_calloc(code->import_count + 1, sizeof(*binary->resolved));
	if (!first || !binary->callers || !binary->resolved)
		return LODE_SYSTEM;
	for (size_t i = 0; i < code->callee_count; i++)
		if (code->callees[i] & LODE_CODE_IMPORT)
			first[(code->callees[i] & ~LODE_CODE_IMPORT) + 2]++;
	for (size_t i = 2; i < code->import_count + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < code->count; i++) {
		const struct lode_code_function *function = &code->functions[i];
		const uint32_t *callees = code->callees + function->first_callee;

		for (uint32_t n = 0; n < function->callee_count; n++)
			if (callees[n] & LODE_CODE_IMPORT)
				binary->callers[first[(callees[n] & ~LODE_CODE_IMPORT) + 1]++] = i;
	}
	return 0;
}

/* Looks for an import of `binary` in `other`, and joins its callers to what is found. */
static int resolve(struct lode_program *program, struct binary *binary, size_t import, const struct binary *other)
{
	uint32_t found = lode_code_exported(&other->code, binary->code.imports[import]);
	int code = 0;

	if (found == LODE_NONE)
		return 0;
	binary->resolved[import] = 1;
	for (size_t i = binary->first_call[import]; i < binary->first_call[import + 1] && code >= 0; i++)
		code = lode_program_add_call(program, binary->first + binary->callers[i], other->first + found);
	return code < 0 ? code : 0;
}

/* The imports of `binary` that no binary before `other` has. */
static int resolve_all(struct lode_program *program, struct binary *binary, const struct binary *other)
{
	int code = 0;

	for (size_t i = 0; i < binary->code.import_count && code == 0; i++)
		if (!binary->resolved[i])
			code = resolve(program, binary, i, other);
	return code;
}

static int add_functions(struct lode_program *program, struct binary *binary, uint32_t number, const char *module)
{
	struct lode_buffer name = { 0 };
	int code = 0;

	binary->first = (uint32_t)program->count;
	for (uint32_t i = 0; i < binary->code.count && code == 0; i++) {
		uint32_t text;

		lode_buffer_clear(&name);
		lode_buffer_text(&name, module);
		lode_buffer_byte(&name, '!');
		lode_buffer_text(&name, binary->code.functions[i].name);
		text = name.failed ? LODE_NONE : lode_strings_add(&program->names, name.bytes, name.size);
		code = text == LODE_NONE ? LODE_SYSTEM : add_function(program, text, module, number, i);
	}
	lode_buffer_release(&name);
	return code;
}

static int add_own_calls(struct lode_program *program, const struct binary *binary)
{
	const struct lode_code *code = &binary->code;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct lode_code_function *function = &code->functions[i];
		const uint32_t *callees = code->callees + function->first_callee;

		for (uint32_t n = 0; n < function->callee_count; n++)
			if (!(callees[n] & LODE_CODE_IMPORT) &&
			    lode_program_add_call(program, binary->first + i, binary->first + callees[n]) < 0)
				return LODE_SYSTEM;
	}
	return 0;
}

/* Makes a binary whose code was read, and which the program owns, part of it. */
static int join_binary(struct lode_program *program, uint32_t number, const char *name)
{
	struct binary *binary = program->binaries[number];
	uint32_t module;
	size_t length;
	int code = 0;

	lode_mapped_name(name, &name, &length);
	module = lode_strings_add(&program->names, name, length);
	if (module == LODE_NONE || list_callers(binary) < 0 ||
	    add_functions(program, binary, number, lode_strings_get(&program->names, module)) < 0 ||
	    add_own_calls(program, binary) < 0)
		return LODE_SYSTEM;
	for (uint32_t i = 0; i <= number && code == 0; i++)
		code = resolve_all(program, binary, program->binaries[i]);
	for (uint32_t i = 0; i < number && code == 0; i++)
		code = resolve_all(program, program->binaries[i], binary);
	return code;
}

static int is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static uint32_t find_binary(const struct lode_program *program, const struct stat *file)
{
	for (size_t i = 0; i < program->binary_count; i++)
		if (is_same_file(&program->binaries[i]->file, file))
			return (uint32_t)i;
	return LODE_NONE;
}

/* Reads a binary and gives it to the program. */
static int read_binary(struct lode_program *program, const char *path, const struct stat *file,
		       struct lode_error *error)
{
	struct binary *binary = lode_calloc(1, sizeof(*binary));
	int code;

	if (!binary)
		return lode_fail_memory(error);
	binary->file = *file;
	code = lode_code_read(&binary->code, path, error);
	if (code == 0 && LODE_APPEND(program->binaries, program->binary_count, program->binary_capacity, binary) < 0)
		code = lode_fail_memory(error);
	if (code < 0)
		destroy_binary(binary);
	return code;
}

int lode_program_add_binary(struct lode_program *program, const char *path, const char *name, uint32_t *binary,
			    struct lode_error *error)
{
	struct stat file;
	int code;

	*binary = LODE_NONE;
	if (program->failed)
		return lode_fail_memory(error);
	if (stat(path, &file) < 0)
		return lode_fail(error, LODE_SYSTEM, "%s: %s", path, strerror(errno));
	*binary = find_binary(program, &file);
	if (*binary != LODE_NONE)
		return 0;
	code = read_binary(program, path, &file, error);
	if (code < 0)
		return code;
	if (join_binary(program, (uint32_t)program->binary_count - 1, name) < 0) {
		program->failed = 1;
		return lode_fail_memory(error);
	}
	*binary = (uint32_t)program->binary_count - 1;
	return 0;
}

const struct lode_code *lode_program_code(const struct lode_program *program, uint32_t binary)
{
	return binary < program->binary_count ? &program->binaries[binary]->code : NULL;
}

uint32_t lode_program_at(const struct lode_program *program, uint32_t binary, uint64_t offset)
{
	uint32_t function;

	if (binary >= program->binary_count)
		return LODE_NONE;
	function = lode_code_find(&program->binaries[binary]->code, offset);
	return function == LODE_NONE ? LODE_NONE : program->binaries[binary]->first + function;
}
