/* Checks of a gate as text: see checks_text.h. */
#include "text/checks_text.h"

#include "base/safe_text.h"

#include <string.h>

static enum lode_style style_of(const struct lode_checks *checks, const struct lode_check *check)
{
	if (lode_check_failed(checks, check))
		return LODE_RED;
	return lode_check_unsure(checks, check) ? LODE_YELLOW : LODE_GREEN;
}

static void put_check(const struct lode_checks *checks, const struct lode_check *check,
		      const struct lode_look *look, struct lode_buffer *buffer)
{
	int of_run = !strcmp(check->subject, "the whole run");

	lode_buffer_print(buffer, "          %s%-10s%s", lode_style(look, style_of(checks, check)),
			  lode_gate_verdict_name(check->verdict), lode_style(look, LODE_PLAIN));
	lode_text_safe(buffer, check->rule);
	lode_buffer_text(buffer, ":");
	if (!of_run) {
		lode_buffer_byte(buffer, ' ');
		lode_text_safe(buffer, check->subject);
	}
	if (*check->measured)
		lode_buffer_print(buffer, " %s", check->measured);
	if (*check->reason)
		lode_buffer_print(buffer, "; %s", check->reason);
	lode_buffer_byte(buffer, '\n');
}

void lode_checks_lines(const struct lode_checks *checks, const struct lode_look *look, struct lode_buffer *buffer)
{
	lode_buffer_print(buffer, "gate      %s%s%s; %s\n", lode_style(look, LODE_BOLD),
			  lode_checks_result(checks), lode_style(look, LODE_PLAIN), checks->compared);
	for (size_t i = 0; i < checks->count; i++)
		put_check(checks, &checks->items[i], look, buffer);
}
