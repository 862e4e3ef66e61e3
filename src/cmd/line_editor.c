/*
 * Asking for lines: see line_editor.h. History is kept in ~/.lode_history, which only its owner can read: statements
 * may name what others should not know.
 */
#include "cmd/line_editor.h"

#include "base/memory.h"
#include "base/shared_library.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef LODE_EDIT_LIBRARY
#include <histedit.h>
#endif

#define MAX_HISTORY 1000
#define MAX_MATCHES 64

#ifdef LODE_EDIT_LIBRARY
struct edit_library {
	EditLine *(*init)(const char *, FILE *, FILE *, FILE *);
	int (*set)(EditLine *, int, ...);
	const char *(*gets)(EditLine *, int *);
	const LineInfo *(*line)(EditLine *);
	int (*insert)(EditLine *, const char *);
	History *(*history_init)(void);
	int (*history)(History *, HistEvent *, int, ...);
};
#endif

struct lode_line_editor {
	const struct lode_question *question;
#ifdef LODE_EDIT_LIBRARY
	struct edit_library library;
	EditLine *line;
	History *history;
	char *file; /* of the history; NULL: it is not kept */
#endif
};

/* ---- without a terminal ---- */

static char *read_plain(void)
{
	char *line = NULL, *copy;
	size_t size = 0;
	ssize_t length = getline(&line, &size, stdin);

	if (length > 0 && line[length - 1] == '\n')
		line[--length] = '\0';
	copy = length < 0 ? NULL : lode_strdup(line);
	free(line); /* from getline */
	return copy;
}

#ifdef LODE_EDIT_LIBRARY
/* The one that libedit calls back for: it hands over only its own. */
static struct lode_line_editor *asking;

/* ---- completion ---- */

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Words that begin with `length` characters of `start`; each once. */
static size_t find_matches(const struct lode_question *question, const char *start, size_t length,
			   const char *matches[MAX_MATCHES])
{
	const char *word;
	size_t count = 0;

	for (size_t i = 0; count < MAX_MATCHES && (word = question->word(i)); i++) {
		size_t k = 0;

		if (strncasecmp(word, start, length) != 0)
			continue;
		while (k < count && strcmp(matches[k], word) != 0)
			k++;
		if (k == count)
			matches[count++] = word;
	}
	return count;
}

/* How many characters all matches have in common. */
static size_t common_length(const char *const *matches, size_t count)
{
	size_t length = strlen(matches[0]);

	for (size_t i = 1; i < count; i++) {
		size_t k = 0;

		while (k < length && tolower((unsigned char)matches[i][k]) == tolower((unsigned char)matches[0][k]))
			k++;
		length = k;
	}
	return length;
}

static unsigned char complete(EditLine *line, int key)
{
	struct lode_line_editor *editor = asking;
	const LineInfo *info = editor->library.line(line);
	const char *matches[MAX_MATCHES], *start = info->cursor;
	char rest[256];
	size_t count, length, common;

	(void)key;
	while (start > info->buffer && is_word(start[-1]))
		start--;
	length = (size_t)(info->cursor - start);
	count = length ? find_matches(editor->question, start, length, matches) : 0;
	if (!count)
		return CC_ERROR;
	common = common_length(matches, count);
	if (common > length && common - length < sizeof(rest)) {
		memcpy(rest, matches[0] + length, common - length);
		rest[common - length] = '\0';
		return editor->library.insert(line, rest) < 0 ? CC_ERROR : CC_REFRESH;
	}
	if (count == 1)
		return CC_ERROR;
	printf("\n");
	for (size_t i = 0; i < count; i++)
		printf("%s  ", matches[i]);
	printf("\n");
	fflush(stdout);
	return CC_REDISPLAY;
}

/* ---- on a terminal ---- */

static char *prompt(EditLine *line)
{
	static char text[64];

	(void)line;
	snprintf(text, sizeof(text), "%s", asking->question->prompt);
	return text;
}

static int load(struct edit_library *library)
{
	const struct lode_library_function functions[] = {
		{ "el_init", &library->init },        { "el_set", &library->set },
		{ "el_gets", &library->gets },        { "el_line", &library->line },
		{ "el_insertstr", &library->insert }, { "history_init", &library->history_init },
		{ "history", &library->history },     { NULL, NULL },
	};

	return lode_library_load(LODE_EDIT_LIBRARY, functions, NULL);
}

static void load_history(struct lode_line_editor *editor)
{
	const char *home = getenv("HOME");
	HistEvent event;

	editor->history = editor->library.history_init();
	if (!editor->history)
		return;
	editor->library.history(editor->history, &event, H_SETSIZE, MAX_HISTORY);
	editor->library.history(editor->history, &event, H_SETUNIQUE, 1);
	editor->file = home && *home ? lode_format("%s/.lode_history", home) : NULL;
	if (editor->file)
		editor->library.history(editor->history, &event, H_LOAD, editor->file);
}

/* Without libedit lines are read as they are. */
static void open_terminal(struct lode_line_editor *editor)
{
	struct edit_library *library = &editor->library;

	if (load(library) < 0 || !(editor->line = library->init("lode", stdin, stdout, stderr)))
		return;
	load_history(editor);
	library->set(editor->line, EL_PROMPT, prompt);
	library->set(editor->line, EL_EDITOR, "emacs");
	if (editor->history)
		library->set(editor->line, EL_HIST, library->history, editor->history);
	library->set(editor->line, EL_ADDFN, "lode-complete", "complete names", complete);
	library->set(editor->line, EL_BIND, "^I", "lode-complete", NULL);
}

static void remember(struct lode_line_editor *editor, const char *line)
{
	HistEvent event;
	mode_t mask;

	if (!editor->history || !line[strspn(line, " \t\n")])
		return;
	editor->library.history(editor->history, &event, H_ENTER, line);
	if (!editor->file)
		return;
	mask = umask(077);
	editor->library.history(editor->history, &event, H_SAVE, editor->file);
	umask(mask);
}

static char *edit(struct lode_line_editor *editor)
{
	const char *line;
	int length = 0;

	asking = editor;
	line = editor->library.gets(editor->line, &length);
	if (!line || length <= 0)
		return NULL;
	remember(editor, line);
	return lode_strndup(line, (size_t)length - (line[length - 1] == '\n'));
}
#endif

char *lode_line_editor_ask(struct lode_line_editor **editor, const struct lode_question *question)
{
	int is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);

	if (!*editor) {
		*editor = lode_calloc(1, sizeof(**editor));
		if (!*editor)
			return NULL;
#ifdef LODE_EDIT_LIBRARY
		if (is_terminal)
			open_terminal(*editor);
#endif
	}
	(*editor)->question = question;
#ifdef LODE_EDIT_LIBRARY
	if ((*editor)->line)
		return edit(*editor);
#endif
	if (is_terminal) {
		printf("%s", question->prompt);
		fflush(stdout);
	}
	return read_plain();
}
