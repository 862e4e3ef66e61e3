/*
 * The cause of a difference: see bench_cause.h. Runs are recorded by `lode record` and compared by `lode diff`, each
 * called inside this command; what is taken over is the JSON that everybody gets.
 */
#include "cmd/bench_cause.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "base/random.h"
#include "scope/states.h"
#include "tasks/inner_call.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const struct lode_command lode_command_record;
extern const struct lode_command lode_command_diff;

/* Words of a command, which are only read. */
#define MAX_WORDS 64

struct words {
	char *items[MAX_WORDS];
	size_t count;
};

static void add_word(struct words *words, const char *word)
{
	if (words->count < MAX_WORDS)
		words->items[words->count++] = (char *)(uintptr_t)word;
}

/* ---- recording ---- */

/* Where runs are recorded, and what tells them from those of other experiments in the same corpus. */
struct place {
	const char *corpus;
	char experiment[64]; /* an attribute of their streams, `bench=...` */
};

static void name_experiment(struct place *place)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(place->experiment, sizeof(place->experiment), "bench=%llx-%llx-%x",
		 (unsigned long long)now.tv_sec, (unsigned long long)now.tv_nsec, (unsigned)getpid());
}

/* The program's output is not wanted; the shell is gone before the program begins. */
static int record_run(const struct lode_call *call, const struct lode_bench_program *program,
		      const struct place *place, int side, struct lode_error *error)
{
	struct lode_buffer shown = { 0 };
	struct words words = { .count = 0 };
	int code;

	add_word(&words, "--output");
	add_word(&words, place->corpus);
	add_word(&words, "--attr");
	add_word(&words, side ? "side=B" : "side=A");
	add_word(&words, "--attr");
	add_word(&words, place->experiment);
	add_word(&words, "--");
	add_word(&words, "/bin/sh");
	add_word(&words, "-c");
	add_word(&words, "exec \"$0\" \"$@\" </dev/null >/dev/null 2>&1");
	for (char **word = program->words; *word; word++)
		add_word(&words, *word);
	if (words.count == MAX_WORDS)
		return lode_fail(error, LODE_USAGE,
				 "bench: a command of so many words is not recorded; write a script");
	code = lode_call_inner(call, &lode_command_record, words.count, words.items, NULL, &shown, error);
	lode_buffer_release(&shown);
	return code;
}

/* Pairs in random order, as timed runs are. */
static int record_runs(const struct lode_call *call, const struct lode_progress *progress,
		       const struct lode_bench_recording *recording, const struct place *place, uint64_t *done,
		       struct lode_error *error)
{
	struct lode_random random = lode_random_piece(recording->seed, 1);
	int first = 0, code = 0;

	for (uint64_t i = 0; !code && i < 2 * recording->runs; i++) {
		int side;

		if (i % 2 == 0)
			first = (int)lode_random_below(&random, 2);
		side = first ^ (int)(i % 2);
		if (lode_progress_report(progress, "recording", "runs", i, 2 * recording->runs))
			return lode_fail(error, LODE_SYSTEM, "stopped");
		if (recording->setup) {
			struct lode_bench_run run;

			code = lode_bench_run(recording->setup, NULL, 0, &run, error);
		}
		if (!code)
			code = record_run(call, &recording->programs[side], place, side, error);
		*done = (i + 1) / 2;
	}
	return code;
}

/* ---- what the comparison says ---- */

static char *text_of(struct lode_json_value value)
{
	struct lode_buffer buffer = { 0 };
	char *text = NULL;

	if (lode_json_kind(value) == LODE_JSON_TEXT) {
		lode_json_text_to(value, &buffer);
		lode_buffer_byte(&buffer, '\0');
		text = buffer.failed ? NULL : lode_strdup(buffer.bytes);
	}
	lode_buffer_release(&buffer);
	return text;
}

/* What threads of the slower side do longer, most of all; not waiting for a processor, which is about the machine. */
static void find_state(struct lode_json_value root, struct lode_bench_cause *cause, double sign)
{
	struct lode_json_value base = lode_json_get(lode_json_get(root, "base"), "states");
	struct lode_json_value slow = lode_json_get(lode_json_get(root, "slow"), "states");
	double most = 0;
	int found = -1;

	for (int state = 0; state < LODE_STATES; state++) {
		const char *name = lode_state_name((enum lode_state)state);
		double more = lode_json_double_or(lode_json_get(slow, name), 0) -
			      lode_json_double_or(lode_json_get(base, name), 0);

		if (lode_state_counts((enum lode_state)state) && state != LODE_STATE_READY && more > most) {
			most = more;
			found = state;
		}
	}
	if (found < 0)
		return;
	cause->state = lode_strdup(lode_state_name((enum lode_state)found));
	cause->state_delta_ns = (int64_t)(sign * most);
}

static void take_cause(struct lode_json_value root, int faster, struct lode_bench_result *result)
{
	struct lode_json_value given = lode_json_get(root, "root_cause");
	struct lode_bench_cause *cause = &result->cause;
	double sign = faster ? -1 : 1;

	if (lode_json_kind(given) != LODE_JSON_OBJECT) {
		result->no_cause = "no function by itself surely makes the difference in the recorded runs";
		return;
	}
	cause->frame = text_of(lode_json_get(given, "frame"));
	cause->layer = text_of(lode_json_get(given, "layer"));
	cause->caller = text_of(lode_json_get(given, "caller"));
	cause->new = lode_json_kind(lode_json_get(given, "new")) == LODE_JSON_TRUE;
	cause->delta_ns = (int64_t)(sign * lode_json_double_or(lode_json_get(given, "delta_ns"), 0));
	find_state(root, cause, sign);
	result->has_cause = cause->frame && cause->layer;
}

/* `app-1.1=app-1.0`: two files are versions of one program. For the caller to free. */
static char *rename_rule(const struct lode_bench_recording *recording)
{
	const char *names[2];

	for (int side = 0; side < 2; side++) {
		const char *path = recording->programs[side].words[0], *slash = strrchr(path, '/');

		names[side] = slash ? slash + 1 : path;
	}
	return lode_format("%s=%s", names[!recording->faster], names[recording->faster]);
}

static int compare(const struct lode_call *call, const struct lode_progress *progress, const struct place *place,
		   const struct lode_bench_recording *recording, struct lode_bench_result *result,
		   struct lode_error *error)
{
	int faster = recording->faster;
	char *rule = rename_rule(recording);
	struct lode_buffer shown = { 0 };
	struct lode_json_value root;
	struct words words = { .count = 0 };
	int code;

	add_word(&words, place->corpus);
	add_word(&words, "--where");
	add_word(&words, place->experiment);
	add_word(&words, "--base-where");
	add_word(&words, faster ? "side=B" : "side=A");
	add_word(&words, "--slow-where");
	add_word(&words, faster ? "side=A" : "side=B");
	add_word(&words, "--slow-module");
	add_word(&words, rule ? rule : "");
	add_word(&words, "--json");
	add_word(&words, "--top=1");
	code = lode_call_inner(call, &lode_command_diff, words.count, words.items, progress, &shown, error);
	if (!code)
		code = lode_json_check("lode diff", shown.bytes, shown.size, &root, error);
	if (!code)
		take_cause(root, faster, result);
	lode_buffer_release(&shown);
	lode_free(rule);
	return code;
}

void lode_bench_cause_release(struct lode_bench_cause *cause)
{
	lode_free(cause->frame);
	lode_free(cause->layer);
	lode_free(cause->caller);
	lode_free(cause->state);
}

/* ---- the whole ---- */

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
	(void)about, (void)type, (void)place;
	remove(path);
	return 0;
}

int lode_bench_find_cause(const struct lode_call *call, const struct lode_progress *progress,
			  const struct lode_bench_recording *recording, struct lode_bench_result *result,
			  struct lode_error *error)
{
	const char *parent = getenv("TMPDIR");
	struct place place = { .corpus = recording->corpus };
	char *folder = NULL;
	int code = 0;

	name_experiment(&place);
	if (!place.corpus) {
		folder = lode_format("%s/lode-bench-XXXXXX", parent && *parent ? parent : "/var/tmp");
		if (!folder)
			return lode_fail_memory(error);
		if (!mkdtemp(folder))
			code = lode_fail(error, LODE_SYSTEM, "%s: cannot be created: %s", folder, strerror(errno));
		place.corpus = folder;
	}
	if (!code)
		code = record_runs(call, progress, recording, &place, &result->recorded, error);
	if (!code)
		code = compare(call, progress, &place, recording, result, error);
	if (folder)
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	lode_free(folder);
	return code;
}
