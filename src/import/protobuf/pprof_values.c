/* The values of a pprof profile: see pprof_values.h. */
#include "import/protobuf/pprof_values.h"

static int has(const struct lode_pprof_value *value, const char *part)
{
	return value->type.length && memmem(value->type.text, value->type.length, part, strlen(part)) != NULL;
}

double lode_pprof_unit(struct lode_span unit)
{
	static const struct {
		const char *names[3];
		double nanoseconds;
	} units[] = {
		{ { "nanoseconds", "nanosecond", "ns" }, 1 },
		{ { "microseconds", "microsecond", "us" }, 1e3 },
		{ { "milliseconds", "millisecond", "ms" }, 1e6 },
		{ { "seconds", "second", "s" }, 1e9 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		for (size_t j = 0; j < 3; j++)
			if (lode_span_is(unit, units[i].names[j]))
				return units[i].nanoseconds;
	return 0;
}

/* `lock_time`, `block`, `contentions`, `delay`, but no clock. */
static int is_wait(const struct lode_pprof_value *value)
{
	static const char *const parts[] = { "block", "contention", "delay",  "wait",
					     "mutex", "off-cpu",    "offcpu", "off_cpu" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (has(value, parts[i]))
			return 1;
	return has(value, "lock") && !has(value, "clock");
}

static int is_wall(const struct lode_pprof_value *value)
{
	return has(value, "wall") || has(value, "real");
}

/* The time that the profile shows first, else the last one; SIZE_MAX: there is none. */
static size_t shown_time(const struct lode_pprof_value *values, size_t count)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		if (lode_pprof_unit(values[i].unit) == 0)
			continue;
		found = i;
		if (values[i].is_default)
			break;
	}
	return found;
}

/* How sure it is that a time is that of the CPU: 0 it is not. */
static int likeness_of_run(const struct lode_pprof_value *value)
{
	if (lode_pprof_unit(value->unit) == 0 || is_wait(value))
		return 0;
	if (is_wall(value))
		return 1;
	if (has(value, "cpu"))
		return 4;
	return value->is_default ? 3 : 2;
}

static size_t run_time(const struct lode_pprof_value *values, size_t count)
{
	size_t found = SIZE_MAX;
	int most = 0;

	for (size_t i = 0; i < count; i++) {
		int likeness = likeness_of_run(&values[i]);

		if (likeness && likeness >= most) {
			most = likeness;
			found = i;
		}
	}
	return found;
}

/* The first count that is none of waits, or with `any` of anything. */
static size_t first_count(const struct lode_pprof_value *values, size_t count, int any)
{
	for (size_t i = 0; i < count; i++)
		if (lode_span_is(values[i].unit, "count") && (any || !is_wait(&values[i])))
			return i;
	return SIZE_MAX;
}

static size_t take(struct lode_pprof_value *values, size_t i, enum lode_pprof_use use, double scale)
{
	if (i == SIZE_MAX || scale == 0)
		return 0;
	values[i].use = use;
	values[i].scale = scale;
	return 1;
}

/* All times of waits, and beside CPU time the wall's. */
static size_t append_others(struct lode_pprof_value *values, size_t count, size_t run)
{
	size_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		double unit = lode_pprof_unit(values[i].unit);

		if (i == run || unit == 0)
			continue;
		if (is_wait(&values[i]))
			taken += take(values, i, LODE_PPROF_WAIT, unit);
		else if (run != SIZE_MAX && has(&values[run], "cpu") && is_wall(&values[i]))
			taken += take(values, i, LODE_PPROF_WALL, unit);
	}
	return taken;
}

size_t lode_pprof_choose(struct lode_pprof_value *values, size_t count, double count_ns, int all_waits)
{
	size_t run, taken;

	for (size_t i = 0; i < count; i++) {
		values[i].use = LODE_PPROF_SKIP;
		values[i].scale = 0;
	}
	if (all_waits) {
		run = shown_time(values, count);
		return run != SIZE_MAX ? take(values, run, LODE_PPROF_WAIT, lode_pprof_unit(values[run].unit))
				       : take(values, first_count(values, count, 1), LODE_PPROF_WAIT, count_ns);
	}
	run = run_time(values, count);
	taken = run == SIZE_MAX ? 0 : take(values, run, LODE_PPROF_RUN, lode_pprof_unit(values[run].unit));
	taken += append_others(values, count, run);
	if (run != SIZE_MAX)
		return taken;
	if (taken) /* beside waits only a count of something else is CPU time */
		return taken + take(values, first_count(values, count, 0), LODE_PPROF_RUN, count_ns);
	run = first_count(values, count, 1);
	return take(values, run, run != SIZE_MAX && is_wait(&values[run]) ? LODE_PPROF_WAIT : LODE_PPROF_RUN,
		    count_ns);
}

int lode_pprof_cost(int64_t value, double scale, uint64_t *cost)
{
	double product = (double)value * scale;

	*cost = (uint64_t)value;
	if (scale == 1)
		return 1;
	if (product >= 0x1p63)
		return 0;
	*cost = (uint64_t)(product + 0.5);
	if (scale < 0x1p53 && scale == (double)(uint64_t)scale)
		*cost = (uint64_t)value * (uint64_t)scale; /* exact, and known to fit */
	return 1;
}
