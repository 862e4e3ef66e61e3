/*
 * The options that `lode latency` and `lode diff` share, and reading the latencies of a
 * corpus as they ask.
 */
#ifndef LODE_TASKS_LATENCY_OPTIONS_H
#define LODE_TASKS_LATENCY_OPTIONS_H

#include "tasks/analysis.h"
#include "tasks/source.h"
#include "latency/latency.h"

struct lode_latency_settings {
	struct lode_area_settings area; /* match, where, include_idle, include_work_waits, idle_rules, jobs */
	struct lode_option_list streams;
	uint64_t top;
	int all;
	int all_frames;
	int mean;
	const char *rule;
	int aggressive_end;
	const char *tree_min;
	struct lode_result_settings result;
};

#define LODE_LATENCY_FIELD(base, field) ((base) + offsetof(struct lode_latency_settings, field))
/* `things` are what is ranked, `choice` the formats. */
#define LODE_LATENCY_OPTIONS(base, things, choice)                                                                \
	LODE_WHERE_OPTION(LODE_LATENCY_FIELD(base, area)),                                                        \
		LODE_MATCH_OPTION(LODE_LATENCY_FIELD(base, area), things),                                        \
		LODE_READING_OPTIONS(LODE_LATENCY_FIELD(base, area)),                                             \
		LODE_NUMBER("top", 'n', LODE_LATENCY_FIELD(base, top), "N",                                       \
			    "show this many " things " (JSON: all, else 10)", 1, 0),                              \
		LODE_FLAG("all", 'a', LODE_LATENCY_FIELD(base, all), "show all " things),                         \
		LODE_FLAG("all-frames", 0, LODE_LATENCY_FIELD(base, all_frames),                                  \
			  "show all callers, and in trees each function"),                                        \
		LODE_FLAG("mean", 0, LODE_LATENCY_FIELD(base, mean),                                              \
			  "rank by mean latencies minus those of callees, as the paper does"),                    \
		LODE_CHOICE("rule", 0, LODE_LATENCY_FIELD(base, rule), "NAME",                                    \
			    "the latency that --mean uses (default: estimate)", lode_latency_rule_name),          \
		LODE_FLAG("aggressive-end", 0, LODE_LATENCY_FIELD(base, aggressive_end),                          \
			  "aggressive latency: move only the end of a call, as the paper does"),                  \
		LODE_TEXT("tree-min", 0, LODE_LATENCY_FIELD(base, tree_min), "T",                                 \
			  "leave out of trees what takes less: 30ms, 0.5% (default: 1%)"),                        \
		LODE_CHOICE("format", 'f', LODE_LATENCY_FIELD(base, result.format), "NAME",                       \
			    "output format (default: from the extension of FILE)", choice),                       \
		LODE_FLAG("json", 0, LODE_LATENCY_FIELD(base, result.json), "write everything as JSON"),          \
		LODE_FLAG("page-data", 0, LODE_LATENCY_FIELD(base, result.page_data),                             \
			  "write the content of the page as JSON: also details of frames"),                       \
		LODE_TEXT("output", 'o', LODE_LATENCY_FIELD(base, result.output), "FILE",                         \
			  "write to FILE instead of standard output")

/* What --tree-min leaves out of a tree that takes `whole` in all: less than `least` ns. */
int lode_latency_tree_min(const struct lode_latency_settings *settings, const char *command, uint64_t whole,
			  uint64_t *least, struct lode_error *error);
/* Checks the settings before anything is read, and finds the rule that --mean takes. */
int lode_latency_check(const struct lode_latency_settings *settings, const char *command,
		       enum lode_latency_rule *rule, struct lode_error *error);
/* How many contexts or paths are to be shown; 0: all. */
size_t lode_latency_top(const struct lode_latency_settings *settings, const struct lode_analysis *analysis);

/* A corpus that is open, and what the settings ask of it. */
struct lode_latency_reading {
	struct lode_source source;
	struct lode_latency_options options;
	struct lode_latency latency;
};

/* Opens the corpus and makes the options. Release in either case. */
int lode_latency_open(struct lode_latency_reading *reading, char *const *names, size_t count,
		      const struct lode_latency_settings *settings, struct lode_work *work,
		      struct lode_error *error);
/* Infers its latencies. */
int lode_latency_read(struct lode_latency_reading *reading, struct lode_error *error);
void lode_latency_reading_release(struct lode_latency_reading *reading);

#endif
