/* What is answered about symbols: see symbol_answers.h. */
#include "serve/symbol_answers.h"

#include "base/memory.h"
#include "result/server_answers.h"
#include "store/corpus_symbols.h"

#include <string.h>

/* Takes the list apart, in place. Returns how many were found. */
static size_t describe(const char *corpus, char *build_ids, struct lode_symbols_answer_program *programs)
{
	size_t count = 0;
	char *rest = NULL;

	for (char *id = strtok_r(build_ids, ",", &rest); id; id = strtok_r(NULL, ",", &rest))
		programs[count++] = (struct lode_symbols_answer_program){
			.build_id = id,
			.kept = lode_kept_symbols_name(lode_corpus_symbols(corpus, id))
		};
	return count;
}

enum MHD_Result lode_answer_symbols(const struct lode_exchange *exchange, unsigned status, const char *corpus,
				    const char *build_ids)
{
	char *copy = lode_strdup(build_ids ? build_ids : "");
	struct lode_symbols_answer_program *programs =
		lode_calloc(copy ? strlen(copy) / 2 + 1 : 1, sizeof(*programs));
	struct lode_symbols_answer answer = { .symbols = { .from = programs } };
	struct lode_buffer text = { 0 };

	if (copy && programs) {
		answer.symbols.count = describe(corpus, copy, programs);
		lode_fields_line(&lode_symbols_answer_fields, &answer, &text);
	} else {
		text.failed = 1;
	}
	lode_free(programs);
	lode_free(copy);
	return lode_answer(exchange, status, "application/json", &text);
}
