/*
 * lode synth: makes a corpus with planted bugs, to measure mining with (src/synth/).
 *
 * A preset comes first, single options change it. The truth about what was planted
 * goes to a separate file, written only when the corpus is complete.
 */
#include "base/output.h"
#include "base/units.h"
#include "cmd/commands.h"
#include "cmd/progress_line.h"
#include "cmd/signals.h"
#include "synth/synth.h"

struct settings {
	const char *output;
	const char *truth;
	const char *like;
	uint64_t seed;
	uint64_t streams;
	uint64_t events;
	uint64_t waits;
	uint64_t bugs;
	uint64_t symptoms;
	uint64_t delay;
	uint64_t tasks;
	uint64_t jobs;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_TEXT("output", 'o', FIELD(output), "CORPUS", "the folder to create, or to add to"),
	LODE_TEXT("truth", 't', FIELD(truth), "FILE", "write what was planted where, as JSON"),
	LODE_CHOICE("like", 'l', FIELD(like), "STUDY", "as large as one of StackMine's studies",
		    lode_synth_preset_name),
	LODE_NUMBER("seed", 0, FIELD(seed), "N", "a different number gives a different corpus (default: 1)", 1, 0),
	LODE_NUMBER("streams", 's', FIELD(streams), "N", "number of streams, one per host (default: 100)", 1,
		    1000000),
	LODE_NUMBER("events", 'e', FIELD(events), "N", "events per stream (default: 10000)", 1, 100000000),
	LODE_NUMBER("waits", 'w', FIELD(waits), "PERCENT", "percentage of events that are waits (default: 65)", 1,
		    99),
	LODE_NUMBER("bugs", 'b', FIELD(bugs), "N", "number of different bugs (default: 12)", 1, 1000),
	LODE_NUMBER("symptoms", 0, FIELD(symptoms), "N", "symptoms per stream (default: 1)", 1, 1000),
	LODE_DURATION("delay", 0, FIELD(delay), "TIME", "mean length of a symptom (default: 3s)"),
	LODE_NUMBER("tasks", 0, FIELD(tasks), "N",
		    "number of different things a thread does; more give more stacks (default: 100)", 1, 10000),
	LODE_NUMBER("jobs", 'j', FIELD(jobs), "N", "number of threads (default: one per processor)", 1, 1024),
	LODE_NO_MORE_OPTIONS,
};

static void set(uint64_t *option, uint64_t given)
{
	if (given)
		*option = given;
}

static struct lode_synth_options choose(const struct settings *settings)
{
	struct lode_synth_options chosen = lode_synth_defaults();

	if (settings->like)
		lode_synth_preset(settings->like, &chosen);
	/* As many symptoms a stream as before, when only the number of streams changes. */
	if (settings->streams)
		chosen.symptoms = (chosen.symptoms * settings->streams + chosen.streams / 2) / chosen.streams;
	set(&chosen.seed, settings->seed);
	set(&chosen.streams, settings->streams);
	set(&chosen.events, settings->events);
	set(&chosen.waits, settings->waits);
	set(&chosen.bugs, settings->bugs);
	set(&chosen.symptoms, settings->symptoms * chosen.streams);
	set(&chosen.delay, settings->delay);
	set(&chosen.tasks, settings->tasks);
	return chosen;
}

static int write_truth(const struct lode_synth_truth *truth, const char *path, struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_open(&output, path, error);

	if (code < 0)
		return code;
	lode_synth_truth_json(truth, &output.buffer);
	return lode_output_finish(&output, error);
}

static void print_corpus(const struct lode_call *call, const struct lode_synth_truth *truth,
			 const struct lode_synth_options *made)
{
	const struct settings *settings = call->settings;
	uint64_t events = 0, symptoms = 0, delay = 0;
	char events_text[LODE_UNITS_TEXT], delay_text[LODE_UNITS_TEXT];

	for (uint64_t i = 0; i < made->streams; i++) {
		events += truth->made[i].events;
		symptoms += truth->made[i].symptoms;
		delay += truth->made[i].delay;
	}
	lode_say(&call->err, LODE_PLAIN, "%s: %llu stream%s, %s event%s; %llu symptom%s, %s; %llu bug%s",
		 settings->output, (unsigned long long)made->streams, lode_plural(made->streams),
		 lode_count_text(events, events_text), lode_plural(events), (unsigned long long)symptoms,
		 lode_plural(symptoms), lode_duration_text(delay, delay_text), (unsigned long long)made->bugs,
		 lode_plural(made->bugs));
}

static int make(struct lode_call *call, const struct lode_synth_options *chosen, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_synth_model *model;
	struct lode_synth_truth truth;
	struct lode_bar bar;
	int code = lode_synth_model_create(&model, chosen, error);

	if (code < 0)
		return code;
	lode_bar_init(&bar, &call->err, call->quiet);
	lode_signals_hold();
	code = lode_synth_corpus(model, settings->output, (unsigned)settings->jobs, &bar.progress, &truth, error);
	lode_bar_wipe(&bar);
	if (!code && settings->truth)
		code = write_truth(&truth, settings->truth, error);
	if (!code && !call->quiet)
		print_corpus(call, &truth, chosen);
	lode_synth_truth_release(&truth);
	lode_synth_model_free(model);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_synth_options chosen = choose(settings);
	int code;

	if (!settings->output)
		return lode_fail(
			error, LODE_USAGE,
			"synth: no corpus to write to; name one with '-o CORPUS'. See 'lode help synth'.");
	code = make(call, &chosen, error);
	if (code < 0 && lode_signals_stop()) {
		lode_fail(error, 0, "stopped; the streams that were finished are in %s", settings->output);
		return LODE_STOPPED(lode_signals_stop());
	}
	return code;
}

const struct lode_command lode_command_synth = {
	.name = "synth",
	.summary = "generate a corpus with planted bugs, for measurements",
	.usage = "[OPTIONS] -o CORPUS",
	.about = "Generates streams of a program that is sometimes too slow, on many hosts: threads that run and "
		 "wait for one another, symptoms of the UI thread, known bugs behind some of them, and a lot of "
		 "noise. The same options give the same corpus everywhere.",
	.examples = "  lode synth -o corpus --truth truth.json\n"
		    "  lode synth -o corpus --streams 200 --bugs 30 --seed 7\n"
		    "  lode synth -o corpus --like third-party\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.run = run,
};
