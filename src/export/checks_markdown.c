/*
 * Checks as Markdown: see checks_forms.h. Names of functions are code, in which nothing has a meaning but the backtick
 * and, in a table, the bar.
 */
#include "export/checks_forms.h"

#include "base/safe_text.h"

#include <string.h>

static void put_code_n(struct lode_buffer *buffer, const char *text, size_t length)
{
	struct lode_buffer safe = { 0 };

	lode_buffer_add(&safe, text, length);
	lode_text_escape(&safe, 0);
	lode_buffer_byte(buffer, '`');
	for (size_t i = 0; i < safe.size; i++) {
		if (safe.bytes[i] == '|')
			lode_buffer_byte(buffer, '\\');
		lode_buffer_byte(buffer, safe.bytes[i] == '`' ? '\'' : safe.bytes[i]);
	}
	lode_buffer_byte(buffer, '`');
	buffer->failed |= safe.failed;
	lode_buffer_release(&safe);
}

static void put_code(struct lode_buffer *buffer, const char *text)
{
	put_code_n(buffer, text, strlen(text));
}

static void put_reason(struct lode_buffer *buffer, const struct lode_check *check)
{
	if (!*check->reason)
		return;
	lode_buffer_text(buffer, "; ");
	if (check->named)
		put_code_n(buffer, check->reason, check->named);
	lode_buffer_text(buffer, check->reason + check->named);
}

static const char *sign_of(const struct lode_checks *checks, const struct lode_check *check)
{
	if (lode_check_failed(checks, check))
		return ":x:";
	return lode_check_unsure(checks, check) ? ":grey_question:" : ":white_check_mark:";
}

void lode_checks_markdown(const struct lode_checks *checks, struct lode_buffer *buffer)
{
	lode_buffer_print(buffer, "### Performance gate: %s\n\n", lode_checks_result(checks));
	lode_buffer_text(buffer, "| | rule | where | difference | |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < checks->count; i++) {
		const struct lode_check *check = &checks->items[i];

		lode_buffer_print(buffer, "| %s | ", sign_of(checks, check));
		put_code(buffer, check->rule);
		lode_buffer_text(buffer, " | ");
		put_code(buffer, check->subject);
		lode_buffer_print(buffer, " | %s | %s", check->measured, lode_verdict_words(check->verdict));
		put_reason(buffer, check);
		lode_buffer_text(buffer, " |\n");
	}
	lode_buffer_print(buffer, "\n%s.\n", checks->compared);
}
