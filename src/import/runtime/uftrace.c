/*
 * Folders that `uftrace record` writes: entries and exits of functions, one file for each thread.
 *
 *	info		"Ftrace!", version, byte order, size of words: the input of this importer
 *	task.txt	lines of text: sessions (a program that was started), threads
 *	sid-SESSION.map	what the program had mapped, like /proc/PID/maps
 *	TID.dat		records of 16 bytes: time, then from the lowest bit type (2), whether arguments follow (1), a
 *			mark (3, always 5), depth (10), address (48)
 *	perf-cpuN.dat	context switches, as records of perf
 *
 * The time between two records of a thread is a run of the stack that is open, except the time that it was
 * switched out: that is a wait, or a preemption.
 */
#include "base/array.h"
#include "base/cursor.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "import/runtime/mapped_frames.h"
#include "import/import_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC         "Ftrace!"
#define SESSION_LIMIT 64
#define CPU_LIMIT     4096
#define DEPTH_LIMIT   1024 /* what the bits of a record can say */
#define RECORD        16

enum record_type { ENTRY, EXIT, LOST, EVENT };

/* Records of perf. */
#define PERF_SWITCH           14
#define PERF_SWITCH_OUT       0x2000
#define PERF_SWITCH_PREEMPTED 0x4000

struct session {
	uint64_t t;
	uint32_t pid;
	struct lode_mapped_frames mapped;
};

struct switched {
	uint64_t t;
	uint32_t tid;
	uint32_t order;
	uint8_t out;
	uint8_t preempted;
};

struct reader {
	struct lode_input *input;
	const struct lode_import_options *options;
	struct lode_error *error;
	char *folder;
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	struct session sessions[SESSION_LIMIT];
	size_t session_count;
	LODE_ARRAY(struct switched) switches; /* by thread and time */
	uint32_t preempt;                     /* string */
	uint64_t too_many;                    /* sessions */
	uint64_t lost;
	uint64_t events;
	uint64_t damaged;
	uint64_t missing; /* threads without a file */
};

/* A thread on its way through its records. */
struct task {
	uint32_t thread;
	uint32_t pid;
	uint64_t t;   /* up to where its time is known */
	uint64_t out; /* when it was switched out; 0: it runs */
	int preempted;
	uint32_t nodes[DEPTH_LIMIT];
	uint32_t frames[DEPTH_LIMIT]; /* of these stacks: more than calls, where functions are inlined */
	uint32_t depth;               /* open functions */
};

/* ---- files ---- */

/* Opens a file of the folder. Returns 1, 0 when it is not there, or a negative code. */
static int open_file(struct reader *reader, const char *name, struct lode_input **input, struct lode_cursor *bytes)
{
	char *path = lode_format("%s/%s", reader->folder, name);
	struct lode_error why;
	const unsigned char *start;
	size_t size;
	int code;

	*input = NULL;
	if (!path)
		return lode_fail_memory(reader->error);
	code = lode_input_open_plain(input, path, 0, &why);
	if (code < 0)
		code = access(path, R_OK) < 0 ? 0 : lode_fail(reader->error, code, "%s", why.text);
	lode_free(path);
	if (!*input)
		return code;
	code = lode_input_whole(*input, &start, &size, reader->error);
	if (code < 0) {
		lode_input_close(*input);
		return code;
	}
	*bytes = lode_cursor(start, size);
	return 1;
}

/* The next line of a text. */
static int next_line(struct lode_cursor *text, const char **line, size_t *length)
{
	const char *newline;

	if (!lode_cursor_left(text))
		return 0;
	*line = (const char *)text->next;
	newline = memchr(*line, '\n', lode_cursor_left(text));
	*length = newline ? (size_t)(newline - *line) : lode_cursor_left(text);
	text->next += *length + (newline != NULL);
	return 1;
}

/* The text behind ` key=`, up to a blank. */
static int find_value(const char *line, size_t length, const char *key, char *value, size_t size)
{
	const char *at = memmem(line, length, key, strlen(key)), *end = line + length;
	size_t count = 0;

	if (!at)
		return 0;
	for (at += strlen(key); at < end && *at != ' ' && count + 1 < size; at++)
		value[count++] = *at;
	value[count] = '\0';
	return count > 0;
}

static uint64_t find_number(const char *line, size_t length, const char *key)
{
	char text[32];

	return find_value(line, length, key, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* ` timestamp=SECONDS.NANOSECONDS` */
static uint64_t find_time(const char *line, size_t length)
{
	char text[40], *rest;
	uint64_t seconds;

	if (!find_value(line, length, " timestamp=", text, sizeof(text)))
		return 0;
	seconds = strtoull(text, &rest, 10);
	return seconds > UINT64_MAX / 2000000000u
		       ? 0
		       : seconds * 1000000000u + (*rest == '.' ? strtoull(rest + 1, NULL, 10) : 0);
}

/* ---- sessions ---- */

/* Takes the memory map of a session; behind a path is a build-id. */
static int read_map(struct reader *reader, struct session *session, const char *sid)
{
	char name[80];
	struct lode_input *input;
	struct lode_cursor text;
	const char *line;
	size_t length;
	int code;

	snprintf(name, sizeof(name), "sid-%.40s.map", sid);
	code = open_file(reader, name, &input, &text);
	if (code <= 0)
		return code;
	while (code >= 0 && next_line(&text, &line, &length)) {
		const char *build_id = memmem(line, length, " build-id:", 10);

		code = lode_mapped_frames_line(&session->mapped, line,
					       build_id ? (size_t)(build_id - line) : length);
	}
	lode_input_close(input);
	return code < 0 ? lode_fail_memory(reader->error) : 0;
}

static int add_session(struct reader *reader, const char *line, size_t length)
{
	struct session *session = &reader->sessions[reader->session_count];
	char sid[48];
	int code;

	if (!find_value(line, length, " sid=", sid, sizeof(sid)) || strchr(sid, '/'))
		return 0;
	if (reader->session_count == SESSION_LIMIT) {
		reader->too_many++;
		return 0;
	}
	session->t = find_time(line, length);
	session->pid = (uint32_t)find_number(line, length, " pid=");
	reader->session_count++;
	code = lode_mapped_frames_init(&session->mapped, reader->options, &reader->dictionary, reader->error);
	return code < 0 ? code : read_map(reader, session, sid);
}

/* The session that a process is in at a time: its latest, else the first, which a child shares with its parent. */
static struct session *session_at(struct reader *reader, uint32_t pid, uint64_t t)
{
	struct session *found = &reader->sessions[0];

	for (size_t i = 0; i < reader->session_count; i++)
		if (reader->sessions[i].pid == pid && reader->sessions[i].t <= t)
			found = &reader->sessions[i];
	return found;
}

/* ---- context switches ---- */

static int add_switch(struct reader *reader, struct lode_cursor record, uint16_t flags)
{
	struct switched item = { .order = (uint32_t)reader->switches.count };

	lode_cursor_u32(&record);
	item.tid = lode_cursor_u32(&record);
	item.t = lode_cursor_u64(&record);
	item.out = (flags & PERF_SWITCH_OUT) != 0;
	item.preempted = (flags & PERF_SWITCH_PREEMPTED) != 0;
	if (record.failed)
		return 0;
	if (LODE_PUSH(&reader->switches, item) < 0)
		return lode_fail_memory(reader->error);
	return 0;
}

static int read_cpu(struct reader *reader, struct lode_cursor records)
{
	int code = 0;

	while (code == 0 && lode_cursor_left(&records) >= 8) {
		struct lode_cursor record = records;
		uint32_t type = lode_cursor_u32(&record);
		uint16_t flags = lode_cursor_u16(&record), size = lode_cursor_u16(&record);

		if (size < 8 || !lode_cursor_bytes(&records, size)) {
			reader->damaged++;
			break;
		}
		record.end = records.next;
		if (type == PERF_SWITCH)
			code = add_switch(reader, record, flags);
	}
	return code;
}

static int compare_switches(const void *left, const void *right)
{
	const struct switched *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int read_switches(struct reader *reader)
{
	int code = 1;

	for (unsigned cpu = 0; cpu < CPU_LIMIT && code > 0; cpu++) {
		struct lode_input *input;
		struct lode_cursor records;
		char name[40];

		snprintf(name, sizeof(name), "perf-cpu%u.dat", cpu);
		code = open_file(reader, name, &input, &records);
		if (code <= 0)
			break;
		if (read_cpu(reader, records) < 0)
			code = LODE_SYSTEM;
		lode_input_close(input);
	}
	if (reader->switches.count)
		qsort(reader->switches.items, reader->switches.count, sizeof(*reader->switches.items),
		      compare_switches);
	return code < 0 ? code : 0;
}

/* The first switch of a thread. */
static size_t first_switch(const struct reader *reader, uint32_t tid)
{
	return LODE_BISECT(i, 0, reader->switches.count, reader->switches.items[i].tid < tid);
}

/* ---- events ---- */

static uint32_t top(const struct task *task)
{
	return task->depth ? task->nodes[task->depth - 1] : 0;
}

static int add_event(struct reader *reader, const struct task *task, enum lode_event_type type,
		     struct lode_event event)
{
	event.thread = task->thread;
	event.stack = top(task);
	event.waker = LODE_NONE;
	event.cpu = LODE_NO_CPU;
	return lode_stream_add_event(&reader->stream, type, &event);
}

/* The thread ran up to `t`, if it was running in a function at all. */
static int run_until(struct reader *reader, struct task *task, uint64_t t)
{
	uint64_t from = task->t;

	if (t <= from || task->out)
		return 0;
	task->t = t;
	return task->depth ? add_event(reader, task, LODE_RUN, (struct lode_event){ .t = from, .cost = t - from })
			   : 0;
}

static int handle_switch(struct reader *reader, struct task *task, const struct switched *item)
{
	uint64_t out = task->out, length = item->t > out ? item->t - out : 0;

	if (item->out) {
		if (run_until(reader, task, item->t) < 0)
			return LODE_SYSTEM;
		task->out = item->t;
		task->preempted = item->preempted;
		return 0;
	}
	task->t = item->t > task->t ? item->t : task->t;
	task->out = 0;
	if (!out || !task->depth)
		return 0;
	if (task->preempted)
		return add_event(reader, task, LODE_CALL,
				 (struct lode_event){ .t = out, .delay = length, .name = reader->preempt });
	return add_event(reader, task, LODE_WAIT, (struct lode_event){ .t = out, .cost = length });
}

static int enter(struct reader *reader, struct task *task, uint64_t t, uint32_t depth, uint64_t address)
{
	uint32_t frames, node;

	/* Calls that were filtered out or lost leave a gap, which the innermost known one fills. */
	for (uint32_t i = task->depth; i < depth; i++) {
		task->nodes[i] = i ? task->nodes[i - 1] : 0;
		task->frames[i] = i ? task->frames[i - 1] : 0;
	}
	frames = depth ? task->frames[depth - 1] : 0;
	node = lode_mapped_frames_push(&session_at(reader, task->pid, t)->mapped,
				       depth ? task->nodes[depth - 1] : 0, address, &frames);
	task->nodes[depth] = node;
	task->frames[depth] = frames;
	task->depth = depth + 1;
	return node == LODE_NONE ? LODE_SYSTEM : 0;
}

/* Returns 0 or a negative code. */
static int handle_record(struct reader *reader, struct task *task, uint64_t t, uint64_t word)
{
	enum record_type type = (enum record_type)(word & 3);
	uint32_t depth = (uint32_t)(word >> 6 & 0x3ff);

	if ((word >> 3 & 7) != 5) {
		reader->damaged++;
		return 0;
	}
	if (word & 4)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: has arguments or return values of unknown sizes; record "
				 "without -A, -R and -a",
				 reader->folder);
	reader->lost += type == LOST;
	reader->events += type == EVENT;
	if (type >= LOST)
		return 0;
	if (run_until(reader, task, t) < 0)
		return lode_fail_memory(reader->error);
	/* Before the first record nothing is known of it. */
	task->t = task->out || t < task->t ? task->t : t;
	if (type == EXIT) {
		task->depth = depth < task->depth ? depth : task->depth;
		return 0;
	}
	return enter(reader, task, t, depth, word >> 16) < 0 ? lode_fail_memory(reader->error) : 0;
}

static int read_records(struct reader *reader, struct task *task, uint32_t tid, struct lode_cursor records)
{
	size_t next = first_switch(reader, tid), count = 0;
	int code = 0;

	while (code == 0 && lode_cursor_left(&records) >= RECORD) {
		uint64_t t = lode_cursor_u64(&records), word = lode_cursor_u64(&records);

		for (; next < reader->switches.count && reader->switches.items[next].tid == tid &&
		       reader->switches.items[next].t <= t;
		     next++)
			if (handle_switch(reader, task, &reader->switches.items[next]) < 0)
				return lode_fail_memory(reader->error);
		code = handle_record(reader, task, t, word);
		if (code == 0 && (++count & 0xfffff) == 0)
			code = lode_import_progress_at(reader->input, reader->options, count, 0, reader->error);
	}
	reader->damaged += lode_cursor_left(&records) != 0;
	return code;
}

static int read_task(struct reader *reader, const char *line, size_t length)
{
	uint32_t tid = (uint32_t)find_number(line, length, " tid="),
		 pid = (uint32_t)find_number(line, length, " pid=");
	struct task *task;
	struct lode_input *input;
	struct lode_cursor records;
	char name[32];
	int code;

	snprintf(name, sizeof(name), "%u.dat", tid);
	code = open_file(reader, name, &input, &records);
	if (code <= 0) {
		reader->missing += code == 0;
		return code;
	}
	task = lode_calloc(1, sizeof(*task));
	if (task) {
		task->pid = pid;
		task->thread = lode_stream_thread(&reader->stream, pid, tid);
	}
	code = !task || task->thread == LODE_NONE ? lode_fail_memory(reader->error)
						  : read_records(reader, task, tid, records);
	lode_free(task);
	lode_input_close(input);
	return code;
}

/* ---- the importer ---- */

/* Lines of task.txt that begin with a word. */
static int read_lines(struct reader *reader, struct lode_cursor text, const char *word,
		      int (*take)(struct reader *reader, const char *line, size_t length))
{
	const char *line;
	size_t length;
	int code = 0;

	while (code == 0 && next_line(&text, &line, &length))
		if (length > 5 && memcmp(line, word, 5) == 0)
			code = take(reader, line, length);
	return code;
}

static int read_tasks(struct reader *reader)
{
	struct lode_input *input;
	struct lode_cursor text;
	int code = open_file(reader, "task.txt", &input, &text);

	if (code == 0)
		return lode_fail(reader->error, LODE_BAD_INPUT,
				 "%s: has no task.txt; is it a folder of `uftrace record`?", reader->folder);
	if (code < 0)
		return code;
	code = read_lines(reader, text, "SESS ", add_session);
	if (code == 0 && !reader->session_count)
		code = lode_fail(reader->error, LODE_BAD_INPUT, "%s: its task.txt names no session",
				 reader->folder);
	if (code == 0)
		code = read_switches(reader);
	if (code == 0)
		code = read_lines(reader, text, "TASK ", read_task);
	lode_input_close(input);
	return code;
}

static void report_notes(const struct reader *reader)
{
	struct lode_notes *notes = reader->options->notes;

	lode_notes_add(notes, reader->lost, "places where uftrace lost records", reader->folder);
	lode_notes_add(notes, reader->damaged, "records that are damaged or cut off", reader->folder);
	lode_notes_add(notes, reader->missing, "threads without records", NULL);
	lode_notes_add(notes, reader->events, "events other than functions, left out", NULL);
	lode_notes_add(notes, reader->too_many, "sessions beyond the 64th, whose functions may have wrong names",
		       reader->folder);
	lode_notes_add(notes, !reader->switches.count,
		       "a recording without context switches: waits count as time run (record with "
		       "--event=linux:schedule)",
		       reader->folder);
	for (size_t i = 0; i < reader->session_count; i++)
		lode_mapped_frames_report(&reader->sessions[i].mapped);
}

static int read_folder(struct reader *reader, const struct lode_import_sink *sink)
{
	struct lode_import_addresses addresses = { 0 };
	int code;

	reader->preempt =
		lode_strings_add(&reader->dictionary.frames.strings, LODE_PREEMPTION, strlen(LODE_PREEMPTION));
	if (reader->preempt == LODE_NONE)
		return lode_fail_memory(reader->error);
	code = read_tasks(reader);
	if (code < 0)
		return code;
	if (!lode_stream_event_count(&reader->stream))
		return lode_fail(reader->error, LODE_BAD_INPUT, "%s: has no records of functions", reader->folder);
	report_notes(reader);
	for (size_t i = 0; i < reader->session_count; i++)
		lode_mapped_frames_count(&reader->sessions[i].mapped, &addresses);
	if (lode_import_note_addresses(&reader->stream, &addresses) < 0)
		return lode_fail_memory(reader->error);
	return lode_import_deliver(reader->input, reader->options, sink, &reader->stream, 0, reader->error);
}

static int check_info(struct lode_input *input, struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_peek(input, 16, &bytes, &size, error);

	if (code < 0)
		return code;
	if (size < 16 || memcmp(bytes, MAGIC, 8) != 0)
		return lode_fail(error, LODE_BAD_INPUT, "%s: not an `info` file of uftrace",
				 lode_input_name(input));
	if (bytes[14] != 1 || bytes[15] != 2)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: is of a 32-bit or big-endian machine, which is not read",
				 lode_input_name(input));
	return 0;
}

static int read_uftrace(struct lode_input *input, const struct lode_import_options *options,
			const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reader *reader;
	const char *name = lode_input_name(input), *slash = strrchr(name, '/');
	int code = check_info(input, error);

	if (code < 0)
		return code;
	reader = lode_calloc(1, sizeof(*reader));
	if (!reader)
		return lode_fail_memory(error);
	reader->input = input;
	reader->options = options;
	reader->error = error;
	reader->folder = slash ? lode_strndup(name, (size_t)(slash - name)) : lode_strdup(".");
	if (!reader->folder || lode_dictionary_init(&reader->dictionary) < 0) {
		lode_free(reader->folder);
		lode_free(reader);
		return lode_fail_memory(error);
	}
	lode_stream_init(&reader->stream, &reader->dictionary);
	code = read_folder(reader, sink);
	for (size_t i = 0; i < reader->session_count; i++)
		lode_mapped_frames_release(&reader->sessions[i].mapped);
	lode_free(reader->switches.items);
	lode_free(reader->folder);
	lode_import_end(&reader->stream);
	lode_free(reader);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	return size >= 8 && memcmp(bytes, MAGIC, 8) == 0 ? 100 : 0;
}

const struct lode_importer lode_importer_uftrace = {
	.name = "uftrace",
	.description = "folders written by uftrace record",
	.is_folder = 1,
	.sniff = sniff,
	.read = read_uftrace,
};
