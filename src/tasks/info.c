/*
 * lode info: what is in a corpus or in a stream file.
 */
#include "tasks/analysis.h"
#include "tasks/source.h"
#include "tasks/streams.h"
#include "text/info_text.h"
#include "trace/corpus_names.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Slices of the time lines in JSON, and threads that have one: the busiest. */
#define JSON_SLICES  60
#define JSON_THREADS 20

struct settings {
	struct lode_option_list streams;
	int all;
	int ascii;
	int pictures;
	int brief;
	struct lode_result_settings result;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_STREAM_OPTION(FIELD(streams)),
	LODE_FLAG("all", 'a', FIELD(all), "show all streams, threads and modules, not only the first"),
	LODE_FLAG("pictures", 'p', FIELD(pictures), "draw time lines also where there is no terminal"),
	LODE_FLAG("ascii", 0, FIELD(ascii), "draw with ASCII characters only"),
	LODE_FLAG("brief", 0, FIELD(brief), "with --json: leave out what takes reading of events and stacks"),
	LODE_FLAG("json", 0, FIELD(result.json), "write all of it as JSON"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE", "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- which streams ---- */

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

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	struct lode_info *info = result;
	size_t *busiest = lode_info_busiest(info);
	size_t pictured = info->for_page ? 0 : info->thread_count < JSON_THREADS ? info->thread_count : JSON_THREADS;
	int code = busiest ? 0 : lode_fail_memory(error);

	if (!code && !info->is_brief)
		code = lode_info_picture(info, info->stream_count, busiest, pictured, JSON_SLICES,
					 analysis->work.progress, error);
	if (!code)
		lode_info_json(info, analysis->title, &output->buffer);
	lode_free(busiest);
	return code;
}

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	struct lode_info *info = result;

	info->for_page = 1;
	return write_json(analysis, result, output, error);
}

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_info *info = result;
	struct lode_info_style style = {
		.look = &analysis->look,
		.all = settings->all,
		.ascii = settings->ascii || !analysis->look.utf8,
		.pictures = settings->pictures || analysis->look.is_terminal,
	};
	size_t *busiest = lode_info_busiest(info);
	int code = busiest ? 0 : lode_fail_memory(error);

	if (!code && style.pictures)
		code = lode_info_picture(info, lode_info_shown(&style, info->stream_count, LODE_INFO_STREAMS),
					 busiest, lode_info_shown(&style, info->thread_count, LODE_INFO_TOP),
					 lode_info_slices(&analysis->look), analysis->work.progress, error);
	if (!code)
		lode_info_text(info, analysis->title, busiest, &style, &output->buffer);
	lode_free(busiest);
	return code;
}

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_page },
	{ .name = NULL },
};

/* `streams` becomes the info's own. */
static int show(struct lode_analysis *analysis, struct lode_info_stream *streams, size_t count, int is_corpus,
		struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_progress *progress = analysis->work.progress;
	struct lode_info info;
	int code = settings->brief ? lode_info_glance(&info, streams, count, progress, error)
				   : lode_info_collect(&info, streams, count, progress, error);

	info.is_corpus = is_corpus;
	if (!code)
		code = lode_analysis_write(analysis, &info, error);
	lode_info_release(&info);
	return code;
}

static int show_corpus(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_corpus_list list = { 0 };
	struct lode_info_stream *streams;
	struct lode_source source;
	size_t count;
	int code = lode_source_operands(&source, analysis->call, NULL, error);

	if (!code) {
		analysis->title = source.path;
		lode_source_note(&source, &analysis->work.notes);
		code = lode_source_streams(&source, &settings->streams, &list, error);
	}
	if (!code)
		code = choose_streams(settings, &list, &streams, &count, error);
	if (!code)
		code = show(analysis, streams, count, 1, error);
	lode_corpus_list_release(&list);
	lode_source_close(&source);
	return code;
}

/* A stream file by itself: its name serves as id. */
static int show_file(struct lode_analysis *analysis, const struct stat *status, struct lode_error *error)
{
	const char *path = analysis->call->operands[0];
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
	code = show(analysis, stream, 1, 0, error);
	lode_free(id);
	return code;
}

static int refuse_brief(struct lode_error *error)
{
	return lode_fail(error, LODE_USAGE,
			 "info: '--brief' needs '--json' and a corpus, whose catalogue it asks. See 'lode help info'.");
}

static int look_at_corpora(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;

	return settings->brief && !settings->result.json ? refuse_brief(error) : show_corpus(analysis, error);
}

static int look(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const char *path = analysis->call->operands[0];
	struct stat status;

	if (analysis->call->operand_count > 1 || lode_corpus_name_is_list(path))
		return look_at_corpora(analysis, error);
	if (stat(path, &status) < 0)
		return lode_fail(error, errno == ENOENT || errno == ENOTDIR ? LODE_BAD_INPUT : LODE_SYSTEM,
				 "%s: cannot be read: %s; name a corpus or a .lode file", path, strerror(errno));
	if (!S_ISDIR(status.st_mode) && settings->streams.count)
		return lode_fail(error, LODE_USAGE,
				 "info: '--stream' chooses from a corpus, and %s is one stream file. "
				 "See 'lode help info'.",
				 path);
	if (settings->brief && !S_ISDIR(status.st_mode))
		return refuse_brief(error);
	return S_ISDIR(status.st_mode) ? look_at_corpora(analysis, error) : show_file(analysis, &status, error);
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.forms = forms,
	.make = look,
};

const struct lode_command lode_command_info = {
	.name = "info",
	.summary = "show what is in a corpus or in a stream file",
	.usage = "[OPTIONS] CORPUS...|FILE.lode",
	.about = "Shows streams, hosts and attributes, events and their cost, threads, stacks, modules and\n"
		 "symptoms; on a terminal also small pictures of when streams and threads ran and waited.",
	.examples = "  lode info corpus\n"
		    "  lode info --all --stream laptop-17 corpus\n"
		    "  lode info --json corpus | jq '.cost_ns.wait'\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.analysis = &analysis,
	.run = lode_analysis_run,
};
