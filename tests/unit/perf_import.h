/* Importing recordings of perf that are made here, and comparing what they become. */
#ifndef LODE_TESTS_PERF_IMPORT_H
#define LODE_TESTS_PERF_IMPORT_H

#include "perf_recording.h"

static const struct lode_import_options plain_options = { .jobs = 1, .no_symbols = 1, .cache = "" };

static inline void import_recording(struct imported *imported, const struct recording *recording, int pipe)
{
	struct lode_buffer file = { 0 };

	if (pipe)
		make_pipe(recording, &file);
	else
		make_file(recording, &file);
	import_bytes(imported, &lode_importer_perf_data, file.bytes, file.size, &plain_options);
	lode_buffer_release(&file);
}

/* The lines of what was imported that begin with `start`, one after the other. */
static inline char *lines_of(const struct imported *imported, const char *start)
{
	struct lode_buffer lines = { 0 };
	const char *line = imported->text.bytes;

	for (; *line; line += strcspn(line, "\n") + 1)
		if (!strncmp(line, start, strlen(start)))
			lode_buffer_add(&lines, line, strcspn(line, "\n") + 1);
	lode_buffer_byte(&lines, '\0');
	return lines.bytes;
}

/* Imports and compares the lines that begin with `start`. */
static inline void assert_becomes(const struct recording *recording, const char *start, const char *expected)
{
	struct imported imported;
	char *lines;

	import_recording(&imported, recording, 0);
	assert_string_equal(imported.code < 0 ? imported.error.text : "", "");
	lines = lines_of(&imported, start);
	assert_string_equal(lines, expected);
	lode_free(lines);
	release_imported(&imported);
}

static inline void put_sized(struct lode_buffer *buffer, const char *text)
{
	lode_buffer_u64(buffer, strlen(text));
	lode_buffer_text(buffer, text);
}

/* Fields are at other offsets than in any kernel, so that a guess would be wrong. */
static inline void add_tracing(struct recording *recording)
{
	struct lode_buffer *tracing = &recording->tracing;

	lode_buffer_add(tracing,
			"\x17\x08\x44tracing"
			"0.6",
			14);
	lode_buffer_add(tracing, "\0\x08\0\x10\0\0", 6);
	lode_buffer_add(tracing, "header_page", 12);
	put_sized(tracing, "nothing");
	lode_buffer_add(tracing, "header_event", 13);
	put_sized(tracing, "nothing");
	lode_buffer_u32(tracing, 1);
	put_sized(tracing, "name: ftrace\nID: 1\n");
	lode_buffer_u32(tracing, 3);
	lode_buffer_add(tracing, "sched", 6);
	lode_buffer_u32(tracing, 2);
	put_sized(tracing, "name: sched_switch\nID: 301\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:pid_t next_pid;\toffset:8;\tsize:8;\tsigned:1;\n"
			   "\tfield:long prev_state;\toffset:16;\tsize:2;\tsigned:1;\n"
			   "\tfield:char prev_comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
			   "\tfield:pid_t prev_pid;\toffset:40;\tsize:4;\tsigned:1;\n"
			   "\tfield:char next_comm[16];\toffset:44;\tsize:4;\tsigned:0;\n"
			   "\nprint fmt: \"field:pid_t next_pid; offset:0; size:4;\"\n");
	put_sized(tracing, "name: sched_waking\nID: 302\nformat:\n"
			   "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n");
	lode_buffer_add(tracing, "syscalls", 9);
	lode_buffer_u32(tracing, 1);
	put_sized(tracing, "name: sys_enter_openat\nID: 303\nformat:\n");
	lode_buffer_add(tracing, "raw_syscalls", 13);
	lode_buffer_u32(tracing, 2);
	put_sized(tracing, "name: sys_enter\nID: 304\nformat:\n\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n");
	put_sized(tracing, "name: sys_exit\nID: 305\nformat:\n\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n");
	lode_buffer_u32(tracing, 0);
}

static inline void add_tracepoint(struct recording *recording, uint64_t id)
{
	add_event(recording, PERF_TYPE_TRACEPOINT, id)->sample_type |= PERF_SAMPLE_RAW;
}

static inline void put_switch(struct recording *recording, uint64_t time, uint32_t previous, uint16_t state_bits,
			      uint64_t next, uint64_t ip)
{
	unsigned char raw[48] = { 0 };

	memcpy(raw + 8, &next, 8);
	memcpy(raw + 16, &state_bits, 2);
	strcpy((char *)raw + 24, "before");
	memcpy(raw + 40, &previous, 4);
	strcpy((char *)raw + 44, "aft");
	put_sample(recording, (struct sample){ .event = 0,
					       .time = time,
					       .pid = 7,
					       .tid = previous,
					       .cpu = 1,
					       CHAIN(USER, ip),
					       .raw = raw,
					       .raw_size = sizeof(raw) });
}

static inline void put_waking(struct recording *recording, uint64_t time, uint32_t waker, uint32_t target,
			      uint64_t ip)
{
	unsigned char raw[16] = { 0 };

	memcpy(raw + 12, &target, 4);
	put_sample(recording, (struct sample){ .event = 1,
					       .time = time,
					       .pid = 7,
					       .tid = waker,
					       CHAIN(USER, ip),
					       .raw = raw,
					       .raw_size = sizeof(raw) });
}

#endif
