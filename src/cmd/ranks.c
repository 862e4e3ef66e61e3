/* Under a launcher of MPI: see ranks.h. */
#include "cmd/ranks.h"

#include "base/memory.h"
#include "base/program_folder.h"
#include "cluster/cluster.h"
#include "cmd/terminal.h"
#include "mine/mine_services.h"
#include "tasks/analysis.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* s: all processes meet the same wrong option; the first one says so and ends the job meanwhile. */
#define FIRST_SPEAKS 2

/* One job a process. */
static struct lode_cluster *cluster;
static unsigned times_left = 1;
static struct lode_job_rank job;

int lode_ranks_launched(void)
{
	return cluster || lode_cluster_is_launched();
}

void lode_ranks_expect(unsigned times)
{
	times_left = times;
}

int lode_ranks_helps(void)
{
	return cluster && lode_cluster_rank(cluster) > 0;
}

/* JSON is one line, and may be long. */
void lode_ranks_warn(const struct lode_call *call)
{
	const struct lode_analysis_command *command = call->command->analysis;
	const char *rank = getenv("PMIX_RANK");
	const struct lode_result_settings *settings;

	if (!command || call->quiet || !lode_cluster_collects_lines() || !rank || strcmp(rank, "0"))
		return;
	settings = (const void *)((const char *)call->settings + command->result);
	if (settings->json && !settings->output)
		lode_say(&call->err, LODE_YELLOW,
			 "mpirun takes minutes to pass on JSON of several MB, which is one line; '-o FILE' "
			 "writes it at once");
}

/* Beside the program where it was built, or where it was installed. */
static int join(struct lode_error *error)
{
	char *folder = lode_program_folder(), *built = folder ? lode_format("%s/../cluster", folder) : NULL;
	const char *const places[] = { built ? built : LODE_MODULES, LODE_MODULES, NULL };
	int code = lode_cluster_join(&cluster, places, error);

	lode_free(folder);
	lode_free(built);
	return code;
}

/* MPI_Finalize spins until the last process is there; meeting before does not. */
static void leave(void)
{
	lode_cluster_meet(cluster, NULL);
	lode_cluster_leave(cluster);
}

static uint64_t take(void *context)
{
	return lode_cluster_take(context);
}

static void close_queue(void *context)
{
	lode_cluster_close(context);
}

static int meet(void *context, struct lode_error *error)
{
	return lode_cluster_meet(context, error);
}

static int send(void *context, unsigned to, const void *bytes, size_t size, struct lode_error *error)
{
	return lode_cluster_send(context, to, bytes, size, error);
}

static int receive(void *context, unsigned from, struct lode_buffer *message, struct lode_error *error)
{
	return lode_cluster_receive(context, from, message, error);
}

static int begin(struct lode_error *error)
{
	int code = cluster ? 0 : join(error);

	if (!code)
		job = (struct lode_job_rank){
			.number = lode_cluster_rank(cluster),
			.count = lode_cluster_size(cluster),
			.take = lode_cluster_takes(cluster) ? take : NULL,
			.close = close_queue,
			.meet = meet,
			.send = send,
			.receive = receive,
			.context = cluster,
		};
	return code;
}

int lode_ranks_share(struct lode_corpus *corpus, const struct lode_shared_work *work, struct lode_error *error)
{
	int code;

	if (!times_left || !lode_ranks_launched())
		return work->join(work->context, NULL, error);
	if (!lode_corpus_cache(corpus))
		return lode_fail(
			error, LODE_USAGE,
			"processes of one job hand over their work through the cache of the corpus; leave out "
			"'--no-cache'");
	code = begin(error);
	if (!code)
		code = work->keep(work->context, &job, error);
	if (!code)
		code = lode_cluster_meet(cluster, error);
	if (!code)
		code = work->join(work->context, &job, error);
	times_left -= !code;
	if (!code && !times_left && lode_ranks_helps()) {
		code = lode_job_serve(&job, lode_mine_services, error);
		if (code)
			return code;
		leave();
		exit(0);
	}
	return code;
}

const struct lode_job_rank *lode_ranks_served(void)
{
	return cluster && !times_left && job.count > 1 && !lode_ranks_helps() ? &job : NULL;
}

void lode_ranks_end(int code)
{
	if (!cluster)
		return;
	if (lode_is_done(code) && (!lode_ranks_served() || !lode_job_call(&job, LODE_JOB_END, NULL, NULL))) {
		leave();
		return;
	}
	if (lode_ranks_helps())
		sleep(FIRST_SPEAKS);
	lode_cluster_abort(cluster, -code);
}
