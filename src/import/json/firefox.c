/*
 * Firefox Profiler's JSON: processed profiles (what profiler.firefox.com saves and
 * samply writes) and the raw profiles of Gecko.
 *
 * Both hold tables in columns, a set per thread or one for all (`shared`): samples
 * name stacks, a stack is a frame below another stack, a frame has a function.
 * Gecko writes rows with a schema and a frame's place as one text; json_profile.h
 * makes columns of either.
 *
 * What a sample represents. With CPU deltas (`threadCPUDelta`) we know how much of
 * the time since the sample before was spent on a CPU: that is its run time, and
 * where it is less than half of a gap, the rest is a wait in the sample's stack.
 * Waits that follow one another in one stack are one wait. Without CPU deltas a
 * sample is `interval` times its weight of run time. What `lode export --format
 * firefox` wrote has a second thread `NAME, waiting` for the waits.
 *
 * Markers with a duration become symptoms if an option names them (firefox_markers.h).
 */
#include "base/memory.h"
#include "import/import_common.h"
#include "import/json/firefox_markers.h"
#include "import/symptom_markers.h"

#include <stdlib.h>
#include <string.h>

/* Processes inside one another in a Gecko profile. */
#define PROCESS_DEPTH 8

/* A frame by where its name and its library or file are written: the threads of a process share most of both. */
struct recent_frame {
	const char *name;
	const char *file;
	uint32_t frame; /* LODE_NONE at first, as it is for one that is not here */
};

#define RECENT_FRAMES 2048

struct reading {
	struct lode_json_import import;
	double interval; /* nanoseconds */
	double cpu_unit; /* nanoseconds of a CPU delta of 1; 0: unknown */
	int is_lode;     /* written by `lode export` */
	double first;    /* the earliest time, in milliseconds; ours begin there */
	uint64_t threads;
	uint64_t without_tid;
	uint64_t estimated; /* waits */
	uint64_t bytes;     /* threads whose samples count bytes */
	uint64_t cut;       /* stacks too deep */
	uint64_t back;      /* samples with timestamps out of order */
	uint64_t cycles;    /* samples whose CPU time is in a unit that is no time */
	uint64_t negative;  /* samples whose weight is below 0 */
	uint64_t markers, half_markers;
	int failed; /* memory ran out while threads were listed */
	struct recent_frame recent[RECENT_FRAMES];
};

/* The members of a thread, or of `shared`, that we read. */
enum member {
	STACKS,
	FRAMES,
	FUNCTIONS,
	RESOURCES,
	STRING_ARRAY,
	STRING_TABLE,
	SAMPLES,
	MARKERS,
	LIBS,
	PID,
	TID,
	NAME,
	MEMBERS
};
static const char *const member_names[MEMBERS] = { "stackTable",  "frameTable",  "funcTable", "resourceTable",
						   "stringArray", "stringTable", "samples",   "markers",
						   "libs",        "pid",         "tid",       "name" };

/* A thread or `shared`: large objects, so each is looked through once. */
struct tables {
	struct lode_json_value members[MEMBERS];
	struct lode_json_table samples, markers;
	struct lode_json_column strings;
};

/* Where the tables of one thread are. */
struct sources {
	struct tables thread;
	const struct tables *shared;
	struct lode_json_value libs;
};

/* The stacks of one thread, or of all, as ours. */
struct stacks {
	uint32_t *ids;
	uint32_t *depths;
	size_t count;
};

static int fail(struct reading *reading, const char *what)
{
	return lode_fail(reading->import.error, LODE_BAD_INPUT, "%s: thread %llu: %s",
			 lode_input_name(reading->import.input), (unsigned long long)reading->threads, what);
}

static int load_strings(struct reading *reading, struct tables *tables)
{
	const struct lode_json_value *members = tables->members;

	if (lode_json_array_column(members[STRING_ARRAY].at ? members[STRING_ARRAY] : members[STRING_TABLE],
				   &tables->strings) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static void release_tables(struct tables *tables)
{
	lode_json_columns_release(&tables->strings, 1);
}

static struct lode_json_value find_table(const struct sources *sources, enum member member)
{
	struct lode_json_value table = sources->thread.members[member];

	return table.at ? table : sources->shared->members[member];
}

static const struct lode_json_column *find_strings(const struct sources *sources)
{
	const struct lode_json_value *members = sources->thread.members;

	return members[STRING_ARRAY].at || members[STRING_TABLE].at ? &sources->thread.strings
								    : &sources->shared->strings;
}

/* ---- functions and frames ---- */

enum { FRAME_FUNCTION, FRAME_LOCATION, FRAME_COLUMNS };
static const char *const frame_columns[FRAME_COLUMNS] = { "func", "location" };
enum { FUNCTION_NAME, FUNCTION_RESOURCE, FUNCTION_FILE, FUNCTION_COLUMNS };
static const char *const function_columns[FUNCTION_COLUMNS] = { "name", "resource", "fileName" };
static const char *const resource_columns[] = { "lib" };

/* Columns that lead from a frame to its name. */
struct names {
	const struct lode_json_column *strings;
	struct lode_json_column frames[FRAME_COLUMNS]; /* to functions; Gecko's to strings */
	struct lode_json_column functions[FUNCTION_COLUMNS];
	struct lode_json_column lib; /* resource -> library */
	struct lode_json_column libs;
};

static void release_names(struct names *names)
{
	lode_json_columns_release(names->frames, FRAME_COLUMNS);
	lode_json_columns_release(names->functions, FUNCTION_COLUMNS);
	lode_json_columns_release(&names->lib, 1);
	lode_json_columns_release(&names->libs, 1);
}

static int load_names(struct reading *reading, const struct sources *sources, struct names *names)
{
	names->strings = find_strings(sources);
	if (lode_json_columns(find_table(sources, FRAMES), frame_columns, names->frames, FRAME_COLUMNS) < 0 ||
	    lode_json_columns(find_table(sources, FUNCTIONS), function_columns, names->functions,
			      FUNCTION_COLUMNS) < 0 ||
	    lode_json_columns(find_table(sources, RESOURCES), resource_columns, &names->lib, 1) < 0 ||
	    lode_json_array_column(sources->libs, &names->libs) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static struct lode_json_value find_string(const struct names *names, struct lode_json_value index)
{
	return lode_json_cell(names->strings, lode_json_u64_or(index, SIZE_MAX));
}

static const char *string_at(const struct names *names, struct lode_json_value index, struct lode_buffer *buffer)
{
	return lode_json_string(find_string(names, index), buffer);
}

/* The library of a function, or an absent value. */
static struct lode_json_value library_of(const struct names *names, uint64_t function)
{
	uint64_t resource =
		lode_json_u64_or(lode_json_cell(&names->functions[FUNCTION_RESOURCE], function), SIZE_MAX);
	uint64_t lib = lode_json_u64_or(lode_json_cell(&names->lib, resource), SIZE_MAX);

	return lode_json_cell(&names->libs, lib);
}

/* The file a function is in, into `reading->import.file`: its library's path or name, or `file` where it has no library. */
static const char *file_of(struct reading *reading, struct lode_json_value lib, struct lode_json_value file)
{
	const char *path;

	if (!lib.at)
		return lode_json_string(file, &reading->import.file);
	path = lode_json_string(lode_json_get(lib, "path"), &reading->import.file);
	if (path && !path[0])
		path = lode_json_string(lode_json_get(lib, "name"), &reading->import.file);
	return path;
}

/* The build-id, where the library has one in ELF's form. */
static int keep_build_id(struct reading *reading, struct lode_json_value lib, uint32_t module)
{
	const char *id = lode_json_string(lode_json_get(lib, "codeId"), &reading->import.text);
	size_t length = id ? strlen(id) : 0;

	if (id && (length < 16 || length > 40 || strspn(id, "0123456789abcdef") != length))
		return 0;
	if (!id || lode_frames_set_build_id(&reading->import.dictionary.frames, module, id, length) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

/* `name (file:line)` as Gecko writes a place in a script: cut apart where it has that form. */
static const char *split_location(char *text)
{
	size_t length = strlen(text);
	char *open = strstr(text, " (");

	if (!open || text[length - 1] != ')')
		return "";
	text[length - 1] = '\0';
	*open = '\0';
	for (char *colon = strrchr(open + 2, ':');
	     colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
	     colon = strrchr(open + 2, ':'))
		*colon = '\0';
	return open + 2;
}

static uint32_t gecko_frame(struct reading *reading, const struct names *names, size_t frame)
{
	const char *text = string_at(names, lode_json_cell(&names->frames[FRAME_LOCATION], frame),
				     &reading->import.text),
		   *file;

	if (!text)
		return LODE_NONE;
	file = split_location(reading->import.text.bytes);
	return lode_json_frame(&reading->import.dictionary.frames, text, file);
}

/* The frame of a function of this name in this library, or file where it has none. */
static int add_function(struct reading *reading, struct lode_json_value name, struct lode_json_value lib,
			struct lode_json_value file, uint32_t *id)
{
	const char *text = lode_json_string(name, &reading->import.text), *path = file_of(reading, lib, file);

	*id = text && path ? lode_json_frame(&reading->import.dictionary.frames, text, path) : LODE_NONE;
	if (*id == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	return keep_build_id(reading, lib, reading->import.dictionary.frames.items[*id].module);
}

static int find_function(struct reading *reading, const struct names *names, uint64_t function, uint32_t *id)
{
	struct lode_json_value name = find_string(names, names->functions[FUNCTION_NAME].values[function]);
	struct lode_json_value lib = library_of(names, function), file = { NULL };
	struct recent_frame *recent;
	int code;

	if (!lib.at)
		file = find_string(names, lode_json_cell(&names->functions[FUNCTION_FILE], function));
	recent = &reading->recent[lode_hash_u64((uintptr_t)name.at) % RECENT_FRAMES];
	if (recent->frame != LODE_NONE && recent->name == name.at && recent->file == (lib.at ? lib.at : file.at)) {
		*id = recent->frame;
		return 0;
	}
	code = add_function(reading, name, lib, file, id);
	if (code == 0)
		*recent = (struct recent_frame){ name.at, lib.at ? lib.at : file.at, *id };
	return code;
}

static int make_frame(struct reading *reading, const struct names *names, size_t frame, uint32_t *id)
{
	uint64_t function = lode_json_u64_or(lode_json_cell(&names->frames[FRAME_FUNCTION], frame), UINT64_MAX);

	if (names->frames[FRAME_LOCATION].count) {
		*id = gecko_frame(reading, names, frame);
		return *id == LODE_NONE ? lode_fail_memory(reading->import.error) : 0;
	}
	if (function >= names->functions[FUNCTION_NAME].count)
		return fail(reading, "a frame names a function that is not in `funcTable`");
	return find_function(reading, names, function, id);
}

static int make_frames(struct reading *reading, const struct sources *sources, uint32_t **ids, size_t *count)
{
	struct names names = { 0 };
	int code = load_names(reading, sources, &names);

	*count = names.frames[FRAME_LOCATION].count ? names.frames[FRAME_LOCATION].count
						    : names.frames[FRAME_FUNCTION].count;
	*ids = code == 0 ? lode_calloc(*count + 1, sizeof(**ids)) : NULL;
	if (code == 0 && !*ids)
		code = lode_fail_memory(reading->import.error);
	for (size_t i = 0; code == 0 && i < *count; i++)
		code = make_frame(reading, &names, i, &(*ids)[i]);
	release_names(&names);
	return code;
}

/* ---- stacks ---- */

/* Stack `i`, a frame below a stack that comes before it. */
static int make_stack(struct reading *reading, struct stacks *stacks, struct lode_json_value prefix, uint32_t frame)
{
	size_t i = stacks->count;
	uint64_t parent = lode_json_u64_or(prefix, UINT64_MAX);
	uint32_t above = 0;

	stacks->depths[i] = 1;
	if (lode_json_kind(prefix) == LODE_JSON_NUMBER && lode_json_double_or(prefix, 0) >= 0) {
		if (parent >= i)
			return fail(reading, "a stack comes before the stack it is called from");
		above = stacks->ids[parent];
		stacks->depths[i] = stacks->depths[parent] + 1;
	}
	if (stacks->depths[i] > LODE_STACK_DEPTH_LIMIT) {
		reading->cut++;
		stacks->ids[i] = above;
	} else {
		stacks->ids[i] = lode_stack_tree_child(&reading->import.dictionary.tree, above, frame);
	}
	if (stacks->ids[i] == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	stacks->count++;
	return 0;
}

static void release_stacks(struct stacks *stacks)
{
	lode_free(stacks->ids);
	lode_free(stacks->depths);
	*stacks = (struct stacks){ 0 };
}

static int fill_stacks(struct reading *reading, struct lode_json_value table, const uint32_t *frames, size_t count,
		       struct stacks *stacks)
{
	static const char *const names[] = { "frame", "prefix" };
	struct lode_json_column columns[2], *frame = &columns[0], *prefix = &columns[1];
	int code = 0;

	if (lode_json_columns(table, names, columns, 2) < 0 ||
	    !(stacks->ids = lode_calloc(frame->count + 1, sizeof(*stacks->ids))) ||
	    !(stacks->depths = lode_calloc(frame->count + 1, sizeof(*stacks->depths))))
		code = lode_fail_memory(reading->import.error);
	for (size_t i = 0; code == 0 && i < frame->count; i++) {
		uint64_t index = lode_json_u64_or(frame->values[i], UINT64_MAX);

		if (index >= count)
			code = fail(reading, "a stack names a frame that is not in `frameTable`");
		else
			code = make_stack(reading, stacks, lode_json_cell(prefix, i), frames[index]);
	}
	lode_json_columns_release(columns, 2);
	return code;
}

static int make_stacks(struct reading *reading, const struct sources *sources, struct stacks *stacks)
{
	uint32_t *frames = NULL;
	size_t count;
	int code = make_frames(reading, sources, &frames, &count);

	*stacks = (struct stacks){ 0 };
	if (code == 0)
		code = fill_stacks(reading, find_table(sources, STACKS), frames, count, stacks);
	lode_free(frames);
	return code;
}

/* ---- samples ---- */

/* The last is no column, but one text. */
enum { STACK, TIME, TIME_DELTA, CPU_DELTA, WEIGHT, SAMPLE_COLUMNS, WEIGHT_TYPE = SAMPLE_COLUMNS, SAMPLE_MEMBERS };
static const char *const sample_columns[SAMPLE_MEMBERS] = { "stack",          "time",   "timeDeltas",
							    "threadCPUDelta", "weight", "weightType" };

struct samples {
	struct lode_json_cells columns[SAMPLE_COLUMNS];
	int has_times; /* else differences of times */
	int is_time;   /* weights are milliseconds */
};

/* Milliseconds of the next sample, when the one before it was at `last`. */
static double next_time(struct samples *samples, double last)
{
	struct lode_json_value value;

	if (samples->has_times)
		return lode_json_next_double(&samples->columns[TIME], last, &value);
	return last + lode_json_next_double(&samples->columns[TIME_DELTA], 0, &value);
}

/* The thread being read, and a wait that may go on with the next sample. */
struct lane {
	uint32_t thread;
	enum lode_event_type type; /* of samples without CPU deltas */
	uint64_t t;                /* of the sample before */
	int started;
	struct lode_event wait; /* cost 0: none */
};

static uint64_t as_ns(double ns)
{
	return ns >= 0 && ns < 0x1p62 ? (uint64_t)(ns + 0.5) : 0;
}

static int add_event(struct reading *reading, enum lode_event_type type, const struct lode_event *event)
{
	if (event->cost && lode_stream_add_event(&reading->import.stream, type, event) < 0)
		return lode_fail_memory(reading->import.error);
	return 0;
}

static int end_wait(struct reading *reading, struct lane *lane)
{
	int code = add_event(reading, LODE_WAIT, &lane->wait);

	reading->estimated += lane->wait.cost != 0;
	lane->wait.cost = 0;
	return code;
}

/* Splits the time since the sample before into the part on a CPU and, where that is small, a wait. */
static int add_measured(struct reading *reading, struct lane *lane, struct lode_event event, uint64_t on_cpu)
{
	uint64_t gap = lane->started ? event.t - lane->t : on_cpu;
	int code = 0, waits = on_cpu < gap / 2;

	if (lane->wait.cost && (!waits || on_cpu || event.stack != lane->wait.stack))
		code = end_wait(reading, lane);
	if (code == 0 && waits && lane->wait.cost) {
		lane->wait.cost += gap;
	} else if (code == 0 && waits) {
		lane->wait = event;
		lane->wait.t = lane->t;
		lane->wait.cost = gap - on_cpu;
	}
	event.cost = on_cpu;
	return code ? code : add_event(reading, LODE_RUN, &event);
}

static int add_sample(struct reading *reading, struct lane *lane, struct samples *samples, struct lode_event event)
{
	struct lode_json_value cpu, value;
	double on_cpu = lode_json_next_double(&samples->columns[CPU_DELTA], 0, &cpu);
	double weight = lode_json_next_double(&samples->columns[WEIGHT], 1, &value);

	if (reading->cpu_unit > 0 && lode_json_kind(cpu) == LODE_JSON_NUMBER)
		return add_measured(reading, lane, event, as_ns(on_cpu * reading->cpu_unit));
	reading->cycles += lode_json_kind(cpu) == LODE_JSON_NUMBER;
	reading->negative += weight < 0;
	event.cost = as_ns(weight * (samples->is_time ? 1e6 : reading->interval));
	return add_event(reading, lane->type, &event);
}

static int read_rows(struct reading *reading, struct samples *samples, const struct stacks *stacks,
		     struct lane *lane)
{
	double ms = reading->first;
	int code = 0;

	while (code == 0 && lode_json_has_cells(&samples->columns[STACK])) {
		struct lode_json_value value;
		uint64_t stack = lode_json_next_u64(&samples->columns[STACK], UINT64_MAX, &value);
		struct lode_event event = { .thread = lane->thread, .waker = LODE_NONE, .cpu = LODE_NO_CPU };

		ms = next_time(samples, ms);
		event.t = as_ns((ms - reading->first) * 1e6);
		if (lane->started && event.t < lane->t) {
			reading->back++;
			event.t = lane->t;
		}
		if (lode_json_kind(value) == LODE_JSON_NUMBER && stack >= stacks->count)
			return fail(reading, "a sample names a stack that is not in `stackTable`");
		event.stack = stack < stacks->count ? stacks->ids[stack] : 0;
		code = add_sample(reading, lane, samples, event);
		lane->t = event.t;
		lane->started = 1;
	}
	return code ? code : end_wait(reading, lane);
}

/* ---- threads ---- */

/* A number, or the digits a text starts with: Firefox writes `1234.1` for the second thread that had this id. */
static uint32_t read_id(struct lode_json_value value, uint32_t otherwise)
{
	size_t length;
	const char *text = lode_json_plain_text(value, &length);
	uint64_t number = lode_json_u64_or(value, UINT64_MAX);

	if (text && length && text[0] >= '0' && text[0] <= '9')
		number = strtoull(text, NULL, 10); /* ends at the quote at the latest */
	return number < UINT32_MAX ? (uint32_t)number : otherwise;
}

static int add_thread(struct reading *reading, const struct tables *thread, struct lane *lane)
{
	uint32_t pid = read_id(thread->members[PID], LODE_NO_PID);
	uint32_t tid = read_id(thread->members[TID], UINT32_MAX);
	const char *name = lode_json_string(thread->members[NAME], &reading->import.text);
	uint32_t string = LODE_NONE;

	if (tid == UINT32_MAX) {
		reading->without_tid++;
		tid = (uint32_t)reading->threads;
	}
	lane->type = name && reading->is_lode && lode_text_drop_end(reading->import.text.bytes, ", waiting")
			     ? LODE_WAIT
			     : LODE_RUN;
	if (name)
		string = lode_strings_add(&reading->import.dictionary.frames.strings, name, strlen(name));
	lane->thread = string == LODE_NONE ? LODE_NONE : lode_stream_thread(&reading->import.stream, pid, tid);
	if (lane->thread == LODE_NONE)
		return lode_fail_memory(reading->import.error);
	if (string && !reading->import.stream.threads[lane->thread].name)
		reading->import.stream.threads[lane->thread].name = string;
	return 0;
}

static int read_markers(struct reading *reading, const struct sources *sources, uint32_t thread)
{
	struct lode_firefox_markers markers = { .table = &sources->thread.markers,
						.strings = find_strings(sources),
						.thread = thread,
						.first = reading->first };
	int code = lode_firefox_markers_read(&reading->import, &markers);

	reading->markers += markers.count;
	reading->half_markers += markers.open;
	return code;
}

static int read_samples(struct reading *reading, const struct sources *sources, const struct stacks *stacks)
{
	const struct lode_json_table *table = &sources->thread.samples;
	struct lode_json_value unit = table->columns[WEIGHT_TYPE];
	struct samples samples = { .is_time = lode_json_is_text(unit, "tracing-ms") };
	struct lane lane = { 0 };
	int code;

	if (lode_json_is_text(unit, "bytes")) {
		reading->bytes++;
		return 0;
	}
	code = add_thread(reading, &sources->thread, &lane);
	if (code == 0 && lode_json_table_cells(table, sample_columns, samples.columns, SAMPLE_COLUMNS) < 0)
		code = lode_fail_memory(reading->import.error);
	samples.has_times = lode_json_has_cells(&samples.columns[TIME]);
	if (code == 0)
		code = read_rows(reading, &samples, stacks, &lane);
	lode_json_cells_release(samples.columns, SAMPLE_COLUMNS);
	return code ? code : read_markers(reading, sources, lane.thread);
}

static int read_thread(struct reading *reading, struct sources sources, const struct stacks *shared)
{
	struct stacks own = { 0 };
	int code = 0;

	reading->threads++;
	if (sources.thread.members[LIBS].at)
		sources.libs = sources.thread.members[LIBS];
	if (sources.thread.members[STACKS].at)
		code = make_stacks(reading, &sources, &own);
	if (code == 0)
		code = read_samples(reading, &sources, own.ids ? &own : shared);
	release_stacks(&own);
	return code;
}

/* ---- the whole ---- */

/* The members of a profile, or of a process inside it. The old developer tools wrapped it into an object. */
enum { META, THREADS, SHARED, PROFILE_LIBS, PROCESSES, WRAPPED, PARTS };
static const char *const part_names[PARTS] = { "meta", "threads", "shared", "libs", "processes", "profile" };

/* Nanoseconds of a CPU delta of 1; 0 for cycles, which are no time. */
static double cpu_unit_of(struct lode_json_value meta)
{
	struct lode_json_value unit = lode_json_get(lode_json_get(meta, "sampleUnits"), "threadCPUDelta");

	if (lode_json_is_text(unit, "ns"))
		return 1;
	return lode_json_is_text(unit, "µs") ? 1e3 : 0;
}

static struct lode_json_value item_at(struct lode_json_value array, uint64_t place)
{
	struct lode_json_walk walk = lode_json_walk(array);
	struct lode_json_value item;

	for (uint64_t i = 0; lode_json_peek(&walk, &item) && i < place; i++)
		lode_json_item(&walk, &item);
	return item;
}

/* The time of the first sample of a table. */
static struct lode_json_value first_row(const struct lode_json_table *table)
{
	struct lode_json_value row = { NULL };

	if (lode_json_kind(table->schema) == LODE_JSON_OBJECT)
		row = item_at(item_at(table->rows, 0),
			      lode_json_u64_or(lode_json_get(table->schema, "time"), UINT64_MAX));
	else if (lode_json_kind(table->columns[TIME]) == LODE_JSON_ARRAY)
		row = item_at(table->columns[TIME], 0);
	return row.at ? row : item_at(table->columns[TIME_DELTA], 0);
}

/* The threads of a process, each looked through once: they are most of a profile. */
struct thread_list {
	struct tables *items;
	size_t count, capacity;
};

/* Takes a member of a thread. Returns the walk over it where there was one. */
static struct lode_json_walk parse_member(struct tables *tables, struct lode_json_value key,
					  struct lode_json_value value)
{
	size_t i = 0;

	while (i < MEMBERS && (tables->members[i].at || !lode_json_is_text(key, member_names[i])))
		i++;
	if (i < MEMBERS)
		tables->members[i] = value;
	if (i == SAMPLES)
		return lode_json_table_find(value, sample_columns, SAMPLE_MEMBERS, &tables->samples);
	if (i == MARKERS)
		return lode_firefox_markers_find(value, &tables->markers);
	return (struct lode_json_walk){ NULL, NULL };
}

/* Returns the walk over the threads, done. */
static struct lode_json_walk list_threads(struct reading *reading, struct lode_json_value threads,
					  struct thread_list *list)
{
	struct lode_json_walk walk = lode_json_walk(threads), members, inner;
	struct lode_json_value thread, key, value;

	if (lode_json_kind(threads) != LODE_JSON_ARRAY)
		return (struct lode_json_walk){ NULL, NULL };
	while (lode_json_peek(&walk, &thread)) {
		struct tables tables = { 0 };

		members = lode_json_walk(thread);
		if (lode_json_kind(thread) != LODE_JSON_OBJECT)
			members = (struct lode_json_walk){ NULL, NULL };
		while (lode_json_peek_member(&members, &key, &value)) {
			inner = parse_member(&tables, key, value);
			lode_json_pass_member(&members, value, &inner);
		}
		lode_json_pass(&walk, &members);
		if (LODE_APPEND(list->items, list->count, list->capacity, tables) < 0) {
			reading->failed = 1;
			break;
		}
	}
	return walk;
}

/* A profile or process, looked through once. */
struct parts {
	struct lode_json_value members[PARTS];
	struct thread_list threads; /* the caller's to free */
};

/* Returns the walk, done. */
static struct lode_json_walk find_parts(struct reading *reading, struct lode_json_value profile,
					struct parts *parts)
{
	struct lode_json_walk walk = lode_json_walk(profile);
	struct lode_json_value key, value;

	*parts = (struct parts){ 0 };
	if (lode_json_kind(profile) != LODE_JSON_OBJECT)
		return (struct lode_json_walk){ NULL, NULL };
	while (lode_json_peek_member(&walk, &key, &value)) {
		struct lode_json_walk inner = { NULL, NULL };
		size_t i = 0;

		while (i < PARTS && (parts->members[i].at || !lode_json_is_text(key, part_names[i])))
			i++;
		if (i < PARTS)
			parts->members[i] = value;
		if (i == THREADS)
			inner = list_threads(reading, value, &parts->threads);
		lode_json_pass_member(&walk, value, &inner);
	}
	return walk;
}

/* The earliest time of any sample, in milliseconds. */
static double first_time(const struct thread_list *list, double first)
{
	for (size_t i = 0; i < list->count; i++) {
		double time = lode_json_double_or(first_row(&list->items[i].samples), first);

		if (time < first)
			first = time;
	}
	return first;
}

static int read_threads(struct reading *reading, const struct parts *parts)
{
	const struct thread_list *list = &parts->threads;
	struct tables shared = { 0 };
	struct sources sources = { .shared = &shared, .libs = parts->members[PROFILE_LIBS] };
	struct stacks stacks = { 0 };
	int code;

	lode_json_get_all(parts->members[SHARED], member_names, shared.members, MEMBERS);
	code = load_strings(reading, &shared);
	if (code == 0 && shared.members[STACKS].at)
		code = make_stacks(reading, &sources, &stacks);
	for (size_t i = 0; code == 0 && i < list->count; i++) {
		sources.thread = list->items[i];
		code = load_strings(reading, &sources.thread);
		if (code == 0)
			code = read_thread(reading, sources, &stacks);
		release_tables(&sources.thread);
	}
	release_stacks(&stacks);
	release_tables(&shared);
	return code;
}

/* A process, and in Gecko's profiles those it started. */
static int read_process(struct reading *reading, const struct parts *parts, unsigned depth)
{
	struct lode_json_walk walk = lode_json_walk(parts->members[PROCESSES]), members;
	struct lode_json_value process;
	double ms = lode_json_double_or(lode_json_get(parts->members[META], "interval"), 1);
	int code;

	if (reading->failed)
		return lode_fail_memory(reading->import.error);
	if (depth > PROCESS_DEPTH)
		return fail(reading, "its processes are nested too deep");
	reading->interval = ms > 0 && ms < 1e9 ? ms * 1e6 : 1e6;
	reading->cpu_unit = cpu_unit_of(parts->members[META]);
	reading->first = first_time(&parts->threads, 0);
	code = read_threads(reading, parts);
	while (code == 0 && lode_json_peek(&walk, &process)) {
		struct parts inner;

		members = find_parts(reading, process, &inner);
		lode_json_pass(&walk, &members);
		code = read_process(reading, &inner, depth + 1);
		lode_free(inner.threads.items);
	}
	return code;
}

static int keep_product(struct reading *reading, struct lode_json_value meta)
{
	const char *product = lode_json_string(lode_json_get(meta, "product"), &reading->import.text);

	if (!product || (product[0] && lode_stream_set_attribute(&reading->import.stream, "product", product,
								 LODE_ATTRIBUTE_TEXT) < 0))
		return lode_fail_memory(reading->import.error);
	return 0;
}

static void add_notes(const struct reading *reading)
{
	struct lode_notes *notes = reading->import.options->notes;

	lode_notes_add(notes, reading->estimated,
		       "waits, estimated from samples whose thread used little CPU time", NULL);
	lode_notes_add(notes, reading->cycles,
		       "samples whose CPU time is not given in ns or us: each is taken as the sampling interval",
		       NULL);
	lode_notes_add(notes, reading->negative,
		       "samples with a weight below 0, as comparisons have them, left out", NULL);
	lode_notes_add(notes, reading->bytes, "threads whose samples count bytes, left out", NULL);
	lode_notes_add(notes, reading->without_tid, "threads without an id, numbered", NULL);
	lode_notes_add(notes, reading->cut, LODE_CUT_AT_LEAF, NULL);
	lode_notes_add(notes, reading->back,
		       "samples with timestamps out of order, moved to the previous sample's time", NULL);
	lode_symptom_markers_note(reading->import.options, reading->markers, "markers with a duration");
	lode_notes_add(notes, reading->half_markers, "markers of which one end is missing, left out", NULL);
}

static int read_profile(struct reading *reading, const struct parts *parts)
{
	struct lode_json_value meta = parts->members[META];
	int code;

	if (lode_json_kind(parts->members[THREADS]) != LODE_JSON_ARRAY)
		return lode_json_reject(&reading->import,
					"there are no `threads`; is it a profile of Firefox Profiler?");
	reading->is_lode = lode_json_is_text(lode_json_get(meta, "importedFrom"), "lode");
	code = keep_product(reading, meta);
	if (code == 0)
		code = read_process(reading, parts, 0);
	add_notes(reading);
	return code;
}

static int read_document(void *context, struct lode_json_value root)
{
	struct reading *reading = context;
	struct lode_json_value wrapped;
	struct parts parts;
	int code;

	find_parts(reading, root, &parts);
	wrapped = parts.members[WRAPPED];
	if (lode_json_kind(wrapped) == LODE_JSON_OBJECT) {
		lode_free(parts.threads.items);
		find_parts(reading, wrapped, &parts);
	}
	code = read_profile(reading, &parts);
	lode_free(parts.threads.items);
	return code;
}

static int sniff(const unsigned char *bytes, size_t size, const char *name)
{
	(void)name;
	if (!size || bytes[0] != '{')
		return 0;
	if (lode_sniff_has(bytes, size, "\"preprocessedProfileVersion\"") ||
	    lode_sniff_has(bytes, size, "\"processType\"") || lode_sniff_has(bytes, size, "\"breakpadId\""))
		return 90;
	return lode_sniff_has(bytes, size, "\"meta\"") && lode_sniff_has(bytes, size, "\"interval\"") ? 70 : 0;
}

static int read_input(struct lode_input *input, const struct lode_import_options *options,
		      const struct lode_import_sink *sink, struct lode_error *error)
{
	struct reading reading = { .import = { .input = input, .options = options, .error = error } };

	for (size_t i = 0; i < RECENT_FRAMES; i++)
		reading.recent[i].frame = LODE_NONE;
	return lode_json_import_run(&reading.import, read_document, &reading, sink);
}

const struct lode_importer lode_importer_firefox = {
	.name = "firefox",
	.description = "Firefox Profiler JSON: processed (also from samply) or raw Gecko profiles",
	.sniff = sniff,
	.read = read_input,
};
