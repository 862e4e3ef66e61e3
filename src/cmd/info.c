/*
 * lode info: what is in a corpus or in a stream file.
 */
#include "text/info_text.h"

#include "cmd/command.h"
#include "cmd/output_ending.h"
#include "cmd/progress.h"
#include "cmd/results.h"
#include "cmd/signals.h"
#include "cmd/streams.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Slices of the time lines in JSON. */
#define JSON_SLICES 60

struct settings {
	struct lode_option_list streams;
	int json;
	int all;
	int ascii;
	int pictures;
	const char *output;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_LIST("stream", 's', FIELD(streams), "NAME",
		  "only the streams of this name or id; may be given many times"),
	LODE_FLAG("all", 'a', FIELD(all), "show all streams, threads and modules, not only the first"),
	LODE_FLAG("pictures", 'p', FIELD(pictures), "draw time lines also where there is no terminal"),
	LODE_FLAG("ascii", 0, FIELD(ascii), "draw with ASCII characters only"),
	LODE_FLAG("json", 0, FIELD(json), "write all of it as JSON"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- which streams ---- */

struct lode_info_stream lode_info_from_entry(const struct lode_corpus_entry *entry)
{
	struct lode_info_stream stream = {
		.path = entry->path,
		.id = entry->id,
		.source = entry->source,
		.file_size = entry->file_size,
	};

	memcpy(stream.events, entry->events, sizeof(stream.events));
	return stream;
}

static int choose_streams(const struct settings *settings, const struct lode_corpus_list *list,
			  struct lode_info_stream **streams, size_t *count, struct lode_error *error)
{
	*count = 0;
	*streams = lode_calloc(list->count + 1, sizeof(**streams));
	if (!*streams)
		return lode_fail_memory(error);
	for (size_t i = 0; i < list->count; i++)
		if (lode_stream_asked_for(&settings->streams, &list->items[i]))
			(*streams)[(*count)++] = lode_info_from_entry(&list->items[i]);
	return 0;
}

/* ---- showing ---- */

static int show_json(const struct lode_call *call, struct lode_info *info, int is_corpus,
		     struct lode_bar *bar, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_buffer buffer = { 0 };
	int code = lode_info_picture(info, info->stream_count, NULL, 0, JSON_SLICES, &bar->progress, error);

	lode_bar_wipe(bar);
	if (!code) {
		lode_info_json(info, call->operands[0], is_corpus, &buffer);
		code = settings->json ? lode_results_write(call, settings->output, &buffer, error)
				      : lode_results_page(call, settings->output, call->operands[0], &buffer, error);
	}
	lode_buffer_release(&buffer);
	return code;
}

static int show_text(const struct lode_call *call, struct lode_info *info, struct lode_bar *bar,
		     struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_look look = call->out.look;
	struct lode_info_style style = {
		.look = &look,
		.all = settings->all,
		.ascii = settings->ascii || !call->out.look.utf8,
		.pictures = settings->pictures || call->out.look.is_terminal,
	};
	struct lode_buffer buffer = { 0 };
	size_t *busiest = lode_info_busiest(info);
	int code = busiest ? 0 : lode_fail_memory(error);

	if (settings->output)
		look.colour = 0;
	if (!code && style.pictures)
		code = lode_info_picture(info, lode_info_shown(&style, info->stream_count, LODE_INFO_STREAMS),
					 busiest, lode_info_shown(&style, info->thread_count, LODE_INFO_TOP),
					 lode_info_slices(&look), &bar->progress, error);
	lode_bar_wipe(bar);
	if (!code) {
		lode_info_text(info, call->operands[0], busiest, &style, &buffer);
		code = lode_results_write(call, settings->output, &buffer, error);
	}
	lode_buffer_release(&buffer);
	lode_free(busiest);
	return code;
}

/* `streams` becomes the info's own. */
static int tell(const struct lode_call *call, struct lode_info_stream *streams, size_t count, int is_corpus,
		struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_info info;
	struct lode_bar bar;
	int code;

	lode_bar_init(&bar, &call->err, call->quiet);
	code = lode_info_collect(&info, streams, count, &bar.progress, error);
	if (!code)
		code = settings->json || lode_results_is_page(settings->output)
			       ? show_json(call, &info, is_corpus, &bar, error)
			       : show_text(call, &info, &bar, error);
	lode_bar_wipe(&bar);
	lode_info_release(&info);
	return code;
}

static int tell_corpus(const struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_corpus_list list = { 0 };
	struct lode_info_stream *streams;
	struct lode_corpus *corpus;
	size_t count;
	int code = lode_corpus_open(&corpus, call->operands[0], LODE_CORPUS_READ, error);

	if (code < 0)
		return code;
	code = lode_corpus_streams(corpus, &list, error);
	if (!code)
		code = lode_streams_check(&settings->streams, &list, call->operands[0], error);
	if (!code)
		code = choose_streams(call->settings, &list, &streams, &count, error);
	if (!code)
		code = tell(call, streams, count, 1, error);
	lode_corpus_list_release(&list);
	lode_corpus_close(corpus);
	return code;
}

/* A stream file by itself: its name serves as id. */
static int tell_file(const struct lode_call *call, const struct stat *status, struct lode_error *error)
{
	const char *path = call->operands[0];
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t length = strlen(base);
	struct lode_info_stream *stream = lode_calloc(1, sizeof(*stream));
	char *id =
		lode_strndup(base, length > 5 && !strcmp(base + length - 5, ".lode") ? length - 5 : length);
	int code;

	if (!stream || !id) {
		lode_free(stream);
		lode_free(id);
		return lode_fail_memory(error);
	}
	*stream = (struct lode_info_stream){
		.path = path,
		.id = id,
		.source = "",
		.file_size = (uint64_t)status->st_size,
	};
	code = tell(call, stream, 1, 0, error);
	lode_free(id);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct stat status;

	if (stat(call->operands[0], &status) < 0)
		return lode_fail(error, errno == ENOENT || errno == ENOTDIR ? LODE_BAD_INPUT : LODE_SYSTEM,
				 "%s: cannot be read: %s; name a corpus or a .lode file", call->operands[0],
				 strerror(errno));
	if (S_ISDIR(status.st_mode))
		return tell_corpus(call, error);
	if (settings->streams.count)
		return lode_fail(error, LODE_USAGE,
				 "info: '--stream' chooses from a corpus, and %s is one stream file. "
				 "See 'lode help info'.",
				 call->operands[0]);
	return tell_file(call, &status, error);
}

const struct lode_command lode_command_info = {
	.name = "info",
	.summary = "show what is in a corpus or in a stream file",
	.usage = "[OPTIONS] CORPUS|FILE.lode",
	.about = "Shows streams, hosts and attributes, events and their cost, threads, stacks, modules and\n"
		 "symptoms; on a terminal also small pictures of when streams and threads ran and waited.",
	.examples = "  lode info corpus\n"
		    "  lode info --all --stream laptop-17 corpus\n"
		    "  lode info --json corpus | jq '.cost_ns.wait'\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.ending = lode_ending_of_page,
	.run = run,
};
