/*
 * Candidates: see candidates.h.
 *
 * One thread asks for one job after another and waits for each. It mines when the corpus has changed since the last time, and
 * rests three times as long as mining took, so that uploads and people at the page have most of the machine. What was found
 * is kept as text, ready for /metrics.
 */
#include "serve/candidates.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "base/worker.h"
#include "serve/metric_text.h"
#include "store/catalogue_attributes.h"

#include <stdio.h>
#include <string.h>

#define LOOK_NS         200000000ull   /* between two looks at a running job */
#define REST_NS         10000000000ull /* after mining, at least, */
#define REST_FACTOR     3              /* and this many times as long as it took */
#define PRUNE_NS        3600000000000ull
#define MAX_CANDIDATES  20  /* of a kind */
#define MAX_REGRESSIONS 20  /* functions of a service */
#define MAX_RELEASES    100 /* services */
#define MIN_STREAMS     4   /* of a version, as the gate needs */
#define GATE_RULE       "--gate=own > 3%"

struct lode_candidate_search {
	struct lode_worker worker;
	struct lode_jobs *jobs;
	char *corpus;
	char *keep, *keep_sums; /* options of `lode prune`; NULL: for ever */
	uint64_t mined;         /* version of the corpus before the last run */
	uint64_t rests_until;
	uint64_t pruned_at;
	struct lode_buffer found; /* metrics, with the worker's lock */
};

/* ---- jobs ---- */

static int is_ending(struct lode_candidate_search *candidates)
{
	int ending;

	pthread_mutex_lock(&candidates->worker.lock);
	ending = candidates->worker.ending;
	pthread_mutex_unlock(&candidates->worker.lock);
	return ending;
}

static void rest(struct lode_candidate_search *candidates, uint64_t ns)
{
	pthread_mutex_lock(&candidates->worker.lock);
	if (!candidates->worker.ending)
		lode_worker_wait(&candidates->worker, ns);
	pthread_mutex_unlock(&candidates->worker.lock);
}

/* Runs a job to its end. Returns whether there is a result, for the caller to release with the view. */
static int run_job(struct lode_candidate_search *candidates, char *const *words, struct lode_job_view *view)
{
	if (lode_jobs_ask(candidates->jobs, words, view, NULL) < 0)
		return 0;
	while ((view->state == LODE_JOB_RUNNING || view->state == LODE_JOB_BUSY) && !is_ending(candidates)) {
		int is_running = view->state == LODE_JOB_RUNNING;

		rest(candidates, LOOK_NS);
		lode_job_view_release(view);
		if (is_running)
			lode_jobs_look(candidates->jobs, words, view);
		else if (lode_jobs_ask(candidates->jobs, words, view, NULL) < 0)
			return 0;
		if (is_running && view->state == LODE_JOB_BUSY)
			break; /* somebody else had it forgotten */
	}
	if (view->state == LODE_JOB_DONE)
		return 1;
	lode_job_view_release(view);
	return 0;
}

/* The same; gives the result as JSON. */
static int run_query(struct lode_candidate_search *candidates, char *const *words, struct lode_job_view *view,
		     struct lode_json_value *root)
{
	if (!run_job(candidates, words, view))
		return 0;
	if (lode_json_check(words[0], lode_shared_result_bytes(view->result),
			    lode_shared_result_size(view->result), root, NULL) == 0)
		return 1;
	lode_job_view_release(view);
	return 0;
}

/* ---- rows ---- */

/* Rows of one metric come together, so each has a buffer. */
enum metric { CANDIDATE_DELAY, CANDIDATE_STREAMS, REGRESSION, REGRESSION_BASE, METRICS };

static const struct {
	const char *name, *help;
} metrics[METRICS] = {
	[CANDIDATE_DELAY] = { "lode_candidate_delay_seconds",
			      "What a cluster that no signature covers has cost." },
	[CANDIDATE_STREAMS] = { "lode_candidate_streams", "Streams in which such a cluster was seen." },
	[REGRESSION] = { "lode_regression_seconds",
			 "How much more a function takes per stream than in the version before, at least." },
	[REGRESSION_BASE] = { "lode_regression_base_seconds", "What it took per stream in the version before." },
};

static void label(struct lode_buffer *row, const char *key, struct lode_json_value value)
{
	struct lode_buffer text = { 0 };

	lode_json_text_to(value, &text);
	lode_buffer_byte(&text, '\0');
	if (row->size && row->bytes[row->size - 1] != '{')
		lode_buffer_byte(row, ',');
	if (!text.failed)
		lode_metric_label(row, key, text.bytes);
	row->failed |= text.failed;
	lode_buffer_release(&text);
}

static void write_row(struct lode_buffer *text, enum metric metric, struct lode_buffer *labels, double value)
{
	lode_buffer_print(text, "%s{", metrics[metric].name);
	lode_buffer_add(text, labels->bytes, labels->size);
	lode_buffer_print(text, "} %.9g\n", value);
	text->failed |= labels->failed;
}

/* ---- candidates ---- */

static int is_kernel(struct lode_json_value frame)
{
	size_t length;
	const char *text = lode_json_plain_text(frame, &length);

	return text && length > 7 && !memcmp(text, "kernel!", 7);
}

/* The innermost function that all of a cluster's patterns have, of the program if there is one. */
static struct lode_json_value place_of(struct lode_json_value cluster)
{
	struct lode_json_walk walk = lode_json_walk(lode_json_get(cluster, "common"));
	struct lode_json_value frame, place = { NULL };

	while (lode_json_item(&walk, &frame))
		if (!place.at || !is_kernel(frame))
			place = frame;
	return place;
}

static void add_cluster(struct lode_buffer texts[METRICS], const char *kind, struct lode_json_value cluster)
{
	struct lode_buffer labels = { 0 };

	label(&labels, "candidate", lode_json_get(cluster, "id"));
	label(&labels, "function", place_of(cluster));
	lode_buffer_print(&labels, ",kind=\"%s\"", kind);
	write_row(&texts[CANDIDATE_DELAY], CANDIDATE_DELAY, &labels,
		  lode_json_double_or(lode_json_get(cluster, "cost_ns"), 0) / 1e9);
	write_row(&texts[CANDIDATE_STREAMS], CANDIDATE_STREAMS, &labels,
		  lode_json_double_or(lode_json_get(cluster, "streams"), 0));
	lode_buffer_release(&labels);
}

static void mine(struct lode_candidate_search *candidates, const char *kind, struct lode_buffer texts[METRICS])
{
	static char command[] = "mine", json[] = "--json", only_new[] = "--new";
	char option[16];
	char *const words[] = { command, candidates->corpus, json, only_new, option, NULL };
	struct lode_job_view view;
	struct lode_json_value root, cluster;
	struct lode_json_walk walk;

	snprintf(option, sizeof(option), "--kind=%s", kind);
	if (!run_query(candidates, words, &view, &root))
		return;
	walk = lode_json_walk(lode_json_get(root, "clusters"));
	for (unsigned i = 0; i < MAX_CANDIDATES && lode_json_item(&walk, &cluster); i++)
		add_cluster(texts, kind, cluster);
	lode_job_view_release(&view);
}

/* ---- regressions ---- */

struct release {
	char *texts[4]; /* service, key, old, new */
};

struct releases {
	struct release items[MAX_RELEASES];
	size_t count;
};

static void keep_release(void *context, const struct lode_release *release)
{
	struct releases *releases = context;
	const char *const texts[4] = { release->service, release->key, release->old, release->new };

	if (releases->count == MAX_RELEASES)
		return;
	for (int i = 0; i < 4; i++)
		releases->items[releases->count].texts[i] = lode_strdup(texts[i]);
	releases->count++;
}

static void release_all(struct releases *releases)
{
	for (size_t i = 0; i < releases->count; i++)
		for (int k = 0; k < 4; k++)
			lode_free(releases->items[i].texts[k]);
}

static void add_subject(struct lode_buffer texts[METRICS], const struct release *release,
			struct lode_json_value subject)
{
	struct lode_buffer labels = { 0 };

	label(&labels, "function", lode_json_get(subject, "frame"));
	lode_buffer_byte(&labels, ',');
	lode_metric_label(&labels, "service", release->texts[0]);
	lode_buffer_byte(&labels, ',');
	lode_metric_label(&labels, "base", release->texts[2]);
	lode_buffer_byte(&labels, ',');
	lode_metric_label(&labels, "version", release->texts[3]);
	write_row(&texts[REGRESSION], REGRESSION, &labels,
		  lode_json_double_or(lode_json_get(subject, "low_ns"), 0) / 1e9);
	write_row(&texts[REGRESSION_BASE], REGRESSION_BASE, &labels,
		  lode_json_double_or(lode_json_get(subject, "base_ns"), 0) / 1e9);
	lode_buffer_release(&labels);
}

static void add_gate(struct lode_buffer texts[METRICS], const struct release *release, struct lode_json_value gate)
{
	struct lode_json_walk rules = lode_json_walk(lode_json_get(gate, "rules"));
	struct lode_json_value rule, subject;
	unsigned count = 0;

	while (lode_json_item(&rules, &rule)) {
		struct lode_json_walk subjects = lode_json_walk(lode_json_get(rule, "subjects"));

		while (lode_json_item(&subjects, &subject) && count < MAX_REGRESSIONS)
			if (lode_json_is_text(lode_json_get(subject, "verdict"), "beyond")) {
				add_subject(texts, release, subject);
				count++;
			}
	}
}

/* Returns whether streams could be compared. Machines differ more than versions: hosts with both versions are compared, if any. */
static int compare(struct lode_candidate_search *candidates, const struct release *release, int by_host,
		   struct lode_buffer texts[METRICS])
{
	static char command[] = "diff", json[] = "--json", rule[] = GATE_RULE, unsure[] = "--unsure=pass",
		    all[] = "--block-by=none";
	char *base = lode_format("--base-where=%s=%s", release->texts[1], release->texts[2]),
	     *slow = lode_format("--slow-where=%s=%s", release->texts[1], release->texts[3]),
	     *where = *release->texts[0] ? lode_format("--where=service.name=%s", release->texts[0])
					 : lode_strdup(unsure);
	char *const words[] = { command, candidates->corpus,   json, rule, unsure, base, slow,
				where,   by_host ? NULL : all, NULL };
	struct lode_job_view view;
	struct lode_json_value root, gate;
	int compared = 0;

	if (base && slow && where && run_query(candidates, words, &view, &root)) {
		gate = lode_json_get(root, "gate");
		compared = lode_json_u64_or(lode_json_get(gate, "blocks"), 0) > 0;
		add_gate(texts, release, gate);
		lode_job_view_release(&view);
	}
	lode_free(base);
	lode_free(slow);
	lode_free(where);
	return compared;
}

static void find_regressions(struct lode_candidate_search *candidates, struct lode_buffer texts[METRICS])
{
	struct releases releases = { .count = 0 };
	struct lode_corpus *corpus;

	if (lode_corpus_open(&corpus, candidates->corpus, LODE_CORPUS_READ, NULL) < 0)
		return;
	lode_catalogue_releases(lode_corpus_catalogue(corpus), MIN_STREAMS, keep_release, &releases, NULL);
	lode_corpus_close(corpus);
	for (size_t i = 0; i < releases.count; i++) {
		const struct release *release = &releases.items[i];

		if (release->texts[0] && release->texts[1] && release->texts[2] && release->texts[3] &&
		    !compare(candidates, release, 1, texts))
			compare(candidates, release, 0, texts);
	}
	release_all(&releases);
}

/* ---- the thread ---- */

static void publish(struct lode_candidate_search *candidates, struct lode_buffer texts[METRICS])
{
	struct lode_buffer found = { 0 };

	for (int i = 0; i < METRICS; i++) {
		if (texts[i].size)
			lode_metric_begin(&found, metrics[i].name, "gauge", metrics[i].help);
		lode_buffer_add(&found, texts[i].bytes, texts[i].size);
		found.failed |= texts[i].failed;
		lode_buffer_release(&texts[i]);
	}
	pthread_mutex_lock(&candidates->worker.lock);
	lode_buffer_release(&candidates->found);
	candidates->found = found;
	pthread_mutex_unlock(&candidates->worker.lock);
}

static void look_for_new(struct lode_candidate_search *candidates)
{
	struct lode_buffer texts[METRICS] = { { 0 } };
	uint64_t began = lode_now(), version = lode_jobs_corpus_version(candidates->jobs), took;

	if (version == candidates->mined || began < candidates->rests_until)
		return;
	mine(candidates, "wait", texts);
	mine(candidates, "run", texts);
	find_regressions(candidates, texts);
	if (!is_ending(candidates))
		publish(candidates, texts);
	for (int i = 0; i < METRICS; i++)
		lode_buffer_release(&texts[i]);
	candidates->mined = version;
	took = (lode_now() - began) * REST_FACTOR;
	candidates->rests_until = lode_now() + (took > REST_NS ? took : REST_NS);
}

static void prune(struct lode_candidate_search *candidates)
{
	static char command[] = "prune", quiet[] = "--quiet";
	char *const first = candidates->keep ? candidates->keep : candidates->keep_sums;
	char *const second = candidates->keep ? candidates->keep_sums : NULL;
	char *const words[] = { command, candidates->corpus, quiet, first, second, NULL };
	struct lode_job_view view;

	if (!first || (candidates->pruned_at && lode_now() - candidates->pruned_at < PRUNE_NS))
		return;
	/* What it did an hour ago is no answer. */
	lode_jobs_forget(candidates->jobs, words);
	if (run_job(candidates, words, &view))
		lode_job_view_release(&view);
	candidates->pruned_at = lode_now();
}

static void *work(void *context)
{
	struct lode_candidate_search *candidates = context;

	while (!is_ending(candidates)) {
		prune(candidates);
		look_for_new(candidates);
		rest(candidates, LOOK_NS * 5);
	}
	return NULL;
}

/* ---- callers ---- */

struct lode_candidate_search *lode_candidate_search_start(struct lode_jobs *jobs, const char *corpus,
							  const struct lode_candidate_search_keep *keep)
{
	struct lode_candidate_search *made = lode_calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	lode_worker_init(&made->worker);
	made->jobs = jobs;
	made->corpus = lode_strdup(corpus);
	made->keep = keep->streams ? lode_format("--keep=%s", keep->streams) : NULL;
	made->keep_sums = keep->sums ? lode_format("--keep-sums=%s", keep->sums) : NULL;
	if (!made->corpus || (keep->streams && !made->keep) || (keep->sums && !made->keep_sums) ||
	    !lode_worker_start(&made->worker, work, made)) {
		lode_candidate_search_end(made);
		return NULL;
	}
	return made;
}

void lode_candidate_search_end(struct lode_candidate_search *candidates)
{
	if (!candidates)
		return;
	lode_worker_release(&candidates->worker);
	lode_buffer_release(&candidates->found);
	lode_free(candidates->corpus);
	lode_free(candidates->keep);
	lode_free(candidates->keep_sums);
	lode_free(candidates);
}

void lode_candidate_search_write(struct lode_candidate_search *candidates, struct lode_buffer *text)
{
	if (!candidates)
		return;
	pthread_mutex_lock(&candidates->worker.lock);
	lode_buffer_add(text, candidates->found.bytes, candidates->found.size);
	text->failed |= candidates->found.failed;
	pthread_mutex_unlock(&candidates->worker.lock);
}
