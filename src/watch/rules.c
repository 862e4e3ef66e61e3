/* Rules: see rules.h. */
#include "watch/rules.h"

#include "base/memory.h"
#include "base/starts_with.h"
#include "base/units.h"

#include <string.h>

static const char *behind_spaces(const char *text)
{
	return text + strspn(text, " \t");
}

/* The length of `text` up to `end` without the spaces there. */
static size_t trimmed(const char *text, const char *end)
{
	while (end > text && strchr(" \t", end[-1]))
		end--;
	return (size_t)(end - text);
}

/* Takes the word `word` off the end of a text; false when there is another. */
static int strip_last_word(const char *text, size_t *length, const char *word)
{
	size_t size = strlen(word);

	if (*length < size || memcmp(text + *length - size, word, size) != 0 ||
	    (*length > size && !strchr(" \t", text[*length - size - 1])))
		return 0;
	*length = trimmed(text, text + *length - size);
	return 1;
}

static int check_name(const struct lode_record_rule *rule, struct lode_error *error)
{
	if (rule->length < LODE_THREAD_NAME)
		return 0;
	return lode_fail(error, LODE_USAGE, "'%s': names of threads have at most %d characters", rule->text,
			 LODE_THREAD_NAME - 1);
}

static int refuse(const char *text, int limits_only, struct lode_error *error)
{
	return lode_fail(error, LODE_USAGE,
			 "'%s' is not a rule; write %s'thread NAME wait > 50ms', 'thread NAME queue > 10ms', "
			 "'request of NAME > 10ms', 'function BIN:FUNC > 200ms' or 'mark NAME > 100ms'",
			 text, limits_only ? "" : "'thread NAME', 'run > 2s', ");
}

/* `request`, `request of NAME`. */
static int read_request(struct lode_record_rule *rule, const char *head, size_t length)
{
	const char *rest = lode_behind_word(head, "request"), *name;

	if (length == strlen("request") && !memcmp(head, "request", length)) {
		rule->type = LODE_RULE_REQUEST;
		return 1;
	}
	name = rest ? lode_behind_word(rest, "of") : NULL;
	if (!name || name >= head + length)
		return 0;
	rule->type = LODE_RULE_REQUEST;
	rule->name = name;
	rule->length = length - (size_t)(name - head);
	return 1;
}

/* `head`, of `length`, comes before the limit: what it is about. False: nothing that is known. */
static int read_subject(struct lode_record_rule *rule, const char *head, size_t length)
{
	const char *rest = lode_behind_word(head, "thread"), *colon;
	size_t left = rest ? length - (size_t)(rest - head) : length;
	int wait = strip_last_word(rest ? rest : head, &left, "wait");

	if (wait || strip_last_word(rest ? rest : head, &left, "queue")) {
		rule->type = wait ? LODE_RULE_WAIT : LODE_RULE_QUEUE;
		rule->name = rest;
		rule->length = rest ? left : 0;
		return rest ? left > 0 : left == 0;
	}
	if (read_request(rule, head, length))
		return 1;
	rest = lode_behind_word(head, "mark");
	if (rest && rest < head + length) {
		rule->type = LODE_RULE_MARK;
		rule->name = rest;
		rule->length = length - (size_t)(rest - head);
		return 1;
	}
	rest = lode_behind_word(head, "function");
	rest = rest ? rest : head;
	colon = memchr(rest, ':', (size_t)(head + length - rest));
	if (!colon || colon == rest || colon + 1 == head + length)
		return 0;
	rule->type = LODE_RULE_FUNCTION;
	rule->binary = rest;
	rule->binary_length = (size_t)(colon - rest);
	rule->name = colon + 1;
	rule->length = (size_t)(head + length - rule->name);
	return 1;
}

/* A rule with a limit; false: it is none. */
static int read_limit(struct lode_record_rule *rule, const char *text, struct lode_error *error)
{
	const char *head = behind_spaces(text), *sign = strrchr(head, '>');
	size_t length = sign ? trimmed(head, sign) : 0;

	if (!sign)
		return 0;
	if (length == 3 && !memcmp(head, "run", 3))
		rule->type = LODE_RULE_RUN;
	else if (!read_subject(rule, head, length))
		return 0;
	return lode_duration_parse_in(text, behind_spaces(sign + 1), &rule->limit, error) < 0 ? LODE_USAGE : 1;
}

static int parse_rule(struct lode_record_rule *rule, const char *text, int limits_only, struct lode_error *error)
{
	const char *rest = lode_behind_word(behind_spaces(text), "thread");
	int read;

	*rule = (struct lode_record_rule){ .text = text };
	read = read_limit(rule, text, error);
	if (read < 0)
		return read;
	if (!read && !(rest && *rest))
		return refuse(text, limits_only, error);
	if (!read) {
		rule->type = LODE_RULE_THREAD;
		rule->name = rest;
		rule->length = strlen(rest);
	}
	return rule->type <= LODE_RULE_QUEUE || rule->type == LODE_RULE_REQUEST ? check_name(rule, error) : 0;
}

int lode_record_rule_parse(struct lode_record_rule *rule, const char *text, struct lode_error *error)
{
	return parse_rule(rule, text, 0, error);
}

int lode_record_rule_is_limit(const struct lode_record_rule *rule)
{
	return rule->type != LODE_RULE_THREAD && rule->type != LODE_RULE_RUN;
}

uint64_t lode_record_rules_longest(const struct lode_record_rules *rules)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < rules->count; i++)
		longest = rules->rules[i].limit > longest ? rules->rules[i].limit : longest;
	return longest;
}

struct lode_record_limit lode_record_rule_limit(const struct lode_record_rule *rule)
{
	struct lode_record_limit limit = { .limit = rule->limit };

	switch (rule->type) {
	case LODE_RULE_WAIT:
		limit.type = LODE_LIMIT_WAIT;
		break;
	case LODE_RULE_QUEUE:
		limit.type = LODE_LIMIT_QUEUE;
		break;
	case LODE_RULE_REQUEST:
		limit.type = LODE_LIMIT_REQUEST;
		break;
	case LODE_RULE_FUNCTION:
	case LODE_RULE_MARK:
		limit.type = LODE_LIMIT_SPAN;
		return limit;
	default:
		return limit;
	}
	limit.any = !rule->name;
	if (rule->name)
		memcpy(limit.name, rule->name, rule->length);
	return limit;
}

int lode_record_rules_parse(struct lode_record_rules *rules, const char *const *texts, size_t count,
			    int limits_only, struct lode_error *error)
{
	if (count > LODE_RECORD_LIMITS)
		return lode_fail(error, LODE_USAGE, "%zu rules were given; at most %d can be", count,
				 LODE_RECORD_LIMITS);
	rules->rules = lode_calloc(count + 1, sizeof(*rules->rules));
	rules->limits = lode_calloc(count + 1, sizeof(*rules->limits));
	if (!rules->rules || !rules->limits)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		int code = parse_rule(&rules->rules[i], texts[i], limits_only, error);

		if (code < 0)
			return code;
		rules->rules[i].number = (uint32_t)i;
		rules->limits[i] = lode_record_rule_limit(&rules->rules[i]);
	}
	rules->count = count;
	return 0;
}

void lode_record_rules_release(struct lode_record_rules *rules)
{
	lode_free(rules->rules);
	lode_free(rules->limits);
	*rules = (struct lode_record_rules){ 0 };
}

static int add_symptom(struct lode_builder *builder, const struct lode_record_rule *rule, uint32_t thread,
		       uint64_t t0, uint64_t t1)
{
	struct lode_symptom symptom = { .thread = thread, .t0 = t0, .t1 = t1 };

	symptom.name = lode_strings_add(&builder->dictionary.frames.strings, rule->text, strlen(rule->text));
	if (symptom.name == LODE_NONE || lode_stream_add_symptom(&builder->stream, &symptom) < 0)
		return LODE_SYSTEM;
	return 0;
}

static int apply_thread(const struct lode_record_rule *rule, struct lode_builder *builder,
			const struct lode_record_times *times)
{
	int found = 0;

	for (size_t i = 0; i < builder->stream.thread_count; i++) {
		const struct lode_thread *thread = &builder->stream.threads[i];
		const struct lode_thread_lifetime *life =
			lode_processes_life(&builder->processes, thread->pid, thread->tid);
		uint64_t t0, t1;

		if (!life)
			return LODE_SYSTEM;
		if (strcmp(life->name, rule->name) != 0)
			continue;
		t0 = life->born > times->began ? life->born : times->began;
		t1 = life->died && life->died < times->ended ? life->died : times->ended;
		if (add_symptom(builder, rule, (uint32_t)i, t0, t1) < 0)
			return LODE_SYSTEM;
		found++;
	}
	return found;
}

static int apply_run(const struct lode_record_rule *rule, struct lode_builder *builder,
		     const struct lode_record_times *times)
{
	const struct lode_thread_lifetime *life;
	uint64_t t1 = times->command_ended;
	uint32_t thread;

	if (!times->command)
		return 0;
	/* It takes a moment until a process that has ended is noticed. */
	life = lode_processes_life(&builder->processes, times->command, times->command);
	if (life && life->died > times->command_began && life->died < t1)
		t1 = life->died;
	if (t1 - times->command_began <= rule->limit)
		return 0;
	thread = lode_stream_thread(&builder->stream, times->command, times->command);
	if (thread == LODE_NONE || add_symptom(builder, rule, thread, times->command_began, t1) < 0)
		return LODE_SYSTEM;
	return 1;
}

/* What the kernel sent. */
static int apply_limit(const struct lode_record_rule *rule, struct lode_builder *builder)
{
	int found = 0;

	for (size_t i = 0; i < builder->fired_count; i++) {
		const struct lode_limit_exceeded *fired = &builder->fired[i];
		uint32_t thread;

		if (!(fired->limits >> rule->number & 1))
			continue;
		thread = lode_stream_thread(&builder->stream, fired->pid, fired->tid);
		if (thread == LODE_NONE || add_symptom(builder, rule, thread, fired->t0, fired->t1) < 0)
			return LODE_SYSTEM;
		found++;
	}
	return found;
}

int lode_record_rule_apply(const struct lode_record_rule *rule, struct lode_builder *builder,
			   const struct lode_record_times *times)
{
	switch (rule->type) {
	case LODE_RULE_THREAD:
		return apply_thread(rule, builder, times);
	case LODE_RULE_RUN:
		return apply_run(rule, builder, times);
	default:
		return apply_limit(rule, builder);
	}
}
