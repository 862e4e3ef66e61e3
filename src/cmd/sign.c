/*
 * lode sign: names what lode mine found, and tracks its state. The signatures
 * themselves are the library's (mine/signatures.h).
 */
#include "cmd/commands.h"
#include "mine/pattern_id.h"
#include "mine/signatures.h"

#include <string.h>

struct settings {
	const char *name;
	const char *from;
	const char *patterns;
	const char *bug;
	const char *state;
	const char *kind;
	const char *note;
	int add;
	int remove;
};

static const char *state_choice(size_t i)
{
	return i < LODE_SIGNATURE_STATES ? lode_signature_state_name((enum lode_signature_state)i) : NULL;
}

LODE_CHOICES(kind_choice, "run", "wait", "any")

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_TEXT("name", 'n', FIELD(name), "NAME", "the signature's name"),
	LODE_TEXT("from", 'f', FIELD(from), "ID", "make it from this cluster or pattern of the last 'lode mine'"),
	LODE_TEXT("patterns", 0, FIELD(patterns), "FILE",
		  "make it from the patterns in FILE; with --from, from the one with this ID"),
	LODE_TEXT("bug", 'b', FIELD(bug), "URL", "where the bug is discussed; 'none' removes it"),
	LODE_CHOICE("state", 's', FIELD(state), "STATE", "set its state (new ones are open)", state_choice),
	LODE_CHOICE("kind", 'k', FIELD(kind), "KIND", "events it matches (default: those it was mined from)",
		    kind_choice),
	LODE_TEXT("note", 0, FIELD(note), "TEXT", "add a note with today's date; 'none' removes all notes"),
	/* -a is --all wherever it is documented. */
	{ LODE_ROW("add", 0, LODE_OPTION_FLAG, FIELD(add), NULL, "add the patterns to an existing signature"),
	  .old_letter = 'a' },
	LODE_FLAG("remove", 0, FIELD(remove), "remove the signature"),
	LODE_NO_MORE_OPTIONS,
};

static int has_patterns(const struct settings *settings)
{
	return settings->from || settings->patterns;
}

/* Whether it says something of a signature apart from its patterns. */
static int changes_words(const struct settings *settings)
{
	return settings->bug || settings->state || settings->kind || settings->note;
}

/* 'none' removes what there is. */
static const char *or_none(const char *text)
{
	return text && !strcmp(text, "none") ? "" : text;
}

static int check(const struct settings *settings, struct lode_error *error)
{
	if (!settings->name || !*settings->name)
		return lode_fail(error, LODE_USAGE,
				 "sign: no signature named; use '--name NAME'. "
				 "See 'lode help sign'.");
	if (settings->remove && (has_patterns(settings) || changes_words(settings)))
		return lode_fail(error, LODE_USAGE,
				 "sign: '--remove' removes the signature and can be combined only with '--name'. "
				 "See 'lode help sign'.");
	if (settings->add && !has_patterns(settings))
		return lode_fail(error, LODE_USAGE,
				 "sign: '--add' needs patterns, with '--from ID' or '--patterns FILE'. "
				 "See 'lode help sign'.");
	if (!settings->remove && !has_patterns(settings) && !changes_words(settings))
		return lode_fail(error, LODE_USAGE,
				 "sign: nothing to do for '%s'; create it with '--from ID', or change it with "
				 "'--state', '--bug', '--kind' or '--note'. See 'lode help sign'.",
				 settings->name);
	return 0;
}

/* The patterns requested, and the kind of events they were mined from where that is known. */
static int collect_patterns(const struct settings *settings, const char *corpus, struct lode_pattern_file *file,
			    struct lode_frames *frames, struct lode_patterns *patterns, const char **kind,
			    struct lode_error *error)
{
	struct lode_pattern_choice choice = { 0 };
	int code = settings->patterns ? lode_pattern_file_read(file, settings->patterns, frames, error)
				      : lode_mined_file_read(file, corpus, frames, error);

	if (!code && settings->from)
		code = lode_pattern_choose(file, frames, settings->patterns ? settings->patterns : corpus,
					   settings->from, &choice, error);
	else if (!code && !file->patterns.count)
		code = lode_fail(error, LODE_BAD_INPUT, "%s: holds no patterns; see lode-patterns(5)",
				 settings->patterns);
	else if (!code)
		choice = (struct lode_pattern_choice){ .group = file->groups, .count = file->patterns.count };
	if (code)
		return code;
	if (settings->from || file->count == 1)
		*kind = choice.group->kind;
	for (size_t i = choice.first; i < choice.first + choice.count; i++)
		if (lode_patterns_add(patterns, lode_pattern_frames(&file->patterns, i),
				      file->patterns.items[i].length, 0) < 0)
			return lode_fail_memory(error);
	return 0;
}

static void print_change(const struct lode_call *call, const struct lode_signature_change *change)
{
	size_t count = change->patterns->count;
	const char *plural = count == 1 ? "" : "s";

	if (call->quiet)
		return;
	if (change->verb == LODE_SIGNATURE_REMOVE)
		lode_say(&call->err, LODE_PLAIN, "signature \"%s\" removed", change->name);
	else if (change->verb == LODE_SIGNATURE_MAKE)
		lode_say(&call->err, LODE_GREEN, "signature \"%s\" made from %zu pattern%s", change->name, count,
			 plural);
	else if (count)
		lode_say(&call->err, LODE_GREEN, "%zu pattern%s added to signature \"%s\"", count, plural,
			 change->name);
	else
		lode_say(&call->err, LODE_GREEN, "signature \"%s\" changed", change->name);
}

static enum lode_signature_verb verb_of(const struct settings *settings)
{
	if (settings->remove)
		return LODE_SIGNATURE_REMOVE;
	return has_patterns(settings) && !settings->add ? LODE_SIGNATURE_MAKE : LODE_SIGNATURE_CHANGE;
}

static int sign(const struct lode_call *call, struct lode_corpus *corpus, struct lode_frames *frames,
		struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_pattern_file file = { 0 };
	struct lode_patterns patterns = { 0 };
	struct lode_signature_change change = {
		.verb = verb_of(settings),
		.name = settings->name,
		.bug = or_none(settings->bug),
		.state = settings->state,
		.note = or_none(settings->note),
		.patterns = &patterns,
		.frames = frames,
	};
	const char *mined_kind = NULL;
	int code = 0;

	if (has_patterns(settings))
		code = collect_patterns(settings, call->operands[0], &file, frames, &patterns, &mined_kind, error);
	/* Patterns that are added do not change what it matches otherwise. */
	change.kind = settings->kind ? settings->kind : settings->add ? NULL : mined_kind;
	if (!code)
		code = lode_signatures_change(corpus, &change, error);
	if (!code)
		print_change(call, &change);
	lode_patterns_release(&patterns);
	lode_pattern_file_release(&file);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct lode_frames frames = { 0 };
	struct lode_corpus *corpus = NULL;
	int code = check(call->settings, error);

	if (!code)
		code = lode_corpus_open(&corpus, call->operands[0], LODE_CORPUS_WRITE, error);
	if (!code && lode_frames_init(&frames) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = sign(call, corpus, &frames, error);
	lode_frames_release(&frames);
	lode_corpus_close(corpus);
	return code;
}

const struct lode_command lode_command_sign = {
	.name = "sign",
	.summary = "name a pattern or a cluster, and track its bug",
	.usage = "CORPUS --name NAME [OPTIONS]",
	.about = "Makes a signature from what 'lode mine' found, with a name, a bug link and a state, or changes "
		 "one. Signatures are in CORPUS/signatures.txt, which you can also edit and put under version "
		 "control.",
	.examples = "  lode sign corpus --from 3f2a --name 'short names' --bug https://bugs.example/1\n"
		    "  lode sign corpus --name 'short names in hash' --state fixed\n"
		    "  lode sign corpus --name antivirus --patterns known.txt --state ignored\n"
		    "  lode sign corpus --name 'short names in hash' --remove\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
