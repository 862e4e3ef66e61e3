/*
 * Folders of uftrace: each input is tried as the records of a thread, as the context switches of a CPU, and, if
 * it begins with a letter, as the list of threads and as a memory map.
 */
#include "fuzz.h"

#include "base/memory.h"
#include "import/import.h"

#include <stdio.h>
#include <string.h>

extern const struct lode_importer lode_importer_uftrace;

static void write_file(const char *name, const void *bytes, size_t size)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
	file = fopen(path, "wb");
	fuzz_require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0,
		     "there is room for a file");
}

static int check(void *context, struct lode_stream *stream, unsigned ordinal, struct lode_error *error)
{
	(void)context;
	(void)ordinal;
	(void)error;
	fuzz_check_stream(stream);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char tasks[] =
		"SESS timestamp=0.000000001 pid=1 sid=1 exename=\"a\"\nTASK timestamp=0.000000001 tid=1 pid=1\n";
	static const char map[] = "0000-ffff r-xp 00000000 00:00 0 /opt/none/app build-id:00\n";
	struct lode_import_options options = { .no_symbols = 1, .jobs = 1 };
	struct lode_import_sink sink = { check, NULL };
	struct lode_error error = { "" };
	struct lode_input *input;
	int text = size && bytes[0] >= 'A' && bytes[0] <= 'z';
	char path[200];
	int code;

	write_file("info", "Ftrace!\0\4\0\0\0\050\0\1\2", 16);
	write_file("task.txt", text ? (const void *)bytes : tasks, text ? size : strlen(tasks));
	write_file("sid-1.map", text ? (const void *)bytes : map, text ? size : strlen(map));
	write_file("1.dat", bytes, size);
	write_file("perf-cpu0.dat", bytes, size);
	snprintf(path, sizeof(path), "%s/info", fuzz_folder());
	code = lode_input_open(&input, path, &error);
	fuzz_require(code == 0, "a file can be opened");
	code = lode_importer_uftrace.read(input, &options, &sink, &error);
	fuzz_require_sentence(code, &error);
	lode_input_close(input);
	return 0;
}
