/*
 * Pattern file: see pattern_file.h.
 *
 * The parser goes through the text line by line. The first line that is neither
 * blank nor a comment decides the form: a keyword begins the structured form, in
 * which frames are indented; anything else begins a bare list, in which every
 * line is a frame and blank lines separate the patterns. A keyword in a bare list
 * and an unknown word at the start of a line of the structured form are errors,
 * so that a typo never changes the meaning of a file silently.
 *
 * Blanks at the end of a line are dropped, because editors do that too; the
 * writer escapes those that belong to a name.
 */
#include "mine/pattern_file.h"

#include "base/input.h"
#include "base/memory.h"
#include "trace/stack_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum form {
	FORM_UNKNOWN,
	FORM_BARE,
	FORM_STRUCTURED,
};

struct parser {
	struct lode_pattern_file *file;
	struct lode_frames *frames;
	struct lode_error *error;
	const char *name;
	const char *text;
	size_t size;
	size_t start;  /* of this line */
	size_t next;   /* line */
	uint64_t line; /* number of this one */
	enum form form;
	int in_pattern;        /* frames may follow */
	uint64_t pattern_line; /* where it began */
	uint32_t *sequence;    /* its frames so far */
	size_t length;
	size_t capacity;
	struct lode_buffer unescaped;
};

/* A piece of a line. */
struct piece {
	const char *at;
	size_t size;
};

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct piece trim(struct piece piece)
{
	while (piece.size && is_blank(piece.at[piece.size - 1]))
		piece.size--;
	while (piece.size && is_blank(*piece.at)) {
		piece.at++;
		piece.size--;
	}
	return piece;
}

/* A piece shown in a message: no more than fits in one. */
static int shown(struct piece piece)
{
	return piece.size < 80 ? (int)piece.size : 80;
}

#define FAIL(parser, ...) fail_at(parser, (parser)->line, __VA_ARGS__)

static int __attribute__((format(printf, 3, 4)))
fail_at(struct parser *parser, uint64_t line, const char *format, ...)
{
	char sentence[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	return lode_fail(parser->error, LODE_BAD_INPUT, "%s:%llu: %s", parser->name, (unsigned long long)line,
			 sentence);
}

/* ---- escapes ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the escape at `at` (behind its backslash) means, and its length; -1: none. */
static int escaped_byte(const char *at, size_t left, size_t *length)
{
	int high, low;

	*length = 1;
	if (!left)
		return -1;
	if (*at == '\\')
		return '\\';
	if (*at == 'n')
		return '\n';
	if (*at == 't')
		return '\t';
	if (*at != 'x' || left < 3)
		return -1;
	high = hex_digit(at[1]);
	low = hex_digit(at[2]);
	*length = 3;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* The text that a piece means, in the parser's buffer until the next call. */
static int unescape(struct parser *parser, struct piece piece, struct piece *text)
{
	struct lode_buffer *buffer = &parser->unescaped;
	const char *at = piece.at, *end = piece.at + piece.size;

	lode_buffer_clear(buffer);
	while (at < end) {
		const char *mark = memchr(at, '\\', (size_t)(end - at));
		size_t length;
		int byte;

		lode_buffer_add(buffer, at, (size_t)((mark ? mark : end) - at));
		if (!mark)
			break;
		byte = escaped_byte(mark + 1, (size_t)(end - mark - 1), &length);
		if (byte < 0)
			return FAIL(parser, "a backslash is followed by neither \\, n, t nor xHH; write \\\\ "
					    "for a backslash");
		if (!byte)
			return FAIL(parser, "\\x00 means a NUL byte, which no name contains; remove it");
		lode_buffer_byte(buffer, (char)byte);
		at = mark + 1 + length;
	}
	if (buffer->failed)
		return lode_fail_memory(parser->error);
	*text = (struct piece){ buffer->bytes ? buffer->bytes : "", buffer->size };
	return 0;
}

/* ---- groups ---- */

static struct lode_pattern_group *current_group(struct parser *parser)
{
	return parser->file->count ? &parser->file->groups[parser->file->count - 1] : NULL;
}

/* Puts the pattern that is being read into the file. */
static int end_pattern(struct parser *parser)
{
	if (!parser->in_pattern)
		return 0;
	if (!parser->length)
		return fail_at(parser, parser->pattern_line,
			       "a pattern without a frame; indent its frames with a tab, one per line");
	if (lode_patterns_add(&parser->file->patterns, parser->sequence, (uint32_t)parser->length, 0) < 0)
		return lode_fail_memory(parser->error);
	current_group(parser)->count++;
	parser->in_pattern = 0;
	parser->length = 0;
	return 0;
}

static int end_group(struct parser *parser)
{
	struct lode_pattern_group *group = current_group(parser);
	int code = end_pattern(parser);

	if (!code && group && !group->count)
		code = fail_at(parser, group->line,
			       "a %s without a pattern; write 'pattern' and its frames below it", group->type);
	return code;
}

static int begin_group(struct parser *parser, const char *type, const char *name)
{
	struct lode_pattern_file *file = parser->file;
	int code = end_group(parser);

	if (code)
		return code;
	return LODE_APPEND(file->groups, file->count, file->capacity,
			   (struct lode_pattern_group){
				   .type = type,
				   .name = name,
				   .first = file->patterns.count,
				   .line = parser->line < UINT_MAX ? (unsigned)parser->line : UINT_MAX,
				   .start = parser->start,
			   }) < 0
		       ? lode_fail_memory(parser->error)
		       : 0;
}

static int begin_pattern(struct parser *parser)
{
	int code = end_pattern(parser);

	if (!code && !parser->file->count)
		code = begin_group(parser, "", NULL);
	parser->in_pattern = !code;
	parser->pattern_line = parser->line;
	return code;
}

static int add_frame(struct parser *parser, struct piece line)
{
	struct piece text;
	int code = unescape(parser, line, &text);
	uint32_t frame;

	if (code)
		return code;
	if (parser->length == LODE_STACK_DEPTH_LIMIT)
		return FAIL(parser, "a pattern of more than %d frames, which no stack has; shorten it",
			    LODE_STACK_DEPTH_LIMIT);
	frame = lode_frames_parse(parser->frames, text.at, text.size);
	if (frame == LODE_NONE || LODE_APPEND(parser->sequence, parser->length, parser->capacity, frame) < 0)
		return lode_fail_memory(parser->error);
	return 0;
}

/* ---- what is said of a group ---- */

static int copy_text(struct parser *parser, struct piece value, const char **copy)
{
	struct piece text;
	int code = unescape(parser, value, &text);

	if (code)
		return code;
	*copy = lode_arena_text(&parser->file->arena, text.at, text.size);
	return *copy ? 0 : lode_fail_memory(parser->error);
}

/* One more note of the group. */
static int add_note(struct parser *parser, struct piece value, const char **newest)
{
	struct lode_pattern_file *file = parser->file;
	struct lode_pattern_group *group = current_group(parser);
	int code = copy_text(parser, value, newest);

	if (code)
		return code;
	if (!group->note_count++)
		group->first_note = file->note_count;
	return LODE_APPEND(file->notes, file->note_count, file->note_capacity, *newest) < 0
		       ? lode_fail_memory(parser->error)
		       : 0;
}

static int is_word(struct piece piece, const char *word)
{
	return piece.size == strlen(word) && memcmp(piece.at, word, piece.size) == 0;
}

/* The one of `words` that the value is; NULL when it is none. */
static const char *choose(struct piece value, const char *const *words)
{
	for (; *words; words++)
		if (is_word(value, *words))
			return *words;
	return NULL;
}

static int set_state(struct parser *parser, struct piece value, const char **field)
{
	static const char *const states[] = { "open", "fixed", "ignored", NULL };

	*field = choose(value, states);
	if (*field)
		return 0;
	return FAIL(parser, "'%.*s' is not a state; write 'open', 'fixed' or 'ignored'", shown(value), value.at);
}

static int set_kind(struct parser *parser, struct piece value, const char **field)
{
	static const char *const kinds[] = { "run", "wait", NULL };

	*field = choose(value, kinds);
	if (*field)
		return 0;
	return FAIL(parser, "'%.*s' is not a kind; write 'run' or 'wait', or leave the line out for both",
		    shown(value), value.at);
}

/* A time as 2026-01-31T12:00:00Z: digits where the form has 0, in the usual ranges. */
static int is_time(struct piece value)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	static const char most[] = "9999-12-31T23:59:60Z";

	if (value.size != sizeof(form) - 1)
		return 0;
	for (size_t i = 0; i < value.size; i++)
		if (form[i] == '0' ? value.at[i] < '0' || value.at[i] > '9' : value.at[i] != form[i])
			return 0;
	for (size_t i = 5; i + 1 < value.size; i += 3)
		if (memcmp(value.at + i, most + i, 2) > 0)
			return 0;
	return 1;
}

static int set_time(struct parser *parser, struct piece value, const char **field)
{
	if (!is_time(value))
		return FAIL(parser, "'%.*s' is not a time; write it as 2026-01-31T12:00:00Z", shown(value),
			    value.at);
	return copy_text(parser, value, field);
}

struct attribute {
	const char *keyword;
	size_t offset; /* of its field in a group */
	int repeats;   /* a group may have several */
	int (*set)(struct parser *parser, struct piece value, const char **field);
};

static const struct attribute attributes[] = {
	{ "bug", offsetof(struct lode_pattern_group, bug), 0, copy_text },
	{ "state", offsetof(struct lode_pattern_group, state), 0, set_state },
	{ "since", offsetof(struct lode_pattern_group, since), 0, set_time },
	{ "kind", offsetof(struct lode_pattern_group, kind), 0, set_kind },
	{ "made", offsetof(struct lode_pattern_group, made), 0, set_time },
	{ "note", offsetof(struct lode_pattern_group, note), 1, add_note },
};

#define ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

static const struct attribute *find_attribute(struct piece word)
{
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (is_word(word, attributes[i].keyword))
			return &attributes[i];
	return NULL;
}

static int set_attribute(struct parser *parser, const struct attribute *attribute, struct piece value)
{
	struct lode_pattern_group *group = current_group(parser);
	const char **field;

	if (!group || !*group->type)
		return FAIL(parser, "'%s' comes before any signature; write 'signature NAME' first",
			    attribute->keyword);
	if (group->count || parser->in_pattern)
		return FAIL(parser, "'%s' comes after a pattern; move it up below '%s'", attribute->keyword,
			    group->type);
	field = (const char **)((char *)group + attribute->offset);
	if (*field && !attribute->repeats)
		return FAIL(parser, "a second '%s' for one %s; leave one out", attribute->keyword, group->type);
	if (!value.size)
		return FAIL(parser, "'%s' needs a value after it", attribute->keyword);
	return attribute->set(parser, value, field);
}

/* ---- lines ---- */

/* Parts a line into its first word and the rest. */
static struct piece first_word(struct piece line, struct piece *rest)
{
	struct piece word = { line.at, 0 };

	while (word.size < line.size && !is_blank(line.at[word.size]))
		word.size++;
	*rest = trim((struct piece){ line.at + word.size, line.size - word.size });
	return word;
}

/* The type of group that a word begins; NULL when it begins none. */
static const char *group_type(struct piece word)
{
	static const char *const types[] = { "signature", "cluster", NULL };

	return choose(word, types);
}

static int is_keyword(struct piece word)
{
	return group_type(word) || is_word(word, "pattern") || find_attribute(word);
}

static int parse_keyword(struct parser *parser, struct piece word, struct piece rest)
{
	const char *type = group_type(word), *name;
	const struct attribute *attribute = find_attribute(word);
	int code;

	if (attribute)
		return set_attribute(parser, attribute, rest);
	if (!type && !is_word(word, "pattern"))
		return FAIL(parser,
			    "'%.*s' is not a keyword; indent frames with a tab, or write signature, cluster, "
			    "pattern, "
			    "bug, state, since, kind, made or note",
			    shown(word), word.at);
	if (!type && rest.size)
		return FAIL(parser, "'%.*s' after 'pattern'; write the frames below it, one per line", shown(rest),
			    rest.at);
	if (!type)
		return begin_pattern(parser);
	if (!rest.size)
		return FAIL(parser, "a %s without a name; write 'signature NAME'", type);
	code = copy_text(parser, rest, &name);
	return code ? code : begin_group(parser, type, name);
}

static int parse_structured(struct parser *parser, struct piece line, int indented)
{
	struct piece rest, word = first_word(line, &rest);
	int code;

	if (!indented)
		code = parse_keyword(parser, word, rest);
	else if (!parser->in_pattern)
		code = FAIL(parser, "a frame without a pattern; write 'pattern' above it");
	else
		code = add_frame(parser, line);
	if (!code)
		current_group(parser)->end = parser->next;
	return code;
}

static int parse_bare(struct parser *parser, struct piece line, int indented)
{
	struct piece rest, word = first_word(line, &rest);
	int code = 0;

	if (!indented && is_keyword(word))
		return FAIL(parser,
			    "'%.*s' among bare frames; indent it if it is a frame, or begin the file with "
			    "'pattern'",
			    shown(word), word.at);
	if (!parser->in_pattern)
		code = begin_pattern(parser);
	if (!code)
		code = add_frame(parser, line);
	if (!code)
		current_group(parser)->end = parser->next;
	return code;
}

/* A blank line parts the patterns of a bare list and means nothing elsewhere. */
static int parse_line(struct parser *parser, struct piece raw)
{
	struct piece rest, line = trim(raw);
	int indented = line.size && line.at != raw.at;

	if (memchr(raw.at, '\0', raw.size))
		return FAIL(parser, "a NUL byte, so this is not text; name a pattern file");
	if (!line.size)
		return parser->form == FORM_BARE ? end_pattern(parser) : 0;
	if (*line.at == '#')
		return 0;
	if (parser->form == FORM_UNKNOWN)
		parser->form = !indented && is_keyword(first_word(line, &rest)) ? FORM_STRUCTURED : FORM_BARE;
	return parser->form == FORM_BARE ? parse_bare(parser, line, indented)
					 : parse_structured(parser, line, indented);
}

static int parse_lines(struct parser *parser)
{
	int code = 0;

	if (parser->size >= 3 && memcmp(parser->text, "\xef\xbb\xbf", 3) == 0)
		parser->next = 3; /* the byte order mark that some editors put there */
	while (!code && parser->next < parser->size) {
		const char *at = parser->text + parser->next;
		size_t left = parser->size - parser->next;
		const char *end = memchr(at, '\n', left);
		struct piece line = { at, end ? (size_t)(end - at) : left };

		parser->start = parser->next;
		parser->next += line.size + (end ? 1 : 0);
		parser->line++;
		if (line.size > LODE_PATTERN_LINE_LIMIT)
			return FAIL(parser, "a line of more than %u MiB, so this is not a pattern file",
				    LODE_PATTERN_LINE_LIMIT >> 20);
		if (line.size && line.at[line.size - 1] == '\r')
			line.size--;
		code = parse_line(parser, line);
	}
	return code ? code : end_group(parser);
}

int lode_pattern_file_parse(struct lode_pattern_file *file, const char *name, const char *text, size_t size,
			    struct lode_frames *frames, struct lode_error *error)
{
	struct parser parser = { .file = file,
				 .frames = frames,
				 .error = error,
				 .name = name,
				 .text = text,
				 .size = size };
	int code;

	memset(file, 0, sizeof(*file));
	code = parse_lines(&parser);
	lode_free(parser.sequence);
	lode_buffer_release(&parser.unescaped);
	if (code)
		lode_pattern_file_release(file);
	return code;
}

/* Closes `input`. */
static int read_input(struct lode_pattern_file *file, struct lode_input *input, struct lode_frames *frames,
		      struct lode_error *error)
{
	const unsigned char *bytes;
	size_t size;
	int code = lode_input_whole(input, &bytes, &size, error);

	if (!code)
		code = lode_pattern_file_parse(file, lode_input_name(input), (const char *)bytes, size, frames,
					       error);
	lode_input_close(input);
	return code;
}

int lode_pattern_file_read(struct lode_pattern_file *file, const char *path, struct lode_frames *frames,
			   struct lode_error *error)
{
	struct lode_input *input;
	int code = lode_input_open(&input, path, error);

	memset(file, 0, sizeof(*file));
	return code < 0 ? code : read_input(file, input, frames, error);
}

int lode_pattern_file_read_own(struct lode_pattern_file *file, const char *path, struct lode_frames *frames,
			       struct lode_error *error)
{
	struct lode_input *input;
	int code = lode_input_open_plain(&input, path, O_NOFOLLOW, error);

	memset(file, 0, sizeof(*file));
	return code < 0 ? code : read_input(file, input, frames, error);
}

void lode_pattern_file_release(struct lode_pattern_file *file)
{
	lode_free(file->groups);
	lode_free(file->notes);
	lode_patterns_release(&file->patterns);
	lode_arena_release(&file->arena);
	memset(file, 0, sizeof(*file));
}
