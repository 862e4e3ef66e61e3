/*
 * lode mine: what its files share.
 */
#ifndef LODE_TASKS_MINING_H
#define LODE_TASKS_MINING_H

#include "tasks/analysis.h"
#include "tasks/source.h"
#include "mine/pattern_file.h"
#include "result/mine_report.h"

struct lode_mine_settings {
	struct lode_area_settings area;
	const char *kind;
	const char *by;
	const char *threshold;
	const char *impact;
	const char *similarity;
	const char *rank;
	int fold_recursion;
	int keep_recursion;
	uint64_t min_length;
	uint64_t max_length;
	uint64_t max_patterns;
	const char *patterns; /* FILE */
	const char *show;     /* ID */
	const char *against;  /* CORPUS */
	int only_new;
	int only_findings;
	int gain;
	const char *cpus;
	uint64_t top;
	int all;
	int all_frames;
	int timing;
	struct lode_result_settings result;
};

/* One mining of one corpus: what the command, its comparison and its --show start from. */
struct lode_mining {
	struct lode_source source;
	struct lode_area_reading reading;
	struct lode_idle_stacks *idle; /* its rules over its dictionary */
	struct lode_mine_options how;
	struct lode_pattern_file file; /* --patterns */
	struct lode_mined mined;
	int finds; /* findings are wanted */
	struct lode_findings findings;
	struct lode_gains gains; /* --gain */
	struct lode_buffer hint; /* text, terminated */
	struct lode_mine_report report;
};

/* Opens the corpus `path` and collects the area. Release in either case. */
int lode_mining_open(struct lode_mining *mining, const struct lode_mine_settings *settings, char *const *names,
		     size_t count, struct lode_work *work, struct lode_error *error);
/* Mines it; `threshold` 0: as the settings say. */
int lode_mining_run(struct lode_mining *mining, const struct lode_mine_settings *settings, uint64_t threshold,
		    struct lode_error *error);
/* Makes the findings alone, if they are wanted; part of the above. */
int lode_mining_find(struct lode_mining *mining, struct lode_error *error);
/* The number of a finding, from 1, that `--show` asks for; 0: it is an id. */
size_t lode_finding_number(const char *text);
void lode_mining_release(struct lode_mining *mining);

/* The choices of --by. */
const char *lode_by_choice(size_t i);
/* The choices of --rank. */
const char *lode_rank_choice(size_t i);

/* lode mine --show: the forms of a struct lode_mining, opened, whose events of a pattern or cluster are listed. */
extern const struct lode_form lode_mine_show_forms[];
/* lode mine --against: the forms of a struct lode_compare_report. */
extern const struct lode_form lode_mine_against_forms[];
/* Mines the other corpus and writes the comparison; `mining` is this side, mined. */
int lode_mine_against(struct lode_analysis *analysis, struct lode_mining *mining, struct lode_error *error);

#endif
