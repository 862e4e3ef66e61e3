/*
 * lode push: sends streams, files and symbols to a collector.
 *
 * Each goes through the spool (push_spool.h), so that what was begun is sent by the next call where this one cannot. Which
 * streams of a corpus were sent is in a list beside the spool's files: it saves sending them again, no more, since a collector
 * takes the same stream only once. Which were refused is in another one: the answer would be the same. A refusal keeps no
 * other stream from being sent.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cmd/commands.h"
#include "cmd/signals.h"
#include "store/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef LODE_HAVE_PUSH
#include "base/ends_with.h"
#include "base/token_file.h"
#include "base/units.h"
#include "cmd/push_known.h"
#include "cmd/push_symbols.h"
#include "push/push_sender.h"
#include "trace/redact.h"
#endif

#define DEFAULT_PATIENCE   60000000000ull
#define DEFAULT_SPOOL_SIZE 512

struct settings {
	const char *token_file;
	const char *spool;
	uint64_t spool_size;
	uint64_t patience;
	int follow;
	int again;
	const char *redact;
	int symbols;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_TEXT("token-file", 0, FIELD(token_file), "FILE", "the token is in FILE (default: $LODE_TOKEN)"),
	LODE_TEXT("spool", 0, FIELD(spool), "FOLDER", "where files wait to be sent"),
	LODE_NUMBER("spool-size", 0, FIELD(spool_size), "MIB", "the oldest are dropped beyond it (default: 512)",
		    1, 1 << 20),
	LODE_DURATION("patience", 0, FIELD(patience), "TIME", "how long to try without success (default: 1min)"),
	LODE_FLAG("follow", 0, FIELD(follow), "go on, and send what comes into the corpora and the spool"),
	LODE_FLAG("again", 0, FIELD(again), "send streams of a corpus that were sent or refused before, too"),
	LODE_TEXT("redact", 0, FIELD(redact), "FILE",
		  "hash host names, paths and functions of scripts with the key in FILE (default: $LODE_REDACT)"),
	LODE_FLAG("symbols", 0, FIELD(symbols),
		  "send the symbols of their programs, too, as far as the collector lacks them"),
	LODE_NO_MORE_OPTIONS,
};

#ifdef LODE_HAVE_PUSH

#define SENT_FILE        "sent"
#define REFUSED_FILE     "refused"
#define FOLLOW_NS        1000000000ull
#define SYMBOLS_PAUSE_NS 60000000000ull

struct pushing {
	struct lode_call *call;
	const struct settings *settings;
	struct lode_push_sender sender;
	struct lode_push_symbols symbols;
	struct lode_push_known sent, refused; /* streams, by this call and those before */
	uint64_t skipped, refused_before;     /* streams that were sent, or refused, by calls before */
	const char *path;                     /* what is being sent */
	char *entry;                          /* what it is in the spool */
	int is_refused;                       /* it was just now */
	struct lode_error refusal;            /* of the first one */
	char key[LODE_MAX_TOKEN + 1];         /* of --redact; "": nothing is hashed */
	uint64_t looked_at;                   /* ns: when corpora were looked at last, to follow them */
	struct lode_text_list pending;        /* streams to be followed by the symbols of their programs */
	uint64_t symbols_at;                  /* ns: not before that; the collector gave no answer */
	int has_told;                         /* that it did not */
};

/* ---- what was sent before ---- */

/* Whether this stream need not be sent, as calls before this one know. */
static int is_done(const struct pushing *pushing, const char *id)
{
	return !pushing->settings->again &&
	       (lode_push_known_has(&pushing->sent, id) || lode_push_known_has(&pushing->refused, id));
}

/* ---- redacting ---- */

static int write_redacted(const struct pushing *pushing, const char *path, const char *to, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	code = lode_store_load(path, &stream, error);
	if (!code && lode_stream_redact(&stream, pushing->key) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_store_write(to, 0600, &stream, 1, error);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static int spool_redacted(struct pushing *pushing, const char *path, struct lode_error *error)
{
	char *redacted =
		lode_format("%s/.redacted.%ld", lode_push_spool_folder(pushing->sender.spool), (long)getpid());
	int code;

	if (!redacted)
		return lode_fail_memory(error);
	unlink(redacted);
	code = write_redacted(pushing, path, redacted, error);
	if (!code)
		code = lode_push_spool_add_final(pushing->sender.spool, redacted, &pushing->entry, error);
	unlink(redacted);
	lode_free(redacted);
	return code;
}

/* Adds a stream of a corpus to the spool; with --redact, what it becomes. */
static int spool_stream(struct pushing *pushing, const char *path, struct lode_error *error)
{
	lode_free(pushing->entry);
	pushing->entry = NULL;
	return *pushing->key ? spool_redacted(pushing, path, error)
			     : lode_push_spool_add_final(pushing->sender.spool, path, &pushing->entry, error);
}

/* The same for a file that people named, and that may change while it waits. */
static int spool_file(struct pushing *pushing, const char *path, const char *name, struct lode_error *error)
{
	lode_free(pushing->entry);
	pushing->entry = NULL;
	if (!*pushing->key)
		return lode_push_spool_add(pushing->sender.spool, path, name, &pushing->entry, error);
	if (name)
		return lode_fail(error, LODE_BAD_INPUT,
				 "%s: --redact is for streams of Lode; make one with 'lode import %s -o CORPUS'",
				 path, path);
	return spool_redacted(pushing, path, error);
}

static int read_key(struct pushing *pushing, struct lode_error *error)
{
	const char *given = pushing->settings->redact ? pushing->settings->redact : getenv("LODE_REDACT");

	return given && *given ? lode_token_file_read(given, pushing->key, error) : 0;
}

/* ---- streams of a corpus ---- */

/* Visits the streams of a corpus, until a visit fails. */
static int each_stream(struct pushing *pushing, const char *path,
		       int (*visit)(struct pushing *pushing, const struct lode_corpus_entry *entry,
				    struct lode_error *error),
		       struct lode_error *error)
{
	struct lode_corpus_list list = { 0 };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_READ, error);

	if (code)
		return code;
	code = lode_corpus_streams(corpus, &list, error);
	for (size_t i = 0; !code && i < list.count && !lode_signals_stop(); i++)
		code = visit(pushing, &list.items[i], error);
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return code;
}

/* ---- symbols ---- */

static int symbols_stop(void *context)
{
	(void)context;
	return lode_signals_stop();
}

static void tell_symbols(void *context, const char *sentence)
{
	const struct pushing *pushing = context;

	if (!pushing->call->quiet)
		lode_say(&pushing->call->err, LODE_PLAIN, "%s", sentence);
}

static int push_symbols_of_stream(struct pushing *pushing, const struct lode_corpus_entry *entry,
				  struct lode_error *error)
{
	return lode_push_symbols_of_stream(&pushing->symbols, entry->path, error);
}

/* Those of a program; with --symbols, of the programs in streams. */
static int push_symbols(struct pushing *pushing, const char *path, struct lode_error *error)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return pushing->settings->symbols ? each_stream(pushing, path, push_symbols_of_stream, error) : 0;
	if (lode_push_symbols_takes(path))
		return lode_push_symbols_of_file(&pushing->symbols, path, error);
	return pushing->settings->symbols && lode_ends_with(path, ".lode")
		       ? lode_push_symbols_of_stream(&pushing->symbols, path, error)
		       : 0;
}

/* With --follow: those of one stream more, when nothing else is to be sent. A failure is told once. */
static void push_pending_symbols(struct pushing *pushing)
{
	struct lode_text_list *pending = &pushing->pending;
	struct lode_push_spool_counts counts = { .files = 1 };
	uint64_t refused = pushing->symbols.refused;
	struct lode_error error;
	int code;

	if (!pending->count || lode_now() < pushing->symbols_at ||
	    lode_push_spool_counts(pushing->sender.spool, &counts, NULL) < 0 || counts.files)
		return;
	code = lode_push_symbols_of_stream(&pushing->symbols, pending->items[pending->count - 1], &error);
	if (code && !pushing->has_told)
		tell_symbols(pushing, error.text);
	if (!refused && pushing->symbols.refused) /* of others it is told at once */
		tell_symbols(pushing, pushing->symbols.refusal.text);
	pushing->has_told = code != 0;
	if (code == LODE_SYSTEM) {
		pushing->symbols_at = lode_now() + SYMBOLS_PAUSE_NS;
		return;
	}
	lode_free(pending->items[--pending->count]);
	pending->items[pending->count] = NULL;
}

/* ---- following ---- */

/* Puts a new stream into the spool; one that is not to be read now is looked at again later. Returns 0. */
static int spool_new(struct pushing *pushing, const struct lode_corpus_entry *entry, struct lode_error *error)
{
	(void)error;
	if (is_done(pushing, entry->id) || spool_stream(pushing, entry->path, NULL) != 0)
		return 0;
	lode_push_known_add(&pushing->sent, entry->id);
	if (pushing->settings->symbols)
		lode_text_list_add(&pushing->pending, lode_strdup(entry->path));
	return 0;
}

/* The catalogue of a corpus changes with its streams; looking for that costs next to nothing. */
static int has_changed(const char *path, uint64_t since)
{
	char *catalogue = lode_format("%s/catalogue.sqlite", path);
	struct timespec now;
	struct stat status;
	uint64_t age, passed = (lode_now() - since) / 1000000000u;
	int changed = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	if (catalogue && stat(catalogue, &status) == 0) {
		age = now.tv_sec > status.st_mtime ? (uint64_t)(now.tv_sec - status.st_mtime) : 0;
		changed = !since || age <= passed + 2;
	}
	lode_free(catalogue);
	return changed;
}

static void follow_corpora(struct pushing *pushing)
{
	struct lode_call *call = pushing->call;
	uint64_t since = pushing->looked_at;

	if (since && lode_now() - since < FOLLOW_NS)
		return;
	pushing->looked_at = lode_now();
	for (size_t i = 0; i + 1 < call->operand_count; i++)
		if (has_changed(call->operands[i], since))
			each_stream(pushing, call->operands[i], spool_new, NULL); /* later where there is none yet */
}

/* ---- sending ---- */

static int asked_to_stop(void *context)
{
	struct pushing *pushing = context;

	if (pushing->settings->follow && !lode_signals_stop()) {
		follow_corpora(pushing);
		push_pending_symbols(pushing);
	}
	return lode_signals_stop();
}

/* What people call an entry of the spool; of a stream that an earlier call left there nothing else is known. */
static const char *name_of(const struct pushing *pushing, const struct lode_push_entry *entry)
{
	if (pushing->path && pushing->entry && !strcmp(pushing->entry, entry->path))
		return pushing->path;
	return entry->name ? entry->name : entry->path;
}

static void keep_refusal(struct pushing *pushing, const struct lode_push_entry *entry,
			 const struct lode_push_answer *answer)
{
	if (pushing->entry && !strcmp(pushing->entry, entry->path))
		pushing->is_refused = 1;
	if (!*pushing->refusal.text)
		lode_fail(&pushing->refusal, LODE_BAD_INPUT, "%s: the collector refuses it: %s",
			  name_of(pushing, entry), answer->text);
}

static void tell(void *context, const struct lode_push_entry *entry, const struct lode_push_answer *answer)
{
	struct pushing *pushing = context;

	if (lode_push_is_final(answer->status))
		keep_refusal(pushing, entry, answer);
	if (pushing->call->quiet)
		return;
	if (answer->status)
		lode_say(&pushing->call->err, LODE_PLAIN, "%s: status %ld%s%s", name_of(pushing, entry),
			 answer->status, *answer->text ? ": " : "", answer->text);
	else
		lode_say(&pushing->call->err, LODE_PLAIN, "%s: no answer: %s", name_of(pushing, entry),
			 answer->text);
}

/* Sends all that is in the spool, `path` as what was added last. Returns 0 also where it is refused (`is_refused`). */
static int send_added(struct pushing *pushing, const char *path, struct lode_error *error)
{
	int code;

	pushing->path = path;
	pushing->is_refused = 0;
	code = lode_push_send(&pushing->sender, error);
	pushing->path = NULL;
	return code;
}

static int push_stream(struct pushing *pushing, const struct lode_corpus_entry *entry, struct lode_error *error)
{
	int code;

	if (is_done(pushing, entry->id)) {
		*(lode_push_known_has(&pushing->sent, entry->id) ? &pushing->skipped : &pushing->refused_before) +=
			1;
		return 0;
	}
	code = spool_stream(pushing, entry->path, error);
	if (!code)
		code = send_added(pushing, entry->path, error);
	if (!code && (pushing->is_refused || !lode_signals_stop()))
		lode_push_known_add(pushing->is_refused ? &pushing->refused : &pushing->sent, entry->id);
	return code;
}

/* The name of a file without its folders and endings. */
static char *stream_name(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return lode_strndup(base, base[0] == '.' ? strlen(base) : strcspn(base, "."));
}

static int push_operand(struct pushing *pushing, const char *path, struct lode_error *error)
{
	struct stat status;
	char *name = NULL;
	int code;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return each_stream(pushing, path, push_stream, error);
	if (lode_push_symbols_takes(path))
		return 0; /* later */
	if (!lode_ends_with(path, ".lode") && !(name = stream_name(path)))
		return lode_fail_memory(error);
	code = spool_file(pushing, path, name, error);
	if (!code)
		code = send_added(pushing, path, error);
	lode_free(name);
	return code;
}

static int read_token(const struct settings *settings, char token[LODE_MAX_TOKEN + 1], struct lode_error *error)
{
	const char *given = getenv("LODE_TOKEN");

	token[0] = '\0';
	if (settings->token_file)
		return lode_token_file_read(settings->token_file, token, error);
	if (given && strlen(given) > LODE_MAX_TOKEN)
		return lode_fail(error, LODE_USAGE, "LODE_TOKEN: is longer than %d characters", LODE_MAX_TOKEN);
	if (given)
		snprintf(token, LODE_MAX_TOKEN + 1, "%s", given);
	return 0;
}

static int prepare(struct pushing *pushing, const char *url, struct lode_error *error)
{
	const struct settings *settings = pushing->settings;
	char token[LODE_MAX_TOKEN + 1];
	int code = read_token(settings, token, error);

	if (!code)
		code = read_key(pushing, error);
	if (!code)
		code = lode_push_client_make(&pushing->sender.client, url, *token ? token : NULL, error);
	pushing->symbols = (struct lode_push_symbols){ .client = pushing->sender.client,
						       .stops = symbols_stop,
						       .tell = tell_symbols,
						       .context = pushing };
	if (!code)
		code = lode_push_spool_open(&pushing->sender.spool, settings->spool, url,
					    (settings->spool_size ? settings->spool_size : DEFAULT_SPOOL_SIZE)
						    << 20,
					    error);
	if (!code)
		code = lode_push_known_load(&pushing->sent, pushing->sender.spool, SENT_FILE, error);
	return code ? code : lode_push_known_load(&pushing->refused, pushing->sender.spool, REFUSED_FILE, error);
}

static void tell_sums(const struct pushing *pushing)
{
	const struct lode_push_sender *sender = &pushing->sender;

	if (pushing->call->quiet)
		return;
	dprintf(pushing->call->out.fd, "%llu sent, %llu refused, %llu sent before",
		(unsigned long long)sender->sent, (unsigned long long)sender->refused,
		(unsigned long long)pushing->skipped);
	if (pushing->refused_before)
		dprintf(pushing->call->out.fd, ", %llu refused before (--again sends %s)",
			(unsigned long long)pushing->refused_before, pushing->refused_before == 1 ? "it" : "them");
	if (pushing->settings->symbols || pushing->symbols.programs)
		dprintf(pushing->call->out.fd, "; symbols of %llu of %llu programs sent",
			(unsigned long long)pushing->symbols.sent, (unsigned long long)pushing->symbols.programs);
	dprintf(pushing->call->out.fd, "\n");
}

static int push_all_symbols(struct pushing *pushing, struct lode_error *error)
{
	const struct lode_call *call = pushing->call;
	int code = 0;

	for (size_t i = 0; !code && i + 1 < call->operand_count && !lode_signals_stop(); i++)
		code = push_symbols(pushing, call->operands[i], error);
	if (!code && pushing->symbols.refused)
		code = lode_fail(error, LODE_BAD_INPUT, "%s", pushing->symbols.refusal.text);
	return code;
}

/* Of one file or stream others are not to suffer, so the status of the call has to wait for its end. */
static int sum_up_refusals(const struct pushing *pushing, struct lode_error *error)
{
	unsigned long long others = pushing->sender.refused - 1;

	if (!pushing->sender.refused || pushing->settings->follow || lode_signals_stop())
		return 0;
	if (!others)
		return lode_fail(error, LODE_BAD_INPUT, "%s", pushing->refusal.text);
	return lode_fail(error, LODE_BAD_INPUT, "%.700s; and %llu other%s", pushing->refusal.text, others,
			 lode_plural(others));
}

static int push_all(struct pushing *pushing, struct lode_error *error)
{
	struct lode_call *call = pushing->call;
	size_t last = call->operand_count - 1;
	int code = prepare(pushing, call->operands[last], error);

	for (size_t i = 0; !code && i < last && !pushing->settings->follow && !lode_signals_stop(); i++)
		code = push_operand(pushing, call->operands[i], error);
	if (!code && !lode_signals_stop()) /* what is left of calls before, or comes yet */
		code = lode_push_send(&pushing->sender, error);
	/* Streams first: they are gone when a machine is. */
	if (!code && !pushing->settings->follow)
		code = push_all_symbols(pushing, error);
	return code ? code : sum_up_refusals(pushing, error);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct pushing pushing = { .call = call, .settings = settings };
	int code;

	pushing.sender = (struct lode_push_sender){ .follows = settings->follow,
						    .patience = settings->patience ? settings->patience
								: settings->follow ? 0
										   : DEFAULT_PATIENCE,
						    .stops = asked_to_stop,
						    .tell = tell,
						    .context = &pushing };
	lode_signals_hold();
	code = push_all(&pushing, error);
	if (code != LODE_USAGE)
		tell_sums(&pushing);
	lode_push_known_release(&pushing.sent);
	lode_push_known_release(&pushing.refused);
	lode_free(pushing.entry);
	lode_push_symbols_release(&pushing.symbols);
	lode_text_list_release(&pushing.pending);
	lode_push_client_free(pushing.sender.client);
	lode_push_spool_close(pushing.sender.spool);
	return code;
}

#else

static int run(struct lode_call *call, struct lode_error *error)
{
	(void)call;
	return lode_fail(error, LODE_SYSTEM,
			 "this lode was built without 'push', since libcurl was missing; send files with curl");
}

#endif

const struct lode_command lode_command_push = {
	.name = "push",
	.summary = "send streams and symbols to a collector",
	.usage = "[OPTIONS] [CORPUS|FILE...] URL",
	.about = "Sends the streams of a corpus, stream files and files that 'lode import' reads to a collector "
		 "('lode serve --collect'), and waits until it has them. What cannot be sent now stays in a spool "
		 "on "
		 "disk, and is sent by the next call with the same URL: http://HOST:PORT, https://HOST or "
		 "unix:PATH. Of a program or a library its symbols are sent, if the collector lacks them.",
	.examples = "  lode push corpus http://127.0.0.1:7070 --token-file token\n"
		    "  lode push profile.pb.gz https://collector.example.org\n"
		    "  lode push --symbols corpus build/server https://collector.example.org\n"
		    "  lode push unix:lode.socket        # what is left in the spool\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "URL",
	.run = run,
};
