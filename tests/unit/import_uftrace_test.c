/* Folders of uftrace. */
#include "import_fixture.h"
#include "temporary.h"

extern const struct lode_importer lode_importer_uftrace;

static void put(struct lode_buffer *buffer, uint64_t number, int size)
{
	for (int i = 0; i < size; i++)
		lode_buffer_byte(buffer, (char)(number >> 8 * i));
}

static void put_record(struct lode_buffer *buffer, uint64_t t, unsigned type, unsigned depth, uint64_t address)
{
	put(buffer, t, 8);
	put(buffer, type | 5u << 3 | depth << 6 | address << 16, 8);
}

static void put_switch(struct lode_buffer *buffer, uint64_t t, unsigned flags)
{
	put(buffer, 14, 4);
	put(buffer, flags, 2);
	put(buffer, 24, 2);
	put(buffer, 5, 4);
	put(buffer, 7, 4);
	put(buffer, t, 8);
}

static const char *const files[] = { "info", "task.txt", "sid-ab.map", "7.dat", "perf-cpu0.dat" };

static void write_file(const char *folder, int file, const void *bytes, size_t size)
{
	char path[200];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, files[file]);
	out = fopen(path, "wb");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	fclose(out);
}

static void write_text(const char *folder, int file, const char *text)
{
	write_file(folder, file, text, strlen(text));
}

/* Allocation `nth` fails. */
static void import_failing(struct imported *imported, const char *folder, uint64_t nth)
{
	struct lode_import_sink sink = { disarm_and_describe, imported };
	struct lode_import_options options = { .jobs = 1, .no_symbols = 1, .stream_name = "x" };
	char *path = lode_import_file(folder);
	struct lode_input *input;

	memset(imported, 0, sizeof(*imported));
	lode_notes_init(&imported->notes);
	options.notes = &imported->notes;
	assert_non_null(path);
	assert_int_equal(lode_input_open(&input, path, &imported->error), 0);
	assert_ptr_equal(lode_import_choose(input, &options, &imported->error), &lode_importer_uftrace);
	lode_memory_fail_at(nth, 0);
	imported->code = lode_importer_uftrace.read(input, &options, &sink, &imported->error);
	lode_memory_fail_at(0, 0);
	lode_input_close(input);
	lode_free(path);
	lode_buffer_byte(&imported->text, '\0');
}

static void import_folder(struct imported *imported, const char *folder)
{
	import_failing(imported, folder, UINT64_MAX);
}

/* main (0x1100) from 100 to 1000 calls load (0x1200) from 200 to 900, which waits from 300 to 700 and is preempted at 800. */
static void make_folder(char *folder, size_t size, unsigned more)
{
	struct lode_buffer records = { 0 }, switches = { 0 };

	assert_int_equal(temporary_folder(folder, size), 0);
	put_record(&records, 100, 0, 0, 0x1100);
	put_record(&records, 200, 0 | more, 1, 0x1200);
	put_record(&records, 900, 1, 1, 0x1200);
	put_record(&records, 1000, 1, 0, 0x1100);
	put(&records, 0, 5);
	put_switch(&switches, 300, 0x2000);
	put_switch(&switches, 700, 0);
	put_switch(&switches, 800, 0x6000);
	put_switch(&switches, 850, 0);
	write_file(folder, 0, "Ftrace!\0\4\0\0\0\050\0\1\2", 16);
	write_text(folder, 1,
		   "SESS timestamp=0.000000001 pid=5 sid=ab exename=\"/opt/none/app\"\n"
		   "TASK timestamp=0.000000002 tid=7 pid=5\nTASK timestamp=0.000000002 tid=8 pid=5\n");
	write_text(folder, 2, "1000-2000 r-xp 00000000 00:00 0      /opt/none/app build-id:0123\n");
	write_file(folder, 3, records.bytes, records.size);
	write_file(folder, 4, switches.bytes, switches.size);
	lode_buffer_release(&records);
	lode_buffer_release(&switches);
}

static void remove_folder(const char *folder)
{
	char path[200];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void functions_are_runs_and_switches_waits(void **state)
{
	struct imported imported;
	char folder[100];

	(void)state;
	make_folder(folder, sizeof(folder), 0);
	import_folder(&imported, folder);
	remove_folder(folder);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	assert_string_equal(imported.text.bytes, "stream x \nattribute addresses=file offsets 0\n"
						 "module app user /opt/none/app \n"
						 "run 100+100 5/7 app!0x100\n"
						 "run 200+100 5/7 app!0x100|app!0x200\n"
						 "run 700+100 5/7 app!0x100|app!0x200\n"
						 "run 850+50 5/7 app!0x100|app!0x200\n"
						 "run 900+100 5/7 app!0x100\n"
						 "wait 300+400 5/7 app!0x100|app!0x200\n"
						 "call 800+0 5/7 delay=50 name=preempt app!0x100|app!0x200\n");
	assert_int_equal(note_count(&imported, "threads without records"), 1);
	assert_int_equal(note_count(&imported, "damaged or cut off"), 1);
	release_imported(&imported);
}

static void what_folders_may_not_be(void **state)
{
	struct imported imported;
	char folder[100];

	(void)state;
	make_folder(folder, sizeof(folder), 4);
	import_folder(&imported, folder);
	assert_int_equal(imported.code, LODE_BAD_INPUT);
	assert_non_null(strstr(imported.error.text, "record without -A"));
	release_imported(&imported);
	write_text(folder, 1, "TASK timestamp=0.1 tid=7 pid=5\n");
	import_folder(&imported, folder);
	assert_non_null(strstr(imported.error.text, "names no session"));
	release_imported(&imported);
	write_file(folder, 0, "Ftrace!\0\4\0\0\0\050\0\2\2", 16);
	import_folder(&imported, folder);
	assert_non_null(strstr(imported.error.text, "big-endian"));
	release_imported(&imported);
	remove_folder(folder);
}

static void a_folder_is_imported_whole_or_not_at_all(void **state)
{
	struct imported whole, imported;
	char folder[100];

	(void)state;
	make_folder(folder, sizeof(folder), 0);
	import_folder(&whole, folder);
	assert_true(whole.streams && whole.asked > 10);
	for (uint64_t nth = 1; nth <= whole.asked; nth++) {
		import_failing(&imported, folder, nth);
		require_all_or_an_error("uftrace", nth, &whole, &imported);
		release_imported(&imported);
	}
	release_imported(&whole);
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_imported_whole_or_not_at_all),
		cmocka_unit_test(functions_are_runs_and_switches_waits),
		cmocka_unit_test(what_folders_may_not_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
