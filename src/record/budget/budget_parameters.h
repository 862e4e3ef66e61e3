/*
 * All parameters of the budget in one table: what recording costs (cost_model.h), how the controller decides (budget.h),
 * and how often threads are swept (tasks/live/budget_control.c). docs/budget.md says how they work together.
 *
 * Every parameter is a double, and its name ends in its unit:
 *
 *	_ns, _s, _hz    nanoseconds, seconds, per second
 *	_steps          steps of the controller, a quarter of a second each
 *	_of_budget      a part of the budget: with a budget of 1 %, 0.1 of it is 0.1 % of the machine
 *	_fraction       a part of something else, which the comment names
 *	_ratio          a factor
 *
 * What the BPF programs must know as well is in thinning.h and time_slots.h.
 */
#ifndef LODE_RECORD_BUDGET_BUDGET_PARAMETERS_H
#define LODE_RECORD_BUDGET_BUDGET_PARAMETERS_H

/*
 * What recording costs beyond what it measures of itself, found by paired runs with and without (bench/calls). Most of it
 * grows when caches are cold. Coldness is 0 where a run that records nothing takes warm_run_ns, and 1 where it takes twice as
 * long: two processes that take turns have 0 (85 ns), Apache 0.8 (150 ns), MariaDB 1.5 (210 ns). Every `_cold_ratio` is
 * multiplied by coldness.
 */
struct lode_cost_parameters {
	/* A run that records nothing takes this long with warm caches, and this long as long as none were measured. */
	double warm_run_ns;
	double default_run_ns;
	/* Its length is an average over about run_average_ns. Where that falls, it does so slowly, over about run_fade_ns. */
	double run_average_ns;
	double run_fade_ns;
	double min_runs; /* fewer say nothing, since the programs measure one run in 64 */

	/*
	 * A run costs more than it measures: it is called, and evicts what the load has in caches and TLBs. That is a part of
	 * what it measures, and with cold caches a part of warm_run_ns. Altogether a run that records nothing takes 145 ns for
	 * turns and 420 for Apache.
	 */
	double run_overhead_ratio;
	double run_overhead_cold_ratio;
	/* For runs that walk stacks, a factor of what they measure. */
	double stack_overhead_ratio;
	double stack_overhead_cold_ratio;
	/*
	 * A program that returns at once costs little if it was called a moment ago. The longer others used the caches since, the
	 * more it costs, per nanosecond between two calls, until nothing of it is left in them. Measured: 60 ns at each of 450,000
	 * wakeups a second (turns), 300 at 58,000 (Apache), 900 at 60,000 (MariaDB), 830 at 14,000 mappings (Apache).
	 */
	double empty_call_ns;
	double max_empty_call_ns;
	double empty_call_cold_ratio;
	/* The interrupt of a CPU sample: 3 us with turns, 9 with Apache. */
	double sample_interrupt_ns;
	/* Attaching and detaching the scheduler programs once: the kernel patches its code, and the load runs slower after it. */
	double attach_ns;
	double attach_cold_ratio;
	/* What the load loses to cold caches after the recorder's process ran, as a part of the time that it ran. */
	double process_cold_ratio;
	/*
	 * A sweep, beside the time that its thread runs: a timer's interrupt, a wakeup, cold caches. Found by what loads lost to
	 * 167 sweeps a second compared with 20.
	 */
	double sweep_ns;
	double sweep_cold_ratio;
	/* The kernel's report of a mapping, of code or not, while anyone listens to those of code: it looks up the file's name. */
	double mmap_report_ns;
	/* Mappings made by a program that starts. */
	double exec_mmaps;
	/* Records take no more of the recorder's process than this each; the rest is for processes that come and go. */
	double max_record_process_ns;
};

/* When steps are made, and the phases of a recording. */
struct lode_budget_timing {
	double first_step_ns; /* early, since the cost of programs is not known before; later steps are longer, */
	double step_ns;       /* up to this */
	double startup_ns;    /* the first phase: more than the budget is allowed (startup_ratio) */
	double warmup_ns; /* tables are loaded and averages settle; only what comes after this has to keep the budget */
};

/* The set point: what the controller aims at. */
struct lode_budget_set_point {
	double aim_of_budget;      /* below 1, so that noise stays within the budget */
	double startup_ratio;      /* times the aim, so that short recordings have something to show */
	double min_room_of_budget; /* left for switches and records, and for records alone, whatever else takes */
	/*
	 * The integral part of the controller: the debt, what was taken beyond the aim, is paid back within debt_repay_s. It is
	 * limited to the budget of max_debt_s, because a short recording would have nothing left after a burst, or to that of a
	 * fraction of the time so far if that is more, because a long recording has to keep its average. Credit, as from steps
	 * without any slot, is limited to the budget of max_credit_s.
	 */
	double max_debt_s;
	double max_debt_time_fraction;
	double max_credit_s;
	double debt_repay_s;
};

/* Averages: one step is noisy, and may have no slot at all. */
struct lode_budget_averages {
	/* CPU time with programs attached, below which a step says nothing about what they take. */
	double min_attached_ns;
	/* What programs take while attached: older values count half after this time attached, and half after this time. */
	double attached_half_ns;
	double half_ns;
	double background_steps;
	double record_steps;
	/*
	 * Time attached over time planned, since slots end when the recorder gets to it and begin when the kernel is ready. Older
	 * values count half after slot_half_ns. It begins as if slot_prior_ns had gone as planned, and is limited both ways.
	 */
	double slot_half_ns;
	double slot_prior_ns;
	double max_slot_ratio;
};

/* In how many time slots the scheduler programs are attached. The room is what is left for switches and records. */
struct lode_budget_slot_rule {
	double enter_room_fraction; /* slots begin when switches take more than this of the room, */
	double switch_room_fraction; /* are as many as keep switches at this, and end when they take less without slots; */
	double max_switch_room_fraction; /* they are more, up to this, where records leave room */
	double record_growth_ratio;      /* for records that grow by this */
	double max_time_fraction;        /* that slots have programs attached */
	double few_slots_fraction;       /* of all slots: with so few, none can be spared any more */
};

/* How many nanoseconds of waiting a record represents (thinning.h). */
struct lode_budget_scale_rule {
	double min_ns;
	double max_ns;
	double min_step_ratio;         /* in one step the scale falls to no less than this, */
	double startup_min_step_ratio; /* or this in the short steps of the first second; it may rise to any value, */
	double not_enough_ratio; /* and rises by more when records still take this times their room after a rise, */
	double max_step_ratio;   /* up to this */
	double unthinned_fraction; /* of waits: if more are recorded, the scale is shorter than nearly all of them */
	double call_weight_ns; /* of scale that make one unit of weight of system calls, which have no length */
};

/* How often CPUs are sampled. */
struct lode_budget_sample_rule {
	double default_hz; /* unless requested otherwise */
	double min_hz;
	double step_ratio;
	double max_background_of_budget; /* samples get fewer when the background takes more, and more below half of it */
};

/* Programs that stay attached while they take no more than their part, and else are detached and tried again later. */
struct lode_budget_trial_rule {
	double min_steps;          /* until it is known what a program takes */
	double average_steps;      /* over which that is averaged */
	double retry_after_ns;     /* after the first failure; the time doubles with each, */
	double max_retry_after_ns; /* up to this */
};

/* The program at wakeups that records every long wait, also between slots. */
struct lode_budget_long_wait_rule {
	double max_of_budget;
	double max_first_of_budget; /* the same where long waits come first */
	double early_retry_ns; /* it is tried again after this if there are so few switches now that it likely fits */
	double off_steps;      /* it is detached when every switch was seen for so long */
};

/* How mappings of processes are known: tracked at once by a program, reported by the kernel, or read when needed. */
struct lode_budget_mmap_rule {
	double max_of_budget; /* for tracking; and for reports that are not of new programs */
	double report_steps;  /* over which the cost of reports is averaged */
	/*
	 * Reports of new programs, as a fraction of the others: mappings are read instead of reported while there are fewer, since
	 * a program may end before its mappings are read.
	 */
	double enter_exec_fraction;
	double leave_exec_fraction;
};

/* Scheduler programs stay attached between slots, and return at once, where the kernel takes too long to attach them. */
struct lode_budget_idle_rule {
	double max_delay_fraction;  /* of the time, that the kernel takes; above it they stay attached */
	double enter_of_budget;     /* if that likely takes no more than this, */
	double leave_of_budget;     /* until it takes more than this */
	double switch_run_fraction; /* of runs in slots, those that would come between slots, too */
	double average_steps;       /* over which delay and cost are averaged */
	/*
	 * When it took too much, the average of the delay restarts here, far below 0. It takes about 40 steps until it is above
	 * max_delay_fraction again; that is how long programs are not left attached.
	 */
	double backoff_fraction;
};

/* Sweeps over all threads, which find long waits between slots (record/sweeper.h). */
struct lode_budget_sweep_rule {
	double max_of_budget;
	double min_interval_ns;
	double idle_interval_ns; /* while every long wait is recorded: only for waits that are not over when recording ends */
	double linger_ns; /* sweeps stay frequent for this long after every switch is seen again */
};

/* What the report at the end counts. */
struct lode_budget_account_rule {
	double second_ns;  /* the least length of a second; it ends with a step */
	double over_ratio; /* a second above this times the budget counts as over it */
};

struct lode_budget_parameters {
	struct lode_cost_parameters cost;
	struct lode_budget_timing timing;
	struct lode_budget_set_point set_point;
	struct lode_budget_averages averages;
	struct lode_budget_slot_rule slots;
	struct lode_budget_scale_rule scale;
	struct lode_budget_sample_rule samples;
	struct lode_budget_trial_rule trials;
	struct lode_budget_long_wait_rule long_waits;
	struct lode_budget_mmap_rule mmaps;
	struct lode_budget_idle_rule idle;
	struct lode_budget_sweep_rule sweeps;
	struct lode_budget_account_rule account;
};

extern const struct lode_budget_parameters lode_budget_parameters;

#endif
