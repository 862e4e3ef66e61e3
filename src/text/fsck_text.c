/* What lode fsck found, for people: see fsck_text.h. */
#include "text/fsck_text.h"

#include "base/safe_text.h"
#include "base/units.h"

static void add_count(struct lode_buffer *buffer, const char *lead, uint64_t count, const char *one,
		      const char *many)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "%s%s %s", lead, lode_count_text(count, text), count == 1 ? one : many);
}

/* One line about the streams; what else was found is in the notes. */
static void add_damage(struct lode_buffer *buffer, const struct lode_corpus_check_result *result)
{
	const char *lead = "  ";

	if (result->streams_bad) {
		add_count(buffer, lead, result->streams_bad, "stream is damaged", "streams are damaged");
		lead = ", ";
	}
	if (result->streams_repaired) {
		add_count(buffer, lead, result->streams_repaired,
			  "stream was damaged and keeps its intact blocks (the original is kept as .lode.damaged)",
			  "streams were damaged and keep their intact blocks (the originals are kept as "
			  ".lode.damaged)");
		lead = ", ";
	}
	if (result->blocks.blocks_bad) {
		add_count(buffer, lead, result->blocks.blocks_bad, "block is lost", "blocks are lost");
		lead = ", ";
	}
	if (result->blocks.bytes_bad) {
		add_count(buffer, lead, result->blocks.bytes_bad, "byte belongs to no intact block",
			  "bytes belong to no intact block");
		lead = ", ";
	}
	if (*lead == ',')
		lode_buffer_byte(buffer, '\n');
}

static void add_repair(struct lode_buffer *buffer, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	add_count(buffer, "  ", count, one, many);
	lode_buffer_byte(buffer, '\n');
}

/* What was done about the catalogue and the folder. */
static void add_repairs(struct lode_buffer *buffer, const struct lode_corpus_check_result *result)
{
	if (result->catalogue_bad)
		lode_buffer_text(buffer, "  the catalogue was rebuilt\n");
	add_repair(buffer, result->recordings, "recording that was cut off is a stream now",
		   "recordings that were cut off are streams now");
	add_repair(buffer, result->files_without_row, "stream was added to the catalogue",
		   "streams were added to the catalogue");
	add_repair(buffer, result->rows_without_file, "stream without a file was removed from the catalogue",
		   "streams without a file were removed from the catalogue");
	add_repair(buffer, result->rows_wrong, "entry of the catalogue was rebuilt from its stream",
		   "entries of the catalogue were rebuilt from their streams");
	add_repair(buffer, result->leftovers, "leftover was removed", "leftovers were removed");
}

static void add_notes(struct lode_buffer *buffer, const struct lode_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		const struct lode_note *note = &notes->items[i];
		char count[LODE_UNITS_TEXT];

		lode_buffer_text(buffer, "  ");
		lode_text_safe(buffer, note->what);
		lode_buffer_print(buffer, ": %s", lode_count_text(note->count, count));
		if (note->example) {
			lode_buffer_text(buffer, note->count > 1 ? ", first " : ", ");
			lode_text_safe(buffer, note->example);
		}
		lode_buffer_byte(buffer, '\n');
	}
}

static void add_finding(const struct lode_fsck_finding *finding, int repair, const struct lode_look *look,
			struct lode_buffer *buffer)
{
	const struct lode_corpus_check_result *result = &finding->result;
	int wrong = lode_fsck_is_wrong(finding, repair);

	lode_text_safe(buffer, finding->path);
	lode_buffer_print(buffer, ": %s%s%s", lode_style(look, wrong ? LODE_RED : LODE_GREEN),
			  lode_fsck_state(finding, repair), lode_style(look, LODE_PLAIN));
	add_count(buffer, "; ", result->streams_good + result->streams_bad + result->streams_repaired, "stream",
		  "streams");
	add_count(buffer, ", ", result->blocks.blocks_good, "good block", "good blocks");
	add_count(buffer, ", ", result->blocks.events_good, "event", "events");
	lode_buffer_byte(buffer, '\n');
	add_damage(buffer, result);
	add_notes(buffer, &finding->notes);
	if (repair)
		add_repairs(buffer, result);
	if (wrong && !repair && lode_fsck_was_wrong(finding)) {
		lode_buffer_text(buffer, "  'lode fsck --repair ");
		lode_text_safe(buffer, finding->path);
		lode_buffer_text(buffer, "' repairs what can be repaired\n");
	}
}

void lode_fsck_text(const struct lode_fsck_report *report, const struct lode_look *look, struct lode_buffer *buffer)
{
	for (size_t i = 0; i < report->count; i++)
		add_finding(&report->items[i], report->repair, look, buffer);
}
