/* Symptom rules: see rules.h. */
#include "record/rules.h"

#include "base/units.h"

#include <string.h>

static const char *behind_spaces(const char *text)
{
	return text + strspn(text, " \t");
}

/* What follows the word `word` and spaces; NULL when `text` does not begin with it. */
static const char *behind_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(text, word, length) != 0 || !strchr(" \t>", text[length]))
		return NULL;
	return behind_spaces(text + length);
}

int lode_record_rule_parse(struct lode_record_rule *rule, const char *text, struct lode_error *error)
{
	const char *rest;

	*rule = (struct lode_record_rule){ .text = text };
	rest = behind_word(behind_spaces(text), "thread");
	if (rest && *rest) {
		rule->type = LODE_RULE_THREAD;
		rule->name = rest;
		if (strlen(rest) < LODE_RECORD_NAME)
			return 0;
		return lode_fail(error, LODE_USAGE, "'%s': names of threads have at most %d characters", text,
				 LODE_RECORD_NAME - 1);
	}
	rest = behind_word(behind_spaces(text), "run");
	if (rest && *rest == '>') {
		rule->type = LODE_RULE_RUN;
		return lode_duration_parse(behind_spaces(rest + 1), &rule->limit, error);
	}
	return lode_fail(error, LODE_USAGE,
			 "'%s' is no rule for a symptom; write 'thread NAME' or 'run > 2s'", text);
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
		const struct lode_record_life *life =
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
	uint32_t thread;

	if (!times->command || times->command_ended - times->command_began <= rule->limit)
		return 0;
	thread = lode_stream_thread(&builder->stream, times->command, times->command);
	if (thread == LODE_NONE ||
	    add_symptom(builder, rule, thread, times->command_began, times->command_ended) < 0)
		return LODE_SYSTEM;
	return 1;
}

int lode_record_rule_apply(const struct lode_record_rule *rule, struct lode_builder *builder,
			   const struct lode_record_times *times)
{
	return rule->type == LODE_RULE_THREAD ? apply_thread(rule, builder, times)
					      : apply_run(rule, builder, times);
}
