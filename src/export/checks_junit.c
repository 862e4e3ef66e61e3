/* Checks as JUnit's XML: see checks_forms.h. */
#include "export/checks_forms.h"

#include "base/markup.h"
#include "base/safe_text.h"

/* Control characters, which XML cannot have, are escaped before. */
static void put_xml(struct lode_buffer *buffer, const char *text)
{
	struct lode_buffer safe = { 0 };

	lode_text_safe(&safe, text);
	lode_markup_text(buffer, safe.bytes, safe.size);
	buffer->failed |= safe.failed;
	lode_buffer_release(&safe);
}

static void put_message(struct lode_buffer *buffer, const struct lode_check *check)
{
	lode_buffer_print(buffer, "%s", lode_verdict_words(check->verdict));
	if (*check->measured)
		lode_buffer_print(buffer, ": %s", check->measured);
	if (*check->reason) {
		lode_buffer_text(buffer, "; ");
		put_xml(buffer, check->reason);
	}
}

static void put_case(const struct lode_checks *checks, const struct lode_check *check, struct lode_buffer *buffer)
{
	const char *element = lode_check_failed(checks, check)                             ? "failure"
			      : lode_check_unsure(checks, check) && !checks->unsure_passes ? "skipped"
											   : NULL;

	lode_buffer_text(buffer, "    <testcase classname=\"");
	put_xml(buffer, check->rule);
	lode_buffer_text(buffer, "\" name=\"");
	put_xml(buffer, check->subject);
	lode_buffer_text(buffer, "\" time=\"0\">");
	lode_buffer_text(buffer, element ? "<" : "<system-out>");
	if (element)
		lode_buffer_print(buffer, "%s message=\"", element);
	put_message(buffer, check);
	lode_buffer_text(buffer, element ? "\"/>" : "</system-out>");
	lode_buffer_text(buffer, "</testcase>\n");
}

void lode_checks_junit(const struct lode_checks *checks, struct lode_buffer *buffer)
{
	size_t failures = 0, skipped = 0;

	for (size_t i = 0; i < checks->count; i++) {
		failures += (size_t)lode_check_failed(checks, &checks->items[i]);
		skipped += (size_t)(lode_check_unsure(checks, &checks->items[i]) && !checks->unsure_passes);
	}
	lode_buffer_print(
		buffer,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n"
		"  <testsuite name=\"%s --gate\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
		checks->count, failures, skipped, checks->command, checks->count, failures, skipped);
	for (size_t i = 0; i < checks->count; i++)
		put_case(checks, &checks->items[i], buffer);
	lode_buffer_text(buffer, "    <system-out>");
	put_xml(buffer, checks->compared);
	lode_buffer_text(buffer, "</system-out>\n  </testsuite>\n</testsuites>\n");
}
