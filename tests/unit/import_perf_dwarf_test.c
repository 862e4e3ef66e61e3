/*
 * perf.data with copies of user stacks (perf record --call-graph dwarf): samples of
 * this very program, made here, become what the compiler's unwinder (backtrace) says;
 * what is false or missing is counted and does no harm.
 */
#include "perf_recording.h"

#include "import/kernel/perf_data/user_stack_copies.h"
#include "import/kernel/perf_data/user_stacks.h"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <sys/utsname.h>
#include <ucontext.h>
#include <unistd.h>

#define MOST     96
#define BYTES    32768
#define PID      77
#define IN_FILE  0
#define IN_PIPE  1
#define IN_PACKS 2

/* Numbers of perf's registers, and those it records. */
#if defined(__aarch64__)
enum { FP = 29, LINK = 30, SP = 31, PC = 32, OTHER_FP = 6, OTHER_SP = 7, OTHER_PC = 8 };
#define MASK  0x1ffffffffull
#define OTHER "x86_64"
#else
enum { FP = 6, SP = 7, PC = 8, SCRATCH = 18, OTHER_FP = 29, OTHER_SP = 31, OTHER_PC = 32 };
#define MASK  0xff0fffull
#define OTHER "aarch64"
#endif

/* ---- what this program has mapped ---- */

struct part {
	unsigned long long start, end, offset;
	char path[512];
	int is_code;
};

struct parts {
	struct part items[512];
	size_t count;
	uint64_t stack_end;
};

/* Whether one of the binary's segments of code is in a part: emulators do not list code as such. */
static int has_code(struct dl_phdr_info *binary, size_t size, void *context)
{
	const struct part *part = context;

	(void)size;
	for (int i = 0; i < binary->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &binary->dlpi_phdr[i];
		uint64_t start = binary->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && start < part->end &&
		    start + segment->p_memsz > part->start)
			return 1;
	}
	return 0;
}

static void read_parts(struct parts *parts)
{
	char line[1024], rights[8];
	FILE *maps = fopen("/proc/self/maps", "r");

	assert_non_null(maps);
	parts->count = 0;
	while (fgets(line, sizeof(line), maps)) {
		struct part *part = &parts->items[parts->count];

		assert_true(parts->count < 512);
		part->path[0] = '\0';
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %511[^\n]", &part->start, &part->end, rights,
			   &part->offset, part->path) < 4)
			continue;
		part->is_code = rights[2] == 'x' || dl_iterate_phdr(has_code, part);
		if (!strcmp(part->path, "[stack]"))
			parts->stack_end = part->end;
		/* Of memory that is in no file a sanitizer has hundreds. */
		parts->count += part->is_code || part->path[0];
	}
	fclose(maps);
	assert_true(parts->stack_end);
}

/* The text of the frame of an address, as an import without symbols has it; "" for none. */
static void frame_text(const struct parts *parts, uint64_t address, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->items[i];
		const char *slash = strrchr(part->path, '/');

		if (part->is_code && address >= part->start && address < part->end)
			snprintf(text, size, "%s!0x%llx", slash ? slash + 1 : part->path,
				 (unsigned long long)address - part->start + part->offset);
	}
}

/* ---- a copy of this very stack ---- */

struct capture {
	uint64_t registers[64]; /* by perf's numbers */
	unsigned char bytes[BYTES];
	size_t size;
	void *frames[MOST];
	int count;
};

/* Byte by byte, and unseen by the sanitizer, for it forbids to look at what is between variables. */
__attribute__((no_sanitize("address"))) static void copy_bytes(struct capture *capture)
{
	const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)capture->registers[SP];

	for (size_t i = 0; i < capture->size; i++)
		capture->bytes[i] = from[i];
}

/* The first of `frames` becomes where `take` is, whatever is between it and backtrace (a sanitizer does).
 */
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
	capture->registers[PC] = context.uc_mcontext.pc;
	capture->registers[SP] = context.uc_mcontext.sp;
	capture->registers[FP] = context.uc_mcontext.regs[29];
	capture->registers[LINK] = context.uc_mcontext.regs[30];
#elif defined(__x86_64__)
	capture->registers[PC] = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	capture->registers[SP] = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
	capture->registers[FP] = (uint64_t)context.uc_mcontext.gregs[REG_RBP];
	capture->registers[SCRATCH] = (uint64_t)context.uc_mcontext.gregs[REG_R10];
#endif
	capture->size = end - capture->registers[SP] < BYTES ? end - capture->registers[SP] : BYTES;
	copy_bytes(capture);
	capture->count = backtrace(capture->frames, MOST);
	drop_innermost(capture, (uintptr_t)__builtin_return_address(0));
}

/* A stack of some shape: two functions that call each other, with frames of different sizes. */
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

static __attribute__((noinline)) void second(struct capture *capture, uint64_t end, unsigned random, int depth)
{
	volatile char *room = __builtin_alloca((random >> 16) % 200 + 1);

	room[0] = 1;
	first(capture, end, random * 1103515245u + 12345u, depth ? depth - 1 : 0);
	room[0] = 2;
}

/* ---- recordings of it ---- */

struct fixture {
	struct parts parts;
	struct utsname own;
	struct recording recording;
	struct capture capture;
	uint64_t registers[64]; /* those in the mask, one after the other */
	struct user_state user;
};

static void begin(struct fixture *fixture)
{
	struct perf_event_attr *attr;

	memset(fixture, 0, sizeof(*fixture));
	read_parts(&fixture->parts);
	uname(&fixture->own);
	fixture->recording.arch = fixture->own.machine;
	attr = add_clock(&fixture->recording);
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = MASK;
}

/* Maps all that this program has, at time 0, as code or as data. */
static void put_parts(struct fixture *fixture, int as_data)
{
	for (size_t i = 0; i < fixture->parts.count; i++) {
		const struct part *part = &fixture->parts.items[i];
		uint16_t misc = PERF_RECORD_MISC_USER;

		if (as_data || !part->is_code)
			misc |= PERF_RECORD_MISC_MMAP_DATA;
		put_any_map(&fixture->recording, misc, 0, PID, part->start, part->end - part->start, part->offset,
			    part->path[0] ? part->path : "//anon");
	}
}

/* The user's state as a sample has it: all of the copy, with room for more. */
static struct user_state *set_user(struct fixture *fixture)
{
	uint64_t mask = fixture->recording.events[0].sample_regs_user;
	size_t count = 0;

	for (unsigned i = 0; i < 64; i++)
		if (mask & 1ull << i)
			fixture->registers[count++] = fixture->capture.registers[i];
	fixture->user = (struct user_state){
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.registers = fixture->registers,
		.register_count = count,
		.size = fixture->capture.size + 64,
		.bytes = fixture->capture.bytes,
		.byte_count = fixture->capture.size,
		.copied = fixture->capture.size,
	};
	return &fixture->user;
}

static void put_user_sample(struct fixture *fixture, uint64_t time)
{
	put_sample(&fixture->recording,
		   (struct sample){ .time = time, .pid = PID, .tid = PID, .period = 1, .user = &fixture->user });
}

static void import_as(struct fixture *fixture, struct imported *imported, int way, unsigned jobs)
{
	struct lode_import_options options = { .jobs = jobs, .no_symbols = 1, .cache = "" };
	struct lode_buffer file = { 0 };

	if (way == IN_PACKS)
		compress(&fixture->recording, 81);
	if (way == IN_PIPE)
		make_pipe(&fixture->recording, &file);
	else
		make_file(&fixture->recording, &file);
	import_bytes(imported, &lode_importer_perf_data, file.bytes, file.size, &options);
	assert_string_equal(imported->code < 0 ? imported->error.text : "", "");
	lode_buffer_release(&file);
}

/* The frames of the run at `time`, leaf first, as texts in `line`, a copy that the caller frees. */
static size_t frames_of(const struct imported *imported, uint64_t time, char **line, char **frames, size_t limit)
{
	size_t count = 0;
	char start[32];
	const char *at;
	char *stack;

	snprintf(start, sizeof(start), "run %llu+", (unsigned long long)time);
	at = strstr(imported->text.bytes, start);
	assert_non_null(at);
	*line = strndup(at, strcspn(at, "\n"));
	stack = strstr(*line, " cpu=0 ") + strlen(" cpu=0 ");
	for (char *bar = stack; *stack && bar && count < limit;) {
		bar = strrchr(stack, '|');
		frames[count++] = bar ? bar + 1 : stack;
		if (bar)
			*bar = '\0';
	}
	return count;
}

/* Whether the frames of the run at `time` are those of the capture, as far as they go. Returns their number.
 */
static size_t assert_frames(const struct fixture *fixture, const struct imported *imported, uint64_t time)
{
	char *line, *frames[MOST];
	size_t count = frames_of(imported, time, &line, frames, MOST);

	assert_true(count >= 1 && count <= (size_t)fixture->capture.count);
	/* The innermost is not where both were in the same function. */
	for (size_t i = 1; i < count; i++) {
		char expected[600];

		frame_text(&fixture->parts, (uint64_t)(uintptr_t)fixture->capture.frames[i] - 1, expected,
			   sizeof(expected));
		assert_string_equal(frames[i], expected);
	}
	free(line);
	return count;
}

/* ---- what is right ---- */

static void stacks_of_this_program_are_what_the_compiler_says(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	size_t frames = 0, whole = 0;

	(void)state;
	for (unsigned random = 1; random <= 40; random++) {
		struct imported imported;
		size_t count;

		begin(fixture);
		first(&fixture->capture, fixture->parts.stack_end, random * 2654435761u, (int)(random % 25));
		put_parts(fixture, 0);
		set_user(fixture);
		put_user_sample(fixture, 1000);
		import_as(fixture, &imported, (int)(random % 3), 1 + random / 3 % 2);
		count = assert_frames(fixture, &imported, 1000);
		frames += count;
		/* A sanitizer makes stacks larger than the copy. */
		if (!noted(&imported, "user stacks")) {
			whole++;
			assert_true(count == (size_t)fixture->capture.count ||
				    count + 1 == (size_t)fixture->capture.count);
		}
		release_imported(&imported);
		release(&fixture->recording);
	}
	assert_true(frames > 40 * 8);
	assert_true(whole > 8);
	free(fixture);
}

static void the_kernels_part_of_a_chain_stays_on_top(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	char *line, *frames[MOST], leaf[600];
	struct imported imported;

	(void)state;
	begin(fixture);
	first(&fixture->capture, fixture->parts.stack_end, 5, 3);
	put_parts(fixture, 0);
	put_sample(&fixture->recording, (struct sample){ .time = 1000,
							 .pid = PID,
							 .tid = PID,
							 .period = 1,
							 .user = set_user(fixture),
							 CHAIN(KERNEL, 0xffff800000002000, 0xffff800000001000) });
	import_as(fixture, &imported, IN_FILE, 1);
	assert_true(frames_of(&imported, 1000, &line, frames, MOST) > 5);
	assert_string_equal(frames[0], "kernel!0xffff800000002000");
	assert_string_equal(frames[1], "kernel!0xffff800000001000");
	frame_text(&fixture->parts, fixture->capture.registers[PC], leaf, sizeof(leaf));
	assert_string_equal(frames[2], leaf);
	free(line);
	release_imported(&imported);
	release(&fixture->recording);
	free(fixture);
}

/* A mapping is taken as of the time of the sample, whatever the order of the records. */
static void a_stack_is_unwound_with_the_mappings_of_its_time(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct imported imported;

	(void)state;
	begin(fixture);
	first(&fixture->capture, fixture->parts.stack_end, 5, 3);
	set_user(fixture);
	put_user_sample(fixture, 1000);
	put_any_map(&fixture->recording, PERF_RECORD_MISC_USER, 1001, PID, 0x1000, UINT64_MAX - 0x2000, 0,
		    "//anon");
	put_user_sample(fixture, 1002);
	put_parts(fixture, 0); /* at time 0 */
	import_as(fixture, &imported, IN_FILE, 2);
	assert_true(assert_frames(fixture, &imported, 1000) > 4);
	assert_null(strstr(strstr(imported.text.bytes, "run 1002"), "_test!"));
	release_imported(&imported);
	release(&fixture->recording);
	free(fixture);
}

/* ---- what is missing ---- */

static void a_copy_that_is_too_small_gives_what_is_in_it(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct imported imported;
	size_t last = 0, cut = 0;
	uint64_t time = 1000;

	(void)state;
	begin(fixture);
	first(&fixture->capture, fixture->parts.stack_end, 7, 12);
	put_parts(fixture, 0);
	for (size_t size = 0; size < 20000 && size < fixture->capture.size; size += 480) {
		struct user_state *user = set_user(fixture);

		user->byte_count = user->size = user->copied = size;
		put_user_sample(fixture, time++);
	}
	import_as(fixture, &imported, IN_PIPE, 1);
	for (uint64_t t = 1000; t < time; t++) {
		size_t count = assert_frames(fixture, &imported, t);

		assert_true(count >= last);
		last = count;
		cut += count + 1 < (size_t)fixture->capture.count;
	}
	assert_true(cut > 3);
	assert_true(noted(&imported, "too little of them was recorded") >= cut - 1);
	release_imported(&imported);
	release(&fixture->recording);
	free(fixture);
}

static const char *example_of(const struct imported *imported, const char *part)
{
	for (size_t i = 0; i < imported->notes.count; i++)
		if (strstr(imported->notes.items[i].what, part))
			return imported->notes.items[i].example;
	return "";
}

/* The recording becomes one of the other machine, whose files are not those of this one. */
static void make_foreign(struct fixture *fixture)
{
	uint64_t *registers = fixture->capture.registers;

	registers[OTHER_PC] = registers[PC];
	registers[OTHER_SP] = registers[SP];
	registers[OTHER_FP] = registers[FP];
	fixture->recording.arch = OTHER;
	fixture->recording.events[0].sample_regs_user = 1ull << OTHER_PC | 1ull << OTHER_SP | 1ull << OTHER_FP;
}

static void a_file_that_is_not_found_is_named(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct imported imported;

		begin(fixture);
		first(&fixture->capture, fixture->parts.stack_end, 7, 6);
		for (size_t i = 0; !foreign && i < fixture->parts.count; i++)
			strcpy(fixture->parts.items[i].path, "/nowhere/program");
		if (foreign)
			make_foreign(fixture);
		put_parts(fixture, 0);
		set_user(fixture);
		put_user_sample(fixture, 1000);
		put_user_sample(fixture, 1001);
		import_as(fixture, &imported, IN_FILE, 1);
		assert_int_equal(noted(&imported, "a binary was not found"), 2);
		assert_non_null(strstr(example_of(&imported, "a binary was not found"),
				       foreign ? "/import_perf_dwarf_test" : "/nowhere/program"));
		assert_non_null(strstr(imported.text.bytes, "run 1000+"));
		release_imported(&imported);
		release(&fixture->recording);
	}
	free(fixture);
}

static void no_word_that_points_to_data_becomes_a_caller(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct imported imported;

	(void)state;
	begin(fixture);
	first(&fixture->capture, fixture->parts.stack_end, 7, 6);
	put_parts(fixture, 1);
	set_user(fixture);
	put_user_sample(fixture, 1000);
	import_as(fixture, &imported, IN_FILE, 1);
	assert_int_equal(assert_frames(fixture, &imported, 1000), 1);
	assert_int_equal(noted(&imported, "user stacks cut off"), 1);
	release_imported(&imported);
	release(&fixture->recording);
	free(fixture);
}

/* ---- false values ---- */

static void samples_that_lie_about_their_stack_are_counted(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct imported imported;
	struct user_state *user;

	(void)state;
	begin(fixture);
	first(&fixture->capture, fixture->parts.stack_end, 7, 6);
	put_parts(fixture, 0);
	user = set_user(fixture);
	user->copied = user->size + 1;
	put_user_sample(fixture, 1000);
	user->copied = UINT64_MAX;
	put_user_sample(fixture, 1001);
	user->copied = user->byte_count;
	user->size = UINT64_MAX - 8;
	user->byte_count = 64;
	put_user_sample(fixture, 1002);
	user->size = 60100; /* 100 bytes more than there are, with what was copied */
	put_user_sample(fixture, 1003);
	import_as(fixture, &imported, IN_FILE, 1);
	assert_int_equal(noted(&imported, "damaged samples"), 4);
	assert_null(strstr(imported.text.bytes, "run "));
	release_imported(&imported);
	release(&fixture->recording);
	free(fixture);
}

static void stacks_that_cannot_be_unwound_have_their_innermost_function(void **state)
{
	static const struct {
		uint64_t abi, mask;
		const char *arch, *note;
		size_t frames;
	} cases[] = {
		{ PERF_SAMPLE_REGS_ABI_32, MASK, NULL, "32-bit programs", 1 },
		{ PERF_SAMPLE_REGS_ABI_64, MASK & ~(1ull << SP), NULL, "without the registers", 1 },
		{ PERF_SAMPLE_REGS_ABI_64, MASK & ~(1ull << PC), NULL, "without the registers", 0 },
		{ PERF_SAMPLE_REGS_ABI_64, 0, NULL, "without the registers", 0 },
		{ PERF_SAMPLE_REGS_ABI_64, MASK, "riscv64", "does not unwind", 0 },
	};
	struct fixture *fixture = malloc(sizeof(*fixture));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *line, *frames[MOST], leaf[600];
		struct imported imported;

		begin(fixture);
		first(&fixture->capture, fixture->parts.stack_end, 7, 6);
		fixture->recording.events[0].sample_regs_user = cases[i].mask;
		if (cases[i].arch)
			fixture->recording.arch = cases[i].arch;
		put_parts(fixture, 0);
		set_user(fixture)->abi = cases[i].abi;
		put_user_sample(fixture, 1000);
		import_as(fixture, &imported, IN_FILE, 1);
		assert_int_equal(noted(&imported, cases[i].note), 1);
		assert_int_equal(frames_of(&imported, 1000, &line, frames, MOST), cases[i].frames);
		frame_text(&fixture->parts, fixture->capture.registers[PC], leaf, sizeof(leaf));
		if (cases[i].frames)
			assert_string_equal(frames[0], leaf);
		free(line);
		release_imported(&imported);
		release(&fixture->recording);
	}
	free(fixture);
}

static void a_kernel_thread_has_no_user_stack(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct imported imported;
	char *line, *frames[MOST];

	(void)state;
	begin(fixture);
	put_parts(fixture, 0);
	fixture->user.abi = PERF_SAMPLE_REGS_ABI_NONE;
	put_sample(&fixture->recording, (struct sample){ .time = 1000,
							 .pid = PID,
							 .tid = PID,
							 .period = 1,
							 .user = &fixture->user,
							 CHAIN(KERNEL, 0xffff800000002000) });
	import_as(fixture, &imported, IN_FILE, 1);
	assert_int_equal(frames_of(&imported, 1000, &line, frames, MOST), 1);
	assert_int_equal(noted(&imported, "user stacks"), 0);
	free(line);
	release_imported(&imported);
	release(&fixture->recording);
	free(fixture);
}

static void put_random_samples(struct fixture *fixture, uint64_t count)
{
	uint64_t seed = 4711;

	for (uint64_t time = 1000; time < 1000 + count; time++) {
		/* One word after the other goes wrong, and now and then a register. */
		uint64_t random = random_next(&seed);

		fixture->capture.bytes[random % fixture->capture.size] = (uint8_t)(random >> 24);
		if (random % 16 == 0)
			fixture->capture.registers[FP] ^= 1ull << (random >> 32 & 63);
		if (random % 32 == 1)
			fixture->capture.registers[PC] += random >> 40 & 0xfff;
		if (random % 64 == 2)
			fixture->capture.registers[SP] ^= 1ull << (random >> 32 & 63);
		set_user(fixture);
		put_user_sample(fixture, time);
	}
}

static void stacks_that_make_no_sense_end_and_show_no_data(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct imported imported[2];

	(void)state;
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		begin(fixture);
		first(&fixture->capture, fixture->parts.stack_end, 5, 10);
		put_parts(fixture, 0);
		put_random_samples(fixture, 500);
		import_as(fixture, &imported[jobs - 1], jobs == 1 ? IN_FILE : IN_PACKS, jobs);
		for (uint64_t time = 1000; jobs == 1 && time < 1500; time++) {
			char *line, *frames[LODE_PERF_CHAIN_LIMIT];
			size_t count = frames_of(&imported[0], time, &line, frames, LODE_PERF_CHAIN_LIMIT);

			/* All callers are in some file's code. */
			for (size_t i = 1; i < count; i++)
				assert_non_null(strchr(frames[i], '!'));
			free(line);
		}
		release(&fixture->recording);
	}
	release_imported(&imported[0]);
	release_imported(&imported[1]);
	free(fixture);
}

/* ---- the parts ---- */

/* A table whose only rule is that of a signal frame which gives all registers back as they are. */
static void a_signal_frame_that_leads_back_to_itself_ends(void **state)
{
	static const struct lode_unwind_rule rules[] = {
		{ 0 },
		{ .cfa = LODE_CFA_SIGNAL, .cfa_offset = 0, .return_offset = 8, .frame_offset = 16 },
	};
	static const uint32_t starts[] = { 0 };
	static const uint16_t numbers[] = { 1 };
	static const struct lode_load loads[] = { { 0, 0x1000, 0x1000, 1 } };
	static const struct lode_unwind_table table = { 0x1000, starts, numbers,    1, rules, 2,
							loads,  1,      EM_AARCH64, 0, NULL,  { 0 } };
	uint64_t words[4] = { 0x7000, 0x401000, 0, 0 };
	struct lode_perf_copy copy = { .registers = { .pc = 0x401000, .sp = 0x7000, .machine = EM_AARCH64 },
				       .bytes = (const unsigned char *)words,
				       .size = sizeof(words),
				       .chain = LODE_NONE };
	struct lode_import_options options = { .jobs = 1, .cache = "" };
	struct lode_perf_user_stacks stacks;
	struct lode_perf_images images;
	struct lode_perf_facts facts;
	struct lode_spaces spaces;
	struct lode_space space;
	uint32_t image, chain;

	(void)state;
	lode_perf_facts_init(&facts, NULL);
	assert_int_equal(lode_perf_images_init(&images, &facts, &options), 0);
	assert_int_equal(lode_spaces_init(&spaces), 0);
	space = lode_space_empty(&spaces);
	image = lode_perf_images_user(&images, "/some/program", "", PID);
	assert_int_equal(lode_space_map(&spaces, &space, &(struct lode_mapping){ 0x400000, 0x402000, 0, image }),
			 0);
	lode_perf_user_stacks_init(&stacks, &images, &spaces);
	stacks.unwinding.items = lode_calloc(image + 1, sizeof(*stacks.unwinding.items));
	assert_non_null(stacks.unwinding.items);
	stacks.unwinding.count = stacks.unwinding.capacity = image + 1;
	stacks.unwinding.items[image].state = LODE_PERF_UNWIND_THERE;
	stacks.unwinding.items[image].table = &table;
	chain = lode_perf_user_stacks_unwind(&stacks, &space, &copy, NULL);
	assert_true(chain != LODE_NONE);
	assert_int_equal(stacks.chains.items[chain].count, sizeof(words) / 8 + 4); /* with the marker */
	assert_int_equal(stacks.unwinding.items[image].failures[LODE_PERF_LEADS_NOWHERE], 1);
	lode_perf_user_stacks_release(&stacks);
	lode_spaces_release(&spaces);
	lode_perf_images_release(&images);
	lode_perf_facts_release(&facts);
}

static struct lode_perf_copy owned_copy(uint32_t size)
{
	struct lode_perf_copy copy = { .owned = lode_calloc(size, 1), .size = size, .chain = size };

	assert_non_null(copy.owned);
	copy.bytes = copy.owned;
	return copy;
}

static void copies_that_wait_have_a_limit(void **state)
{
	struct lode_perf_copies copies = { .limit = 1000 };
	struct lode_perf_copy first = owned_copy(600), second = owned_copy(401), third = owned_copy(400);
	struct lode_perf_copy there = { .bytes = (const unsigned char *)"in the file", .size = 5000 };
	uint32_t numbers[4];

	(void)state;
	numbers[0] = lode_perf_copies_add(&copies, &first);
	numbers[1] = lode_perf_copies_add(&copies, &second);
	numbers[2] = lode_perf_copies_add(&copies, &third);
	numbers[3] = lode_perf_copies_add(&copies, &there); /* costs nothing */
	assert_null(first.owned);
	assert_int_equal(copies.bytes, 1000);
	assert_int_equal(copies.items[numbers[0]].is_dropped, 0);
	assert_int_equal(copies.items[numbers[1]].is_dropped, 1);
	assert_int_equal(copies.items[numbers[1]].size, 0);
	assert_int_equal(copies.items[numbers[2]].size, 400);
	assert_int_equal(copies.items[numbers[3]].size, 5000);
	lode_perf_copies_remove(&copies, numbers[0]);
	assert_int_equal(copies.bytes, 400);
	first = owned_copy(600);
	assert_int_equal(lode_perf_copies_add(&copies, &first), numbers[0]);
	assert_int_equal(copies.bytes, 1000);
	lode_perf_copies_release(&copies);
}

/* Imports with allocation number `nth` failing, and with `for_good` all after it; says how many were asked
 * for. */
static int import_without_memory(const struct lode_buffer *file, uint64_t nth, int for_good, uint64_t *asked)
{
	struct lode_import_options options = { .jobs = 1, .no_symbols = 1, .cache = "" };
	struct lode_import_sink sink = { drop_stream, NULL };
	struct lode_error error = { "" };
	struct lode_input *input;
	int code;

	assert_int_equal(lode_input_memory(&input, "x", file->bytes, file->size, &error), 0);
	lode_memory_fail_at(nth, for_good);
	code = lode_importer_perf_data.read(input, &options, &sink, &error);
	*asked = lode_memory_asked();
	lode_memory_fail_at(0, 0);
	assert_true(code == 0 || code == LODE_SYSTEM);
	lode_input_close(input);
	return code;
}

static void memory_that_runs_out_anywhere_is_reported(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));
	struct lode_buffer file = { 0 };
	uint64_t asked, ignored;

	(void)state;
	begin(fixture);
	first(&fixture->capture, fixture->parts.stack_end, 5, 3);
	put_parts(fixture, 0);
	set_user(fixture);
	put_user_sample(fixture, 1000);
	put_user_sample(fixture, 1001);
	compress(&fixture->recording, 81); /* so that copies have bytes of their own */
	make_file(&fixture->recording, &file);
	assert_int_equal(import_without_memory(&file, 0, 0, &asked), 0);
	assert_true(asked > 50);
	for (uint64_t nth = 1; nth <= asked; nth += 1 + nth / 128) {
		assert_int_equal(import_without_memory(&file, nth, 1, &ignored), LODE_SYSTEM);
		import_without_memory(&file, nth, 0, &ignored);
	}
	lode_buffer_release(&file);
	release(&fixture->recording);
	free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_this_program_are_what_the_compiler_says),
		cmocka_unit_test(the_kernels_part_of_a_chain_stays_on_top),
		cmocka_unit_test(a_stack_is_unwound_with_the_mappings_of_its_time),
		cmocka_unit_test(a_copy_that_is_too_small_gives_what_is_in_it),
		cmocka_unit_test(a_file_that_is_not_found_is_named),
		cmocka_unit_test(no_word_that_points_to_data_becomes_a_caller),
		cmocka_unit_test(samples_that_lie_about_their_stack_are_counted),
		cmocka_unit_test(stacks_that_cannot_be_unwound_have_their_innermost_function),
		cmocka_unit_test(a_kernel_thread_has_no_user_stack),
		cmocka_unit_test(stacks_that_make_no_sense_end_and_show_no_data),
		cmocka_unit_test(a_signal_frame_that_leads_back_to_itself_ends),
		cmocka_unit_test(copies_that_wait_have_a_limit),
		cmocka_unit_test(memory_that_runs_out_anywhere_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
