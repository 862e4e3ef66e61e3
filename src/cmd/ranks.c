/* Under a launcher of MPI: see ranks.h. */
#include "cmd/ranks.h"

#include "base/memory.h"
#include "cluster/cluster.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* s: all processes meet the same wrong option; the first one says so and ends the job meanwhile. */
#define FIRST_SPEAKS 2

/* One job a process. */
static struct lode_cluster *cluster;
static unsigned times_left = 1;

int lode_ranks_launched(void)
{
	return lode_cluster_is_launched();
}

void lode_ranks_expect(unsigned times)
{
	times_left = times;
}

int lode_ranks_helps(void)
{
	return cluster && lode_cluster_rank(cluster) > 0;
}

/* Beside the program where it was built, or where it was installed. */
static int join(struct lode_error *error)
{
	char program[4096], *slash, *built;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int code;

	program[length > 0 ? length : 0] = '\0';
	slash = strrchr(program, '/');
	if (slash)
		*slash = '\0';
	built = lode_format("%s/../cluster", program);
	if (!built)
		return lode_fail_memory(error);
	code = lode_cluster_join(&cluster, (const char *const[]){ built, LODE_MODULES, NULL }, error);
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

int lode_ranks_share(struct lode_corpus *corpus,
		     int (*keep)(void *context, struct lode_job_rank rank, struct lode_error *error),
		     void *context, struct lode_error *error)
{
	int code = 0;

	if (!times_left || !lode_cluster_is_launched())
		return 0;
	if (!lode_corpus_cache(corpus))
		return lode_fail(
			error, LODE_USAGE,
			"processes of one job hand over their work through the cache of the corpus; leave out "
			"'--no-cache'");
	if (!cluster)
		code = join(error);
	if (!code)
		code = keep(context,
			    (struct lode_job_rank){
				    .number = lode_cluster_rank(cluster),
				    .count = lode_cluster_size(cluster),
				    .take = lode_cluster_takes(cluster) ? take : NULL,
				    .context = cluster,
			    },
			    error);
	if (!code)
		code = lode_cluster_meet(cluster, error);
	times_left -= !code;
	if (!code && !times_left && lode_ranks_helps()) {
		leave();
		exit(0);
	}
	return code;
}

void lode_ranks_end(int code)
{
	if (!cluster)
		return;
	if (code >= LODE_FOUND) {
		leave();
		return;
	}
	if (lode_ranks_helps())
		sleep(FIRST_SPEAKS);
	lode_cluster_abort(cluster, -code);
}
