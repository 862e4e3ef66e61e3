/* The rules of a gate, as people write them: see gate.h. */
#include "latency/gate.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More is no limit, but a slip. */
#define MAX_PERCENT 10000

const char *lode_gate_metric_name(unsigned metric)
{
	static const char *const names[] = { "total", "own", "all" };

	return metric < LODE_GATE_METRICS ? names[metric] : NULL;
}

const char *lode_gate_verdict_name(unsigned verdict)
{
	static const char *const names[] = { "within", "moved", "went-away", "unsure", "beyond" };

	return verdict < LODE_GATE_VERDICTS ? names[verdict] : NULL;
}

static int bad_rule(const char *text, struct lode_error *error)
{
	return lode_fail(
		error, LODE_USAGE,
		"'%s' is no rule for a gate; write 'total > 3%%', 'own > 5ms in FRAME' or 'all > 2%% in FRAME'",
		text);
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* `3%` or `5ms`. */
static int read_limit(struct lode_gate_rule *rule, const char *word, size_t length, struct lode_error *error)
{
	char copy[64], *end;
	uint64_t limit;
	int code;

	if (!length || length >= sizeof(copy))
		return bad_rule(rule->text, error);
	memcpy(copy, word, length);
	copy[length] = '\0';
	rule->share = -1;
	if (copy[length - 1] != '%') {
		code = lode_duration_parse_in(rule->text, copy, &limit, error);
		rule->limit = code ? 0 : (double)limit;
		return code;
	}
	rule->share = strtod(copy, &end) / 100;
	if (end != copy + length - 1 || !(copy[0] >= '0' && copy[0] <= '9') || !isfinite(rule->share) ||
	    rule->share > MAX_PERCENT / 100.0)
		return lode_fail(error, LODE_USAGE, "'%s': '%s' is no share; write a number such as '3%%'",
				 rule->text, copy);
	return 0;
}

int lode_gate_rule_parse(struct lode_gate_rule *rule, const char *text, struct lode_error *error)
{
	const char *rest = skip_blanks(text), *name;
	size_t length = strcspn(rest, " \t>");
	int code;

	*rule = (struct lode_gate_rule){ .text = text };
	while ((name = lode_gate_metric_name(rule->metric)) &&
	       (strlen(name) != length || memcmp(name, rest, length) != 0))
		rule->metric++;
	if (!name)
		return bad_rule(text, error);
	rest = skip_blanks(rest + length);
	if (*rest != '>')
		return bad_rule(text, error);
	rest = skip_blanks(rest + 1);
	length = strcspn(rest, " \t");
	code = read_limit(rule, rest, length, error);
	if (code)
		return code;
	rest = skip_blanks(rest + length);
	if (!*rest)
		return 0;
	if (strncmp(rest, "in", 2) != 0 || !strchr(" \t", rest[2]) || !*skip_blanks(rest + 2))
		return bad_rule(text, error);
	rule->frame = skip_blanks(rest + 2);
	if (rule->metric == LODE_GATE_TOTAL)
		return lode_fail(error, LODE_USAGE,
				 "'%s': total is of the whole run; of a function there is 'own' and 'all'", text);
	return 0;
}
