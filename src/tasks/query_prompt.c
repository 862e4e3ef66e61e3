/*
 * The prompt of lode query: see query_prompt.h. Lines gather until they are a whole statement, with its `;`. A
 * line that begins with a point is for the prompt itself.
 */
#include "tasks/query_prompt.h"

#include <string.h>

struct prompt {
	struct lode_query_printing *printing;
	struct lode_work *work;
	struct lode_buffer text; /* of the statement so far */
	int code;                /* of the first that failed */
	int is_over;
};

static const char help[] = "Statements end with ';' and may have several lines. Ctrl-C stops one that runs.\n"
			   "  .tables         tables; 'SELECT * FROM tables;' has their columns\n"
			   "  .mode FORM      how results are written: table, csv, json, folded\n"
			   "  .quit           leave, as does Ctrl-D\n";

static const char *const modes[] = {
	[LODE_QUERY_TABLE] = "table",
	[LODE_QUERY_CSV] = "csv",
	[LODE_QUERY_JSON] = "json",
	[LODE_QUERY_FOLDED] = "folded",
};

static void show(struct prompt *prompt, const char *text)
{
	struct lode_buffer buffer = { 0 };

	lode_buffer_text(&buffer, text);
	lode_call_show(prompt->work->call, &buffer, NULL);
	lode_buffer_release(&buffer);
}

static void run(struct prompt *prompt, const char *sql)
{
	const struct lode_call *call = prompt->work->call;
	struct lode_error error = { "" };
	struct lode_output output;
	int code;

	lode_output_memory(&output);
	call->host->go_on(call->host);
	code = lode_query_print(prompt->printing, sql, &output, &error);
	lode_work_pause(prompt->work);
	if (!code)
		code = lode_call_show(call, &output.buffer, &error);
	if (code)
		lode_call_say(call, LODE_RED, "%s", error.text);
	if (code && !prompt->code)
		prompt->code = code;
	call->host->go_on(call->host);
	lode_output_abandon(&output);
}

static void set_mode(struct prompt *prompt, const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i], name) != 0)
			continue;
		prompt->printing->form = (enum lode_query_form)i;
		return;
	}
	show(prompt, "forms are table, csv, json and folded\n");
}

static void command(struct prompt *prompt, const char *line)
{
	if (!strcmp(line, ".quit") || !strcmp(line, ".exit"))
		prompt->is_over = 1;
	else if (!strcmp(line, ".tables"))
		run(prompt, "SELECT name, group_concat(column_name, ' ') AS columns FROM tables GROUP BY name");
	else if (!strncmp(line, ".mode ", 6))
		set_mode(prompt, line + 6);
	else
		show(prompt, help);
}

static int is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n;")];
}

static void handle_line(struct prompt *prompt, const char *line)
{
	if (!prompt->text.size && *line == '.') {
		command(prompt, line);
		return;
	}
	if (!prompt->text.size && is_blank(line))
		return;
	lode_buffer_text(&prompt->text, line);
	lode_buffer_byte(&prompt->text, '\n');
	lode_buffer_byte(&prompt->text, '\0');
	if (prompt->text.failed)
		return;
	prompt->text.size--;
	if (!lode_query_is_complete(prompt->text.bytes))
		return;
	run(prompt, prompt->text.bytes);
	lode_buffer_clear(&prompt->text);
}

/* What has no `;` at the end of a file is a statement, too. */
static void finish(struct prompt *prompt)
{
	lode_buffer_byte(&prompt->text, '\0');
	if (!prompt->text.failed && !is_blank(prompt->text.bytes))
		run(prompt, prompt->text.bytes);
}

int lode_query_prompt(struct lode_query_printing *printing, struct lode_work *work, struct lode_error *error)
{
	struct lode_host *host = work->call->host;
	struct prompt prompt = { .printing = printing, .work = work };
	int is_terminal = work->call->out.look.is_terminal;
	char *line;

	if (!host->ask)
		return lode_fail(error, LODE_USAGE,
				 "query: there is nobody to ask; give a statement instead of '-i'");
	if (is_terminal && !work->call->quiet)
		show(&prompt, "Ask in SQL; '.help' says more.\n");
	while (!prompt.is_over) {
		const struct lode_question question = { prompt.text.size ? "  ...> " : "lode> ", lode_query_word };

		line = host->ask(host, work->call, &question);
		if (!line)
			break;
		handle_line(&prompt, line);
		lode_free(line);
	}
	if (!prompt.is_over)
		finish(&prompt);
	if (prompt.text.failed)
		prompt.code = lode_fail_memory(error);
	lode_buffer_release(&prompt.text);
	return is_terminal ? 0 : prompt.code;
}
