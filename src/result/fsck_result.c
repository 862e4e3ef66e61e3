/* What lode fsck found, as JSON: see fsck_report.h. */
#include "result/fsck_report.h"

#include "result/field_choices.h"
#include "result/field_rows.h"
#include "result/notes_fields.h"

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

struct finding_fields {
	const char *path;
	const char *kind;
	const char *state;
	struct lode_corpus_check_result result;
	int signatures_bad;
	struct lode_notes_part notes;
};

static const char *state_choice(unsigned number)
{
	static const char *const names[] = { "clean", "damaged", "repaired" };

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

#define TABLE_OF struct finding_fields
static const struct lode_field finding_rows[] = {
	FIELD_TEXT(path, "Corpus or file."),
	FIELD_TEXT(kind, "What it is.", FIELD_CHOICE(lode_choice_path_kind)),
	FIELD_TEXT(state, "What was found.", FIELD_CHOICE(state_choice)),
	FIELD_U64_AS("streams_good", result.streams_good, "Stream files without damage."),
	FIELD_U64_AS("streams_bad", result.streams_bad, "Damaged stream files."),
	FIELD_U64_AS("streams_repaired", result.streams_repaired, "Stream files that were repaired."),
	FIELD_U64_AS("rows_without_file", result.rows_without_file, "Rows of the catalogue without a file."),
	FIELD_U64_AS("rows_wrong", result.rows_wrong, "Rows that do not agree with their file."),
	FIELD_U64_AS("files_without_row", result.files_without_row, "Files that no row names."),
	FIELD_U64_AS("recordings", result.recordings, "Recordings that were cut off."),
	FIELD_U64_AS("leftovers", result.leftovers, "Files left over by a crash."),
	FIELD_BOOL_AS("catalogue_bad", result.catalogue_bad, "The catalogue is damaged."),
	FIELD_BOOL(signatures_bad, "The signatures are damaged."),
	FIELD_BOOL_AS("footer_bad", result.blocks.footer_bad, "The footer of the file is damaged."),
	FIELD_U64_AS("blocks_good", result.blocks.blocks_good, "Blocks without damage."),
	FIELD_U64_AS("blocks_bad", result.blocks.blocks_bad, "Damaged blocks."),
	FIELD_U64_AS("bytes_bad", result.blocks.bytes_bad, "Bytes of them."),
	FIELD_U64_AS("events_good", result.blocks.events_good, "Events that can be read."),
	FIELD_PART(notes, lode_notes_part_fields),
};
static const struct lode_fields finding_fields = FIELD_TABLE("FsckPath", finding_rows);
#undef TABLE_OF

struct fsck_fields {
	struct lode_list paths;
};

#define TABLE_OF struct fsck_fields
static const struct lode_field fsck_rows[] = {
	FIELD_OBJECTS(paths, finding_fields, "Each path."),
};
const struct lode_fields lode_fsck_fields = FIELD_TABLE("FsckResult", fsck_rows);
#undef TABLE_OF

static int make_finding(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_fsck_report *report = list->from;
	const struct lode_fsck_finding *finding = &report->items[i];

	*(struct finding_fields *)item = (struct finding_fields){
		.path = finding->path,
		.kind = finding->is_corpus ? "corpus" : "stream",
		.state = lode_fsck_state(finding, report->repair),
		.result = finding->result,
		.signatures_bad = finding->signatures_bad,
		.notes = lode_notes_part(&finding->notes),
	};
	return 1;
}

void lode_fsck_json(const struct lode_fsck_report *report, struct lode_buffer *buffer)
{
	struct fsck_fields result = { { report->count, report, 0, make_finding } };

	lode_fields_line(&lode_fsck_fields, &result, buffer);
}
