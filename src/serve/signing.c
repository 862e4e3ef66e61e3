/* Signatures from the page: see signing.h. The change itself is that of `lode sign`, under the catalogue's write lock. */
#include "serve/signing.h"

#include "base/memory.h"
#include "mine/signatures.h"
#include "store/corpus.h"

#include <string.h>

#define MAX_BYTES     (4u << 20) /* of patterns; a cluster has some kilobytes */
#define UNPROCESSABLE 422

enum text { NAME, BUG, STATE, KIND, NOTE, TEXTS };

static const char *const keys[TEXTS] = { "name", "bug", "state", "kind", "note" };

struct lode_signing {
	char *corpus;
	char *texts[TEXTS]; /* NULL: not said */
	struct lode_buffer patterns;
	int is_too_large;
	int has_failed; /* no memory */
};

struct lode_signing *lode_signing_begin(const struct lode_exchange *exchange, const char *corpus)
{
	struct lode_signing *signing = lode_calloc(1, sizeof(*signing));

	if (!signing)
		return NULL;
	signing->corpus = lode_strdup(corpus);
	signing->has_failed = !signing->corpus;
	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = exchange->http->lookup_connection_value(exchange->connection,
									   MHD_GET_ARGUMENT_KIND, keys[i]);

		signing->texts[i] = text && *text ? lode_strdup(text) : NULL;
		signing->has_failed |= text && *text && !signing->texts[i];
	}
	return signing;
}

void lode_signing_add(struct lode_signing *signing, const void *bytes, size_t size)
{
	signing->is_too_large |= size > MAX_BYTES || signing->patterns.size > MAX_BYTES - size;
	if (!signing->is_too_large)
		lode_buffer_add(&signing->patterns, bytes, size);
}

static int is_state(const char *state)
{
	for (int i = 0; i < LODE_SIGNATURE_STATES; i++)
		if (!strcmp(state, lode_signature_state_name((enum lode_signature_state)i)))
			return 1;
	return 0;
}

static int check(const struct lode_signing *signing, struct lode_error *error)
{
	char *const *texts = signing->texts;

	if (signing->has_failed || signing->patterns.failed)
		return lode_fail_memory(error);
	if (signing->is_too_large)
		return lode_fail(error, LODE_BAD_INPUT, "the patterns have more than 4 MiB; choose fewer");
	if (!texts[NAME])
		return lode_fail(error, LODE_USAGE, "a signature needs a name");
	if (texts[STATE] && !is_state(texts[STATE]))
		return lode_fail(error, LODE_USAGE, "state=%.40s: is open, fixed or ignored", texts[STATE]);
	if (texts[KIND] && strcmp(texts[KIND], "run") != 0 && strcmp(texts[KIND], "wait") != 0 &&
	    strcmp(texts[KIND], "any") != 0)
		return lode_fail(error, LODE_USAGE, "kind=%.40s: is run, wait or any", texts[KIND]);
	if (!signing->patterns.size && !texts[BUG] && !texts[STATE] && !texts[KIND] && !texts[NOTE])
		return lode_fail(error, LODE_USAGE,
				 "there is nothing to do: neither patterns, bug, state, kind nor note");
	return 0;
}

static int change(const struct lode_signing *signing, struct lode_corpus *corpus, struct lode_frames *frames,
		  struct lode_error *error)
{
	struct lode_pattern_file file = { 0 };
	struct lode_signature_change change = {
		.verb = signing->patterns.size ? LODE_SIGNATURE_MAKE : LODE_SIGNATURE_CHANGE,
		.name = signing->texts[NAME],
		.bug = signing->texts[BUG],
		.state = signing->texts[STATE],
		.kind = signing->texts[KIND],
		.note = signing->texts[NOTE],
		.frames = frames,
	};
	int code = 0;

	if (signing->patterns.size)
		code = lode_pattern_file_parse(&file, "patterns", signing->patterns.bytes, signing->patterns.size,
					       frames, error);
	if (!code && signing->patterns.size && !file.patterns.count)
		code = lode_fail(error, LODE_BAD_INPUT, "the patterns have no frames");
	change.patterns = file.patterns.count ? &file.patterns : NULL;
	if (!code)
		code = lode_signatures_change(corpus, &change, error);
	lode_pattern_file_release(&file);
	return code;
}

static int sign(const struct lode_signing *signing, struct lode_error *error)
{
	struct lode_frames frames = { 0 };
	struct lode_corpus *corpus = NULL;
	int code = check(signing, error);

	if (!code)
		code = lode_corpus_open(&corpus, signing->corpus, LODE_CORPUS_WRITE, error);
	if (!code && lode_frames_init(&frames) < 0)
		code = lode_fail_memory(error);
	if (!code)
		code = change(signing, corpus, &frames, error);
	lode_frames_release(&frames);
	lode_corpus_close(corpus);
	return code;
}

enum MHD_Result lode_signing_answer(struct lode_signing *signing, const struct lode_exchange *exchange)
{
	struct lode_error error = { "" };

	if (sign(signing, &error))
		return lode_answer_error(exchange, UNPROCESSABLE, error.text);
	return lode_answer(exchange, MHD_HTTP_NO_CONTENT, "application/json", &(struct lode_buffer){ 0 });
}

void lode_signing_end(struct lode_signing *signing)
{
	if (!signing)
		return;
	for (size_t i = 0; i < TEXTS; i++)
		lode_free(signing->texts[i]);
	lode_buffer_release(&signing->patterns);
	lode_free(signing->corpus);
	lode_free(signing);
}
