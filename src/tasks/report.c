/*
 * lode report: all views of a corpus in one page.
 */
#include "base/starts_with.h"
#include "tasks/memory_limit.h"
#include "tasks/output_ending.h"
#include "tasks/report_blocks.h"
#include "tasks/result_output.h"
#include "page/page.h"

#include <string.h>

#define FIELD(field) offsetof(struct lode_report_settings, field)

static const struct lode_option options[] = {
	LODE_AREA_OPTIONS(FIELD(area)),
	LODE_NUMBER("streams", 0, FIELD(streams), "N", "include the timelines of this many streams (default: 20)",
		    1, 100000),
	LODE_TEXT("title", 0, FIELD(title), "TEXT", "the page's title (default: the name of CORPUS)"),
	LODE_TEXT("block", 0, FIELD(block), "NAME",
		  "write only this part of the data, for programs: profile, stream/ID"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "the page to write (default: report.html)"),
	LODE_NO_MORE_OPTIONS,
};

/* ---- the whole ---- */

static int write_page(struct lode_report_making *making)
{
	const char *output = making->settings->output;
	int code;

	if (!making->settings->block) {
		lode_page_end(&making->page);
		output = output ? output : "report.html";
	}
	lode_work_pause(making->work);
	code = lode_results_write(making->call, output, &making->page, making->error);
	/* The user did not name the file, so say where it is. */
	if (!code && output && !making->settings->output && !making->call->quiet)
		lode_call_say(making->call, LODE_PLAIN, "wrote %s; open it in a browser", output);
	if (!code && making->left_out)
		lode_notes_add(&making->work->notes, making->left_out,
			       "streams without a timeline in the page ('--streams N' includes more)", NULL);
	if (!code && making->too_large)
		lode_notes_add(&making->work->notes, making->too_large,
			       "streams with too many events for the page ('lode serve' shows their timelines)",
			       NULL);
	return code;
}

static int make_block(struct lode_report_making *making, struct lode_source *source,
		      const struct lode_corpus_list *list)
{
	const char *name = making->settings->block;

	if (!strcmp(name, "profile"))
		return lode_report_profile(making, source);
	if (lode_starts_with(name, "stream/"))
		return lode_report_streams(making, source, list, name + 7);
	return lode_fail(making->error, LODE_USAGE, "%s: not a part of the data; name profile or stream/ID", name);
}

static int make_all(struct lode_report_making *making, struct lode_source *source,
		    const struct lode_corpus_list *list)
{
	int code;

	lode_page_begin(&making->page, making->settings->title ? making->settings->title : making->path);
	code = lode_report_info(making, source, list);
	if (!code)
		code = lode_report_mine(making, list);
	if (!code)
		code = lode_report_profile(making, source);
	if (!code)
		code = lode_report_views(making, source, list);
	if (!code)
		code = lode_report_streams(making, source, list, NULL);
	return code ? code : lode_report_stacks(making, source);
}

/* What each part leaves out by itself; but facts about all streams, and timelines, are of those that are left. */
static int leave_out_unreadable(struct lode_report_making *making, struct lode_corpus_list *list)
{
	const struct lode_area_settings *area = &making->settings->area;
	struct lode_unread_streams unread = { 0 };
	int code = area->strict ? 0 : lode_unread_streams_take(&unread, list, (unsigned)area->jobs, making->error);

	if (!code && unread.count && !list->count)
		code = lode_unread_streams_fail(&unread, making->error);
	if (!code)
		lode_unread_streams_note(&unread, &making->work->notes);
	lode_unread_streams_release(&unread);
	return code;
}

static int make(struct lode_report_making *making, struct lode_source *source)
{
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(source->corpus, &list, making->error);

	if (!code && !making->settings->block)
		code = leave_out_unreadable(making, &list);
	if (!code)
		code = making->settings->block ? make_block(making, source, &list)
					       : make_all(making, source, &list);
	if (!code)
		code = write_page(making);
	lode_corpus_list_release(&list);
	return code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct lode_work work;
	struct lode_report_making making = {
		.call = call,
		.settings = call->settings,
		.path = call->operands[0],
		.work = &work,
		.error = error,
	};
	struct lode_source source;
	int code = making.settings->block ? 0 : lode_page_is_there(error);

	if (!code)
		code = lode_memory_limit_begin("report", making.settings->area.memory, error);
	if (code)
		return code;
	lode_work_begin(&work, call, 1);
	code = lode_source_open(&source, call->operands, call->operand_count, &making.settings->area, call->host,
				error);
	if (!code)
		making.path = source.path;
	if (!code)
		code = make(&making, &source);
	lode_memory_limit_end(making.settings->area.memory, &work.notes);
	code = lode_work_end(&work, code);
	lode_page_stacks_release(&making.stacks);
	lode_buffer_release(&making.page);
	lode_source_close(&source);
	return code;
}

const struct lode_command lode_command_report = {
	.name = "report",
	.summary = "write all views of a corpus into one page",
	.usage = "[OPTIONS] CORPUS... [-o FILE]",
	.about = "Writes an HTML page that opens in any browser, without a network: what is in CORPUS, the "
		 "clusters of costly call-stack patterns, flame graphs of running and waiting, the longest "
		 "symptoms, latencies of functions, coverage by signatures, and the timelines of its slowest "
		 "streams with their critical paths.",
	.examples = "  lode report corpus -o report.html\n"
		    "  lode report corpus --symptom 'wait > 200ms in app!lock' --streams 5\n",
	.options = options,
	.settings_size = sizeof(struct lode_report_settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.ending = lode_ending_of_page,
	.run = run,
};
