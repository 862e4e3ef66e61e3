/*
 * lode prune: removes streams that are too old, or that must go.
 *
 * Old streams go in two steps: after --keep only the sums of their events stay (trace/stream_sums.h), after --keep-sums only
 * where signatures matched in them does. --where removes streams and what is known about them, however old they are.
 */
#include "base/units.h"
#include "cmd/commands.h"
#include "cmd/signals.h"
#include "mine/signatures.h"
#include "store/catalogue_attributes.h"
#include "trace/stream_sums.h"
#include "watch/retention.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct settings {
	const char *keep;
	const char *keep_sums;
	struct lode_option_list where;
	int dry_run;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_TEXT("keep", 0, FIELD(keep), "AGE", "keep only the sums of streams that are older: 7d, 36h"),
	LODE_TEXT("keep-sums", 0, FIELD(keep_sums), "AGE",
		  "remove streams that are older; where known bugs were seen stays known"),
	LODE_LIST("where", 0, FIELD(where), "KEY=VALUE",
		  "remove the streams with this attribute (host and name are some, too), and what is known about "
		  "them; can be repeated, all must match"),
	LODE_FLAG("dry-run", 'n', FIELD(dry_run), "change nothing, say what would be done"),
	LODE_NO_MORE_OPTIONS,
};

struct pruning {
	const struct settings *settings;
	struct lode_corpus *corpus;
	uint64_t now;
	uint64_t keep, keep_sums; /* s; 0: for ever */
	uint64_t removed, summed, bytes;
};

/* ---- options ---- */

static int read_age(const char *option, const char *text, uint64_t *seconds, struct lode_error *error)
{
	struct lode_retention limit = { 0 };

	if (!text)
		return 0;
	if (lode_retention_parse(&limit, text, NULL) < 0 || !limit.seconds)
		return lode_fail(error, LODE_USAGE, "prune: --%s %s: is not an age; write 7d or 36h", option, text);
	*seconds = limit.seconds;
	return 0;
}

static int read_settings(struct pruning *pruning, struct lode_error *error)
{
	const struct settings *settings = pruning->settings;
	int code = read_age("keep", settings->keep, &pruning->keep, error);

	if (!code)
		code = read_age("keep-sums", settings->keep_sums, &pruning->keep_sums, error);
	if (code)
		return code;
	if (!settings->where.count && !pruning->keep && !pruning->keep_sums)
		return lode_fail(
			error, LODE_USAGE,
			"prune: nothing to do; use --keep, --keep-sums or --where. See 'lode help prune'.");
	if (settings->where.count && (pruning->keep || pruning->keep_sums))
		return lode_fail(error, LODE_USAGE,
				 "prune: --where removes streams of all ages; leave out --keep and --keep-sums");
	if (pruning->keep_sums && pruning->keep_sums < pruning->keep)
		return lode_fail(error, LODE_USAGE, "prune: --keep-sums must be at least as long as --keep");
	for (size_t i = 0; i < settings->where.count; i++)
		if (!strchr(settings->where.items[i], '=') || settings->where.items[i][0] == '=')
			return lode_fail(error, LODE_USAGE, "prune: --where %s: is not KEY=VALUE",
					 settings->where.items[i]);
	return 0;
}

/* ---- old streams ---- */

static int sum_stream(struct pruning *pruning, const struct lode_corpus_entry *entry, struct lode_error *error)
{
	struct lode_dictionary dictionary;
	struct lode_stream stream, sums;
	int code;

	if (lode_dictionary_init(&dictionary) < 0)
		return lode_fail_memory(error);
	lode_stream_init(&stream, &dictionary);
	lode_stream_init(&sums, &dictionary);
	code = lode_store_load(entry->path, &stream, error);
	if (!code && lode_stream_sum(&stream, &sums) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = lode_corpus_replace(pruning->corpus, entry, &sums, error);
	lode_stream_release(&sums);
	lode_stream_release(&stream);
	lode_dictionary_release(&dictionary);
	return code;
}

static int mark_sums(void *context, const char *stream, const char *key, unsigned type, const char *value)
{
	struct lode_corpus_list *list = context;

	(void)type;
	(void)value;
	if (strcmp(key, LODE_SUMS_ATTRIBUTE) != 0)
		return 0;
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].id, stream))
			list->items[i].symptoms = UINT64_MAX; /* there is nothing to sum up */
	return 0;
}

static int prune_old(struct pruning *pruning, const struct lode_corpus_entry *entry, struct lode_error *error)
{
	uint64_t age = pruning->now > entry->added ? pruning->now - entry->added : 0;
	int is_gone = pruning->keep_sums && age > pruning->keep_sums,
	    is_summed = !is_gone && pruning->keep && age > pruning->keep && entry->symptoms != UINT64_MAX, code = 0;

	if (is_gone && !pruning->settings->dry_run)
		code = lode_corpus_retire(pruning->corpus, entry->id, error);
	else if (is_summed && !pruning->settings->dry_run)
		code = sum_stream(pruning, entry, error);
	if (code < 0)
		return code;
	pruning->removed += (uint64_t)is_gone;
	pruning->summed += (uint64_t)is_summed;
	pruning->bytes += is_gone || is_summed ? entry->file_size : 0;
	return 0;
}

/* What signatures match in a stream must be known before its events go. */
static int match_first(struct pruning *pruning, struct lode_error *error)
{
	struct lode_signatures signatures;
	int code = lode_signatures_load(pruning->corpus, &signatures, error);

	if (!code)
		code = lode_signatures_refresh(pruning->corpus, &signatures, 0, NULL, error);
	lode_signatures_release(&signatures);
	return code;
}

static int prune_all_old(struct pruning *pruning, struct lode_corpus_list *list, struct lode_error *error)
{
	int code = pruning->settings->dry_run ? 0 : match_first(pruning, error);

	if (!code)
		code = lode_catalogue_attributes(lode_corpus_catalogue(pruning->corpus), mark_sums, list, error);
	for (size_t i = 0; !code && i < list->count && !lode_signals_stop(); i++)
		code = prune_old(pruning, &list->items[i], error);
	return code;
}

/* ---- streams that must go ---- */

/* Drops the entries that do not have the attribute. */
static int keep_those_with(struct pruning *pruning, struct lode_corpus_list *list, const char *where,
			   struct lode_error *error)
{
	char *key = lode_strndup(where, strcspn(where, "="));
	const char *value = strchr(where, '=') + 1;
	struct lode_corpus_list with = { 0 };
	int is_host = key && !strcmp(key, "host"), is_name = key && !strcmp(key, "name"),
	    code = key ? 0 : lode_fail_memory(error);
	size_t kept = 0;

	if (!code && !is_host && !is_name)
		code = lode_corpus_streams_with(pruning->corpus, key, value, &with, error);
	for (size_t i = 0; !code && i < list->count; i++) {
		int fits = is_host   ? !strcmp(list->items[i].host, value)
			   : is_name ? !strcmp(list->items[i].name, value)
				     : 0;

		for (size_t k = 0; k < with.count && !fits; k++)
			fits = !strcmp(with.items[k].id, list->items[i].id);
		if (fits)
			list->items[kept++] = list->items[i];
	}
	if (!code)
		list->count = kept;
	lode_corpus_list_release(&with);
	lode_free(key);
	return code;
}

/* What is known of streams that are gone already is known by host. */
static int forget_host(struct pruning *pruning, struct lode_error *error)
{
	const struct lode_option_list *where = &pruning->settings->where;

	if (pruning->settings->dry_run || where->count != 1 || strncmp(where->items[0], "host=", 5) != 0)
		return 0;
	return lode_catalogue_signatures_forget(lode_corpus_catalogue(pruning->corpus), where->items[0] + 5, error);
}

static int remove_all(struct pruning *pruning, struct lode_corpus_list *list, struct lode_error *error)
{
	const struct lode_option_list *where = &pruning->settings->where;
	int code = 0;

	for (size_t i = 0; !code && i < where->count; i++)
		code = keep_those_with(pruning, list, where->items[i], error);
	for (size_t i = 0; !code && i < list->count && !lode_signals_stop(); i++) {
		if (!pruning->settings->dry_run &&
		    (code = lode_corpus_remove(pruning->corpus, list->items[i].id, error)) < 0)
			return code;
		code = 0;
		pruning->removed++;
		pruning->bytes += list->items[i].file_size;
	}
	return code ? code : forget_host(pruning, error);
}

/* ---- all ---- */

static void tell(const struct lode_call *call, const struct pruning *pruning)
{
	if (!call->quiet)
		dprintf(call->out.fd, "%s%llu stream%s removed, %llu summed up; they had %llu bytes\n",
			pruning->settings->dry_run ? "would be: " : "", (unsigned long long)pruning->removed,
			lode_plural(pruning->removed), (unsigned long long)pruning->summed,
			(unsigned long long)pruning->bytes);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct pruning pruning = { .settings = call->settings, .now = (uint64_t)time(NULL) };
	struct lode_corpus_list list = { 0 };
	int code = read_settings(&pruning, error);

	if (!code)
		code = lode_corpus_open(&pruning.corpus, call->operands[0], LODE_CORPUS_WRITE, error);
	if (code)
		return code;
	lode_signals_hold();
	code = lode_corpus_streams(pruning.corpus, &list, error);
	if (!code)
		code = pruning.settings->where.count ? remove_all(&pruning, &list, error)
						     : prune_all_old(&pruning, &list, error);
	tell(call, &pruning);
	lode_corpus_list_release(&list);
	lode_corpus_close(pruning.corpus);
	return code;
}

const struct lode_command lode_command_prune = {
	.name = "prune",
	.summary = "remove streams that are too old, or that must go",
	.usage = "[OPTIONS] CORPUS",
	.about =
		"With --keep, streams that are older become sums: one event for each thread and stack, which take "
		"little room and are enough for 'lode mine --scope all', coverage and signatures. With "
		"--keep-sums, "
		"older streams are removed; in which streams, versions and hosts known bugs were seen stays known "
		"for ever. With --where, streams of a host, or with some attribute, are removed with all that is "
		"known about them.",
	.examples = "  lode prune corpus --keep 7d --keep-sums 90d\n"
		    "  lode prune corpus --where host=web7\n"
		    "  lode prune corpus --where customer=acme --dry-run\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
