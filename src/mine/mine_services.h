/* What the other processes of a job can do for the first one while it mines (base/job_rank.h). */
#ifndef LODE_MINE_MINE_SERVICES_H
#define LODE_MINE_MINE_SERVICES_H

#include "base/job_rank.h"

enum lode_mine_task {
	LODE_TASK_SIMILARITIES = 1, /* similarity_job.h */
	LODE_TASK_MINING = 2,       /* miner_job.h */
};

/* Ends with LODE_JOB_END. */
extern const struct lode_job_service lode_mine_services[];

#endif
