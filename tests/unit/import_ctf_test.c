/* CTF traces: a small one, of two CPUs, in a separate folder; and reading in another process. */
#include "import/kernel/ctf/ctf_apart.h"
#include "import/folder_digest.h"
#include "import_fixture.h"
#include "temporary.h"

extern const struct lode_importer lode_importer_ctf;

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t "
	"stream_id; }; };\n"
	"env { hostname = \"h7\"; kernel_release = \"5.10.0\"; };\n"
	"clock { name = c; freq = 1000000000; };\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := stamp_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;\n"
	"stream { id = 0; packet.context := struct { uint32_t cpu_id; stamp_t timestamp_begin; stamp_t "
	"timestamp_end; }; event.header := struct { uint32_t id; stamp_t timestamp; };\n"
	"  event.context := struct { uint32_t count; address_t callstack_kernel[count]; }; };\n"
	"event { name = \"sched_switch\"; id = 0; stream_id = 0; fields := struct { string prev_comm; uint32_t "
	"prev_tid;\n"
	"  uint32_t prev_state; string next_comm; uint32_t next_tid; }; };\n"
	"event { name = \"sched_waking\"; id = 1; stream_id = 0; fields := struct { string comm; uint32_t tid; }; "
	"};\n"
	"event { name = \"syscall_entry_openat\"; id = 2; stream_id = 0; fields := struct { uint32_t flags; }; "
	"};\n"
	"event { name = \"lttng_statedump_process_state\"; id = 3; stream_id = 0; fields := struct { uint32_t "
	"tid; string name; }; };\n";

static void put(struct lode_buffer *buffer, uint64_t number, int size)
{
	for (int i = 0; i < size; i++)
		lode_buffer_byte(buffer, (char)(number >> 8 * i));
}

static void put_text(struct lode_buffer *buffer, const char *text)
{
	lode_buffer_add(buffer, text, strlen(text) + 1);
}

/* The header of an event, with a stack of `depth` addresses. */
static void put_event(struct lode_buffer *buffer, uint32_t id, uint64_t t, uint32_t depth)
{
	put(buffer, id, 4);
	put(buffer, t, 8);
	put(buffer, depth, 4);
	for (uint32_t i = 0; i < depth; i++)
		put(buffer, 0xffff0000 + i, 8);
}

static void put_switch(struct lode_buffer *buffer, uint64_t t, uint32_t from, uint32_t state, uint32_t to,
		       uint32_t depth)
{
	put_event(buffer, 0, t, depth);
	put_text(buffer, from ? "worker" : "swapper");
	put(buffer, from, 4);
	put(buffer, state, 4);
	put_text(buffer, to ? "worker" : "swapper");
	put(buffer, to, 4);
}

/* Begin and end as well: libbabeltrace2 2.1 aborts on a packet without them. */
static void put_head(struct lode_buffer *buffer, uint32_t cpu)
{
	put(buffer, 0xc1fc1fc1, 4);
	put(buffer, 0, 4);
	put(buffer, cpu, 4);
	put(buffer, 700, 8);
	put(buffer, 1600, 8);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void remove_trace(const char *folder)
{
	static const char *const names[] = { "metadata", "channel_0", "channel_1" };
	char path[200];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* Thread 7 sleeps at 1000 on CPU 0; thread 9, on CPU 1 since 900, wakes it at 1400; it runs at 1500. */
static void write_trace(const char *folder)
{
	struct lode_buffer cpus[2] = { { 0 }, { 0 } };

	put_head(&cpus[0], 0);
	put_switch(&cpus[0], 1000, 7, 1, 0, 2);
	put_switch(&cpus[0], 1500, 0, 0, 7, 0);
	put_head(&cpus[1], 1);
	put_event(&cpus[1], 3, 800, 0);
	put(&cpus[1], 9, 4);
	put_text(&cpus[1], "waker");
	put_switch(&cpus[1], 900, 0, 0, 9, 0);
	put_event(&cpus[1], 1, 1400, 0);
	put_text(&cpus[1], "worker");
	put(&cpus[1], 7, 4);
	put_event(&cpus[1], 2, 1450, 0);
	put(&cpus[1], 5, 4);
	write_file(folder, "metadata", metadata, strlen(metadata));
	write_file(folder, "channel_0", cpus[0].bytes, cpus[0].size);
	write_file(folder, "channel_1", cpus[1].bytes, cpus[1].size);
	lode_buffer_release(&cpus[0]);
	lode_buffer_release(&cpus[1]);
}

/* Allocation `nth` fails. */
static void import_failing(struct imported *imported, const char *folder, uint64_t nth)
{
	struct lode_import_sink sink = { disarm_and_describe, imported };
	struct lode_import_options options = { .jobs = 1, .notes = &imported->notes, .stream_name = "x" };
	char *path = lode_import_file(folder);
	struct lode_input *input;

	memset(imported, 0, sizeof(*imported));
	lode_notes_init(&imported->notes);
	assert_non_null(path);
	assert_int_equal(lode_input_open(&input, path, &imported->error), 0);
	assert_ptr_equal(lode_import_choose(input, &options, &imported->error), &lode_importer_ctf);
	lode_memory_fail_at(nth, 0);
	imported->code = lode_importer_ctf.read(input, &options, &sink, &imported->error);
	lode_memory_fail_at(0, 0);
	lode_input_close(input);
	lode_free(path);
	lode_buffer_byte(&imported->text, '\0');
}

static void import_folder(struct imported *imported, const char *folder)
{
	import_failing(imported, folder, UINT64_MAX);
}

static void a_trace_of_two_cpus_is_joined(void **state)
{
	struct imported imported;
	char folder[100];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	write_trace(folder);
	import_folder(&imported, folder);
	remove_trace(folder);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes,
			    "stream x h7\nthread 9 waker\nthread 7 worker\n"
			    "wait 1000+400 7 delay=100 cpu=0 waker=9 kernel!0xffff0001|kernel!0xffff0000\n"
			    "call 1450+0 9 cpu=1 name=openat \n");
	assert_int_equal(note_count(&imported, "no symbols"), 1);
	release_imported(&imported);
}

/* The own decoder knows no escapes; the library does. */
static void what_the_decoder_does_not_know_goes_to_the_library(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported imported;
	char folder[100];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	write_trace(folder);
	lode_buffer_text(&text, metadata);
	lode_buffer_text(&text, "callsite { name = \"a \\\"word\\\"\"; };\n");
	write_file(folder, "metadata", text.bytes, text.size);
	import_folder(&imported, folder);
	remove_trace(folder);
	lode_buffer_release(&text);
	if (imported.code < 0 && strstr(imported.error.text, "cannot be loaded")) {
		assert_non_null(strstr(imported.error.text, "only libbabeltrace2 reads (line 15,"));
		release_imported(&imported);
		skip();
	}
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_non_null(strstr(imported.text.bytes, "wait 1000+400 7 delay=100 cpu=0 waker=9"));
	release_imported(&imported);
}

/* What tells two recordings of one program apart may be in any file of the folder. */
static void a_folder_is_known_by_all_its_files(void **state)
{
	char folders[3][50], paths[3][200], digests[3][33];
	struct lode_error error = { 0 };
	uint64_t bytes[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(temporary_folder(folders[i], sizeof(folders[i])), 0);
		write_trace(folders[i]);
		snprintf(paths[i], sizeof(paths[i]), "%s/metadata", folders[i]);
	}
	write_file(folders[2], "channel_1", "other", 5);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(lode_folder_digest(paths[i], digests[i], &bytes[i], &error), 0);
		remove_trace(folders[i]);
	}
	assert_string_equal(digests[0], digests[1]);
	assert_string_not_equal(digests[0], digests[2]);
	assert_int_equal(bytes[0], bytes[1]);
	assert_true(bytes[2] > strlen(metadata) && bytes[2] < bytes[0]);
}

static void a_file_that_is_cut_off_is_refused(void **state)
{
	struct lode_buffer cpu = { 0 };
	struct imported imported;
	char folder[100];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	write_trace(folder);
	put_head(&cpu, 0);
	put_switch(&cpu, 1000, 7, 1, 0, 2);
	write_file(folder, "channel_0", cpu.bytes, cpu.size - 3);
	import_folder(&imported, folder);
	remove_trace(folder);
	lode_buffer_release(&cpu);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(
		strstr(imported.error.text, "channel_0: the packet at byte 0 is damaged: an event is cut off"));
	release_imported(&imported);
}

static void a_trace_without_a_description_is_refused(void **state)
{
	struct imported imported;
	char folder[100];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	write_file(folder, "metadata", metadata, strlen("/* CTF 1.8 */\n"));
	import_folder(&imported, folder);
	remove_trace(folder);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, "libbabeltrace2"));
	release_imported(&imported);
}

/* ---- a process of its own ---- */

struct seen {
	unsigned events;
	uint64_t sum;
	uint64_t discarded;
	char host[32];
};

static int see_event(void *context, const struct lode_ctf_event *event, struct lode_error *error)
{
	struct seen *seen = context;

	seen->events++;
	seen->sum += event->t + strlen(event->name) + (event->context_name ? strlen(event->context_name) : 7);
	for (size_t i = 0; i < event->kernel_depth; i++)
		seen->sum += event->kernel_stack[i] * 3;
	for (size_t i = 0; i < event->user_depth; i++)
		seen->sum += event->user_stack[i] * 5;
	for (int i = 0; i < LODE_CTF_FIELDS; i++)
		seen->sum += event->text[i] ? strlen(event->text[i]) : event->number[i];
	return event->t == 999 ? lode_fail(error, LODE_BAD_INPUT, "enough") : 0;
}

static void see_discarded(void *context, uint64_t count)
{
	((struct seen *)context)->discarded += count;
}

static void see_environment(void *context, const char *host, const char *kernel)
{
	snprintf(((struct seen *)context)->host, 32, "%s %s", host ? host : "-", kernel ? kernel : "-");
}

/* Writes random events, more than a pipe holds, then does as the folder's name says. */
static int pretend(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error)
{
	static char text[5000];
	uint64_t stacks[2][300];
	uint64_t random = 12;
	int code = 0;

	memset(text, 'x', sizeof(text) - 1);
	taker->environment(taker->context, "h", NULL);
	for (uint64_t t = 0; !code && t < 2000; t++) {
		struct lode_ctf_event event = { .name = text + random_below(&random, 4999), .t = t };

		event.context_name = random_below(&random, 2) ? text + random_below(&random, 4999) : NULL;
		for (int i = 0; i < LODE_CTF_FIELDS; i++) {
			event.number[i] = random_below(&random, 1000);
			event.text[i] = random_below(&random, 3) ? NULL : "field";
		}
		for (int i = 0; i < 600; i++)
			stacks[i / 300][i % 300] = random_below(&random, 1u << 30);
		event.kernel_stack = stacks[0];
		event.kernel_depth = random_below(&random, 300);
		event.user_stack = stacks[1];
		event.user_depth = random_below(&random, 300);
		code = taker->event(taker->context, &event, error);
	}
	taker->discarded(taker->context, 17);
	if (strcmp(folder, "aborts") == 0)
		abort();
	if (strcmp(folder, "fails") == 0)
		return lode_fail(error, LODE_BAD_INPUT, "the reason");
	return code;
}

static void what_another_process_reads_arrives_whole(void **state)
{
	const struct lode_ctf_module module = { .read = pretend };
	struct seen here = { 0 }, there = { 0 };
	struct lode_ctf_taker taker = { see_event, see_discarded, see_environment, &here };
	struct lode_error error = { 0 };

	(void)state;
	/* in this process, past the event at which see_event says enough */
	taker.event = see_event;
	assert_int_equal(pretend("", &taker, &error), LODE_BAD_INPUT);
	taker.context = &there;
	assert_int_equal(lode_ctf_read_apart(&module, "", &taker, &error), LODE_BAD_INPUT);
	assert_string_equal(error.text, "enough");
	assert_int_equal(there.events, 1000);
	assert_int_equal(there.events, here.events);
	assert_int_equal(there.sum, here.sum);
	assert_string_equal(there.host, "h -");
}

static int see_all(void *context, const struct lode_ctf_event *event, struct lode_error *error)
{
	struct lode_error ignored;

	(void)error;
	see_event(context, event, &ignored);
	return 0;
}

static void a_library_that_aborts_is_an_error(void **state)
{
	static const struct {
		const char *folder;
		const char *says;
	} cases[] = { { "aborts", "aborts: libbabeltrace2 broke down" }, { "fails", "the reason" }, { "", "" } };
	const struct lode_ctf_module module = { .read = pretend };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct seen seen = { 0 };
		struct lode_ctf_taker taker = { see_all, see_discarded, see_environment, &seen };
		struct lode_error error = { 0 };
		int code = lode_ctf_read_apart(&module, cases[i].folder, &taker, &error);

		assert_int_equal(code, cases[i].says[0] ? LODE_BAD_INPUT : 0);
		assert_ptr_equal(strstr(error.text, cases[i].says), error.text);
		if (!code) {
			assert_int_equal(seen.events, 2000);
			assert_int_equal(seen.discarded, 17);
		}
	}
}

static void a_folder_is_imported_whole_or_not_at_all(void **state)
{
	struct imported whole, imported;
	char folder[100];

	(void)state;
	assert_int_equal(temporary_folder(folder, sizeof(folder)), 0);
	write_trace(folder);
	import_folder(&whole, folder);
	assert_true(whole.streams && whole.asked > 10);
	for (uint64_t nth = 1; nth <= whole.asked; nth++) {
		import_failing(&imported, folder, nth);
		require_all_or_an_error("ctf", nth, &whole, &imported);
		release_imported(&imported);
	}
	release_imported(&whole);
	remove_trace(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_imported_whole_or_not_at_all),
		cmocka_unit_test(a_trace_of_two_cpus_is_joined),
		cmocka_unit_test(what_the_decoder_does_not_know_goes_to_the_library),
		cmocka_unit_test(a_folder_is_known_by_all_its_files),
		cmocka_unit_test(a_file_that_is_cut_off_is_refused),
		cmocka_unit_test(a_trace_without_a_description_is_refused),
		cmocka_unit_test(what_another_process_reads_arrives_whole),
		cmocka_unit_test(a_library_that_aborts_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
