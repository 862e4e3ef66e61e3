/* What lode serve answers when there is no result: see server_answers.h. */
#include "result/server_answers.h"

#include "result/field_rows.h"

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

static int write_sentence(const struct lode_written *self, struct lode_json *json)
{
	lode_json_text_n(json, self->from, self->count);
	return 0;
}

struct lode_error_answer lode_error_answer(const char *sentence, size_t length)
{
	return (struct lode_error_answer){ { .write = write_sentence, .from = sentence, .count = length } };
}
