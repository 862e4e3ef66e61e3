/*
 * A program that uses liblode, as a guest would see it: results must be those of the command line, and the program's
 * signals, descriptors, folder and locale must be as before. Prints the JSON of one analysis:
 *
 *	host CORPUS ANALYSIS [OPTION...]	the result
 *	host CORPUS check FILE			the rest: errors, stopping, threads, what must not change
 *	host CORPUS record			recording; exits with 77 and a sentence where it is not permitted
 */
#include <lode/lode.h>

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void check(int fine, const char *what)
{
	if (fine)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

static int ask_to_stop(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	(void)phase, (void)unit, (void)done, (void)total;
	++*(int *)context;
	return 1;
}

static void check_errors(const char *corpus, const char *file)
{
	const char *const corpora[] = { corpus, NULL }, *const none[] = { "no-such-corpus", NULL };
	struct liblode_result *result = (struct liblode_result *)1;
	struct liblode_error error;
	struct liblode_corpus *handle;
	struct liblode_stream *stream;
	struct liblode_stream_info unset = { 0 }, info = { .size = sizeof(info) };
	struct liblode_events events = { .size = offsetof(struct liblode_events, t) };

	check(liblode_analyse("minen", corpora, NULL, NULL, &result, &error) == LIBLODE_USAGE && !result &&
		      strstr(error.message, "'minen' is not an analysis"),
	      "an unknown analysis is refused");
	check(liblode_analyse("mine", corpora, (const char *const[]){ "--treshold=1%", NULL }, NULL, &result,
			      &error) == LIBLODE_USAGE &&
		      !result && strstr(error.message, "--threshold"),
	      "a wrong option gets a suggestion");
	check(liblode_analyse("mine", none, NULL, NULL, &result, &error) == LIBLODE_BAD_INPUT && !result &&
		      strstr(error.message, "no-such-corpus"),
	      "a missing corpus is named");
	check(liblode_analyse("mine", NULL, NULL, NULL, &result, &error) == LIBLODE_USAGE,
	      "no corpus is wrong usage");
	check(liblode_analyse("mine", none, NULL, NULL, &result, NULL) == LIBLODE_BAD_INPUT,
	      "nobody need take the sentence");
	check(liblode_import(corpus, (const char *const[]){ "/dev/null", NULL }, NULL, NULL, &result, &error) < 0 &&
		      !result && strstr(error.message, "/dev/null"),
	      "an empty file is named");
	check(liblode_corpus_open(&handle, "no-such-corpus", &error) == LIBLODE_BAD_INPUT && !handle,
	      "no handle of a missing corpus");
	check(liblode_stream_open(&stream, file, &error) == LIBLODE_BAD_INPUT && !stream && error.message[0],
	      "no handle of a text");
	check(!liblode_corpus_open(&handle, corpus, &error) && !error.message[0], "the corpus opens");
	check(liblode_corpus_stream(handle, 0, &unset, &error) == LIBLODE_USAGE,
	      "a struct without a size is refused");
	check(liblode_corpus_stream(handle, 999, &info, &error) == LIBLODE_USAGE, "there is no such stream");
	check(!liblode_corpus_stream(handle, 0, &info, &error) && strlen(info.id) == 32, "the first stream");
	check(!liblode_stream_open(&stream, info.path, &error), "its file opens");
	check(!liblode_stream_events(stream, LIBLODE_WAIT, &events, &error) &&
		      events.count == info.events[LIBLODE_WAIT] && !events.t,
	      "an older struct is filled as far as it reaches");
	liblode_stream_close(stream);
	liblode_corpus_close(handle);
}

static void check_stopping(const char *corpus, const char *file)
{
	int calls = 0;
	struct liblode_run_options run = { .size = sizeof(run), .progress = ask_to_stop, .context = &calls };
	struct liblode_result *result;
	struct liblode_error error;
	int code = liblode_import(corpus, (const char *const[]){ file, NULL },
				  (const char *const[]){ "--name=again", NULL }, &run, &result, &error);

	check(calls && code == LIBLODE_STOPPED && !result && error.message[0], "the caller can stop an import");
	calls = 0;
	run.size = sizeof(size_t); /* of a version without a progress function */
	check(!liblode_analyse("latency", (const char *const[]){ corpus, NULL }, NULL, &run, &result, &error) &&
		      !calls,
	      "fields beyond the size are not read");
	liblode_result_free(result);
}

static void *mine(void *corpus)
{
	const char *const corpora[] = { corpus, NULL };
	struct liblode_result *result;

	return liblode_analyse("mine", corpora, (const char *const[]){ "--jobs=2", NULL }, NULL, &result, NULL)
		       ? NULL
		       : result;
}

static void check_threads(char *corpus)
{
	struct liblode_result *results[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		check(!pthread_create(&threads[i], NULL, mine, corpus), "a thread starts");
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], (void **)&results[i]);
		check(results[i] != NULL && !strcmp(liblode_result_bytes(results[0], NULL),
						    liblode_result_bytes(results[i], NULL)),
		      "all threads get the same result");
	}
	for (int i = 0; i < 4; i++)
		liblode_result_free(results[i]);
}

/* Whether `text` is in the result. */
static int has(const struct liblode_result *result, const char *text)
{
	return strstr(liblode_result_bytes(result, NULL), text) != NULL;
}

/* A command that ends by itself, with a status that is not a failure of the recording. */
/* What is written is what is read; what is wrong is refused. */
static void check_writing(const char *corpus)
{
	char path[4096];
	const char *const corpora[] = { path, NULL };
	struct liblode_event event = LIBLODE_EVENT_INIT, old = { .size = 1 };
	struct liblode_stream_info info = { .size = sizeof(info) };
	struct liblode_events events = { .size = sizeof(events) };
	struct liblode_result *result;
	struct liblode_writer *writer;
	struct liblode_corpus *handle;
	struct liblode_stream *stream;
	struct liblode_error error;
	uint32_t ui, disk, stack;

	snprintf(path, sizeof(path), "%s-written", corpus);
	check(liblode_version_number() == LIBLODE_VERSION && LIBLODE_VERSION >= LIBLODE_VERSION_OF(0, 1, 0),
	      "the library is that of the headers");
	check(!liblode_writer_open(&writer, "mine", NULL, &error), "a writer");
	ui = liblode_writer_thread(writer, 7, 7, "ui");
	disk = liblode_writer_thread(writer, 7, 8, "disk");
	stack = liblode_writer_stack(writer, liblode_writer_stack(writer, 0, "app", "main"), "app", "lock");
	check(ui != disk && liblode_writer_thread(writer, 7, 7, NULL) == ui, "a thread is added once");
	check(liblode_writer_stack(writer, 999, "app", "main") == LIBLODE_NONE, "there is no such caller");
	event.thread = 5;
	check(liblode_writer_event(writer, LIBLODE_WAIT, &event, &error) == LIBLODE_USAGE && error.message[0],
	      "an unknown thread is refused");
	check(liblode_writer_event(writer, LIBLODE_WAIT, &old, &error) == LIBLODE_USAGE,
	      "so is a struct without a size");
	event.thread = ui, event.stack = stack, event.waker = disk, event.object = "lock:list", event.holder = disk;
	event.context = "SELECT 1";
	for (uint64_t i = 3; i > 0; i--) {
		event.t = i * 1000000, event.cost = i * 1000;
		check(!liblode_writer_event(writer, LIBLODE_WAIT, &event, &error), "an event");
	}
	check(liblode_writer_symptom(writer, ui, 5, 4, NULL, &error) == LIBLODE_USAGE, "time goes on");
	check(!liblode_writer_symptom(writer, ui, 500000, 4000000, "click", &error), "a symptom");
	check(!liblode_writer_attribute(writer, "build", "17", &error), "an attribute");
	check(!liblode_writer_save(writer, path, &error), error.message);
	check(liblode_writer_save(writer, path, &error) == LIBLODE_USAGE, "once only");
	liblode_writer_close(writer);
	check(!liblode_corpus_open(&handle, path, &error) && liblode_corpus_count(handle) == 1 &&
		      !liblode_corpus_stream(handle, 0, &info, &error) && info.cost_ns[LIBLODE_WAIT] == 6000,
	      "the corpus has it");
	check(!liblode_stream_open(&stream, info.path, &error) &&
		      !liblode_stream_events(stream, LIBLODE_WAIT, &events, &error) && events.count == 3 &&
		      events.t[0] == 1000000 && events.waker[2] == disk && events.holder[0] == disk &&
		      !strcmp(liblode_stream_string(stream, events.object[0]), "lock:list") &&
		      !strcmp(liblode_stream_string(stream, events.context[2]), "SELECT 1"),
	      "events are in order of time");
	liblode_stream_close(stream);
	liblode_corpus_close(handle);
	check(!liblode_analyse("mine", corpora, NULL, NULL, &result, &error) &&
		      strstr(liblode_result_bytes(result, NULL), "app!lock"),
	      "and can be analysed");
	liblode_result_free(result);
}

static int check_command(const char *corpus)
{
	const char *const command[] = { "sh", "-c", "sleep 0.05; exit 3", NULL };
	struct liblode_result *result;
	struct liblode_error error;
	int code = liblode_record(corpus, command, (const char *const[]){ "--name=by itself", NULL }, NULL,
				  &result, &error);

	if (code == LIBLODE_SYSTEM) {
		printf("skipped: %s\n", error.message);
		return 77;
	}
	check(!code && has(result, "\"exit_status\":3") && has(result, "\"name\":\"by itself\""),
	      "a command is recorded to its end");
	liblode_result_free(result);
	return 0;
}

static void check_recording(const char *corpus)
{
	const char *const slow[] = { "sleep", "100", NULL }, *const none[] = { "/no/such/command", NULL };
	int calls = 0;
	struct liblode_run_options run = { .size = sizeof(run), .progress = ask_to_stop, .context = &calls };
	struct liblode_result *result;
	struct liblode_error error;

	check(!liblode_record(corpus, slow, NULL, &run, &result, &error) && calls && has(result, "\"signal\":15"),
	      "a stopped recording is kept, and its command ended");
	liblode_result_free(result);
	check(!liblode_record(corpus, NULL, (const char *const[]){ "--all", "--duration=100ms", NULL }, NULL,
			      &result, &error) &&
		      has(result, "\"exit_status\":null"),
	      "all processes are recorded for a while");
	liblode_result_free(result);
	check(liblode_record(corpus, none, NULL, NULL, &result, &error) == LIBLODE_USAGE && !result &&
		      strstr(error.message, "/no/such/command"),
	      "a missing command is named");
	check(liblode_record(corpus, NULL, NULL, NULL, &result, &error) == LIBLODE_USAGE && !result,
	      "nothing to record is wrong usage");
}

static int stop_after_a_second(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct timespec now;
	time_t *began = context;

	(void)done, (void)total;
	check(!strcmp(phase, "hunting") && !strcmp(unit, "experiments"), "a hunt says what it does");
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!*began)
		*began = now.tv_sec;
	return now.tv_sec > *began + 1;
}

static void check_hunt(void)
{
	const char *const busy[] = { "sh", "-c", "while :; do :; done", NULL };
	time_t began = 0;
	struct liblode_run_options run = { .size = sizeof(run), .progress = stop_after_a_second, .context = &began };
	struct liblode_result *result;
	struct liblode_error error;

	check(!liblode_hunt(busy, (const char *const[]){ "--duration=20s", NULL }, &run, &result, &error) &&
		      began && has(result, "\"hypothesis\":\"CPUbound\"") && has(result, "\"summary\":true"),
	      "a command is hunted until the caller asks to stop");
	liblode_result_free(result);
	check(liblode_hunt(NULL, NULL, NULL, &result, &error) == LIBLODE_USAGE && !result,
	      "nothing to hunt in is wrong usage");
	check(liblode_hunt(busy, (const char *const[]){ "--serve", NULL }, NULL, &result, &error) == LIBLODE_USAGE &&
		      strstr(error.message, "'--serve' is for the program"),
	      "no browser is served from a library");
	check(liblode_hunt(NULL, (const char *const[]){ "--agent", "--pid=1", NULL }, NULL, &result, &error) ==
		      LIBLODE_USAGE,
	      "nor another hunt through standard output");
}

/* A recording beside the program, which learns how far it is, ends it, and keeps its own signals. */
static void check_recording_handle(const char *corpus)
{
	const char *const slow[] = { "sleep", "100", NULL },
			  *const brief[] = { "sh", "-c", "sleep 0.1; exit 4", NULL },
			  *const none[] = { "/no/such/command", NULL };
	struct liblode_recording *recording = NULL;
	struct liblode_result *result;
	struct liblode_error error;
	uint64_t events = 0;

	check(!liblode_recording_start(&recording, corpus, slow, NULL, &error) && recording, "a recording starts");
	check(!liblode_recording_wait(recording, 0, NULL) && !liblode_recording_wait(recording, 150, NULL),
	      "it goes on while its command does");
	check(!liblode_recording_finish(recording, &result, &error) && has(result, "\"signal\":15"),
	      "it is ended and kept, and its command gets SIGTERM");
	liblode_result_free(result);
	check(!liblode_recording_start(&recording, corpus, brief, NULL, &error) &&
		      liblode_recording_wait(recording, -1, &events) && events,
	      "it is over when its command is, and counts events");
	check(!liblode_recording_finish(recording, &result, &error) && has(result, "\"exit_status\":4"),
	      "its result is that of the command");
	liblode_result_free(result);
	check(!liblode_recording_start(&recording, corpus, NULL, (const char *const[]){ "--all", NULL }, &error) &&
		      !liblode_recording_finish(recording, NULL, NULL),
	      "nobody need take the result");
	check(liblode_recording_start(&recording, corpus, none, NULL, &error) == LIBLODE_USAGE && !recording &&
		      strstr(error.message, "/no/such/command"),
	      "a missing command is known at the start");
	check(!liblode_recording_finish(NULL, &result, &error) && !result, "no handle is fine");
}

/* What a library must leave alone. */
struct surroundings {
	struct sigaction actions[65];
	sigset_t blocked;
	char folder[4096];
	char *locale;
	int descriptor; /* the next one */
	int priority;
};

static void look(struct surroundings *here)
{
	memset(here, 0, sizeof(*here));
	for (int i = 1; i < 65; i++)
		sigaction(i, NULL, &here->actions[i]);
	pthread_sigmask(0, NULL, &here->blocked);
	check(getcwd(here->folder, sizeof(here->folder)) != NULL, "there is a folder");
	here->locale = setlocale(LC_ALL, NULL);
	here->descriptor = dup(0);
	close(here->descriptor);
	here->priority = getpriority(PRIO_PROCESS, 0);
}

static void compare(const struct surroundings *before, const struct surroundings *after)
{
	for (int i = 1; i < 65; i++)
		check(before->actions[i].sa_handler == after->actions[i].sa_handler, "signals are as before");
	check(!memcmp(&before->blocked, &after->blocked, sizeof(before->blocked)),
	      "blocked signals are as before");
	check(!strcmp(before->folder, after->folder) && !strcmp(before->locale, after->locale),
	      "folder and locale are as before");
	check(before->descriptor == after->descriptor, "no descriptor is left open");
	check(before->priority == after->priority, "the priority is as before");
}

int main(int argc, char **argv)
{
	struct surroundings before, after;
	struct liblode_result *result;
	struct liblode_error error;
	int code;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[2], "check")) {
		look(&before);
		check_errors(argv[1], argv[3]);
		check_stopping(argv[1], argv[3]);
		check_threads(argv[1]);
		check_writing(argv[1]);
		look(&after);
		compare(&before, &after);
		printf("fine, liblode %s\n", liblode_version());
		return 0;
	}
	if (!strcmp(argv[2], "record")) {
		look(&before);
		code = check_command(argv[1]);
		if (code)
			return code;
		check_recording(argv[1]);
		check_recording_handle(argv[1]);
		check_hunt();
		look(&after);
		compare(&before, &after);
		return 0;
	}
	code = liblode_analyse(argv[2], (const char *const[]){ argv[1], NULL }, (const char *const *)argv + 3,
			       NULL, &result, &error);
	if (code < 0) {
		printf("%s\n", error.message);
		return -code;
	}
	printf("%s", liblode_result_bytes(result, NULL));
	liblode_result_free(result);
	return 0;
}
