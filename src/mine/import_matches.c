/* Signatures at import: see import_matches.h. */
#include "mine/import_matches.h"

#include "store/catalogue.h"

#include <string.h>

struct lode_import_match {
	char id[33];
	char *path; /* of its file */
	struct lode_signature_matches matches;
};

void lode_import_match_begin(struct lode_import_matching *matching, struct lode_corpus *corpus)
{
	struct lode_signatures *signatures = &matching->signatures;

	if (matching->begun)
		return;
	matching->begun = 1;
	if (lode_signatures_load(corpus, signatures, &matching->error) < 0)
		lode_signatures_release(signatures);
	/* The sums are from now on those of this import. */
	for (size_t i = 0; i < signatures->count; i++) {
		signatures->items[i].streams = signatures->items[i].events = 0;
		memset(signatures->items[i].cost, 0, sizeof(signatures->items[i].cost));
	}
}

static void add_sums(struct lode_signatures *signatures, const struct lode_signature_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++) {
		struct lode_signature *signature = &signatures->items[matches->items[i].number];

		signature->streams++;
		signature->events += matches->items[i].events;
		for (int kind = 0; kind < 2; kind++)
			signature->cost[kind] =
				lode_add_saturating(signature->cost[kind], matches->items[i].cost[kind]);
	}
}

void lode_import_match_stream(struct lode_import_matching *matching, struct lode_corpus *corpus, const char *id,
			      const struct lode_stream *stream)
{
	struct lode_import_match item = { .path = NULL };
	int code;

	if (!matching->signatures.count || *matching->error.text)
		return;
	memcpy(item.id, id, sizeof(item.id));
	code = lode_signatures_match(&matching->signatures, stream, &item.matches, &matching->error);
	if (!code && !(item.path = lode_corpus_stream_path(corpus, id, &matching->error)))
		code = LODE_SYSTEM;
	if (!code && LODE_GROW(matching->items, matching->capacity, matching->count + 1) < 0)
		code = lode_fail_memory(&matching->error);
	if (code) {
		lode_free(item.path);
		lode_signature_matches_release(&item.matches);
		return;
	}
	add_sums(&matching->signatures, &item.matches);
	matching->items[matching->count++] = item;
}

void lode_import_match_end(struct lode_import_matching *matching, struct lode_corpus *corpus)
{
	struct lode_catalogue *catalogue = corpus ? lode_corpus_catalogue(corpus) : NULL;
	int code;

	if (!catalogue || !matching->count || !matching->signatures.kept)
		return;
	code = lode_catalogue_begin(catalogue, &matching->error);
	for (size_t i = 0; !code && i < matching->count; i++)
		code = lode_catalogue_put_matches(catalogue, matching->items[i].id, matching->items[i].path,
						  matching->signatures.newest, matching->items[i].matches.items,
						  matching->items[i].matches.count, &matching->error);
	if (!code)
		lode_catalogue_commit(catalogue, &matching->error);
	lode_catalogue_rollback(catalogue);
}

void lode_import_match_release(struct lode_import_matching *matching)
{
	for (size_t i = 0; i < matching->count; i++) {
		lode_free(matching->items[i].path);
		lode_signature_matches_release(&matching->items[i].matches);
	}
	lode_free(matching->items);
	lode_signatures_release(&matching->signatures);
}
