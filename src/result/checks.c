/* Checks of a gate in words: see checks.h. */
#include "result/checks.h"

#include "base/memory.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

const char *lode_verdict_words(enum lode_gate_verdict verdict)
{
	static const char *const words[] = {
		[LODE_GATE_WITHIN] = "surely not beyond the limit",
		[LODE_GATE_MOVED] = "moved from another function",
		[LODE_GATE_WENT_AWAY] = "went away",
		[LODE_GATE_UNSURE] = "unsure",
		[LODE_GATE_BEYOND] = "surely beyond the limit",
	};

	return verdict < LODE_GATE_VERDICTS ? words[verdict] : "";
}

int lode_checks_code(const struct lode_checks *checks)
{
	if (checks->verdict == LODE_GATE_BEYOND || (checks->verdict == LODE_GATE_UNSURE && checks->unsure_fails))
		return LODE_FOUND;
	return checks->verdict == LODE_GATE_UNSURE && !checks->unsure_passes ? LODE_UNSURE : LODE_OK;
}

const char *lode_checks_result(const struct lode_checks *checks)
{
	int code = lode_checks_code(checks);

	return code == LODE_FOUND ? "failed" : code == LODE_UNSURE ? "unsure" : "passed";
}

int lode_check_failed(const struct lode_checks *checks, const struct lode_check *check)
{
	return check->verdict == LODE_GATE_BEYOND || (check->verdict == LODE_GATE_UNSURE && checks->unsure_fails);
}

int lode_check_unsure(const struct lode_checks *checks, const struct lode_check *check)
{
	return check->verdict == LODE_GATE_UNSURE && !checks->unsure_fails;
}

struct lode_check *lode_checks_add(struct lode_checks *checks, const char *rule, enum lode_gate_verdict verdict)
{
	if (LODE_GROW(checks->items, checks->capacity, checks->count + 1) < 0) {
		checks->failed = 1;
		return NULL;
	}
	checks->items[checks->count] = (struct lode_check){ .rule = rule, .verdict = verdict };
	return &checks->items[checks->count++];
}

char *lode_checks_text(struct lode_checks *checks, struct lode_buffer *buffer)
{
	char *text;

	lode_buffer_byte(buffer, '\0');
	text = buffer->failed ? NULL : lode_strdup(buffer->bytes);
	lode_buffer_release(buffer);
	if (!text)
		checks->failed = 1;
	return text;
}

void lode_checks_release(struct lode_checks *checks)
{
	for (size_t i = 0; i < checks->count; i++) {
		lode_free(checks->items[i].subject);
		lode_free(checks->items[i].module);
		lode_free(checks->items[i].measured);
		lode_free(checks->items[i].reason);
	}
	lode_free(checks->items);
	lode_free(checks->compared);
	memset(checks, 0, sizeof(*checks));
}

void lode_signed_duration(double time, struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	lode_duration_text((uint64_t)fmin(fabs(time) + 0.5, 9e18), text);
	lode_buffer_print(buffer, "%c%s", time < 0 ? '-' : '+', text);
}

void lode_signed_percent(double share, struct lode_buffer *buffer)
{
	double percent = fabs(100 * share);

	lode_buffer_print(buffer, "%c%.*f%%", share < 0 ? '-' : '+',
			  percent < 0.995  ? 2
			  : percent < 9.95 ? 1
					   : 0,
			  percent);
}
