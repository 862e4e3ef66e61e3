/*
 * All parameters of the budget in one table: what recording costs (cost_model.h), how the controller decides (budget.h),
 * and how often threads are swept (tasks/live/budget_control.c). docs/budget.md says how they work together.
 *
 * Every parameter is a double, and its name ends in its unit:
 *
 *	_ns, _s, _hz    nanoseconds, seconds, per second
 *	_steps          steps of the controller, a quarter of a second each
 *	_share          part of the budget: with a budget of 1 %, a share of 0.1 is 0.1 % of the machine
 *	_fraction       part of something else, which the comment names
 *	_ratio          a factor
 *
 * What the BPF programs must know as well is not here but in thinning.h and time_slots.h.
 */
#ifndef LODE_RECORD_BUDGET_BUDGET_PARAMETERS_H
#define LODE_RECORD_BUDGET_BUDGET_PARAMETERS_H

/*
 * What recording takes beyond what it measures of itself, found by paired runs with and without (bench/calls). Much of it
 * grows when caches are cold. Coldness is 0 where a program that records nothing runs for warm_run_ns, 1 where it runs for
 * twice as long: two processes that take turns have 0 (85 ns), Apache 0.8 (150 ns), MariaDB 1.5 (210 ns). Each
 * `_cold_ratio` is multiplied by coldness.
 */
struct lode_cost_parameters {
	/* How long a program runs that records nothing: with warm caches, and until it is measured. */
	double warm_run_ns;
	double default_run_ns;
	/* Its measurement counts half after average_ns; one that is colder is forgotten with fade_ns. */
	double run_average_ns;
	double run_fade_ns;
	double min_runs; /* fewer runs say nothing: the programs measure one in 64 */

	/*
	 * Each run costs more than it sees: it is called, and evicts what the load has in caches and TLBs. As a part of how long
	 * a run without a record takes, and of warm_run_ns. Together, such a run takes 145 ns for turns and 420 for Apache.
	 */
	double run_overhead_ratio;
	double run_overhead_cold_ratio;
	/* The same for runs that walk stacks, as a factor of what they measure. */
	double stack_overhead_ratio;
	double stack_overhead_cold_ratio;
	/*
	 * A program that returns at once costs little where it was called a moment ago, and more the longer others used the
	 * caches since: for each nanosecond between two calls, until nothing of it is left in them. Measured: 60 ns at each of
	 * 450,000 wakeups a second (turns), 300 at 58,000 (Apache), 900 at 60,000 (MariaDB), 830 at 14,000 mappings (Apache).
	 */
	double empty_call_ns;
	double max_empty_call_ns;
	double empty_call_cold_ratio;
	/* The interrupt of a CPU sample: 3 us with turns, 9 with Apache. */
	double sample_interrupt_ns;
	/* What a load loses when the scheduler programs are attached and detached once: the kernel patches its code. */
	double attach_ns;
	double attach_cold_ratio;
	/* What a load loses after the recorder's process ran, as a part of the time that it ran. */
	double process_cold_ratio;
	/*
	 * What a sweep takes beside the time of its thread: a timer's interrupt, a wakeup, cold caches. By how much more loads
	 * lost to 167 sweeps a second than to 20.
	 */
	double sweep_ns;
	double sweep_cold_ratio;
	/* The kernel prepares a report of each mapping, of code or not, while anyone listens: it looks up the file's name. */
	double mmap_report_ns;
	/* Mappings of a program that starts. */
	double exec_mmaps;
	/* A record takes no more of the recorder's process; what is above is for processes that come and go. */
	double max_record_process_ns;
};

/* When the controller runs, and which phases a recording has. */
struct lode_budget_timing {
	double first_step_ns; /* the first step comes early: the cost of the programs is not known yet; later ones grow */
	double step_ns;    /* up to this */
	double startup_ns; /* the first second may take startup_ratio times the budget */
	double warmup_ns;  /* tables are loaded and averages settle: no second counts before this */
};

/* The set point: what the controller aims at. */
struct lode_budget_set_point {
	double aim_share;        /* below 1, so that noise stays within the budget */
	double startup_ratio;    /* in the first second, so that short recordings have something to show */
	double min_record_share; /* what switches and records get at least, whatever else takes */
	/*
	 * The integral part: what was taken too much is saved later, debt_repay_s after. The debt is limited to what the budget
	 * is in max_debt_s, or in a part of the time so far if that is longer: a short recording would have nothing left after a
	 * burst, a long one has to keep its average. Credit, from steps without a slot, is limited to max_credit_s.
	 */
	double max_debt_s;
	double max_debt_time_fraction;
	double max_credit_s;
	double debt_repay_s;
};

/* Averages: what one step measures is noisy, and what it decides holds for a second. */
struct lode_budget_averages {
	double min_attached_ns; /* of CPU time with programs attached: less says nothing about what they take */
	/* Costs while attached count half after so long with programs attached, or after so long at all. */
	double attached_half_ns;
	double half_ns;
	double background_steps;
	double record_steps;
	/*
	 * Slots end when the recorder gets to it, and begin when the kernel is ready: how much longer or shorter they are than
	 * planned counts half after slot_half_ns, begins as if slot_prior_ns had gone as planned, and is limited either way.
	 */
	double slot_half_ns;
	double slot_prior_ns;
	double max_slot_ratio;
};

/* In how many time slots the scheduler programs are attached. Shares here are of what is left for switches and records. */
struct lode_budget_slot_rule {
	double enter_fraction;      /* slots begin when switches alone take more; hysteresis, */
	double switch_fraction;     /* and end below this, which is also what they get in slots, */
	double max_switch_fraction; /* or up to this where records need less, */
	double record_room_ratio;   /* which keep room to grow to so many times what they take */
	double max_fraction;        /* of the time, that programs are attached while they are not always */
	double few_fraction;        /* of all slots: so few that none can be spared any more */
};

/* How many nanoseconds of waiting a record represents (thinning.h). */
struct lode_budget_scale_rule {
	double min_ns;
	double max_ns;
	double min_step_ratio;         /* it comes down no faster than this in a step, */
	double startup_min_step_ratio; /* or in the short steps of the first second; it goes up at once */
	double too_little_ratio;       /* records beyond this times their room: the last change was not enough */
	double max_step_ratio;         /* for how often that was so, the step grows up to this */
	double unthinned_fraction;     /* of waits: where more are recorded, thinning has not begun to bite */
	double call_weight_ns; /* of scale for each unit of weight of system calls, which have no length to go by */
};

/* How often CPUs are sampled. */
struct lode_budget_sample_rule {
	double default_hz;
	double min_hz;
	double step_ratio;
	double max_background_share; /* of samples and the process; above it there are fewer samples, below half of it more */
};

/* Programs that stay attached while they take no more than their share; else they are detached and tried again later. */
struct lode_budget_trial_rule {
	double min_steps;     /* until it is known what one takes */
	double average_steps; /* over which that is an average */
	double retry_after_ns;
	double max_retry_after_ns; /* the time doubles with each failure up to this */
};

/* The program at wakeups that records every long wait, also between slots. */
struct lode_budget_long_wait_rule {
	double max_share;
	double early_retry_ns; /* where fewer switches promise that it fits, it is tried after this already */
	double off_steps;      /* it is not needed after so many steps in which every switch was seen */
};

/* How the mappings of processes are known: tracked at once, reported by the kernel, or read when needed. */
struct lode_budget_mmap_rule {
	double max_share;           /* of tracking; and of reports that are not of new programs */
	double report_steps;        /* over which the cost of reports is an average */
	double enter_exec_fraction; /* reading begins where new programs have no more than this of the others' reports: */
	double leave_exec_fraction; /* and ends above this: what ended before it was read would be lost */
};

/* Scheduler programs that stay attached between slots, and return at once, because attaching takes the kernel too long. */
struct lode_budget_idle_rule {
	double max_delay_fraction;  /* of the time, that the kernel takes to attach; above it they stay */
	double enter_share;         /* if that likely takes no more than this, */
	double leave_share;         /* and while it takes no more than this */
	double switch_run_fraction; /* of the runs in slots, those that would also come between slots */
	double average_steps;
	/* When it took too much, the average delay restarts so far below 0: it is not tried again for about 40 steps. */
	double backoff_fraction;
};

/* Sweeps over all threads, which find long waits between slots (record/sweeper.h). */
struct lode_budget_sweep_rule {
	double max_share;
	double min_interval_ns;
	double idle_interval_ns; /* while long waits are recorded anyway: only for those not over when the recording ends */
	double linger_ns; /* sweeps stay frequent for so long after every switch is seen again */
};

/* What the report at the end counts. */
struct lode_budget_account_rule {
	double second_ns;  /* a second that is counted is at least this long, */
	double over_ratio; /* and above the budget from this on */
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
