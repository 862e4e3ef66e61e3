/*
 * Tasks for programs that use the library: see lode/run.h. The library is a host (tasks/host.h) that collects the
 * result and the messages; a task is called as the command line calls it, by words.
 */
#include "base/memory.h"
#include "base/starts_with.h"
#include "library/public_error.h"
#include "library/run_task.h"
#include "tasks/command.h"

#include <lode/record.h>
#include <lode/run.h>
#include <string.h>

extern const struct lode_command lode_command_import, lode_command_export, lode_command_mine, lode_command_latency,
	lode_command_diff, lode_command_scope, lode_command_explain, lode_command_coverage, lode_command_info,
	lode_command_query, lode_command_signatures, lode_command_record, lode_command_report, lode_command_hunt;

static const struct lode_command *const analyses[] = {
	&lode_command_mine,    &lode_command_latency,  &lode_command_diff, &lode_command_scope,
	&lode_command_explain, &lode_command_coverage, &lode_command_info, &lode_command_signatures,
};

struct liblode_result {
	struct lode_buffer bytes;
	char **messages;
	size_t count;
	size_t capacity;
};

struct run {
	struct lode_host host; /* first, so that a host is a run */
	struct lode_progress progress;
	struct liblode_run_options options;
	struct liblode_result *result;
	int stop;                /* the caller requested it */
	const sigset_t *signals; /* blocked in commands that it starts; NULL: as in the thread */
	struct lode_error first; /* failure of one of several inputs, which the task reported as a message */
};

/* ---- the host ---- */

static int update(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct run *run = context;

	if (run->options.progress && run->options.progress(run->options.context, phase, unit, done, total))
		run->stop = 1;
	return run->stop;
}

static const struct lode_progress *begin(struct lode_host *host, const struct lode_call *call)
{
	(void)call;
	return &((struct run *)host)->progress;
}

static void pause_nothing(struct lode_host *host)
{
	(void)host;
}

static void hold_nothing(struct lode_host *host, enum lode_stop hold)
{
	(void)host, (void)hold;
}

static void status(struct lode_host *host, const struct lode_call *call, const struct lode_status *status)
{
	(void)call;
	update(host, status->phase, status->unit, status->done, 0);
}

/* No signal, but as if by Ctrl-C. */
static int stopped(struct lode_host *host)
{
	return ((struct run *)host)->stop ? 2 : 0;
}

static int show(struct lode_host *host, const struct lode_call *call, const struct lode_buffer *results,
		struct lode_error *error)
{
	struct lode_buffer *bytes = &((struct run *)host)->result->bytes;

	(void)call;
	lode_buffer_add(bytes, results->bytes, results->size);
	return bytes->failed ? lode_fail_memory(error) : 0;
}

/* A message that memory does not suffice for is lost, not the work. */
static void say(struct lode_host *host, const struct lode_call *call, enum lode_style style, const char *text)
{
	struct liblode_result *result = ((struct run *)host)->result;
	struct lode_error escaped;
	char *copy;

	(void)call;
	lode_fail(&escaped, 0, "%s", text);
	if (style == LODE_RED && !((struct run *)host)->first.text[0])
		((struct run *)host)->first = escaped;
	copy = lode_strdup(escaped.text);
	if (copy && LODE_APPEND(result->messages, result->count, result->capacity, copy) < 0)
		lode_free(copy);
}

static void restore_signals(const struct lode_host *host)
{
	const struct run *run = (const struct run *)host;

	if (run->signals)
		pthread_sigmask(SIG_SETMASK, run->signals, NULL);
}

static void ignore_command(int pid)
{
	(void)pid;
}

static const struct lode_host_commands commands = { restore_signals, ignore_command };

/* ---- a run ---- */

static size_t count_words(const char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

/* All words of a call. They are only read, though a command line's are not const. */
struct words {
	char **items;
	size_t count;
};

static void put(struct words *words, const char *word)
{
	memcpy(&words->items[words->count++], &word, sizeof(word));
}

static int make_words(struct words *words, const char *first, const char *second, const char *const *options,
		      const char *const *operands)
{
	*words = (struct words){ .items = lode_calloc(count_words(options) + count_words(operands) + 4,
						      sizeof(*words->items)) };
	if (!words->items)
		return LODE_SYSTEM;
	if (first)
		put(words, first);
	if (second)
		put(words, second);
	for (; options && *options; options++)
		put(words, *options);
	put(words, "--");
	for (; operands && *operands; operands++)
		put(words, *operands);
	return 0;
}

static int call_command(struct run *run, const struct lode_command *command, const struct words *words,
			struct lode_error *error)
{
	static const struct lode_option none[] = { LODE_NO_MORE_OPTIONS };
	struct lode_call call = {
		.command = command,
		.host = &run->host,
		.out = { .fd = -1, .look = { .width = 80 } },
		.err = { .fd = -1, .look = { .width = 80 } },
	};
	int code = lode_call_read(&call, none, NULL, words->count, words->items, error);

	if (!code)
		code = lode_call_run(&call, error);
	lode_call_release(&call);
	return code;
}

static int run_command(const struct lode_command *command, const struct words *words,
		       const struct liblode_run_options *options, const sigset_t *signals,
		       struct liblode_result **result, struct lode_error *error)
{
	struct run run = {
		.host = { .collects = 1,
			  .begin = begin,
			  .pause = pause_nothing,
			  .hold = hold_nothing,
			  .status = status,
			  .stopped = stopped,
			  .show = show,
			  .say = say,
			  .commands = &commands },
		.progress = { update, &run },
		.result = lode_calloc(1, sizeof(**result)),
		.signals = signals,
	};
	int code;

	if (!run.result)
		return lode_fail_memory(error);
	if (options && options->size >= sizeof(size_t))
		memcpy(&run.options, options,
		       options->size < sizeof(run.options) ? options->size : sizeof(run.options));
	code = call_command(&run, command, words, error);
	if (code < LODE_UNSURE)
		lode_fail(error, 0, "stopped, as the caller asked");
	else if (!lode_is_done(code) && run.first.text[0])
		*error = run.first;
	lode_buffer_byte(&run.result->bytes, '\0');
	if (run.result->bytes.failed && lode_is_done(code))
		code = lode_fail_memory(error);
	if (lode_is_done(code)) {
		*result = run.result;
		return code;
	}
	liblode_result_free(run.result);
	return code;
}

static int run_words(const struct lode_command *command, const char *first, const char *second,
		     const char *const *options, const char *const *operands, const struct liblode_run_options *run,
		     const sigset_t *signals, struct liblode_result **result, struct liblode_error *error)
{
	struct lode_error sentence = { "" };
	struct words words;
	int code;

	*result = NULL;
	code = make_words(&words, first, second, options, operands) < 0
		       ? lode_fail_memory(&sentence)
		       : run_command(command, &words, run, signals, result, &sentence);
	lode_free(words.items);
	return lode_public_error(error, code, &sentence);
}

/* ---- the tasks ---- */

int liblode_analyse(const char *analysis, const char *const *corpora, const char *const *options,
		    const struct liblode_run_options *run, struct liblode_result **result,
		    struct liblode_error *error)
{
	struct lode_error sentence;

	for (size_t i = 0; i < sizeof(analyses) / sizeof(*analyses); i++)
		if (!strcmp(analyses[i]->name, analysis))
			return run_words(analyses[i], "--json", NULL, options, corpora, run, NULL, result, error);
	*result = NULL;
	return lode_public_error(
		error,
		lode_fail(&sentence, LODE_USAGE,
			  "'%s' is not an analysis; choose one of mine, latency, diff, scope, explain, coverage, "
			  "info and signatures",
			  analysis),
		&sentence);
}

/* A task that adds to a corpus. */
static int run_into(const struct lode_command *command, const char *corpus, const char *const *options,
		    const char *const *operands, const struct liblode_run_options *run, const sigset_t *signals,
		    struct liblode_result **result, struct liblode_error *error)
{
	char *output = lode_format("--output=%s", corpus);
	int code;

	if (!output) {
		struct lode_error sentence;

		*result = NULL;
		return lode_public_error(error, lode_fail_memory(&sentence), &sentence);
	}
	code = run_words(command, "--json", output, options, operands, run, signals, result, error);
	lode_free(output);
	return code;
}

int liblode_import(const char *corpus, const char *const *files, const char *const *options,
		   const struct liblode_run_options *run, struct liblode_result **result,
		   struct liblode_error *error)
{
	return run_into(&lode_command_import, corpus, options, files, run, NULL, result, error);
}

int liblode_record(const char *corpus, const char *const *command, const char *const *options,
		   const struct liblode_run_options *run, struct liblode_result **result,
		   struct liblode_error *error)
{
	return run_into(&lode_command_record, corpus, options, command, run, NULL, result, error);
}

int lode_library_record(const char *corpus, const char *const *command, const char *const *options,
			const struct liblode_run_options *run, const sigset_t *signals,
			struct liblode_result **result, struct liblode_error *error)
{
	return run_into(&lode_command_record, corpus, options, command, run, signals, result, error);
}

int liblode_export(const char *const *corpora, const char *const *options, const struct liblode_run_options *run,
		   struct liblode_result **result, struct liblode_error *error)
{
	return run_words(&lode_command_export, NULL, NULL, options, corpora, run, NULL, result, error);
}

/* Whether the options say in which form the result is wanted. */
static int has_format(const char *const *options)
{
	for (; options && *options; options++)
		if (lode_starts_with(*options, "--format") || !strcmp(*options, "--csv") ||
		    !strcmp(*options, "--folded"))
			return 1;
	return 0;
}

int liblode_query(const char *const *corpora, const char *sql, const char *const *options,
		  const struct liblode_run_options *run, struct liblode_result **result,
		  struct liblode_error *error)
{
	char *statement = lode_format("--sql=%s", sql);
	int code;

	if (!statement) {
		struct lode_error sentence;

		*result = NULL;
		return lode_public_error(error, lode_fail_memory(&sentence), &sentence);
	}
	code = run_words(&lode_command_query, statement, has_format(options) ? NULL : "--json", options, corpora,
			 run, NULL, result, error);
	lode_free(statement);
	return code;
}

int liblode_report(const char *const *corpora, const char *const *options, const struct liblode_run_options *run,
		   struct liblode_result **result, struct liblode_error *error)
{
	return run_words(&lode_command_report, "--output=-", NULL, options, corpora, run, NULL, result, error);
}

int liblode_hunt(const char *const *command, const char *const *options, const struct liblode_run_options *run,
		 struct liblode_result **result, struct liblode_error *error)
{
	return run_words(&lode_command_hunt, "--json", NULL, options, command, run, NULL, result, error);
}

/* ---- results ---- */

const char *liblode_result_bytes(const struct liblode_result *result, size_t *size)
{
	if (size)
		*size = result->bytes.size - 1;
	return result->bytes.bytes;
}

size_t liblode_result_message_count(const struct liblode_result *result)
{
	return result->count;
}

const char *liblode_result_message(const struct liblode_result *result, size_t i)
{
	return i < result->count ? result->messages[i] : NULL;
}

void liblode_result_free(struct liblode_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->count; i++)
		lode_free(result->messages[i]);
	lode_free(result->messages);
	lode_buffer_release(&result->bytes);
	lode_free(result);
}
