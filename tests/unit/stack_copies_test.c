/*
 * Copies of user stacks: what is unwound from a copy of this program's own stack
 * is what the compiler's unwinder (backtrace) says; what makes no sense ends.
 */
#include "cmocka_all.h"
#include "own_maps.h"

#include "base/error.h"
#include "record/unwind/stack_copies.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST 96

struct fixture {
	struct lode_process_unwinder unwinder;
	struct lode_stack_copies copies;
};

static int begin(struct fixture *fixture)
{
	lode_stack_copies_init(&fixture->copies, &fixture->unwinder);
	return lode_process_unwinder_init(&fixture->unwinder, "");
}

static void end(struct fixture *fixture)
{
	lode_stack_copies_release(&fixture->copies);
	lode_process_unwinder_release(&fixture->unwinder);
}

/* ---- a copy of this very stack ---- */

static uint64_t stack_end(void)
{
	unsigned long long start, end, found = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]") && sscanf(line, "%llx-%llx", &start, &end) == 2)
			found = end;
	fclose(maps);
	assert_true(found);
	return found;
}

/* Byte by byte, and unseen by the sanitizer, for it forbids to look at what is between variables. */
__attribute__((no_sanitize("address"))) static void copy_bytes(struct lode_record_copy *copy)
{
	const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)(copy->sp - LODE_RECORD_RED_ZONE);

	for (uint32_t i = 0; i < copy->size; i++)
		copy->bytes[i] = from[i];
}

struct capture {
	struct lode_record_copy copy;
	void *frames[MOST];
	int count;
};

/* The first of `frames` becomes where `take` is, whatever is between it and backtrace (a sanitizer does). */
static void drop_innermost(struct capture *capture, uintptr_t caller)
{
	int first = 0;

	while (first + 1 < capture->count && (uintptr_t)capture->frames[first + 1] != caller)
		first++;
	memmove(capture->frames, capture->frames + first, (size_t)(capture->count - first) * sizeof(void *));
	capture->count -= first;
}

static __attribute__((noinline)) void take(struct capture *capture, uint64_t end)
{
	ucontext_t context;

	getcontext(&context);
#if defined(__aarch64__)
	capture->copy.pc = context.uc_mcontext.pc;
	capture->copy.sp = context.uc_mcontext.sp;
	capture->copy.fp = context.uc_mcontext.regs[29];
	capture->copy.link = context.uc_mcontext.regs[30];
#elif defined(__x86_64__)
	capture->copy.pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	capture->copy.sp = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
	capture->copy.fp = (uint64_t)context.uc_mcontext.gregs[REG_RBP];
	capture->copy.scratch = (uint64_t)context.uc_mcontext.gregs[REG_R10];
#endif
	capture->copy.size = LODE_RECORD_COPY_BYTES;
	if (end - capture->copy.sp + LODE_RECORD_RED_ZONE < capture->copy.size)
		capture->copy.size = (uint32_t)(end - capture->copy.sp + LODE_RECORD_RED_ZONE);
	copy_bytes(&capture->copy);
	capture->count = backtrace(capture->frames, MOST);
	drop_innermost(capture, (uintptr_t)__builtin_return_address(0));
}

/* A stack of a random shape: three functions that call each other, with frames of different sizes. */
static void second(struct capture *capture, uint64_t end, unsigned random, int depth);

static __attribute__((noinline)) void first(struct capture *capture, uint64_t end, unsigned random, int depth)
{
	volatile char room[40];

	room[0] = (char)depth;
	if (depth)
		second(capture, end, random * 1103515245u + 12345u, depth - 1);
	else
		take(capture, end);
	room[1] = room[0];
}

static __attribute__((noinline)) void third(struct capture *capture, uint64_t end, unsigned random, int depth)
{
	volatile char *room = __builtin_alloca((random >> 16) % 200 + 1);

	room[0] = 1;
	first(capture, end, random * 1103515245u + 12345u, depth ? depth - 1 : 0);
	room[0] = 2;
}

static __attribute__((noinline)) void second(struct capture *capture, uint64_t end, unsigned random, int depth)
{
	volatile uint64_t room[3] = { random, random, random };

	if (random & 0x10000)
		third(capture, end, random * 1103515245u + 12345u, depth);
	else
		first(capture, end, random * 1103515245u + 12345u, depth);
	room[2] = room[1];
}

static void name_copy(struct lode_record_copy *copy, uint64_t id)
{
	copy->id = id;
	copy->mark = LODE_RECORD_COPY_MARK;
	copy->pid = (uint32_t)getpid();
	copy->tid = copy->pid;
	copy->kind = LODE_COPY_OWN;
}

/* The stack that the copy `id` became. */
static const struct lode_record_stack *stack_of(struct fixture *fixture, uint64_t id)
{
	const struct lode_record_stack *stack;

	assert_int_equal(lode_stack_copies_find(&fixture->copies, id, &stack), 0);
	assert_non_null(stack);
	assert_int_equal(stack->user, 1);
	assert_int_equal(stack->id & LODE_RECORD_COPY_ID, 0);
	return stack;
}

static void a_copy_of_this_stack_unwinds_to_what_the_compiler_says(void **state)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	uint64_t top = stack_end(), compared = 0, whole = 0;
	struct fixture fixture;

	(void)state;
	skip_unless_mapped(MAPPED_CODE);
	assert_int_equal(begin(&fixture), 0);
	for (unsigned random = 1; random <= 300; random++) {
		const struct lode_record_stack *stack;

		first(capture, top, random * 2654435761u, (int)(random % 25));
		name_copy(&capture->copy, random);
		assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
		stack = stack_of(&fixture, random);
		/* The innermost is not where both were in the same function. */
		for (uint32_t i = 1; i < stack->count && i < (uint32_t)capture->count; i++, compared++)
			assert_true(stack->addresses[i] == (uint64_t)(uintptr_t)capture->frames[i]);
		/* A sanitizer makes frames larger than the copy; what is not cut reaches the root. */
		assert_true(stack->end == LODE_STACK_WHOLE || stack->end == LODE_STACK_SHORT);
		assert_int_equal(stack->guessed, 0);
		whole += stack->end == LODE_STACK_WHOLE;
		if (stack->end == LODE_STACK_WHOLE)
			assert_true(stack->count == (uint32_t)capture->count ||
				    stack->count + 1 == (uint32_t)capture->count);
	}
	assert_true(compared > 300 * 8);
	assert_true(whole > 50);
	free(capture);
	end(&fixture);
}

static void what_is_not_in_the_copy_is_cut(void **state)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	const struct lode_record_stack *stack;
	struct fixture fixture;
	int cut = 0;

	(void)state;
	skip_unless_mapped(MAPPED_CODE);
	assert_int_equal(begin(&fixture), 0);
	first(capture, stack_end(), 7, 12);
	capture->copy.size = 1500; /* take has a whole ucontext_t before the first caller */
	while (capture->copy.size < LODE_RECORD_COPY_BYTES) {
		name_copy(&capture->copy, capture->copy.size);
		assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
		stack = stack_of(&fixture, capture->copy.id);
		assert_true(stack->count <= (uint32_t)capture->count);
		for (uint32_t i = 1; i < stack->count; i++)
			assert_true(stack->addresses[i] == (uint64_t)(uintptr_t)capture->frames[i]);
		if (stack->end == LODE_STACK_WHOLE)
			break;
		assert_int_equal(stack->end, LODE_STACK_SHORT);
		cut++;
		capture->copy.size += 96;
	}
	assert_true(cut > 3);
	free(capture);
	end(&fixture);
}

/* Callers are addresses of code, whatever the bytes say: nothing else of a program's memory gets out. */
static void assert_only_code(struct fixture *fixture, const struct lode_record_stack *stack)
{
	struct lode_process *own = lode_processes_get(&fixture->unwinder.processes, (uint32_t)getpid());

	for (uint32_t i = 1; i < stack->count; i++)
		assert_non_null(lode_space_find(&fixture->unwinder.processes.spaces, &own->space,
						stack->addresses[i] - 1));
}

static void copies_that_make_no_sense_end_and_show_no_data(void **state)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	uint64_t top = stack_end();
	struct fixture fixture;
	uint64_t random = 88172645463325252u;

	(void)state;
	assert_int_equal(begin(&fixture), 0);
	first(capture, top, 5, 10);
	for (uint64_t id = 1; id <= 3000; id++) {
		struct lode_record_copy *copy = &capture->copy;

		name_copy(copy, id);
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* One byte after the other goes wrong, and now and then a register. */
		copy->bytes[random % copy->size] = (uint8_t)(random >> 24);
		if (random % 16 == 0)
			copy->fp ^= 1ull << (random >> 32 & 63);
		if (random % 32 == 1)
			copy->pc += random >> 40 & 0xfff;
		if (random % 64 == 2)
			copy->sp ^= 1ull << (random >> 32 & 63);
		assert_int_equal(lode_stack_copies_add(&fixture.copies, copy), 0);
		assert_only_code(&fixture, stack_of(&fixture, id));
	}
	free(capture);
	end(&fixture);
}

static void a_wait_that_is_long_keeps_its_stack_while_others_come_and_go(void **state)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	struct fixture fixture;
	uint64_t id = 1;

	(void)state;
	skip_unless_mapped(MAPPED_CODE);
	assert_int_equal(begin(&fixture), 0);
	first(capture, stack_end(), 3, 4);
	fixture.copies.limit = 100;
	name_copy(&capture->copy, id);
	assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
	for (uint32_t batch = 0; batch < 40; batch++) {
		for (int i = 0; i < 50; i++) {
			name_copy(&capture->copy, ++id);
			capture->copy.tid = 7;
			assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
		}
		stack_of(&fixture, id);
		fixture.copies.limit = 100;
	}
	assert_true(fixture.copies.count < 400);
	assert_true(stack_of(&fixture, 1)->count > 4);
	assert_true(stack_of(&fixture, 1)->id == stack_of(&fixture, id)->id); /* equal stacks are one */
	free(capture);
	end(&fixture);
}

static void a_copy_waits_until_it_is_known_what_its_process_had_mapped(void **state)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	struct fixture fixture;

	(void)state;
	assert_int_equal(begin(&fixture), 0);
	first(capture, stack_end(), 3, 4);
	fixture.copies.known = 100;
	for (uint64_t id = 1; id <= 6; id++) {
		name_copy(&capture->copy, id);
		capture->copy.t = id % 2 ? 50 : 150;
		assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
	}
	stack_of(&fixture, 1);
	/* The next batch begins, and old copies are dropped: what is not unwound now keeps its bytes. */
	fixture.copies.limit = 1;
	name_copy(&capture->copy, 7);
	assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
	for (uint64_t id = 1; id <= 7; id++)
		assert_int_equal(fixture.copies.items[id - 1].stack == LODE_NONE, id % 2 == 0 || id == 7);
	assert_int_equal(stack_of(&fixture, 4)->id, stack_of(&fixture, 1)->id);
	fixture.copies.known = 200;
	name_copy(&capture->copy, 8);
	assert_int_equal(lode_stack_copies_add(&fixture.copies, &capture->copy), 0);
	assert_int_equal(stack_of(&fixture, 6)->id, stack_of(&fixture, 7)->id);
	assert_int_equal(fixture.copies.stacks[0]->id, stack_of(&fixture, 8)->id);
	free(capture);
	end(&fixture);
}

static int report_all(struct fixture *fixture, struct capture *capture)
{
	const struct lode_record_stack *stack;
	int code = begin(fixture);

	fixture->copies.limit = 4;
	for (uint64_t id = 1; !code && id < 12; id++) {
		name_copy(&capture->copy, id);
		code = lode_stack_copies_add(&fixture->copies, &capture->copy);
		if (!code && id % 3 == 0)
			code = lode_stack_copies_find(&fixture->copies, id, &stack);
	}
	end(fixture);
	return code;
}

static void memory_that_runs_out_anywhere_is_reported(void **state)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	struct fixture fixture;
	uint64_t failures = 0;
	int code = LODE_SYSTEM;

	(void)state;
	first(capture, stack_end(), 3, 4);
	for (uint64_t nth = 1; code < 0 || nth < 200; nth++) {
		lode_memory_fail_at(nth, 0);
		code = report_all(&fixture, capture);
		lode_memory_fail_at(0, 0);
		failures += code < 0;
	}
	assert_true(failures > 20);
	free(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_of_this_stack_unwinds_to_what_the_compiler_says),
		cmocka_unit_test(what_is_not_in_the_copy_is_cut),
		cmocka_unit_test(copies_that_make_no_sense_end_and_show_no_data),
		cmocka_unit_test(a_wait_that_is_long_keeps_its_stack_while_others_come_and_go),
		cmocka_unit_test(a_copy_waits_until_it_is_known_what_its_process_had_mapped),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
