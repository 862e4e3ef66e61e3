/* Costs of samples of `perf script`: see perf_script_costs.h. */
#include "import/kernel/perf_script_costs.h"

#include "base/memory.h"
#include "import/kernel/count_rate.h"

#include <stdio.h>
#include <string.h>

/* Frequencies above are no number of samples a second that perf takes. */
#define HIGHEST_FREQUENCY 1000000u

void lode_script_costs_release(struct lode_script_costs *costs)
{
	lode_free(costs->bare.items);
	lode_free(costs->counted.items);
	*costs = (struct lode_script_costs){ 0 };
}

int lode_script_runs_add(struct lode_script_runs *runs, size_t run)
{
	return LODE_PUSH(runs, run);
}

/* ---- the header ---- */

/* The number behind `key`; 0 when it is not there. */
static uint64_t number_behind(const char *line, size_t length, const char *key)
{
	const char *at = memmem(line, length, key, strlen(key)), *end = line + length;
	uint64_t number = 0;

	if (!at)
		return 0;
	for (at += strlen(key); at < end && *at >= '0' && *at <= '9' && number <= HIGHEST_FREQUENCY; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

/* `# event : name = cycles:P, …, { sample_period, sample_freq } = 4000, …, freq = 1, …` */
void lode_script_costs_comment(struct lode_script_costs *costs, const char *line, size_t length)
{
	uint64_t number;

	if (length < 9 || memcmp(line, "# event :", 9) != 0 || number_behind(line, length, ", freq = ") != 1)
		return;
	number = number_behind(line, length, "{ sample_period, sample_freq } = ");
	if (!number || number > HIGHEST_FREQUENCY)
		return;
	costs->is_mixed |= costs->frequency && costs->frequency != number;
	costs->frequency = number;
}

/* ---- samples without a period ---- */

/* The commonest distance between neighbours on one CPU, or of one thread where CPUs are not printed. */
static int usual_distance(const struct lode_script_runs *bare, const struct lode_events *runs, uint64_t *distance)
{
	struct lode_count_rate rate = { 0 };
	int code = 0;

	for (size_t i = 0; i < bare->count && code == 0; i++) {
		size_t run = bare->items[i];
		int has_cpu = runs->cpu[run] != LODE_NO_CPU;
		uint16_t lane = has_cpu ? runs->cpu[run] : (uint16_t)(runs->thread[run] & 0x7fff);

		code = lode_count_rate_add(&rate, runs->t[run], lane, has_cpu ? 0 : runs->thread[run], 1);
	}
	*distance = lode_count_time(1, lode_count_rate_find(&rate));
	lode_count_rate_release(&rate);
	return code;
}

static int settle_bare(const struct lode_script_costs *costs, struct lode_events *runs, const char *name,
		       const struct lode_import_options *options)
{
	const struct lode_script_runs *bare = &costs->bare;
	int is_told = costs->frequency && !costs->is_mixed;
	uint64_t cost;
	char example[400];

	if (options->unit_ns >= 1)
		cost = (uint64_t)(options->unit_ns + 0.5);
	else if (is_told)
		cost = 1000000000 / costs->frequency;
	else if (usual_distance(bare, runs, &cost) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < bare->count; i++)
		runs->cost[bare->items[i]] = cost;
	if (options->unit_ns >= 1)
		return 0;
	snprintf(example, sizeof(example), "%.300s: %llu ns each", name, (unsigned long long)cost);
	lode_notes_add(
		options->notes, bare->count,
		is_told ? "samples without a period, which cost what the header's frequency says"
			: "samples without a period, whose cost is guessed from the distance between neighbours; "
			  "if that is not how often they were taken, say it with --unit samples=10ms, or print "
			  "them with `perf script -F +period`",
		example);
	return 0;
}

/* ---- counts ---- */

static int settle_counts(const struct lode_script_costs *costs, struct lode_events *runs, int timeless,
			 const char *name, const struct lode_import_options *options)
{
	const struct lode_script_runs *counted = &costs->counted;
	struct lode_count_rate rate = { 0 };
	double found, nanoseconds;
	char example[400];
	int code = 0;

	for (size_t i = 0; i < counted->count && !timeless && code == 0; i++) {
		size_t run = counted->items[i];

		code = lode_count_rate_add(&rate, runs->t[run], runs->cpu[run], runs->thread[run], runs->cost[run]);
	}
	found = lode_count_rate_find(&rate);
	nanoseconds = found > 0 ? found : 1;
	for (size_t i = 0; i < counted->count; i++)
		runs->cost[counted->items[i]] = lode_count_time(runs->cost[counted->items[i]], nanoseconds);
	lode_count_rate_release(&rate);
	snprintf(example, sizeof(example), "%.300s: %.3g cycles a nanosecond", name, 1 / nanoseconds);
	lode_notes_add(options->notes, counted->count,
		       found > 0 ? "samples whose cost is their period, at the rate at which their counter ran"
				 : "samples whose cost is their period, at a rate that is assumed",
		       example);
	return code;
}

int lode_script_costs_settle(const struct lode_script_costs *costs, struct lode_stream *stream, int timeless,
			     const char *name, const struct lode_import_options *options)
{
	struct lode_events *runs = &stream->events[LODE_RUN];

	if (costs->bare.count && settle_bare(costs, runs, name, options) < 0)
		return LODE_SYSTEM;
	return costs->counted.count ? settle_counts(costs, runs, timeless, name, options) : 0;
}
