/*
 * lode symbolize: functions of a corpus's streams that are still addresses get
 * their names.
 *
 * A stream is loaded whole, named (symbols/name_frames.h) and stored again under its
 * id; the corpus shows either the old one or the new one at any moment. Of a stream
 * in which nothing would get a name only the frames are read.
 */
#include "base/units.h"
#include "cmd/commands.h"
#include "result/symbolize_report.h"
#include "tasks/show_notes.h"
#include "cmd/signals.h"
#include "tasks/streams.h"
#include "tasks/symbol_options.h"
#include "symbols/name_frames.h"
#include "store/corpus.h"
#include "store/corpus_symbols.h"

#include <string.h>

struct settings {
	struct lode_symbol_settings symbols;
	int json;
};

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_SYMBOL_OPTIONS(FIELD(symbols)),
	LODE_FLAG("json", 0, FIELD(json), "write what was done as JSON, one line per stream"),
	LODE_NO_MORE_OPTIONS,
};

struct symbolizing {
	const struct lode_call *call;
	struct lode_corpus *corpus;
	struct lode_symbolizer *symbolizer;
	char *kept; /* symbols that were sent to the corpus; NULL: none */
	struct lode_notes notes;
	struct lode_buffer output;
};

static void print_result(struct symbolizing *symbolizing, const struct lode_corpus_entry *entry,
			 const struct lode_naming *naming)
{
	const struct settings *settings = symbolizing->call->settings;
	char named[LODE_UNITS_TEXT], unnamed[LODE_UNITS_TEXT];
	struct lode_symbolize_report report = { entry->id, entry->name, naming->named, naming->unnamed,
						naming->left };

	if (!symbolizing->call->quiet)
		lode_say(&symbolizing->call->err, LODE_GREEN, "%s: %s addresses named, %s not", entry->name,
			 lode_count_text(naming->named, named),
			 lode_count_text(naming->unnamed + naming->left, unnamed));
	if (!settings->json)
		return;
	lode_fields_line(&lode_symbolize_fields, &report, &symbolizing->output);
}

static int store(struct symbolizing *symbolizing, const struct lode_corpus_entry *entry,
		 const struct lode_stream *named, struct lode_error *error)
{
	int code = lode_corpus_add(symbolizing->corpus, entry->id, entry->source, named, 1, 0, error);

	return code < 0 ? code : 0;
}

static int name_stream(struct symbolizing *symbolizing, const struct lode_corpus_entry *entry,
		       struct lode_stream *stream, struct lode_stream *named, struct lode_error *error)
{
	static const unsigned all[LODE_EVENT_TYPES] = { LODE_ALL_COLUMNS, LODE_ALL_COLUMNS, LODE_ALL_COLUMNS };
	struct lode_store *file = NULL;
	struct lode_naming naming;
	int code = lode_store_open(&file, entry->path, error);

	if (!code)
		code = lode_store_head(file, stream, error);
	if (!code && lode_naming_count(stream, symbolizing->symbolizer, &naming) < 0)
		code = lode_fail_memory(error);
	if (!code && naming.named)
		code = lode_store_load_events(file, stream, all, error);
	lode_store_close(file);
	if (!code && naming.named && lode_naming_apply(stream, symbolizing->symbolizer, named, &naming) < 0)
		code = lode_fail_memory(error);
	if (!code && naming.named)
		code = store(symbolizing, entry, named, error);
	if (!code)
		print_result(symbolizing, entry, &naming);
	return code;
}

static int symbolize_stream(struct symbolizing *symbolizing, const struct lode_corpus_entry *entry,
			    struct lode_error *error)
{
	struct lode_dictionary dictionary = { 0 }, named_dictionary = { 0 };
	struct lode_stream stream, named;
	int code;

	lode_stream_init(&stream, &dictionary);
	lode_stream_init(&named, &named_dictionary);
	if (lode_dictionary_init(&dictionary) < 0 || lode_dictionary_init(&named_dictionary) < 0)
		code = lode_fail_memory(error);
	else
		code = name_stream(symbolizing, entry, &stream, &named, error);
	lode_stream_release(&stream);
	lode_stream_release(&named);
	lode_dictionary_release(&dictionary);
	lode_dictionary_release(&named_dictionary);
	return code;
}

static int symbolize_all(struct symbolizing *symbolizing, struct lode_error *error)
{
	const struct lode_call *call = symbolizing->call;
	struct lode_option_list names = { 0 };
	struct lode_corpus_list list = { 0 };
	int code = lode_corpus_streams(symbolizing->corpus, &list, error);

	names.items = lode_calloc(call->operand_count, sizeof(*names.items));
	if (!code && !names.items)
		code = lode_fail_memory(error);
	for (size_t i = 1; !code && i < call->operand_count; i++)
		names.items[names.count++] = call->operands[i];
	if (!code)
		code = lode_streams_check(&names, &list, call->operands[0], error);
	for (size_t i = 0; !code && i < list.count && !lode_signals_stop(); i++)
		if (lode_stream_asked_for(&names, &list.items[i]))
			code = symbolize_stream(symbolizing, &list.items[i], error);
	lode_corpus_list_release(&list);
	lode_free(names.items);
	return code;
}

static int create_symbolizer(struct symbolizing *symbolizing, struct lode_error *error)
{
	const struct settings *settings = symbolizing->call->settings;
	struct lode_symbols_options symbols = lode_symbol_options(&settings->symbols, &symbolizing->notes);

	symbolizing->kept = lode_corpus_symbols_folder(symbolizing->call->operands[0]);
	symbols.kept = symbolizing->kept;
	return lode_symbolizer_create(&symbolizing->symbolizer, &symbols, error);
}

static int run(struct lode_call *call, struct lode_error *error)
{
	struct symbolizing symbolizing = { .call = call };
	int code = lode_corpus_open(&symbolizing.corpus, call->operands[0], LODE_CORPUS_WRITE, error);

	if (code < 0)
		return code;
	lode_notes_init(&symbolizing.notes);
	lode_signals_hold();
	code = create_symbolizer(&symbolizing, error);
	if (!code)
		code = symbolize_all(&symbolizing, error);
	lode_signals_release();
	if (!code && !call->quiet)
		lode_notes_say(&symbolizing.notes, call);
	if (!code)
		code = lode_show(&call->out, &symbolizing.output, error);
	lode_buffer_release(&symbolizing.output);
	lode_symbolizer_destroy(symbolizing.symbolizer);
	lode_free(symbolizing.kept);
	lode_notes_release(&symbolizing.notes);
	lode_corpus_close(symbolizing.corpus);
	return code;
}

const struct lode_command lode_command_symbolize = {
	.name = "symbolize",
	.summary = "name functions that were recorded as addresses",
	.usage = "[OPTIONS] CORPUS [STREAM...]",
	.about = "Names functions that streams contain as addresses, after 'lode record --no-symbols' or if debug "
		 "files were missing. The binaries are found by their build-ids. Without STREAM (a name or an "
		 "id), all streams of the corpus are processed.",
	.examples = "  lode record --no-symbols -o corpus -- ./app\n"
		    "  lode symbolize corpus\n"
		    "  lode symbolize --symbol-path ./debug corpus app\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = SIZE_MAX,
	.operand = "CORPUS",
	.run = run,
};
