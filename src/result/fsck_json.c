/* What lode fsck found, as JSON: see fsck_report.h. */
#include "result/fsck_report.h"

#include "base/json.h"
#include "result/notes_json.h"

int lode_fsck_was_wrong(const struct lode_fsck_finding *finding)
{
	const struct lode_corpus_check_result *result = &finding->result;

	return result->streams_bad || result->streams_repaired || result->recordings ||
	       result->rows_without_file || result->rows_wrong || result->catalogue_bad;
}

int lode_fsck_is_wrong(const struct lode_fsck_finding *finding, int repair)
{
	if (finding->signatures_bad)
		return 1;
	return repair ? finding->result.streams_bad != 0 : lode_fsck_was_wrong(finding);
}

const char *lode_fsck_state(const struct lode_fsck_finding *finding, int repair)
{
	if (lode_fsck_is_wrong(finding, repair))
		return "damaged";
	return lode_fsck_was_wrong(finding) ? "repaired" : "clean";
}

static void write_finding(struct lode_json *json, const struct lode_fsck_finding *finding, int repair)
{
	const struct lode_corpus_check_result *result = &finding->result;

	lode_json_object(json);
	lode_json_key_text(json, "path", finding->path);
	lode_json_key_text(json, "kind", finding->is_corpus ? "corpus" : "stream");
	lode_json_key_text(json, "state", lode_fsck_state(finding, repair));
	lode_json_key_u64(json, "streams_good", result->streams_good);
	lode_json_key_u64(json, "streams_bad", result->streams_bad);
	lode_json_key_u64(json, "streams_repaired", result->streams_repaired);
	lode_json_key_u64(json, "rows_without_file", result->rows_without_file);
	lode_json_key_u64(json, "rows_wrong", result->rows_wrong);
	lode_json_key_u64(json, "files_without_row", result->files_without_row);
	lode_json_key_u64(json, "recordings", result->recordings);
	lode_json_key_u64(json, "leftovers", result->leftovers);
	lode_json_key_bool(json, "catalogue_bad", result->catalogue_bad);
	lode_json_key_bool(json, "signatures_bad", finding->signatures_bad);
	lode_json_key_bool(json, "footer_bad", result->blocks.footer_bad);
	lode_json_key_u64(json, "blocks_good", result->blocks.blocks_good);
	lode_json_key_u64(json, "blocks_bad", result->blocks.blocks_bad);
	lode_json_key_u64(json, "bytes_bad", result->blocks.bytes_bad);
	lode_json_key_u64(json, "events_good", result->blocks.events_good);
	lode_json_key(json, "notes");
	lode_notes_json(&finding->notes, json);
	lode_json_object_end(json);
}

void lode_fsck_json(const struct lode_fsck_report *report, struct lode_buffer *buffer)
{
	struct lode_json json = { .buffer = buffer };

	lode_json_object(&json);
	lode_json_key_array(&json, "paths");
	for (size_t i = 0; i < report->count; i++)
		write_finding(&json, &report->items[i], report->repair);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}
