/* The table of commands, and the options that all of them have: see commands.h. */
#include "cmd/commands.h"

#include "tasks/nearest.h"

#include <string.h>

/* The one list of commands, in the order of `lode help`. */
#define COMMANDS(GROUP, X)                                                                                        \
	GROUP("Collect")                                                                                          \
	X(record)                                                                                                 \
	X(watch)                                                                                                  \
	X(trigger)                                                                                                \
	X(import)                                                                                                 \
	X(symbolize)                                                                                              \
	GROUP("Look")                                                                                             \
	X(mine)                                                                                                   \
	X(scope)                                                                                                  \
	X(latency)                                                                                                \
	X(annotate)                                                                                               \
	X(explain)                                                                                                \
	X(query)                                                                                                  \
	X(hunt)                                                                                                   \
	X(info)                                                                                                   \
	GROUP("Compare")                                                                                          \
	X(diff)                                                                                                   \
	X(bench)                                                                                                  \
	X(sign)                                                                                                   \
	X(signatures)                                                                                             \
	X(coverage)                                                                                               \
	GROUP("Share")                                                                                            \
	X(serve)                                                                                                  \
	X(push)                                                                                                   \
	X(report)                                                                                                 \
	X(export)                                                                                                 \
	X(mcp)                                                                                                    \
	GROUP("Maintain")                                                                                         \
	X(fsck)                                                                                                   \
	X(prune)                                                                                                  \
	X(synth)                                                                                                  \
	X(help)                                                                                                   \
	X(version)

#define NOTHING(text)
#define DECLARE(name)   extern const struct lode_command lode_command_##name;
#define ENTRY(name)     &lode_command_##name,
#define TITLE_ROW(text) { .title = (text) },
#define NAME_ROW(name)  { .command = &lode_command_##name },

COMMANDS(NOTHING, DECLARE)

static const struct lode_command *const commands[] = { COMMANDS(NOTHING, ENTRY) NULL };
static const struct lode_command_row rows[] = { COMMANDS(TITLE_ROW, NAME_ROW){ NULL, NULL } };

const struct lode_command *const *lode_commands(void)
{
	return commands;
}

const struct lode_command_row *lode_command_rows(void)
{
	return rows;
}

LODE_CHOICES(color_choice, "auto", "always", "never")

#define SHARED(field) offsetof(struct lode_shared_settings, field)

const struct lode_option lode_shared_options[] = {
	LODE_CHOICE("color", 0, SHARED(color), "WHEN", "use colours", color_choice),
	LODE_FLAG("quiet", 'q', SHARED(quiet), "print only results and errors"),
	LODE_FLAG("help", 'h', SHARED(help), "show this help"),
	LODE_NO_MORE_OPTIONS,
};

const struct lode_command *lode_command_find(const char *name, struct lode_error *error)
{
	struct lode_nearest nearest = lode_nearest(name);

	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		lode_nearest_try(&nearest, commands[i]->name);
	}
	if (nearest.best)
		lode_fail(error, LODE_USAGE, "'%s' is not a command; did you mean '%s'? See 'lode help'.", name,
			  nearest.best);
	else
		lode_fail(error, LODE_USAGE, "'%s' is not a command. See 'lode help'.", name);
	return NULL;
}
