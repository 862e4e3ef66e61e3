/*
 * lode export: from a corpus to the formats of other tools. The formats live in
 * src/export/; here is which one is meant, and where it goes.
 */
#include "tasks/area_options.h"
#include "tasks/output_ending.h"
#include "tasks/source.h"
#include "tasks/long_task.h"
#include "export/export.h"

#include <string.h>

struct settings {
	const char *output;
	const char *format;
	struct lode_option_list streams;
	struct lode_option_list where;
	const char *kind;
	int per_event;
};

static const char *format_choice(size_t i)
{
	return lode_exporters[i] ? lode_exporters[i]->name : NULL;
}

static const char *format_meaning(size_t i)
{
	return lode_exporters[i]->description;
}

static const char *kind_choice(size_t i)
{
	return i < LODE_EVENT_TYPES ? lode_event_type_name((enum lode_event_type)i) : NULL;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_CHOICE_LISTED("format", 'f', FIELD(format), "NAME",
			   "the format (default: from the extension of FILE, or events)", format_choice,
			   format_meaning),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output"),
	LODE_STREAM_OPTION(FIELD(streams)),
	LODE_LIST("where", 0, FIELD(where), "KEY=VALUE",
		  "only streams with this attribute, host or name; VALUE may contain * and ?"),
	LODE_PREFIXED_LIST("process", 0, FIELD(where), "NAME",
			   "only threads of processes with this name or PID; NAME may contain * and ?", "process="),
	LODE_PREFIXED_LIST("thread", 0, FIELD(where), "NAME",
			   "only threads with this name or TID; NAME may contain * and ?", "thread="),
	LODE_CHOICE("kind", 'k', FIELD(kind), "KIND", "only events of this kind", kind_choice),
	LODE_FLAG("per-event", 0, FIELD(per_event), "folded: a line for each event, not for each distinct stack"),
	LODE_NO_MORE_OPTIONS,
};

/* The format that the name of the output asks for; of several that fit, the longest ending. */
static const struct lode_exporter *guess_format(const char *output)
{
	const struct lode_exporter *best = NULL;

	for (size_t i = 0; output && lode_exporters[i]; i++)
		if (lode_ends_in(output, lode_exporters[i]->extension) &&
		    (!best || strlen(lode_exporters[i]->extension) > strlen(best->extension)))
			best = lode_exporters[i];
	return best;
}

static const struct lode_exporter *choose_format(const struct settings *settings, struct lode_error *error)
{
	const struct lode_exporter *exporter = settings->format ? NULL : guess_format(settings->output);

	return exporter ? exporter : lode_exporter_find(settings->format ? settings->format : "events", error);
}

static int check(const struct lode_call *call, const struct lode_exporter *exporter, struct lode_error *error)
{
	const struct settings *settings = call->settings;

	if (exporter->binary && call->out.look.is_terminal && (!settings->output || !strcmp(settings->output, "-")))
		return lode_fail(error, LODE_USAGE,
				 "export: %s is binary and not for a terminal; name a file with '-o FILE%s'. "
				 "See 'lode help export'.",
				 exporter->name, exporter->extension);
	if (settings->per_event && strcmp(exporter->name, "folded"))
		return lode_fail(error, LODE_USAGE,
				 "export: '--per-event' belongs to '--format folded', not to %s. "
				 "See 'lode help export'.",
				 exporter->name);
	return 0;
}

/* Writes while it reads, unless the host takes results as a whole. */
static int write_streams(const struct lode_call *call, struct lode_corpus *corpus,
			 const struct lode_exporter *exporter, const struct lode_export_options *how,
			 struct lode_error *error)
{
	const struct settings *settings = call->settings;
	int collects = !settings->output && call->host->collects;
	struct lode_output output;
	int code = 0;

	if (collects)
		lode_output_memory(&output);
	else
		code = lode_output_open(&output, settings->output, error);
	if (code < 0)
		return code;
	code = lode_export_corpus(corpus, exporter, how, &output, error);
	if (!code && !collects)
		return lode_output_finish(&output, error);
	if (!code)
		code = lode_call_show(call, &output.buffer, error);
	lode_output_abandon(&output);
	return code;
}

static int write_corpus(const struct lode_call *call, const struct lode_exporter *exporter,
			const struct lode_export_options *how, struct lode_error *error)
{
	struct lode_source source;
	int code = lode_source_operands(&source, call, NULL, error);

	if (!code) {
		lode_source_note(&source, how->notes);
		code = write_streams(call, source.corpus, exporter, how, error);
	}
	lode_source_close(&source);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	const struct lode_exporter *exporter = choose_format(settings, error);
	struct lode_work work;
	struct lode_export_options how = {
		.kinds = settings->kind ? 1u << lode_option_choice(settings->kind, kind_choice) : 0,
		.per_event = settings->per_event,
		.streams = settings->streams.items,
		.where = settings->where.items,
		.notes = &work.notes,
	};
	int code = exporter ? check(call, exporter, error) : LODE_USAGE;

	if (code < 0)
		return code;
	lode_work_begin(&work, call, settings->output != NULL); /* a half-written file goes away again */
	how.progress = work.progress;
	return lode_work_end(&work, write_corpus(call, exporter, &how, error));
}

static const char *ending(const void *settings, size_t i)
{
	(void)settings;
	return lode_exporters[i] ? lode_exporters[i]->extension : NULL;
}

const struct lode_command lode_command_export = {
	.name = "export",
	.summary = "write a corpus in the format of another tool",
	.usage = "[OPTIONS] CORPUS...",
	.about = "Writes the streams of CORPUS to standard output, or to a file. 'events' is complete: importing "
		 "it gives the same corpus again. The other formats are for the tools of that name.",
	.examples = "  lode export corpus > corpus.jsonl\n"
		    "  lode export corpus --format folded --kind wait\n"
		    "  lode export corpus --where version=4.2 --thread ui -o slow.perfetto-trace\n"
		    "  lode export corpus --stream laptop-17 -o laptop.speedscope.json\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.ending = ending,
	.run = run,
};
