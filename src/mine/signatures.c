/*
 * Signatures: see signatures.h.
 *
 * Everything uses a `desk`: the current text file, the rows of the catalogue, and
 * the parsed text. Syncing a text compares it with the rows, signature by
 * signature: one whose patterns and kind are unchanged keeps its id and its
 * matches, any other gets a new id, and rows that are not in the text are
 * deleted. A command that changes signatures edits the text, syncs it as if a
 * person had edited it, and renames the file into place before the commit. If the
 * commit then fails, the next command finds a text that the catalogue does not
 * know and syncs it.
 */
#include "mine/signatures.h"

#include "base/file.h"
#include "base/output.h"
#include "mine/signature_text.h"
#include "store/catalogue.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Bytes of the text file: SQLite keeps no longer text of one signature. */
#define TEXT_LIMIT (64u << 20)
#define TIME_TEXT  21

struct desk {
	const char *folder; /* of the corpus */
	struct lode_catalogue *catalogue;
	char *path; /* of the text file */
	struct lode_buffer text;
	int missing;     /* there is no such file; the text was made from the rows */
	char digest[33]; /* of the text */
	struct lode_signature_rows rows;
	struct lode_frames frames;
	struct lode_pattern_file file; /* the text, parsed */
	struct lode_index row_index;   /* by name */
	struct lode_index group_index; /* by name */
	char now[TIME_TEXT];
};

const char *lode_signature_kind(const struct lode_signature *signature)
{
	if (signature->kinds == 1u << LODE_RUN)
		return "run";
	return signature->kinds == 1u << LODE_WAIT ? "wait" : "any";
}

const char *lode_signature_state_name(enum lode_signature_state state)
{
	static const char *const names[LODE_SIGNATURE_STATES] = { "open", "fixed", "ignored" };

	return names[state];
}

static enum lode_signature_state state_of(const char *name)
{
	for (int state = 0; name && state < LODE_SIGNATURE_STATES; state++)
		if (strcmp(name, lode_signature_state_name(state)) == 0)
			return state;
	return LODE_SIGNATURE_OPEN;
}

/* ---- the desk ---- */

static int desk_open(struct desk *desk, const char *folder, struct lode_catalogue *catalogue,
		     struct lode_error *error)
{
	time_t now = time(NULL);
	struct tm parts;

	memset(desk, 0, sizeof(*desk));
	desk->folder = folder;
	desk->catalogue = catalogue;
	desk->path = lode_format("%s/%s", folder, LODE_SIGNATURES_FILE);
	if (!desk->path || lode_frames_init(&desk->frames) < 0)
		return lode_fail_memory(error);
	strftime(desk->now, sizeof(desk->now), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
	return 0;
}

static void desk_close(struct desk *desk)
{
	lode_free(desk->path);
	lode_buffer_release(&desk->text);
	lode_signature_rows_release(&desk->rows);
	lode_pattern_file_release(&desk->file);
	lode_frames_release(&desk->frames);
	lode_index_release(&desk->row_index);
	lode_index_release(&desk->group_index);
}

static uint64_t hash_name(const char *name)
{
	return lode_hash_bytes(name, strlen(name));
}

static const struct lode_signature_row *row_named(const struct desk *desk, const char *name)
{
	uint32_t at =
		LODE_INDEX_FIND(i, &desk->row_index, hash_name(name), strcmp(desk->rows.items[i].name, name) == 0);

	return at == LODE_NONE ? NULL : &desk->rows.items[at];
}

static const struct lode_pattern_group *group_named(const struct desk *desk, const char *name)
{
	uint32_t at = LODE_INDEX_FIND(i, &desk->group_index, hash_name(name),
				      strcmp(desk->file.groups[i].name, name) == 0);

	return at == LODE_NONE ? NULL : &desk->file.groups[at];
}

static int read_descriptor(struct desk *desk, int fd, struct lode_error *error)
{
	ssize_t got = 1;

	while (got > 0) {
		char *room = lode_buffer_room(&desk->text, 65536);

		if (!room)
			return lode_fail_memory(error);
		got = lode_file_read(fd, room, 65536, desk->path, error);
		if (got < 0)
			return (int)got;
		desk->text.size += (size_t)got;
		if (desk->text.size > TEXT_LIMIT)
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s: is longer than %u MiB, so it is not a list of signatures",
					 desk->path, TEXT_LIMIT >> 20);
	}
	return 0;
}

/* The text file; `missing` when there is none. */
static int read_text(struct desk *desk, struct lode_error *error)
{
	int fd, code, closed;

	lode_buffer_clear(&desk->text);
	desk->missing = access(desk->path, F_OK) < 0 && errno == ENOENT;
	if (desk->missing)
		return 0;
	fd = lode_file_open_plain(desk->path, O_RDONLY | O_NOFOLLOW, error);
	if (fd < 0)
		return fd;
	code = read_descriptor(desk, fd, error);
	closed = lode_file_close(fd, desk->path, code ? NULL : error);
	return code ? code : closed;
}

/* The text that the rows represent. */
static void compose_text(struct desk *desk)
{
	for (size_t i = 0; i < desk->rows.count; i++) {
		const struct lode_signature_row *row = &desk->rows.items[i];

		if (i)
			lode_buffer_byte(&desk->text, '\n');
		lode_pattern_line_write("signature", row->name, &desk->text);
		lode_pattern_line_write("bug", row->bug, &desk->text);
		lode_pattern_line_write("state", row->state, &desk->text);
		lode_pattern_line_write("since", row->since, &desk->text);
		lode_pattern_line_write("kind", row->kind, &desk->text);
		lode_pattern_line_write("made", row->made, &desk->text);
		lode_buffer_text(&desk->text, row->notes);
		lode_buffer_text(&desk->text, row->patterns);
	}
}

static void compute_digest(struct desk *desk)
{
	XXH128_hash_t hash = XXH3_128bits(desk->text.bytes ? desk->text.bytes : "", desk->text.size);

	snprintf(desk->digest, sizeof(desk->digest), "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
		 (uint64_t)hash.low64);
}

/* Each name once. */
static int index_groups(struct desk *desk, struct lode_error *error)
{
	lode_index_release(&desk->group_index);
	for (size_t i = 0; i < desk->file.count; i++) {
		const struct lode_pattern_group *group = &desk->file.groups[i];
		const struct lode_pattern_group *other = group_named(desk, group->name);

		if (other)
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s:%u: a second signature '%.200s', the first is in line %u; give "
					 "it another name",
					 desk->path, group->line, group->name, other->line);
		if (lode_index_insert(&desk->group_index, hash_name(group->name), (uint32_t)i) < 0)
			return lode_fail_memory(error);
	}
	return 0;
}

static int index_rows(struct desk *desk, struct lode_error *error)
{
	lode_index_release(&desk->row_index);
	for (size_t i = 0; i < desk->rows.count; i++)
		if (lode_index_insert(&desk->row_index, hash_name(desk->rows.items[i].name), (uint32_t)i) < 0)
			return lode_fail_memory(error);
	return 0;
}

/* Parses the text; all it holds must be signatures, each name once. */
static int parse_text(struct desk *desk, struct lode_error *error)
{
	int code;

	lode_pattern_file_release(&desk->file);
	code = lode_pattern_file_parse(&desk->file, desk->path, desk->text.bytes ? desk->text.bytes : "",
				       desk->text.size, &desk->frames, error);
	for (size_t i = 0; !code && i < desk->file.count; i++)
		if (strcmp(desk->file.groups[i].type, "signature") != 0)
			code = lode_fail(error, LODE_BAD_INPUT,
					 "%s:%u: a pattern that belongs to no signature; write 'signature "
					 "NAME' above it",
					 desk->path, desk->file.groups[i].line);
	return code ? code : index_groups(desk, error);
}

/* Text and rows as they are now. */
static int look(struct desk *desk, struct lode_error *error)
{
	int code = read_text(desk, error);

	lode_signature_rows_release(&desk->rows);
	if (!code)
		code = lode_catalogue_signatures(desk->catalogue, &desk->rows, error);
	if (!code)
		code = index_rows(desk, error);
	if (!code && desk->missing)
		compose_text(desk);
	if (!code && desk->text.failed)
		code = lode_fail_memory(error);
	if (!code) {
		compute_digest(desk);
		code = parse_text(desk, error);
	}
	return code;
}

/* Whether rows and text say the same. */
static int is_taken_over(const struct desk *desk)
{
	if (desk->missing)
		return !desk->rows.count;
	return strcmp(desk->rows.digest, desk->digest) == 0 || (!desk->text.size && !desk->rows.count);
}

/* ---- taking over ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* What the catalogue keeps of a group as pattern files have it. */
struct texts {
	struct lode_buffer patterns;
	struct lode_buffer notes;
};

static void write_patterns(const struct desk *desk, const struct lode_pattern_group *group,
			   struct lode_buffer *patterns)
{
	lode_buffer_clear(patterns);
	for (size_t i = 0; i < group->count; i++)
		lode_pattern_write(&desk->file.patterns, group->first + i, &desk->frames, patterns);
	lode_buffer_byte(patterns, '\0');
}

/* Whether a row represents the group: then its id and its matches hold. */
static int is_same(const struct lode_signature_row *row, const struct lode_pattern_group *group,
		   const struct lode_buffer *patterns)
{
	return strcmp(row->kind, or_empty(group->kind)) == 0 && strcmp(row->patterns, patterns->bytes) == 0;
}

/* When it was made and came into its state: as the text says, or as was known, or now. */
static void set_times(const struct desk *desk, const struct lode_pattern_group *group,
		      const struct lode_signature_row *old, struct lode_signature_row *row)
{
	row->made = group->made ? group->made : old ? old->made : desk->now;
	if (group->since)
		row->since = group->since;
	else if (old)
		row->since = strcmp(old->state, row->state) == 0 ? old->since : desk->now;
	else
		row->since = row->made;
}

static void write_notes(const struct desk *desk, const struct lode_pattern_group *group, struct lode_buffer *notes)
{
	lode_buffer_clear(notes);
	for (size_t i = 0; i < group->note_count; i++)
		lode_pattern_line_write("note", desk->file.notes[group->first_note + i], notes);
	lode_buffer_byte(notes, '\0');
}

static int take_over_group(struct desk *desk, size_t place, int64_t *newest, struct texts *texts,
			   struct lode_error *error)
{
	const struct lode_pattern_group *group = &desk->file.groups[place];
	const struct lode_signature_row *old = row_named(desk, group->name);
	struct lode_signature_row row = {
		.name = group->name,
		.bug = or_empty(group->bug),
		.state = lode_signature_state_name(state_of(group->state)),
		.kind = or_empty(group->kind),
	};
	int code = 0;

	write_patterns(desk, group, &texts->patterns);
	write_notes(desk, group, &texts->notes);
	if (texts->patterns.failed || texts->notes.failed)
		return lode_fail_memory(error);
	row.patterns = texts->patterns.bytes;
	row.notes = texts->notes.bytes;
	set_times(desk, group, old, &row);
	if (old && is_same(old, group, &texts->patterns))
		row.id = old->id;
	else
		row.id = ++*newest;
	if (old && row.id != old->id)
		code = lode_catalogue_remove_signature(desk->catalogue, old->id, error);
	return code ? code : lode_catalogue_put_signature(desk->catalogue, &row, place, error);
}

static int64_t newest_id(const struct desk *desk)
{
	int64_t newest = desk->rows.newest;

	for (size_t i = 0; i < desk->rows.count; i++)
		if (desk->rows.items[i].id > newest)
			newest = desk->rows.items[i].id;
	return newest;
}

/* Brings the rows in line with the text; the catalogue is locked. */
static int take_over(struct desk *desk, struct lode_error *error)
{
	struct texts texts = { 0 };
	int64_t newest = newest_id(desk);
	int code = 0;

	if (newest < 0 || newest > INT64_MAX / 2)
		return lode_fail(error, LODE_BAD_INPUT, "%s: catalogue has invalid signature ids; run 'lode fsck'",
				 desk->folder);
	for (size_t i = 0; !code && i < desk->rows.count; i++)
		if (!group_named(desk, desk->rows.items[i].name))
			code = lode_catalogue_remove_signature(desk->catalogue, desk->rows.items[i].id, error);
	for (size_t i = 0; !code && i < desk->file.count; i++)
		code = take_over_group(desk, i, &newest, &texts, error);
	if (!code)
		code = lode_catalogue_put_signature_file(desk->catalogue, desk->digest, newest, error);
	lode_buffer_release(&texts.patterns);
	lode_buffer_release(&texts.notes);
	return code;
}

/* Puts the text in place of the file. */
static int write_file(struct desk *desk, struct lode_error *error)
{
	struct lode_output output;
	int code = lode_output_replace(&output, desk->path, error);

	if (code)
		return code;
	lode_buffer_add(&output.buffer, desk->text.bytes, desk->text.size);
	return lode_output_finish(&output, error);
}

/* With the catalogue locked: looks again, because it was not until now, and takes over what it finds. */
static int take_over_now(struct desk *desk, struct lode_error *error)
{
	int code = lode_catalogue_upgrade(desk->catalogue, error);

	if (!code)
		code = look(desk, error);
	if (code || is_taken_over(desk))
		return code;
	if (desk->missing)
		code = write_file(desk, error);
	return code ? code : take_over(desk, error);
}

/* Does `work` between begin and commit. */
static int with_lock(struct desk *desk, int (*work)(struct desk *, struct lode_error *), struct lode_error *error)
{
	int code = lode_catalogue_begin(desk->catalogue, error);

	if (code)
		return code;
	code = work(desk, error);
	if (!code)
		code = lode_catalogue_commit(desk->catalogue, error);
	lode_catalogue_rollback(desk->catalogue);
	return code;
}

/* ---- loading ---- */

static const char *keep(struct lode_signatures *signatures, const char *text)
{
	return lode_arena_text(&signatures->arena, text, strlen(text));
}

static unsigned kinds_of(const char *kind)
{
	if (!kind)
		return 1u << LODE_RUN | 1u << LODE_WAIT;
	return 1u << (strcmp(kind, "run") == 0 ? LODE_RUN : LODE_WAIT);
}

static int load_notes(const struct desk *desk, const struct lode_pattern_group *group,
		      struct lode_signatures *signatures, struct lode_signature *signature)
{
	signature->notes = lode_arena_alloc(&signatures->arena, group->note_count * sizeof(*signature->notes));
	for (; signature->notes && signature->note_count < group->note_count; signature->note_count++) {
		const char *note = keep(signatures, desk->file.notes[group->first_note + signature->note_count]);

		if (!note)
			return LODE_SYSTEM;
		signature->notes[signature->note_count] = note;
	}
	return signature->notes ? 0 : LODE_SYSTEM;
}

static int load_group(struct desk *desk, size_t i, struct lode_signatures *signatures, struct lode_buffer *patterns)
{
	const struct lode_pattern_group *group = &desk->file.groups[i];
	const struct lode_signature_row *row = row_named(desk, group->name);
	struct lode_signature *signature = &signatures->items[i];
	struct lode_signature_row times = { .state = lode_signature_state_name(state_of(group->state)) };

	write_patterns(desk, group, patterns);
	if (patterns->failed)
		return LODE_SYSTEM;
	set_times(desk, group, row, &times);
	*signature = (struct lode_signature){
		.name = keep(signatures, group->name),
		.bug = keep(signatures, or_empty(group->bug)),
		.since = keep(signatures, times.since),
		.made = keep(signatures, times.made),
		.state = state_of(group->state),
		.kinds = kinds_of(group->kind),
		.first = group->first,
		.count = group->count,
	};
	if (row && is_same(row, group, patterns)) {
		signature->id = row->id;
		signature->streams = row->streams;
		signature->newer = row->newer;
		signature->events = row->events;
		memcpy(signature->cost, row->cost, sizeof(signature->cost));
	}
	signatures->kept &= signature->id != 0;
	if (!signature->name || !signature->bug || !signature->since || !signature->made)
		return LODE_SYSTEM;
	return load_notes(desk, group, signatures, signature);
}

/* Moves the working set into the result. */
static int load(struct desk *desk, struct lode_signatures *signatures, struct lode_error *error)
{
	struct lode_buffer patterns = { 0 };
	int code = 0;

	signatures->items = lode_calloc(desk->file.count + 1, sizeof(*signatures->items));
	if (!signatures->items)
		return lode_fail_memory(error);
	signatures->count = desk->file.count;
	signatures->newest = newest_id(desk);
	signatures->kept = is_taken_over(desk);
	memcpy(signatures->digest, desk->digest, sizeof(signatures->digest));
	for (size_t i = 0; !code && i < desk->file.count; i++)
		code = load_group(desk, i, signatures, &patterns);
	lode_buffer_release(&patterns);
	signatures->patterns = desk->file.patterns;
	memset(&desk->file.patterns, 0, sizeof(desk->file.patterns));
	signatures->frames = desk->frames;
	memset(&desk->frames, 0, sizeof(desk->frames));
	return code ? lode_fail_memory(error) : 0;
}

int lode_signatures_load(struct lode_corpus *corpus, struct lode_signatures *signatures, struct lode_error *error)
{
	struct desk desk;
	int code = desk_open(&desk, lode_corpus_path(corpus), lode_corpus_catalogue(corpus), error);

	memset(signatures, 0, sizeof(*signatures));
	if (!code)
		code = look(&desk, error);
	if (!code && !is_taken_over(&desk) && lode_catalogue_writable(desk.catalogue)) {
		code = with_lock(&desk, take_over_now, error);
		if (!code)
			code = look(&desk, error);
	}
	if (!code)
		code = load(&desk, signatures, error);
	desk_close(&desk);
	return code;
}

int lode_signatures_check(const char *folder, struct lode_error *error)
{
	struct desk desk;
	int code = desk_open(&desk, folder, NULL, error);

	if (!code)
		code = read_text(&desk, error);
	if (!code)
		code = parse_text(&desk, error);
	desk_close(&desk);
	return code;
}

void lode_signatures_release(struct lode_signatures *signatures)
{
	lode_free(signatures->items);
	lode_patterns_release(&signatures->patterns);
	lode_frames_release(&signatures->frames);
	lode_arena_release(&signatures->arena);
	memset(signatures, 0, sizeof(*signatures));
}

/* ---- changing ---- */

/* The edited text takes the place of the text and is parsed, so that the next edit finds its way. */
static int replace_text(struct desk *desk, struct lode_buffer *edited, struct lode_error *error)
{
	int failed = edited->failed;

	lode_buffer_release(&desk->text);
	desk->text = *edited;
	if (failed)
		return lode_fail_memory(error);
	compute_digest(desk);
	return parse_text(desk, error);
}

static const char *text_of(const struct desk *desk)
{
	return desk->text.bytes ? desk->text.bytes : "";
}

static int set_line(struct desk *desk, const char *name, const char *keyword, const char *value,
		    struct lode_error *error)
{
	struct lode_buffer edited = { 0 };

	lode_signature_text_set(text_of(desk), desk->text.size, group_named(desk, name), keyword, value, &edited);
	return replace_text(desk, &edited, error);
}

static void add_pattern_lines(const struct lode_signature_change *change, struct lode_buffer *lines)
{
	for (size_t i = 0; change->patterns && i < change->patterns->count; i++)
		lode_pattern_write(change->patterns, i, change->frames, lines);
}

/* A note with the day it was written. */
static void write_note(const struct desk *desk, const char *note, struct lode_buffer *lines)
{
	char *dated = note && *note ? lode_format("%.10s: %s", desk->now, note) : NULL;

	lines->failed |= note && *note && !dated;
	lode_pattern_line_write("note", dated, lines);
	lode_free(dated);
}

static int add_note(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	struct lode_buffer lines = { 0 }, edited = { 0 };

	write_note(desk, change->note, &lines);
	lode_signature_text_insert(text_of(desk), desk->text.size, group_named(desk, change->name), &lines,
				   &edited);
	lode_buffer_release(&lines);
	return replace_text(desk, &edited, error);
}

static int remove_notes(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	struct lode_buffer edited = { 0 };

	lode_signature_text_drop(text_of(desk), desk->text.size, group_named(desk, change->name), "note", &edited);
	return replace_text(desk, &edited, error);
}

static int make(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	struct lode_buffer lines = { 0 }, edited = { 0 };
	const struct lode_pattern_group *group = group_named(desk, change->name);

	if (group)
		return lode_fail(error, LODE_USAGE,
				 "%s:%u: there is a signature '%.200s' already; take another name, or "
				 "'--add' to add the "
				 "patterns to it",
				 desk->path, group->line, change->name);
	lode_pattern_line_write("signature", change->name, &lines);
	lode_pattern_line_write("bug", change->bug, &lines);
	lode_pattern_line_write("state", change->state ? change->state : "open", &lines);
	lode_pattern_line_write("since", desk->now, &lines);
	if (change->kind && strcmp(change->kind, "any") != 0)
		lode_pattern_line_write("kind", change->kind, &lines);
	lode_pattern_line_write("made", desk->now, &lines);
	write_note(desk, change->note, &lines);
	add_pattern_lines(change, &lines);
	lode_signature_text_append(text_of(desk), desk->text.size, &lines, &edited);
	lode_buffer_release(&lines);
	return replace_text(desk, &edited, error);
}

static int add_patterns(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	struct lode_buffer lines = { 0 }, edited = { 0 };

	if (!change->patterns || !change->patterns->count)
		return 0;
	add_pattern_lines(change, &lines);
	lode_signature_text_extend(text_of(desk), desk->text.size, group_named(desk, change->name), &lines,
				   &edited);
	lode_buffer_release(&lines);
	return replace_text(desk, &edited, error);
}

static int set_state(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	const struct lode_pattern_group *group = group_named(desk, change->name);
	int code;

	if (!change->state || state_of(group->state) == state_of(change->state))
		return 0;
	code = set_line(desk, change->name, "state", change->state, error);
	return code ? code : set_line(desk, change->name, "since", desk->now, error);
}

static int change_group(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	int code = set_state(desk, change, error);

	if (!code && change->bug)
		code = set_line(desk, change->name, "bug", change->bug, error);
	if (!code && change->kind)
		code = set_line(desk, change->name, "kind", strcmp(change->kind, "any") == 0 ? "" : change->kind,
				error);
	if (!code && change->note)
		code = *change->note ? add_note(desk, change, error) : remove_notes(desk, change, error);
	return code ? code : add_patterns(desk, change, error);
}

static int remove_group(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	struct lode_buffer edited = { 0 };

	lode_signature_text_cut(text_of(desk), desk->text.size, group_named(desk, change->name), &edited);
	return replace_text(desk, &edited, error);
}

static int edit(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	if (change->verb == LODE_SIGNATURE_MAKE)
		return make(desk, change, error);
	if (!group_named(desk, change->name))
		return lode_fail(error, LODE_USAGE,
				 "%s: has no signature '%.200s'; 'lode signatures %s' lists them", desk->folder,
				 change->name, desk->folder);
	if (change->verb == LODE_SIGNATURE_REMOVE)
		return remove_group(desk, change, error);
	return change_group(desk, change, error);
}

/* With the catalogue locked. Rows first, file last: what leaves no trace when it fails comes first. */
static int change_now(struct desk *desk, const struct lode_signature_change *change, struct lode_error *error)
{
	int code = lode_catalogue_upgrade(desk->catalogue, error);

	if (!code)
		code = look(desk, error);
	if (!code)
		code = edit(desk, change, error);
	if (!code)
		code = take_over(desk, error);
	return code ? code : write_file(desk, error);
}

int lode_signatures_change(struct lode_corpus *corpus, const struct lode_signature_change *change,
			   struct lode_error *error)
{
	struct desk desk;
	int code = desk_open(&desk, lode_corpus_path(corpus), lode_corpus_catalogue(corpus), error);

	if (!code)
		code = lode_catalogue_begin(desk.catalogue, error);
	if (!code) {
		code = change_now(&desk, change, error);
		if (!code)
			code = lode_catalogue_commit(desk.catalogue, error);
		lode_catalogue_rollback(desk.catalogue);
	}
	desk_close(&desk);
	return code;
}
