/*
 * The miner: see miner.h. Makes the tree of all stacks (miner_root.c) and searches it (miner_run.h), with the other processes of
 * a job where there are any (miner_job.h).
 */
#include "mine/miner.h"

#include "mine/miner_job.h"
#include "mine/miner_run.h"

/* Stops at max_patterns, which parts of a search cannot. */
static int is_worth_sharing(const struct lode_miner_input *input, const struct miner_tree *root)
{
	return input->rank && !input->max_patterns && root->count >= LODE_NODES_WORTH_SHARING;
}

int lode_mine_patterns(const struct lode_miner_input *input, struct lode_patterns *patterns,
		       struct lode_error *error)
{
	struct miner_tree root = { 0 };
	int code = miner_root_make(&root, input) < 0 ? lode_fail_memory(error) : 0;

	if (!code && is_worth_sharing(input, &root))
		code = lode_miner_call(input, &root, patterns, error);
	else if (!code && miner_run(input, &root, patterns) < 0)
		code = lode_fail_memory(error);
	miner_tree_release(&root);
	return code;
}

const char *lode_miner_end_name(enum lode_miner_end end)
{
	static const char *const names[] = { "complete", "max-patterns", "interrupted" };

	return names[end];
}
