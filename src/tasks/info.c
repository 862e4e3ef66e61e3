/*
 * lode info: what is in a corpus or in a stream file.
 */
#include "tasks/analysis.h"
#include "tasks/source.h"
#include "text/info_text.h"
#include "scope/where.h"
#include "store/corpus_names.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
	struct lode_option_list streams;
	struct lode_area_settings area; /* of which `where` is an option */
	int all;
	int ascii;
	int pictures;
	int brief;
	struct lode_result_settings result;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_STREAM_OPTION(FIELD(streams)),
	LODE_WHERE_OPTION(FIELD(area)),
	LODE_FLAG("all", 'a', FIELD(all), "show all streams, threads and modules, not only the first"),
	LODE_FLAG("pictures", 'p', FIELD(pictures), "draw timelines even if the output is not a terminal"),
	LODE_FLAG("ascii", 0, FIELD(ascii), "draw with ASCII characters only"),
	LODE_FLAG("brief", 0, FIELD(brief),
		  "with --json: leave out everything that requires reading events and stacks"),
	LODE_FLAG("json", 0, FIELD(result.json), "write everything as JSON"),
	LODE_TEXT("output", 'o', FIELD(result.output), "FILE",
		  "write to FILE instead of standard output; a page if it ends in .html"),
	LODE_NO_MORE_OPTIONS,
};

static int write_json(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	return lode_info_json(result, analysis->title, analysis->work.progress, &output->buffer, error);
}

static int write_page(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	((struct lode_info *)result)->for_page = 1;
	return write_json(analysis, result, output, error);
}

static int write_text(struct lode_analysis *analysis, void *result, struct lode_output *output,
		      struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_info_style style = {
		.look = &analysis->look,
		.all = settings->all,
		.ascii = settings->ascii || !analysis->look.utf8,
		.pictures = settings->pictures || analysis->look.is_terminal,
	};

	return lode_info_text(result, analysis->title, &style, analysis->work.progress, &output->buffer, error);
}

static const struct lode_form forms[] = {
	{ .name = "text", .kind = LODE_FORM_TEXT, .write = write_text },
	{ .name = "json", .kind = LODE_FORM_JSON, .write = write_json },
	{ .name = "html", .extension = ".html", .kind = LODE_FORM_PAGE, .write = write_page },
	{ .name = NULL },
};

/* What the threads of the streams did, unless that is too much to read. */
static int add_activity(struct lode_analysis *analysis, struct lode_info *info,
			const struct lode_corpus_list *list, const struct lode_idle_rules *rules,
			struct lode_activity *activity, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const struct lode_activity_options how = {
		.idle = rules,
		.where = settings->area.where.items,
		.strict = 1,
		.progress = analysis->work.progress,
	};
	int code = info->is_brief ? 0 : lode_activity_collect(activity, list, &how, error);

	info->activity = info->is_brief ? NULL : activity;
	info->list = list;
	return code;
}

/* A question that has no answer is not a result. */
static int check_found(const struct lode_info *info, const char *path, struct lode_error *error)
{
	if (!info->stream_count && info->where && *info->where)
		return lode_fail(error, LODE_USAGE, "%s: no stream has '%s'; 'lode info %s' shows what there is",
				 path, info->where[0], path);
	if (!info->thread_count && lode_where_has_members(info->where))
		return lode_fail(
			error, LODE_USAGE,
			"%s: no thread is one of those that were asked for; 'lode info --all %s' lists the "
			"threads",
			path, path);
	return 0;
}

static int show_corpora(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_corpus_list list = { 0 };
	struct lode_activity activity = { 0 };
	struct lode_info info = { 0 };
	struct lode_area_settings area = settings->area;
	struct lode_source source;
	int code;

	area.no_cache = 1;
	code = lode_source_operands(&source, analysis->call, &area, error);

	if (!code) {
		analysis->title = source.path;
		lode_source_note(&source, &analysis->work.notes);
		code = lode_source_streams(&source, &settings->streams, &list, error);
	}
	if (!code)
		code = lode_info_of_streams(&info, &list, area.where.items, settings->brief,
					    analysis->work.progress, error);
	if (!code)
		code = check_found(&info, source.path, error);
	if (!code)
		code = add_activity(analysis, &info, &list, source.rules, &activity, error);
	if (!code)
		code = lode_analysis_write(analysis, &info, error);
	lode_activity_release(&activity);
	lode_info_release(&info);
	lode_corpus_list_release(&list);
	lode_source_close(&source);
	return code;
}

static int show_file(struct lode_analysis *analysis, uint64_t size, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	struct lode_info info;
	int code;

	if (settings->streams.count)
		return lode_fail(error, LODE_USAGE,
				 "info: '--stream' needs a corpus, and %s is a single stream file. "
				 "See 'lode help info'.",
				 analysis->call->operands[0]);
	code = lode_info_of_file(&info, analysis->call->operands[0], size, settings->area.where.items,
				 analysis->work.progress, error);
	if (!code)
		code = check_found(&info, analysis->call->operands[0], error);
	if (!code)
		code = lode_analysis_write(analysis, &info, error);
	lode_info_release(&info);
	return code;
}

static int show(struct lode_analysis *analysis, struct lode_error *error)
{
	const struct settings *settings = analysis->call->settings;
	const char *path = analysis->call->operands[0];
	int is_corpus = analysis->call->operand_count > 1 || lode_corpus_name_is_list(path);
	struct stat status;
	int code = lode_where_check_threads(settings->area.where.items, error);

	if (code)
		return code;
	if (!is_corpus && stat(path, &status) < 0)
		return lode_fail(error, errno == ENOENT || errno == ENOTDIR ? LODE_BAD_INPUT : LODE_SYSTEM,
				 "%s: cannot be read: %s; name a corpus or a .lode file", path, strerror(errno));
	is_corpus = is_corpus || S_ISDIR(status.st_mode);
	if (settings->brief && (!is_corpus || !settings->result.json))
		return lode_fail(error, LODE_USAGE,
				 "info: '--brief' needs '--json' and a corpus. See 'lode "
				 "help info'.");
	if (settings->brief && lode_where_has_members(settings->area.where.items))
		return lode_fail(error, LODE_USAGE,
				 "info: '--brief' reads no events, so it knows sums of whole streams only; leave "
				 "out '--process' and '--thread'. See 'lode help info'.");
	return is_corpus ? show_corpora(analysis, error) : show_file(analysis, (uint64_t)status.st_size, error);
}

static const struct lode_analysis_command analysis = {
	.result = FIELD(result),
	.forms = forms,
	.make = show,
};

const struct lode_command lode_command_info = {
	.name = "info",
	.summary = "show what is in a corpus or in a stream file",
	.usage = "[OPTIONS] CORPUS...|FILE.lode",
	.about = "Shows streams, hosts and attributes, events and their cost, threads, stacks, modules and "
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
