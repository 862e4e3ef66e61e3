/*
 * lode hunt: searches running processes, or a command, for bottlenecks. hunt_options.c has its options, hunt_session.c
 * does it.
 */
#include "tasks/hunt/hunt.h"

const struct lode_command lode_command_hunt = {
	.name = "hunt",
	.summary = "search a running program for its bottlenecks",
	.usage = "[OPTIONS] [-- COMMAND [ARG...]]",
	.about = "Searches processes (-p, --comm) or a command for bottlenecks, by experiments: does it use too "
		 "much CPU time, wait too long for locks and other threads, wait too long for input and output? "
		 "An experiment that is true is refined, to functions down the call graph, to processes, threads, "
		 "locks and messages. Stack samples show which functions to examine first (Deep Start). Probes "
		 "are put into the running program and removed again, and cost it no more than --cost. Ends when "
		 "nothing is left to examine (a command: when it ends), after --duration, or on Ctrl-C; the "
		 "processes continue as before, but a command that is still running then gets SIGTERM. Needs "
		 "root, or the capabilities CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and, for names of kernel "
		 "functions, CAP_SYSLOG.",
	.examples = "  lode hunt -p 1234\n"
		    "  lode hunt -d 30s -o hunt.html -- ./program args\n"
		    "  lode hunt -p 1234 --serve\n"
		    "  lode hunt --comm worker --cpu 10% --cost 5%\n"
		    "  lode hunt -p 1234 --json > hunt.jsonl\n"
		    "  lode hunt --host node1 --host node2 --comm solver -o corpus\n",
	.options = lode_hunt_options,
	.settings_size = sizeof(struct lode_hunt_settings),
	.most_operands = SIZE_MAX,
	.operand = "COMMAND",
	.run = lode_hunt_run,
};
