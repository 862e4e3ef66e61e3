/*
 * Markers of Firefox Profiler's profiles: see firefox_markers.h.
 *
 * A marker has a start and an end, or is one of two (`phase`) that belong together by their name. In
 * old profiles it has one time, and its data say where it starts and ends.
 */
#include "import/json/firefox_markers.h"

#include "base/array.h"
#include "base/memory.h"
#include "import/symptom_markers.h"

#include <string.h>

enum phase {
	INSTANT,
	INTERVAL,
	STARTS,
	ENDS,
	UNKNOWN,
};

/* How many beginnings an end looks at for its name. */
#define SEARCH_DEPTH 1024

struct beginning {
	uint64_t name;
	double ms;
};

enum column { NAME, START, END, PHASE, DATA, COLUMNS };
static const char *const column_names[COLUMNS] = { "name", "startTime", "endTime", "phase", "data" };

struct reading {
	struct lode_json_import *import;
	struct lode_firefox_markers *markers;
	struct lode_json_cells columns[COLUMNS];
	int has_times; /* else it is an old profile: the data, most of a table's bytes, have them */
	LODE_ARRAY(struct beginning) open;
};

static uint64_t as_ns(const struct reading *reading, double ms)
{
	double ns = (ms - reading->markers->first) * 1e6;

	return ns >= 0 && ns < 0x1p62 ? (uint64_t)(ns + 0.5) : 0;
}

static int add(struct reading *reading, uint64_t name, double from, double until)
{
	struct lode_symptom symptom = { reading->markers->thread, 0, as_ns(reading, from), as_ns(reading, until) };
	const char *text;

	reading->markers->count++;
	text = lode_json_string(lode_json_cell(reading->markers->strings, name), &reading->import->text);
	if (!text)
		return LODE_SYSTEM;
	if (until < from || !lode_symptom_marker(reading->import->options, text))
		return 0;
	symptom.name = lode_strings_add(&reading->import->dictionary.frames.strings, text, strlen(text));
	return lode_stream_add_symptom(&reading->import->stream, &symptom);
}

static int begin(struct reading *reading, uint64_t name, double ms)
{
	return LODE_PUSH(&reading->open, (struct beginning){ name, ms });
}

/* Ends the last beginning of the same name. */
static int end(struct reading *reading, uint64_t name, double ms)
{
	size_t at = reading->open.count, last = at > SEARCH_DEPTH ? at - SEARCH_DEPTH : 0;
	struct beginning found;

	while (at > last && reading->open.items[at - 1].name != name)
		at--;
	if (at == last) {
		reading->markers->open++;
		return 0;
	}
	found = reading->open.items[at - 1];
	memmove(&reading->open.items[at - 1], &reading->open.items[at],
		(reading->open.count - at) * sizeof(*reading->open.items));
	reading->open.count--;
	return add(reading, name, found.ms, ms);
}

static int read_marker(struct reading *reading)
{
	struct lode_json_cells *columns = reading->columns;
	struct lode_json_value from = lode_json_next_cell(&columns[START]),
			       until = lode_json_next_cell(&columns[END]);
	uint64_t name = lode_json_u64_or(lode_json_next_cell(&columns[NAME]), UINT64_MAX);
	uint64_t phase = lode_json_u64_or(lode_json_next_cell(&columns[PHASE]), UNKNOWN);

	if (!reading->has_times) {
		struct lode_json_value data = lode_json_next_cell(&columns[DATA]);

		from = lode_json_get(data, "startTime");
		until = lode_json_get(data, "endTime");
	}
	if (phase == STARTS)
		return begin(reading, name, lode_json_double_or(from, 0));
	if (phase == ENDS)
		return end(reading, name, lode_json_double_or(until, 0));
	if (phase == INSTANT || lode_json_kind(from) != LODE_JSON_NUMBER ||
	    lode_json_kind(until) != LODE_JSON_NUMBER)
		return 0;
	if (!reading->import->options->symptom_markers) {
		reading->markers->count++; /* all that is asked */
		return 0;
	}
	return add(reading, name, lode_json_double_or(from, 0), lode_json_double_or(until, 0));
}

struct lode_json_walk lode_firefox_markers_find(struct lode_json_value markers, struct lode_json_table *table)
{
	return lode_json_table_find(markers, column_names, COLUMNS, table);
}

/*
 * Where symptoms are not requested, markers are counted by their phases alone, a small part of the table. Returns whether
 * that is possible: it has phases, and none is one of two that belong together.
 */
static int count_intervals(const struct lode_json_table *table, uint64_t *count)
{
	struct lode_json_walk walk = lode_json_walk(table->columns[PHASE]);
	struct lode_json_value item;
	uint64_t intervals = 0;

	if (lode_json_kind(table->schema) == LODE_JSON_OBJECT ||
	    lode_json_kind(table->columns[PHASE]) != LODE_JSON_ARRAY)
		return 0;
	while (lode_json_item(&walk, &item)) {
		uint64_t phase = lode_json_u64_or(item, UNKNOWN);

		if (phase != INSTANT && phase != INTERVAL)
			return 0;
		intervals += phase == INTERVAL;
	}
	*count += intervals;
	return 1;
}

int lode_firefox_markers_read(struct lode_json_import *import, struct lode_firefox_markers *markers)
{
	struct reading reading = { .import = import, .markers = markers };
	int code;

	if (!import->options->symptom_markers && count_intervals(markers->table, &markers->count))
		return 0;
	code = lode_json_table_cells(markers->table, column_names, reading.columns, COLUMNS);
	reading.has_times = lode_json_has_cells(&reading.columns[START]);
	while (code == 0 && lode_json_has_cells(&reading.columns[NAME]))
		code = read_marker(&reading);
	markers->open += reading.open.count;
	lode_json_cells_release(reading.columns, COLUMNS);
	lode_free(reading.open.items);
	return code < 0 ? lode_fail_memory(import->error) : 0;
}
