/* Services of mining: see mine_services.h. */
#include "mine/mine_services.h"

#include "mine/miner_job.h"
#include "mine/similarity_job.h"

const struct lode_job_service lode_mine_services[] = {
	{ LODE_TASK_SIMILARITIES, lode_similarities_serve },
	{ LODE_TASK_MINING, lode_miner_serve },
	{ .task = LODE_JOB_END },
};
