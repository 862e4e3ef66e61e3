/* Traces of Windows: buffers and compressions, samples, switches, stacks in parts and by keys, images and methods. */
#include "import_fixture.h"

#include "import/symbol_maps.h"
#include "import/windows/windows_compression.h"

#include <unistd.h>

extern const struct lode_importer lode_importer_etl;

/* A trace under construction. Its ticks are microseconds, and it began at 1 s. */
struct trace {
	struct lode_buffer bytes;
	size_t buffer;    /* where the open one begins */
	unsigned pointer; /* 4 or 8 */
};

static void put(struct trace *trace, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		lode_buffer_byte(&trace->bytes, i < 8 ? (char)(number >> 8 * i) : 0);
}

static void set(struct trace *trace, size_t at, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		trace->bytes.bytes[at + i] = (char)(number >> 8 * i);
}

static void put_wide(struct trace *trace, const char *text)
{
	do
		put(trace, (unsigned char)*text, 2);
	while (*text++);
}

static void begin_buffer(struct trace *trace, unsigned cpu, unsigned kind)
{
	trace->buffer = trace->bytes.size;
	put(trace, 0, 8);
	for (int i = 0; i < 32; i++)
		put(trace, 0, 1);
	put(trace, cpu, 2);
	put(trace, 0, 2);
	put(trace, kind == 4 ? 3 : 0, 4);
	put(trace, 0, 4);
	put(trace, 0, 2);
	put(trace, kind, 2);
	put(trace, 0, 16);
}

static void end_buffer(struct trace *trace)
{
	size_t used = trace->bytes.size - trace->buffer;

	put(trace, UINT64_MAX, 8);
	set(trace, trace->buffer, trace->bytes.size - trace->buffer, 4);
	set(trace, trace->buffer + 4, used, 4);
}

/* Heads as in etl_file.h; the size is set at the end. */
static size_t begin_event(struct trace *trace, unsigned head, unsigned hook, unsigned version, uint64_t t)
{
	size_t at = trace->bytes.size;

	put(trace, version, 2);
	put(trace, head + (trace->pointer == 4 ? 0 : 1), 1);
	put(trace, 0xc0, 1);
	put(trace, 0, 2);
	put(trace, hook, 2);
	if (head == 1) {
		put(trace, 77, 4);
		put(trace, 7, 4);
	}
	put(trace, t, 8);
	if (head == 1)
		put(trace, 0, 8);
	return at;
}

static void end_event(struct trace *trace, size_t at)
{
	set(trace, at + 4, trace->bytes.size - at, 2);
	while ((trace->bytes.size - trace->buffer) % 8)
		put(trace, 0, 1);
}

static struct trace begin_trace(unsigned pointer, unsigned mode, uint64_t frequency)
{
	struct trace trace = { .pointer = pointer };
	size_t at;

	begin_buffer(&trace, 0, 4);
	at = begin_event(&trace, 1, 0, 2, 1000000);
	put(&trace, 65536, 4);
	put(&trace, 0, 8);
	put(&trace, 2, 4); /* processors */
	put(&trace, 0, 16);
	put(&trace, mode, 4);
	put(&trace, 0, 8);
	put(&trace, pointer, 4);
	put(&trace, 3, 4); /* events lost */
	put(&trace, 2000, 4);
	for (unsigned i = 0; i < 2 * pointer + 176 + 8; i++)
		put(&trace, 0, 1);
	put(&trace, frequency, 8);
	put(&trace, 116444736000000000u + 10000000, 8); /* 1 s since 1970 */
	put(&trace, 1, 4);
	put(&trace, 0, 4);
	end_event(&trace, at);
	end_buffer(&trace);
	return trace;
}

static void sample(struct trace *trace, uint64_t t, uint64_t address, unsigned tid)
{
	size_t at = begin_event(trace, 16, 0xf2e, 2, t);

	put(trace, address, trace->pointer);
	put(trace, tid, 4);
	put(trace, 1, 4);
	end_event(trace, at);
}

static void cswitch(struct trace *trace, uint64_t t, unsigned to, unsigned from, unsigned state)
{
	size_t at = begin_event(trace, 16, 0x524, 4, t);

	put(trace, to, 4);
	put(trace, from, 4);
	put(trace, 0, 6);
	put(trace, state, 1);
	put(trace, 0, 9);
	end_event(trace, at);
}

static void ready(struct trace *trace, uint64_t t, unsigned tid, unsigned flags)
{
	size_t at = begin_event(trace, 16, 0x532, 2, t);

	put(trace, tid, 4);
	put(trace, 0, 2);
	put(trace, flags, 2);
	end_event(trace, at);
}

/* 0x1820 a stack, 0x1825 and 0x1826 one by its key, which is then the only number. */
static void stack(struct trace *trace, unsigned hook, uint64_t written, uint64_t t, unsigned pid, unsigned tid,
		  const uint64_t *numbers, size_t count)
{
	size_t at = begin_event(trace, 16, hook, 2, written);

	put(trace, t, 8);
	put(trace, pid, 4);
	put(trace, tid, 4);
	while (count--)
		put(trace, *numbers++, trace->pointer);
	end_event(trace, at);
}

static void key(struct trace *trace, unsigned hook, uint64_t t, const uint64_t *numbers, size_t count)
{
	size_t at = begin_event(trace, 16, hook, 2, t);

	while (count--)
		put(trace, *numbers++, trace->pointer);
	end_event(trace, at);
}

#define NUMBERS(...)                                                                                              \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static void image(struct trace *trace, unsigned hook, unsigned pid, uint64_t base, uint64_t size, const char *path)
{
	size_t at = begin_event(trace, 1, hook, 2, 1000000);

	put(trace, base, trace->pointer);
	put(trace, size, trace->pointer);
	put(trace, pid, 4);
	put(trace, 0, 12);
	put(trace, 0, trace->pointer + 16);
	put_wide(trace, path);
	end_event(trace, at);
}

static void thread(struct trace *trace, unsigned hook, uint64_t t, unsigned pid, unsigned tid)
{
	size_t at = begin_event(trace, 1, hook, 3, t);

	put(trace, pid, 4);
	put(trace, tid, 4);
	put(trace, 0, 16);
	end_event(trace, at);
}

static void process(struct trace *trace, unsigned pid, const char *name, int has_user)
{
	size_t at = begin_event(trace, 16, 0x303, 4, 1000000);

	put(trace, 0, trace->pointer);
	put(trace, pid, 4);
	put(trace, 0, 12);
	put(trace, 0, trace->pointer);
	put(trace, 0, 4);
	if (has_user) {
		put(trace, 99, 2 * trace->pointer);
		put(trace, 0x0201, 2); /* two authorities */
		put(trace, 0, 6);
		put(trace, 0, 8);
	} else {
		put(trace, 0, 4);
	}
	lode_buffer_add(&trace->bytes, name, strlen(name) + 1);
	end_event(trace, at);
}

static void method(struct trace *trace, unsigned pid, uint64_t base, unsigned size, const char *type,
		   const char *name)
{
	static const unsigned char rundown[16] = { 0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46,
						   0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18 };
	size_t at = trace->bytes.size;

	put(trace, 0, 2);
	put(trace, 19, 1);
	put(trace, 0xc0, 1);
	put(trace, 0, 8);
	put(trace, pid, 4);
	put(trace, 2000000, 8);
	lode_buffer_add(&trace->bytes, rundown, 16);
	put(trace, 144, 2);
	put(trace, 1, 1);
	for (int i = 43; i < 80; i++)
		put(trace, 0, 1);
	put(trace, 0, 16);
	put(trace, base, 8);
	put(trace, size, 4);
	put(trace, 0, 8);
	put_wide(trace, type);
	put_wide(trace, name);
	put_wide(trace, "void ()");
	set(trace, at, trace->bytes.size - at, 2);
	end_event(trace, at + 0); /* aligns; the size of this head is at its beginning */
	set(trace, at + 4, 0, 2);
}

#define KERNEL(trace) ((trace)->pointer == 8 ? 0xfffff80000000000u : 0x80000000u)

static void put_places(struct trace *trace)
{
	thread(trace, 0x503, 1000000, 7, 70);
	thread(trace, 0x503, 1000000, 8, 80);
	process(trace, 7, "app.exe", 1);
	process(trace, 8, "other.exe", 0);
	image(trace, 0x1403, 0, KERNEL(trace), 0x10000, "\\SystemRoot\\system32\\ntoskrnl.exe");
	image(trace, 0x30a, 7, 0x400000, 0x1000, "\\Device\\HarddiskVolume1\\app\\app.exe");
	image(trace, 0x1404, 7, 0x400000, 0x1000, "\\Device\\HarddiskVolume1\\app\\app.exe");
	image(trace, 0x30a, 8, 0x400000, 0x1000, "C:\\other.exe");
}

static const struct lode_import_options plain = { .jobs = 1 };

static void assert_trace(struct trace *trace, const struct lode_import_options *options, const char *expected)
{
	struct imported imported;

	assert_true(lode_importer_etl.sniff((const unsigned char *)trace->bytes.bytes, trace->bytes.size, "x") >=
		    90);
	import_bytes(&imported, &lode_importer_etl, trace->bytes.bytes, trace->bytes.size, options);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	if (expected)
		assert_string_equal(strstr(imported.text.bytes, "run") ? strstr(imported.text.bytes, "run")
								       : strstr(imported.text.bytes, "wait"),
				    expected);
	release_imported(&imported);
}

/*
 * Thread 70 is sampled in the kernel at 1100000 and 1100100 before it leaves it at 1100200: one part of the program for
 * both. At 1100300 it is in the program. The key 0x5000 is used twice for different stacks.
 */
static struct trace make_samples(unsigned pointer)
{
	struct trace trace = begin_trace(pointer, 0, 1000000);
	uint64_t kernel = KERNEL(&trace);
	size_t at;

	begin_buffer(&trace, 1, 0);
	at = begin_event(&trace, 16, 0xf49, 3, 1000000);
	put(&trace, 0, 4);
	put(&trace, 20000, 4);
	put(&trace, 20000, 4);
	put_wide(&trace, "Timer");
	end_event(&trace, at);
	sample(&trace, 1100000, kernel + 0x10, 70);
	stack(&trace, 0x1820, 1100001, 1100000, 7, 70, NUMBERS(kernel + 0x10, kernel + 0x21));
	sample(&trace, 1100100, kernel + 0x30, 70);
	stack(&trace, 0x1825, 1100101, 1100100, 7, 70, NUMBERS(0x5000));
	stack(&trace, 0x1826, 1100200, 1100000, 7, 70, NUMBERS(0x6000));
	key(&trace, 0x1823, 1100201, NUMBERS(0x5000, kernel + 0x30, kernel + 0x21));
	sample(&trace, 1100300, 0x400500, 70);
	stack(&trace, 0x1826, 1100301, 1100300, 7, 70, NUMBERS(0x5000));
	end_buffer(&trace);
	begin_buffer(&trace, 0, 0);
	sample(&trace, 1100050, 0x900000, 80);
	sample(&trace, 1100060, kernel, 0);
	sample(&trace, 1100070, 0x500010, 70);
	key(&trace, 0x1824, 1200000, NUMBERS(0x5000, 0x400500, 0x400101));
	/* a frame without an address, and zeros that fill the row */
	key(&trace, 0x1824, 1200000, NUMBERS(0x6000, 0x400201, 0, 0x500011, 0x400101, 0));
	put_places(&trace);
	method(&trace, 7, 0x500000, 0x100, "Some.Class", "Method");
	end_buffer(&trace);
	return trace;
}

#define SAMPLES                                                                                                   \
	"run 1100000000+2000000 7/70 cpu=1 "                                                                      \
	"app.exe!0x100|[jit]!Some.Class.Method|app.exe!0x200|ntoskrnl.exe!0x20|"                                  \
	"ntoskrnl.exe!0x10\n"                                                                                     \
	"run 1100050000+2000000 8/80 cpu=0 0x900000\n"                                                            \
	"run 1100070000+2000000 7/70 cpu=0 [jit]!Some.Class.Method\n"                                             \
	"run 1100100000+2000000 7/70 cpu=1 "                                                                      \
	"app.exe!0x100|[jit]!Some.Class.Method|app.exe!0x200|ntoskrnl.exe!0x20|"                                  \
	"ntoskrnl.exe!0x30\n"                                                                                     \
	"run 1100300000+2000000 7/70 cpu=1 app.exe!0x100|app.exe!0x500\n"

static void samples_get_their_stacks_from_parts_and_keys(void **state)
{
	(void)state;
	for (unsigned pointer = 4; pointer <= 8; pointer += 4) {
		struct trace trace = make_samples(pointer);
		struct imported imported;

		assert_trace(&trace, &plain, SAMPLES);
		import_bytes(&imported, &lode_importer_etl, trace.bytes.bytes, trace.bytes.size, &plain);
		assert_non_null(strstr(imported.text.bytes, "thread 7/70 app.exe\nthread 8/80 other.exe\n"));
		assert_non_null(strstr(imported.text.bytes,
				       "module ntoskrnl.exe kernel \\SystemRoot\\system32\\ntoskrnl.exe"));
		assert_int_equal(note_count(&imported, "idle processors"), 1);
		assert_int_equal(note_count(&imported, "without a stack"), 2);
		assert_int_equal(note_count(&imported, "events that Windows lost"), 3);
		release_imported(&imported);
		lode_buffer_release(&trace.bytes);
	}
}

static void switches_become_waits_with_wakers(void **state)
{
	struct trace trace = begin_trace(8, 0, 1000000);
	uint64_t kernel = KERNEL(&trace);

	(void)state;
	begin_buffer(&trace, 0, 0);
	put_places(&trace);
	cswitch(&trace, 1100000, 70, 0, 1);
	cswitch(&trace, 1200000, 80, 70, 5); /* 70 waits */
	ready(&trace, 1300000, 70, 0);       /* 80 makes it ready */
	stack(&trace, 0x1820, 1300001, 1300000, 8, 80, NUMBERS(kernel + 0x90, 0x400301));
	cswitch(&trace, 1300500, 70, 80, 1); /* 80 could go on */
	stack(&trace, 0x1820, 1300501, 1300500, 7, 70, NUMBERS(kernel + 0x77));
	stack(&trace, 0x1820, 1300600, 1300500, 7, 70, NUMBERS(0x400401));
	cswitch(&trace, 1400000, 80, 70, 5);
	end_buffer(&trace);
	begin_buffer(&trace, 1, 0);
	ready(&trace, 1450000, 70, 1); /* by an interrupt */
	cswitch(&trace, 1450100, 70, 0, 1);
	end_buffer(&trace);
	assert_trace(
		&trace, &plain,
		"wait 1200000000+100000000 7/70 delay=500000 cpu=0 waker=8/80 app.exe!0x400|ntoskrnl.exe!0x77 < "
		"other.exe!0x300|ntoskrnl.exe!0x90\n"
		"wait 1400000000+50000000 7/70 delay=100000 cpu=0 \n"
		"call 1300500000+0 8/80 delay=99500000 cpu=0 name=preempt \n");
	lode_buffer_release(&trace.bytes);
}

static void symbol_maps_name_functions(void **state)
{
	char path[] = "/tmp/lode-etl-test-XXXXXX", *setting;
	int fd = mkstemp(path);
	const char *const text = "# names\n0x500 last\n100 T first of all\r\n";
	struct lode_import_options options = plain;
	struct trace trace = make_samples(8);
	struct lode_symbol_maps *maps;
	struct lode_error error;
	const char *settings[2] = { NULL, NULL };

	(void)state;
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	settings[0] = setting = lode_format("APP.exe=%s", path);
	assert_int_equal(lode_symbol_maps_load(&maps, settings, &error), 0);
	assert_string_equal(lode_symbol_maps_find(maps, "app.exe", 0x4ff), "first of all");
	assert_null(lode_symbol_maps_find(maps, "app.exe", 0xff));
	assert_null(lode_symbol_maps_find(maps, "other.exe", 0x4ff));
	options.symbol_maps = maps;
	assert_trace(&trace, &options,
		     "run 1100000000+2000000 7/70 cpu=1 app.exe!first of "
		     "all|[jit]!Some.Class.Method|app.exe!first of all|ntoskrnl.exe!0x20|"
		     "ntoskrnl.exe!0x10\n"
		     "run 1100050000+2000000 8/80 cpu=0 0x900000\n"
		     "run 1100070000+2000000 7/70 cpu=0 [jit]!Some.Class.Method\n"
		     "run 1100100000+2000000 7/70 cpu=1 app.exe!first of "
		     "all|[jit]!Some.Class.Method|app.exe!first of all|ntoskrnl.exe!0x20|"
		     "ntoskrnl.exe!0x30\n"
		     "run 1100300000+2000000 7/70 cpu=1 app.exe!first of all|app.exe!last\n");
	lode_symbol_maps_destroy(maps);
	settings[0] = "app.exe";
	assert_int_equal(lode_symbol_maps_load(&maps, settings, &error), LODE_USAGE);
	lode_symbol_maps_destroy(maps);
	lode_buffer_release(&trace.bytes);
	lode_free(setting);
	unlink(path);
}

static void assert_refused(struct trace *trace, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_etl, trace->bytes.bytes, trace->bytes.size, &plain);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	if (!strstr(imported.error.text, part))
		fail_msg("`%s` has no `%s`", imported.error.text, part);
	release_imported(&imported);
	lode_buffer_release(&trace->bytes);
}

/* A buffer of a few bytes that says it holds 16 MiB of matches. */
static void put_bomb(struct trace *trace)
{
	static const unsigned char bytes[] = { 0, 0, 0, 0x40, 'a', 7, 0, 0x0f, 0xff, 0, 0, 0xff, 0xff, 0xff, 0 };

	begin_buffer(trace, 0, 0);
	set(trace, trace->buffer + 52, 0x40, 2);
	lode_buffer_add(&trace->bytes, bytes, sizeof(bytes));
	end_buffer(trace);
	set(trace, trace->buffer + 4, 72 + 4 + (1u << 24), 4);
}

static void what_traces_may_not_be(void **state)
{
	struct trace empty = begin_trace(8, 0, 1000000), clock = begin_trace(8, 0, 0),
		     odd = begin_trace(8, 0, 1000000);
	struct trace bomb = begin_trace(8, 0x04000000, 1000000);

	(void)state;
	assert_refused(&empty, "none of its 1 events is a CPU sample");
	assert_refused(&clock, "damaged");
	set(&odd, 72 + 32 + 44, 5, 4);
	assert_refused(&odd, "damaged");
	for (int i = 0; i < 200; i++)
		put_bomb(&bomb);
	assert_refused(&bomb, "more than 500 times");
}

static void lies_about_lengths_are_counted(void **state)
{
	struct trace trace = make_samples(8);
	struct imported imported;
	size_t at;

	(void)state;
	begin_buffer(&trace, 0, 0);
	at = begin_event(&trace, 16, 0xf2e, 2, 5);
	end_buffer(&trace);
	set(&trace, at + 4, 60000, 2);
	begin_buffer(&trace, 0, 0);
	end_buffer(&trace);
	set(&trace, trace.buffer + 4, UINT32_MAX, 4);
	begin_buffer(&trace, 0, 0);
	end_buffer(&trace);
	set(&trace, trace.buffer, UINT32_MAX, 4);
	import_bytes(&imported, &lode_importer_etl, trace.bytes.bytes, trace.bytes.size, &plain);
	assert_int_equal(imported.code, 0);
	assert_string_equal(strstr(imported.text.bytes, "run"), SAMPLES);
	assert_int_equal(note_count(&imported, "buffers that are damaged"), 2);
	assert_int_equal(note_count(&imported, "cut off"), 1);
	release_imported(&imported);
	lode_buffer_release(&trace.bytes);
}

/* ---- compressions ---- */

static void assert_unpacked(enum lode_windows_compression compression, const unsigned char *packed, size_t size,
			    const char *expected)
{
	size_t length = strlen(expected);
	unsigned char *out = malloc(length), *exact = malloc(size);

	memcpy(exact, packed, size);
	assert_int_equal(lode_windows_unpack(compression, exact, size, out, length), 0);
	assert_memory_equal(out, expected, length);
	for (size_t cut = 0; cut < size; cut++) { /* a shorter one never reads behind its end */
		unsigned char *less = malloc(cut + 1);

		memcpy(less, packed, cut);
		lode_windows_unpack(compression, less, cut, out, length);
		free(less);
	}
	free(exact);
	free(out);
}

#define ALPHABET "abcdefghijklmnopqrstuvwxyz"

/* The examples of the specification (MS-XCA). */
static void examples_of_the_specification_unpack(void **state)
{
	static const unsigned char letters[] = "\x3f\0\0\0" ALPHABET;
	static const unsigned char repeated[] = { 0xff, 0xff, 0xff, 0x1f, 'a',  'b', 'c',
						  0x17, 0,    0x0f, 0xff, 0x26, 0x01 };
	static const unsigned char lznt1[] = { 0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20,
					       0x41, 0x00, 0x10, 0xa2, 0x47, 0x01, 0xa0, 0x45, 0x20, 0x44,
					       0x00, 0x08, 0x45, 0x01, 0x50, 0x79, 0x00, 0xc0, 0x45, 0x20,
					       0x05, 0x24, 0x13, 0x88, 0x05, 0xb4, 0x02, 0x4a, 0x44, 0xef,
					       0x03, 0x58, 0x02, 0x8c, 0x09, 0x16, 0x01, 0x48, 0x45, 0x00,
					       0xbe, 0x00, 0x9e, 0x00, 0x04, 0x01, 0x18, 0x90, 0x00 };
	static const unsigned char codes[] = { 0xd8, 0x52, 0x3e, 0xd7, 0x94, 0x11, 0x5b, 0xe9, 0x19, 0x5f,
					       0xf9, 0xd6, 0x7c, 0xdf, 0x8d, 0x04, 0x00, 0x00, 0x00, 0x00 };
	unsigned char huffman[256 + sizeof(codes)] = { 0 };
	char text[301] = "";

	(void)state;
	assert_unpacked(LODE_XPRESS, letters, sizeof(letters) - 1, ALPHABET);
	for (int i = 0; i < 100; i++)
		memcpy(text + 3 * i, "abc", 4);
	assert_unpacked(LODE_XPRESS, repeated, sizeof(repeated), text);
	assert_unpacked(LODE_LZNT1, lznt1, sizeof(lznt1),
			"F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# "
			"D E F# G F# E D E A "
			"F# F# G A A G F# E D D E F# E D D");
	huffman[0x30] = 0x50;
	memset(huffman + 0x31, 0x55, 10);
	huffman[0x3b] = 0x45;
	huffman[0x3c] = 0x44;
	huffman[0x3d] = huffman[0x80] = 0x04;
	memcpy(huffman + 256, codes, sizeof(codes));
	assert_unpacked(LODE_XPRESS_HUFFMAN, huffman, sizeof(huffman), ALPHABET);
}

/* The longest match of what follows `at` with earlier bytes. */
static size_t find_match(const unsigned char *bytes, size_t size, size_t at, size_t *distance)
{
	size_t best = 0;

	for (size_t back = 1; back <= at && back <= 8192; back++) {
		size_t length = 0;

		while (at + length < size && bytes[at + length] == bytes[at + length - back])
			length++;
		if (length > best) {
			best = length;
			*distance = back;
		}
	}
	return best;
}

/* Plain XPRESS by an encoder that finds matches by brute force, as an independent account of the format. */
static void encode(struct lode_buffer *out, const unsigned char *bytes, size_t size)
{
	size_t flags_at = 0, half = 0;
	uint32_t flags = 0;
	unsigned count = 32;

	for (size_t at = 0; at < size;) {
		size_t best, distance = 0;

		if (count == 32) {
			if (out->size)
				memcpy(out->bytes + flags_at, &flags, 4);
			flags_at = out->size;
			lode_buffer_add(out, "\0\0\0\0", 4);
			flags = count = 0;
		}
		best = find_match(bytes, size, at, &distance);
		flags <<= 1;
		count++;
		if (best < 3) {
			lode_buffer_byte(out, (char)bytes[at++]);
		} else {
			size_t rest = best - 3;
			unsigned match = (unsigned)(distance - 1) << 3 | (rest < 7 ? (unsigned)rest : 7);

			flags |= 1;
			lode_buffer_byte(out, (char)match);
			lode_buffer_byte(out, (char)(match >> 8));
			if (rest >= 7) {
				size_t more = rest - 7;
				unsigned nibble = more < 15 ? (unsigned)more : 15;

				if (half) {
					out->bytes[half] = (char)((unsigned char)out->bytes[half] | nibble << 4);
					half = 0;
				} else {
					half = out->size;
					lode_buffer_byte(out, (char)nibble);
				}
				if (more >= 15 && more - 15 < 255) {
					lode_buffer_byte(out, (char)(more - 15));
				} else if (more >= 15) {
					lode_buffer_byte(out, (char)255);
					lode_buffer_byte(out, (char)rest);
					lode_buffer_byte(out, (char)(rest >> 8));
				}
			}
			at += best;
		}
	}
	flags = count < 32 ? flags << (32 - count) | ((1u << (32 - count)) - 1) : flags;
	memcpy(out->bytes + flags_at, &flags, 4);
}

static void random_bytes_unpack_to_themselves(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		size_t size = 1 + random_below(&seed, 900);
		unsigned char bytes[900], out[900];
		struct lode_buffer packed = { 0 };
		uint64_t letters = 1 + random_below(&seed, 4);

		for (size_t i = 0; i < size; i++)
			bytes[i] = random_below(&seed, 50) ? (unsigned char)('a' + random_below(&seed, letters))
							   : (unsigned char)random_next(&seed);
		encode(&packed, bytes, size);
		assert_int_equal(lode_windows_unpack(LODE_XPRESS, (unsigned char *)packed.bytes, packed.size, out,
						     size),
				 0);
		assert_memory_equal(out, bytes, size);
		lode_buffer_release(&packed);
	}
}

/* The same trace, its last buffers compressed. */
static void compressed_traces_are_the_same(void **state)
{
	struct trace from = make_samples(8), to = begin_trace(8, 0x04000000, 1000000);
	size_t at = to.bytes.size;

	(void)state;
	while (at < from.bytes.size) {
		uint32_t size, used;
		struct lode_buffer packed = { 0 };

		memcpy(&size, from.bytes.bytes + at, 4);
		memcpy(&used, from.bytes.bytes + at + 4, 4);
		encode(&packed, (unsigned char *)from.bytes.bytes + at + 72, used - 72);
		to.buffer = to.bytes.size;
		lode_buffer_add(&to.bytes, from.bytes.bytes + at, 72);
		lode_buffer_add(&to.bytes, packed.bytes, packed.size);
		set(&to, to.buffer, 72 + packed.size, 4);
		set(&to, to.buffer + 52, 0x40, 2);
		lode_buffer_release(&packed);
		at += size;
	}
	assert_trace(&to, &plain, SAMPLES);
	try_damaged(&lode_importer_etl, to.bytes.bytes, to.bytes.size, 2000);
	lode_buffer_release(&to.bytes);
	lode_buffer_release(&from.bytes);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	struct trace trace = make_samples(8);

	(void)state;
	try_damaged(&lode_importer_etl, trace.bytes.bytes, trace.bytes.size, 3000);
	try_without_memory(&lode_importer_etl, trace.bytes.bytes, trace.bytes.size);
	lode_buffer_release(&trace.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_get_their_stacks_from_parts_and_keys),
		cmocka_unit_test(switches_become_waits_with_wakers),
		cmocka_unit_test(symbol_maps_name_functions),
		cmocka_unit_test(what_traces_may_not_be),
		cmocka_unit_test(lies_about_lengths_are_counted),
		cmocka_unit_test(examples_of_the_specification_unpack),
		cmocka_unit_test(random_bytes_unpack_to_themselves),
		cmocka_unit_test(compressed_traces_are_the_same),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
