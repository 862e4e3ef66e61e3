/* The options of a generated corpus: see synth.h. */
#include "synth/synth.h"

#include <string.h>

#define SECOND 1000000000ull

static const struct {
	const char *name;
	struct lode_synth_options options;
} presets[] = {
	/* StackMine's two studies: 33 million stacks of 54 streams, 181 million of 921. */
	{ "third-party", { 0, 54, 611111, 61, 28, 59, 7 * SECOND, 160 } },
	{ "windows", { 0, 921, 196526, 77, 93, 1842, 3 * SECOND, 400 } },
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

struct lode_synth_options lode_synth_defaults(void)
{
	return (struct lode_synth_options){ 1, 100, 10000, 65, 12, 100, 3 * SECOND, 100 };
}

const char *lode_synth_preset_name(size_t i)
{
	return i < PRESETS ? presets[i].name : NULL;
}

void lode_synth_preset(const char *name, struct lode_synth_options *options)
{
	uint64_t seed = options->seed;

	for (size_t i = 0; i < PRESETS; i++)
		if (strcmp(name, presets[i].name) == 0)
			*options = presets[i].options;
	options->seed = seed;
}

int lode_synth_check(const struct lode_synth_options *options, struct lode_error *error)
{
	const struct {
		const char *what;
		uint64_t value, least, most;
	} limits[] = {
		{ "streams", options->streams, 1, 1000000 },
		{ "events a stream", options->events, 1, 100000000 },
		{ "percent of waits", options->waits, 1, 99 },
		{ "bugs", options->bugs, 0, 1000 },
		{ "symptoms", options->symptoms, 0, 1000000 },
		{ "nanoseconds of delay", options->delay, 10000000, 3600 * SECOND },
		{ "tasks", options->tasks, 1, 10000 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].value < limits[i].least || limits[i].value > limits[i].most)
			return lode_fail(error, LODE_USAGE, "%llu %s are too %s; choose from %llu to %llu",
					 (unsigned long long)limits[i].value, limits[i].what,
					 limits[i].value < limits[i].least ? "few" : "many",
					 (unsigned long long)limits[i].least, (unsigned long long)limits[i].most);
	return 0;
}
