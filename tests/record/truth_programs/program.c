/* The cases of the program in C; some need libraries that are loaded at run time. */
#include "cases.h"
#include "truth.h"

const struct truth_case truth_cases[] = {
	{ "recursion", truth_case_recursion },
	{ "deep_recursion", truth_case_deep_recursion },
	{ "alloca", truth_case_alloca },
	{ "big_frames", truth_case_big_frames },
	{ "alike", truth_case_alike },
	{ "realigned", truth_case_realigned },
	{ "qsort", truth_case_qsort },
	{ "assembly", truth_case_assembly },
	{ "tail_calls", truth_case_tail_calls },
	{ "signals", truth_case_signals },
	{ "signal_stack", truth_case_signal_stack },
	{ "raised", truth_case_raised },
	{ "threads", truth_case_threads },
	{ "wakers", truth_case_wakers },
	{ "vfork", truth_case_vfork },
	{ "fork", truth_case_fork },
	{ "spawn", truth_case_spawn },
	{ "child", truth_case_child },
#ifndef TRUTH_STATIC
	{ "plt", truth_case_plt },
	{ "dlopen", truth_case_dlopen },
#endif
	{ 0 },
};
