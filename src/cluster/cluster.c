/* Several processes of one job: see cluster.h. */
#include "cluster/cluster.h"

#include "base/memory.h"
#include "cluster/cluster_module.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lode_cluster {
	void *library;
	const struct lode_cluster_module *module;
	unsigned rank;
	unsigned size;
	int takes;
	uint64_t round; /* how often all have met, plus one */
};

/*
 * Variables that launchers set for the processes they start: Open MPI's mpirun, those of other MPIs, and
 * srun with PMIx or PMI. A job file of Slurm without srun has none of it.
 */
static unsigned long launched_size(void)
{
	static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (getenv(sizes[i]))
			return strtoul(getenv(sizes[i]), NULL, 10);
	return 0;
}

/* Commands that this process starts are not of the job. */
static void forget_launcher(void)
{
	unsetenv("OMPI_COMM_WORLD_SIZE");
	unsetenv("PMI_SIZE");
	unsetenv("PMIX_RANK");
}

int lode_cluster_is_launched(void)
{
	unsigned long size = launched_size();

	return size ? size > 1 : getenv("PMIX_RANK") != NULL;
}

int lode_cluster_is_forwarded(void)
{
	return launched_size() || getenv("PMIX_RANK");
}

int lode_cluster_collects_lines(void)
{
	return getenv("PRTE_LAUNCHED") != NULL;
}

static void *load(const char *const *folders)
{
	void *library = NULL;

	for (; *folders && !library; folders++) {
		char *path = lode_format("%s/" LODE_CLUSTER_MODULE_FILE, *folders);

		/* Its symbols are for all: MPI loads modules of its own. */
		if (path && access(path, R_OK) == 0)
			library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
		lode_free(path);
	}
	return library;
}

static int fail_loading(struct lode_error *error)
{
	const char *reason = dlerror();

	return lode_fail(
		error, LODE_SYSTEM,
		"a launcher of MPI started this program, but its module " LODE_CLUSTER_MODULE_FILE
		" cannot be loaded (%s); build lode where libopenmpi-dev is installed, or start it without a "
		"launcher",
		reason ? reason : "there is none");
}

int lode_cluster_join(struct lode_cluster **result, const char *const *folders, struct lode_error *error)
{
	struct lode_cluster *cluster = lode_calloc(1, sizeof(*cluster));

	*result = NULL;
	if (!cluster)
		return lode_fail_memory(error);
	cluster->library = load(folders);
	cluster->module = cluster->library ? dlsym(cluster->library, LODE_CLUSTER_MODULE_SYMBOL) : NULL;
	if (!cluster->module || cluster->module->version != LODE_CLUSTER_MODULE_VERSION) {
		lode_free(cluster);
		return fail_loading(error);
	}
	if (cluster->module->start(&cluster->rank, &cluster->size, &cluster->takes)) {
		lode_free(cluster);
		return lode_fail(error, LODE_SYSTEM, "MPI could not be started; see what its launcher says");
	}
	if (cluster->size == 1 && launched_size() > 1) {
		lode_cluster_leave(cluster);
		return lode_fail(
			error, LODE_SYSTEM,
			"another MPI's launcher started this program, which is built with Open MPI; use Open "
			"MPI's ('mpirun.openmpi' on Debian), or 'srun --mpi=pmix' under Slurm");
	}
	forget_launcher();
	cluster->round = 1;
	*result = cluster;
	return 0;
}

unsigned lode_cluster_rank(const struct lode_cluster *cluster)
{
	return cluster->rank;
}

unsigned lode_cluster_size(const struct lode_cluster *cluster)
{
	return cluster->size;
}

int lode_cluster_takes(const struct lode_cluster *cluster)
{
	return cluster->takes;
}

uint64_t lode_cluster_take(struct lode_cluster *cluster)
{
	uint64_t number;

	return cluster->module->take(cluster->round, &number) == 0 ? number : UINT64_MAX;
}

void lode_cluster_close(struct lode_cluster *cluster)
{
	cluster->module->close(cluster->round);
}

static int fail_reaching(const struct lode_cluster *cluster, struct lode_error *error)
{
	return lode_fail(error, LODE_SYSTEM, "rank %u cannot reach the others; see what the launcher of MPI says",
			 cluster->rank);
}

int lode_cluster_meet(struct lode_cluster *cluster, struct lode_error *error)
{
	cluster->round++;
	if (cluster->module->meet() == 0)
		return 0;
	return fail_reaching(cluster, error);
}

int lode_cluster_send(struct lode_cluster *cluster, unsigned to, const void *bytes, size_t size,
		      struct lode_error *error)
{
	if (cluster->module->offer(to, size) || cluster->module->send_bytes(to, bytes, size))
		return fail_reaching(cluster, error);
	return 0;
}

int lode_cluster_receive(struct lode_cluster *cluster, unsigned from, struct lode_buffer *message,
			 struct lode_error *error)
{
	uint64_t size;

	lode_buffer_clear(message);
	if (cluster->module->await_offer(from, &size))
		return fail_reaching(cluster, error);
	if (size && !lode_buffer_room(message, size))
		return lode_fail_memory(error);
	if (cluster->module->receive_bytes(from, message->bytes, size))
		return fail_reaching(cluster, error);
	message->size = size;
	return 0;
}

/* The library stays: MPI may have threads of its own to the end. */
void lode_cluster_leave(struct lode_cluster *cluster)
{
	if (!cluster)
		return;
	cluster->module->stop();
	lode_free(cluster);
}

void lode_cluster_abort(struct lode_cluster *cluster, int status)
{
	cluster->module->abort(status);
}
