/*
 * lode mcp: the analyses of a corpus as tools for agents.
 */
#include "cmd/commands.h"
#include "cmd/signals.h"
#include "serve/mcp.h"
#include "store/corpus.h"

#include <unistd.h>

static const struct lode_option options[] = {
	LODE_NO_MORE_OPTIONS,
};

static int run(struct lode_call *call, struct lode_error *error)
{
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, call->operands[0], LODE_CORPUS_READ, error);

	if (code)
		return code;
	lode_corpus_close(corpus);
	lode_signals_hold();
	return lode_mcp_run(call->operands[0], STDIN_FILENO, STDOUT_FILENO, lode_signals_stop, error);
}

const struct lode_command lode_command_mcp = {
	.name = "mcp",
	.summary = "offer a corpus to agents, as a Model Context Protocol server",
	.usage = "CORPUS",
	.about = "Speaks the Model Context Protocol over standard input and output, so that an agent can ask "
		 "questions about CORPUS. Its tools (info, mine, scope, latency, diff, explain, coverage, query) "
		 "only "
		 "read, and the size of their answers is limited.",
	.examples = "  # in the settings of an agent: the command and its arguments\n"
		    "  lode mcp /srv/traces/corpus\n",
	.options = options,
	.settings_size = 1,
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
