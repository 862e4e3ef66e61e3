/* The options of `lode watch`: see watch_session.h. */
#include "base/units.h"
#include "tasks/attributes.h"
#include "tasks/live/record_settings.h"
#include "tasks/live/watch_session.h"

#include <stdio.h>
#include <sys/utsname.h>

#define DEFAULT_LAST     10000000000u
#define DEFAULT_MEMORY   64000000u
#define DEFAULT_PER_HOUR 12
#define MAX_AFTER        60000000000u /* unless requested: a stream that is not written yet can be lost */

static int read_rules(struct lode_watch_session *session, struct lode_error *error)
{
	const struct lode_option_list *triggers = &session->settings->triggers;
	struct lode_record_rules *rules = &session->rules;
	int code = lode_record_rules_parse(rules, triggers->items, triggers->count, 1, error);

	for (size_t i = 0; !code && i < rules->count; i++)
		if (!lode_record_rule_is_limit(&rules->rules[i]))
			code = lode_fail(error, LODE_USAGE,
					 "watch: '%s' is known only at the end of a recording; use 'thread NAME "
					 "wait > 50ms' or another limit",
					 triggers->items[i]);
	return code;
}

/* Streams belong to a watch by its name, so that one that is started again goes on with the old ones. */
static int choose_name(struct lode_watch_session *session, struct lode_error *error)
{
	char text[64];
	const char *of = lode_record_target_name(&session->target, text);

	session->name = session->settings->name ? lode_strdup(session->settings->name)
						: lode_format("watch %s", of ? of : "all processes");
	return session->name ? 0 : lode_fail_memory(error);
}

const char *lode_watch_corpus(const struct lode_watch_session *session)
{
	return session->settings->output ? session->settings->output : LODE_DEFAULT_CORPUS;
}

static int read_baseline(struct lode_watch_session *session, struct lode_error *error)
{
	struct utsname system;
	int code = lode_baseline_parse(&session->baseline, session->settings->baseline, error);

	if (code)
		return code;
	if (session->settings->baseline_hour)
		session->baseline.hour = (uint32_t)(session->settings->baseline_hour / 1000000000u);
	uname(&system);
	snprintf(session->host, sizeof(session->host), "%s", system.nodename);
	return 0;
}

int lode_watch_read_settings(struct lode_watch_session *session, struct lode_error *error)
{
	const struct lode_watch_settings *settings = session->settings;
	int code = lode_attributes_check("watch", &settings->attributes, error);

	session->burst.last = settings->last ? settings->last : DEFAULT_LAST;
	session->burst.after = session->burst.last < MAX_AFTER ? session->burst.last : MAX_AFTER;
	if (!code && settings->after) {
		code = lode_duration_parse_in("--after", settings->after, &session->burst.after, error);
		session->burst.by_hand = session->burst.after;
	}
	session->memory = DEFAULT_MEMORY;
	if (!code && settings->memory)
		code = lode_bytes_parse(settings->memory, &session->memory, error);
	for (size_t i = 0; !code && i < settings->keep.count; i++)
		code = lode_retention_parse(&session->keep, settings->keep.items[i], error);
	if (!code && settings->baseline)
		code = read_baseline(session, error);
	if (!code)
		code = read_rules(session, error);
	if (!code)
		code = lode_context_sources_parse(settings->context, &session->contexts, error);
	if (!code)
		code = choose_name(session, error);
	if (!code && lode_rate_init(&session->burst.rate,
				    settings->per_hour ? (size_t)settings->per_hour : DEFAULT_PER_HOUR) < 0)
		code = lode_fail_memory(error);
	return code;
}
