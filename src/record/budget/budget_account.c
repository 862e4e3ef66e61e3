/* The account of a budget: see budget_account.h. */
#include "record/budget/budget_account.h"

#include <string.h>

void lode_budget_account_init(struct lode_budget_account *account, const struct lode_budget_parameters *parameters,
			      double share, unsigned cpus, uint64_t now)
{
	memset(account, 0, sizeof(*account));
	account->parameters = parameters;
	account->share = share;
	account->cpus = cpus;
	account->began_ns = account->last.time_ns = account->second.time_ns = now;
}

void lode_budget_account_add(struct lode_budget_account *account, const struct lode_budget_costs *costs,
			     uint64_t now)
{
	lode_budget_costs_add(&account->last.costs, costs);
	account->last.time_ns = now;
}

/* CPU time of the machine between two times. */
static double machine_ns(const struct lode_budget_account *account, uint64_t now, uint64_t before)
{
	return lode_delta_or_zero(now, before) * account->cpus;
}

static int is_warm(const struct lode_budget_account *account, uint64_t now)
{
	return (double)(now - account->began_ns) >= account->parameters->timing.warmup_ns;
}

/* The share of the machine between two checkpoints. */
static double share_between(const struct lode_budget_account *account, const struct lode_budget_checkpoint *later,
			    const struct lode_budget_checkpoint *earlier)
{
	struct lode_budget_costs costs = lode_budget_costs_between(&later->costs, &earlier->costs);

	return lode_budget_costs_total(&costs) / machine_ns(account, later->time_ns, earlier->time_ns);
}

static void close_second(struct lode_budget_account *account)
{
	const struct lode_budget_account_rule *rule = &account->parameters->account;
	double share;

	if ((double)(account->last.time_ns - account->second.time_ns) < rule->second_ns)
		return;
	if (is_warm(account, account->second.time_ns)) {
		share = share_between(account, &account->last, &account->second);
		account->seconds++;
		account->seconds_over += share > rule->over_ratio * account->share;
		account->worst_second = share > account->worst_second ? share : account->worst_second;
	}
	account->second = account->last;
}

void lode_budget_account_close(struct lode_budget_account *account)
{
	close_second(account);
	if (!account->settled.time_ns && is_warm(account, account->last.time_ns))
		account->settled = account->last;
}

double lode_budget_account_total(const struct lode_budget_account *account)
{
	double machine = machine_ns(account, account->last.time_ns, account->began_ns);

	return machine > 0 ? lode_budget_costs_total(&account->last.costs) / machine : 0;
}

double lode_budget_account_settled(const struct lode_budget_account *account, struct lode_budget_parts *parts)
{
	const struct lode_budget_checkpoint *now = &account->last, *before = &account->settled;
	struct lode_budget_costs costs = lode_budget_costs_between(&now->costs, &before->costs);
	double machine = machine_ns(account, now->time_ns, before->time_ns);

	memset(parts, 0, sizeof(*parts));
	if (!before->time_ns || machine <= 0)
		return 0;
	parts->samples = costs.ns[LODE_COST_SAMPLES] / machine;
	parts->process = (costs.ns[LODE_COST_PROCESS] + costs.ns[LODE_COST_RECORDS]) / machine;
	parts->saving = costs.ns[LODE_COST_SAVING] / machine;
	parts->switches = (costs.ns[LODE_COST_SWITCHES] + costs.ns[LODE_COST_IDLE]) / machine;
	parts->stacks = costs.ns[LODE_COST_STACKS] / machine;
	parts->long_waits = costs.ns[LODE_COST_LONG_WAITS] / machine;
	parts->mmaps = (costs.ns[LODE_COST_MMAPS] + costs.ns[LODE_COST_MMAP_REPORTS]) / machine;
	return lode_budget_costs_total(&costs) / machine;
}
