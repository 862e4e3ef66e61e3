/* What lode serve answers when there is no result: see server_answers.h. */
#include "result/server_answers.h"

#include "result/field_rows.h"
#include "store/corpus_symbols.h"

static const char *state_choice(unsigned number)
{
	return number ? NULL : "running";
}

#define TABLE_OF struct lode_progress_answer
static const struct lode_field progress_rows[] = {
	FIELD_TEXT(state, "It runs.", FIELD_CHOICE(state_choice)),
	FIELD_TEXT(phase, "What it does; empty: it starts."),
	FIELD_U64(done, "How far it is."),
	FIELD_U64(total, "How far it goes; 0: not known."),
};
const struct lode_fields lode_progress_answer_fields = FIELD_TABLE("ProgressAnswer", progress_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_error_answer
static const struct lode_field error_rows[] = {
	FIELD_WRITTEN_TEXT(error, "A sentence: what is wrong and what to do."),
};
const struct lode_fields lode_error_answer_fields = FIELD_TABLE("ErrorAnswer", error_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_upload_answer_stream
static const struct lode_field upload_stream_rows[] = {
	FIELD_TEXT(id, "The id of the stream."),
	FIELD_BOOL_AS("new", is_new, "Whether it was added; false: the corpus had it already."),
};
static const struct lode_fields upload_stream_fields = FIELD_TABLE("UploadedStream", upload_stream_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_upload_answer
static const struct lode_field upload_rows[] = {
	FIELD_OBJECTS(streams, upload_stream_fields,
		      "The streams that were found in the upload, all of them durable."),
};
const struct lode_fields lode_upload_answer_fields = FIELD_TABLE("UploadAnswer", upload_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_symbols_answer_program
static const struct lode_field program_rows[] = {
	FIELD_TEXT(build_id, "The build-id of a program or a library, hexadecimal."),
	FIELD_TEXT(kept, "Which of its symbols the corpus has: none, those that it exports, or all.",
		   FIELD_CHOICE(lode_kept_symbols_name)),
};
static const struct lode_fields program_fields = FIELD_TABLE("KeptSymbols", program_rows);
#undef TABLE_OF

#define TABLE_OF struct lode_symbols_answer
static const struct lode_field symbols_rows[] = {
	FIELD_OBJECTS(symbols, program_fields, "What was asked about, in that order; or what was uploaded."),
};
const struct lode_fields lode_symbols_answer_fields = FIELD_TABLE("SymbolsAnswer", symbols_rows);
#undef TABLE_OF

static int write_sentence(const struct lode_written *self, struct lode_json *json)
{
	lode_json_text_n(json, self->from, self->count);
	return 0;
}

struct lode_error_answer lode_error_answer(const char *sentence, size_t length)
{
	return (struct lode_error_answer){ { .write = write_sentence, .from = sentence, .count = length } };
}
