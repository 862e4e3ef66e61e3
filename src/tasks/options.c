/*
 * Options: reading a command line by tables. See options.h.
 *
 * A word is looked at once, from left to right; the state is the place in argv.
 * Every wrong usage ends in one sentence that quotes what was written and
 * suggests a correction.
 */
#include "tasks/options.h"

#include "base/memory.h"
#include "base/units.h"
#include "tasks/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option as it was found: its row, the settings it belongs to, how it was written. */
struct found {
	const struct lode_option *option;
	void *settings;
	char written[64];
};

struct reader {
	const struct lode_options_tables *tables;
	size_t argc;
	char **argv;
	size_t at; /* the next word of argv */
	struct lode_arguments *arguments;
	struct lode_error *error;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *reader, const char *format, ...)
{
	const char *command = reader->tables->command;
	const char *stop;
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* A question ends itself. */
	stop = text[0] && text[strlen(text) - 1] == '?' ? "" : ".";
	if (command)
		return lode_fail(reader->error, LODE_USAGE, "%s: %s%s See 'lode help %s'.", command, text, stop,
				 command);
	return lode_fail(reader->error, LODE_USAGE, "%s%s See 'lode help'.", text, stop);
}

static const struct lode_option *find_long(const struct lode_option *table, const char *name, size_t length)
{
	for (; table && table->name; table++)
		if (strlen(table->name) == length && !memcmp(table->name, name, length))
			return table;
	return NULL;
}

static const struct lode_option *find_letter(const struct lode_option *table, char letter)
{
	for (; table && table->name; table++)
		if (table->letter == letter || table->old_letter == letter)
			return table;
	return NULL;
}

static void try_names(struct lode_nearest *nearest, const struct lode_option *table)
{
	for (; table && table->name; table++)
		if (!table->hidden)
			lode_nearest_try(nearest, table->name);
}

static int refuse_unknown(struct reader *reader, const char *name, size_t length)
{
	struct lode_nearest nearest;
	char wrong[64];

	snprintf(wrong, sizeof(wrong), "%.*s", (int)length, name);
	nearest = lode_nearest(wrong);
	try_names(&nearest, reader->tables->own);
	try_names(&nearest, reader->tables->common);
	if (nearest.best)
		return refuse(reader, "unknown option '--%s'; did you mean '--%s'?", wrong, nearest.best);
	return refuse(reader, "unknown option '--%s'", wrong);
}

static int refuse_choice(struct reader *reader, const struct found *found, const char *value)
{
	struct lode_nearest nearest = lode_nearest(value);
	struct lode_buffer choices = { 0 };
	const char *choice, *known;
	int code;

	for (size_t i = 0; (choice = found->option->choice(i)); i++) {
		lode_nearest_try(&nearest, choice);
		lode_buffer_print(&choices, "%s%s", i ? ", " : "", choice);
	}
	lode_buffer_byte(&choices, '\0');
	known = choices.failed ? "" : choices.bytes;
	if (nearest.best)
		code = refuse(reader, "'%s' is not a value of '%s'; did you mean '%s'? It takes one of %s", value,
			      found->written, nearest.best, known);
	else
		code = refuse(reader, "'%s' is not a value of '%s'; it takes one of %s", value, found->written,
			      known);
	lode_buffer_release(&choices);
	return code;
}

static int store_choice(struct reader *reader, const struct found *found, const char *value, const char **field)
{
	const char *choice;

	for (size_t i = 0; (choice = found->option->choice(i)); i++) {
		if (strcmp(choice, value))
			continue;
		*field = choice;
		return 0;
	}
	return refuse_choice(reader, found, value);
}

static int store_number(struct reader *reader, const struct found *found, const char *value, uint64_t *field)
{
	const struct lode_option *option = found->option;
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno)
		return refuse(reader, "'%s' needs a whole number, not '%s'", found->written, value);
	if (number < option->least || (option->most && number > option->most)) {
		if (option->most)
			return refuse(reader, "'%s' needs a number from %llu to %llu, not %s", found->written,
				      (unsigned long long)option->least, (unsigned long long)option->most, value);
		return refuse(reader, "'%s' needs a number of at least %llu, not %s", found->written,
			      (unsigned long long)option->least, value);
	}
	*field = number;
	return 0;
}

static int store_duration(struct reader *reader, const struct found *found, const char *value, uint64_t *field)
{
	uint64_t duration;

	if (lode_duration_lacks_unit(value))
		return refuse(reader, "'%s': %s has no unit; write %ss for seconds or %sns for nanoseconds",
			      found->written, value, value, value);
	if (lode_duration_parse(value, &duration, NULL) < 0)
		return refuse(reader, "'%s' needs a duration such as 250us, 30ms or 1.5s, not '%s'",
			      found->written, value);
	if (duration < found->option->least)
		return refuse(reader, "'%s' needs a duration above 0, not '%s'", found->written, value);
	*field = duration;
	return 0;
}

static int store_list(struct reader *reader, const char *value, struct lode_option_list *list)
{
	if (LODE_GROW(list->items, list->capacity, list->count + 2) < 0)
		return lode_fail_memory(reader->error);
	list->items[list->count++] = value;
	list->items[list->count] = NULL;
	return 0;
}

/* The text that an option with a prefix stands for. */
static int store_prefixed(struct reader *reader, const struct found *found, const char *value,
			  struct lode_option_list *list)
{
	char *text;

	if (!*value)
		return refuse(reader, "'%s' needs a value that is not empty", found->written);
	text = lode_format("%s%s", found->option->prefix, value);
	if (!text || LODE_APPEND(list->made, list->made_count, list->made_capacity, text) < 0) {
		lode_free(text);
		return lode_fail_memory(reader->error);
	}
	return store_list(reader, text, list);
}

static int store(struct reader *reader, const struct found *found, const char *value)
{
	void *field = (char *)found->settings + found->option->offset;

	switch (found->option->kind) {
	case LODE_OPTION_FLAG:
		*(int *)field = 1;
		return 0;
	case LODE_OPTION_TEXT:
		if (!*value)
			return refuse(reader, "'%s' needs a value that is not empty", found->written);
		*(const char **)field = value;
		return 0;
	case LODE_OPTION_NUMBER:
		return store_number(reader, found, value, field);
	case LODE_OPTION_DURATION:
		return store_duration(reader, found, value, field);
	case LODE_OPTION_CHOICE:
		return store_choice(reader, found, value, field);
	case LODE_OPTION_LIST:
		return found->option->prefix ? store_prefixed(reader, found, value, field)
					     : store_list(reader, value, field);
	}
	return 0;
}

/* `value` is the rest of the same word, or NULL: then the next word is the value. */
static int consume_value(struct reader *reader, const struct found *found, const char *value)
{
	if (found->option->kind == LODE_OPTION_FLAG) {
		if (value)
			return refuse(reader, "'%s' takes no value", found->written);
		return store(reader, found, NULL);
	}
	if (!value && reader->at < reader->argc)
		value = reader->argv[reader->at++];
	if (!value)
		return refuse(reader, "'%s' needs a value: %s", found->written, found->option->argument);
	return store(reader, found, value);
}

static int read_long(struct reader *reader, const char *name)
{
	const struct lode_options_tables *tables = reader->tables;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	struct found found = { find_long(tables->own, name, length), tables->settings, "" };

	if (!found.option) {
		found.option = find_long(tables->common, name, length);
		found.settings = tables->shared;
	}
	if (!found.option)
		return refuse_unknown(reader, name, length);
	snprintf(found.written, sizeof(found.written), "--%s", found.option->name);
	return consume_value(reader, &found, value);
}

/* A word of letters: flags, and perhaps one with a value that takes the rest. */
static int read_letters(struct reader *reader, const char *letters)
{
	const struct lode_options_tables *tables = reader->tables;
	int code = 0;

	while (*letters && !code) {
		struct found found = { find_letter(tables->own, *letters), tables->settings, "" };

		if (!found.option) {
			found.option = find_letter(tables->common, *letters);
			found.settings = tables->shared;
		}
		if (!found.option)
			return refuse(reader, "unknown option '-%c'", *letters);
		snprintf(found.written, sizeof(found.written), "-%c", *letters);
		letters++;
		if (found.option->kind != LODE_OPTION_FLAG)
			return consume_value(reader, &found, *letters ? letters : NULL);
		code = store(reader, &found, NULL);
	}
	return code;
}

static void consume_operand(struct reader *reader, char *word)
{
	reader->arguments->operands[reader->arguments->operand_count++] = word;
}

static void consume_the_rest(struct reader *reader)
{
	while (reader->at < reader->argc)
		consume_operand(reader, reader->argv[reader->at++]);
}

static int read_word(struct reader *reader)
{
	char *word = reader->argv[reader->at++];

	if (!strcmp(word, "--")) {
		consume_the_rest(reader);
		return 0;
	}
	if (word[0] == '-' && word[1] == '-')
		return read_long(reader, word + 2);
	if (word[0] == '-' && word[1])
		return read_letters(reader, word + 1);
	consume_operand(reader, word);
	if (reader->tables->leading)
		consume_the_rest(reader);
	return 0;
}

int lode_options_read(const struct lode_options_tables *tables, size_t argc, char **argv,
		      struct lode_arguments *arguments, struct lode_error *error)
{
	struct reader reader = { tables, argc, argv, 0, arguments, error };
	int code = 0;

	memset(arguments, 0, sizeof(*arguments));
	arguments->operands = lode_calloc(argc + 1, sizeof(*arguments->operands));
	if (!arguments->operands)
		return lode_fail_memory(error);
	while (reader.at < argc && !code)
		code = read_word(&reader);
	return code;
}

/* ---- contradictions ---- */

static int was_given(const struct lode_option *option, const void *settings)
{
	const void *field = (const char *)settings + option->offset;

	switch (option->kind) {
	case LODE_OPTION_FLAG:
		return *(const int *)field;
	case LODE_OPTION_TEXT:
	case LODE_OPTION_CHOICE:
		return *(const char *const *)field != NULL;
	case LODE_OPTION_NUMBER:
	case LODE_OPTION_DURATION:
		return *(const uint64_t *)field != 0;
	case LODE_OPTION_LIST:
		return ((const struct lode_option_list *)field)->count != 0;
	}
	return 0;
}

int lode_options_contradict(const char *command, const struct lode_option *table, const void *settings,
			    struct lode_error *error)
{
	/* In every command that has both; but for one of them both make sense. */
	static const struct {
		const char *one, *other, *but;
	} pairs[] = {
		{ "pid", "all", "hunt" },  /* these processes, all lines of the answer */
		{ "top", "all", "scope" }, /* some symptoms, all lines of each */
		{ "frequency", "no-samples", "" },
		{ "inlines", "no-symbols", "" },
		{ "fold-recursion", "keep-recursion", "" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct lode_option *one = find_long(table, pairs[i].one, strlen(pairs[i].one));
		const struct lode_option *other = find_long(table, pairs[i].other, strlen(pairs[i].other));

		if (one && other && strcmp(command, pairs[i].but) != 0 && was_given(one, settings) &&
		    was_given(other, settings))
			return lode_fail(error, LODE_USAGE,
					 "%s: '--%s' and '--%s' contradict each other; leave one of them out. See "
					 "'lode help %s'.",
					 command, one->name, other->name, command);
	}
	return 0;
}

unsigned lode_option_choice(const char *value, const char *(*choice)(size_t i))
{
	unsigned i = 0;

	while (value && choice(i) && strcmp(choice(i), value))
		i++;
	return i;
}

void lode_options_release(const struct lode_option *table, void *settings)
{
	for (; table && table->name; table++) {
		struct lode_option_list *list;

		if (table->kind != LODE_OPTION_LIST)
			continue;
		list = (void *)((char *)settings + table->offset);
		lode_free(list->items);
		for (size_t i = 0; i < list->made_count; i++)
			lode_free(list->made[i]);
		lode_free(list->made);
		memset(list, 0, sizeof(*list));
	}
}

void lode_arguments_release(struct lode_arguments *arguments)
{
	lode_free(arguments->operands);
	memset(arguments, 0, sizeof(*arguments));
}

/* ---- help ---- */

/* Column where the help of an option begins; longer options push it to the next line. */
#define HELP_COLUMN 28
/* Where the meanings of choices begin. */
#define MEANING_COLUMN 15
#define HELP_WIDTH     80

static void add_spaces(struct lode_buffer *buffer, size_t count)
{
	while (count--)
		lode_buffer_byte(buffer, ' ');
}

/* Words of a paragraph, every line but the first begun at `column`; ends at `end`. */
static void add_wrapped(struct lode_buffer *buffer, const char *text, const char *end, size_t column)
{
	size_t used = column;

	while (text < end) {
		size_t word = strcspn(text, " \n");

		if (used > column && used + 1 + word > HELP_WIDTH) {
			lode_buffer_byte(buffer, '\n');
			add_spaces(buffer, column);
			used = column;
		} else if (used > column) {
			lode_buffer_byte(buffer, ' ');
			used++;
		}
		lode_buffer_add(buffer, text, word);
		used += word;
		text += word + strspn(text + word, " \n");
	}
	lode_buffer_byte(buffer, '\n');
}

void lode_help_wrap(const char *text, struct lode_buffer *buffer)
{
	const char *end;

	for (;;) {
		end = strstr(text, "\n\n");
		add_wrapped(buffer, text, end ? end : text + strlen(text), 0);
		if (!end)
			return;
		lode_buffer_byte(buffer, '\n');
		text = end + 2;
	}
}

static void add_choices(const struct lode_option *option, const char *between, struct lode_buffer *buffer)
{
	const char *choice;

	for (size_t i = 0; (choice = option->choice(i)); i++)
		lode_buffer_print(buffer, "%s%s", i ? between : "", choice);
}

static void add_option_help(const struct lode_option *option, struct lode_buffer *buffer)
{
	struct lode_buffer text = { 0 };
	size_t start = buffer->size;
	size_t used;

	if (option->letter)
		lode_buffer_print(buffer, "  -%c, --%s", option->letter, option->name);
	else
		lode_buffer_print(buffer, "      --%s", option->name);
	if (option->argument)
		lode_buffer_print(buffer, " %s", option->argument);
	used = buffer->size - start;
	if (used + 2 > HELP_COLUMN) {
		lode_buffer_byte(buffer, '\n');
		used = 0;
	}
	add_spaces(buffer, HELP_COLUMN - used);
	lode_buffer_text(&text, option->help);
	if (option->meaning) {
		lode_buffer_text(&text, "; see below");
	} else if (option->kind == LODE_OPTION_CHOICE) {
		lode_buffer_text(&text, ": ");
		add_choices(option, ", ", &text);
	}
	lode_buffer_byte(&text, '\0');
	if (text.failed)
		buffer->failed = 1;
	else
		add_wrapped(buffer, text.bytes, text.bytes + text.size - 1, HELP_COLUMN);
	lode_buffer_release(&text);
}

void lode_options_help(const struct lode_option *table, struct lode_buffer *buffer)
{
	for (; table && table->name; table++)
		if (!table->hidden)
			add_option_help(table, buffer);
}

void lode_options_meanings(const struct lode_option *table, struct lode_buffer *buffer)
{
	for (; table && table->name; table++) {
		if (table->hidden || !table->meaning)
			continue;
		lode_buffer_print(buffer, "\n%c%ss:\n", toupper((unsigned char)table->name[0]), table->name + 1);
		for (size_t i = 0; table->choice(i); i++) {
			const char *meaning = table->meaning(i);

			lode_buffer_print(buffer, "  %-*s ", MEANING_COLUMN - 3, table->choice(i));
			add_wrapped(buffer, meaning, meaning + strlen(meaning), MEANING_COLUMN);
		}
	}
}

static void add_listing(const struct lode_option *option, struct lode_buffer *buffer)
{
	lode_buffer_byte(buffer, '\t');
	if (option->kind == LODE_OPTION_CHOICE)
		add_choices(option, "|", buffer);
	else if (option->argument)
		lode_buffer_text(buffer, option->argument);
	lode_buffer_print(buffer, "\t%s\n", option->help);
}

void lode_options_list(const struct lode_option *table, struct lode_buffer *buffer)
{
	for (; table && table->name; table++) {
		if (table->hidden)
			continue;
		lode_buffer_print(buffer, "--%s", table->name);
		add_listing(table, buffer);
		if (!table->letter)
			continue;
		lode_buffer_print(buffer, "-%c", table->letter);
		add_listing(table, buffer);
	}
}
