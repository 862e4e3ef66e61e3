/* Search history graph: see search_history.h. */
#include "hunt/search/search_history.h"

#include <string.h>

void lode_history_init(struct lode_history *history)
{
	memset(history, 0, sizeof(*history));
	history->first_root = history->last_root = LODE_NONE;
}

void lode_history_release(struct lode_history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		lode_free(history->experiments[i].why);
		lode_free(history->experiments[i].not_probed);
		lode_free(history->experiments[i].observation);
	}
	lode_free(history->experiments);
	lode_free(history->links);
	lode_index_release(&history->index);
	lode_history_init(history);
}

static uint64_t hash_of(enum lode_hypothesis hypothesis, const struct lode_focus *focus)
{
	const uint64_t numbers[] = { (uint64_t)hypothesis, focus->function, focus->host,
				     focus->process,       focus->thread,   focus->object };

	return lode_hash_bytes(numbers, sizeof(numbers));
}

uint32_t lode_history_find(const struct lode_history *history, enum lode_hypothesis hypothesis,
			   const struct lode_focus *focus)
{
	uint64_t hash = hash_of(hypothesis, focus);

	return LODE_INDEX_FIND(i, &history->index, hash,
			       history->experiments[i].hypothesis == hypothesis &&
				       lode_focus_equal(&history->experiments[i].focus, focus));
}

/* Whether a parent is known already. */
static int is_linked(const struct lode_history *history, uint32_t child, uint32_t parent)
{
	for (uint32_t i = history->experiments[child].links; i != LODE_NONE; i = history->links[i].next)
		if (history->links[i].parent == parent)
			return 1;
	return 0;
}

static int link_parent(struct lode_history *history, uint32_t child, uint32_t parent)
{
	struct lode_experiment *experiment = &history->experiments[child];

	if (parent == LODE_NONE || parent == child || is_linked(history, child, parent))
		return 0;
	if (LODE_GROW(history->links, history->link_capacity, history->link_count + 1) < 0)
		return LODE_SYSTEM;
	history->links[history->link_count] = (struct lode_history_link){ parent, experiment->links };
	experiment->links = (uint32_t)history->link_count++;
	return 0;
}

/* Hangs a new node below its first parent, or among the roots. */
static void hang(struct lode_history *history, uint32_t id)
{
	struct lode_experiment *experiment = &history->experiments[id];
	int is_root = experiment->parent == LODE_NONE;
	struct lode_experiment *parent = is_root ? NULL : &history->experiments[experiment->parent];
	uint32_t *first = is_root ? &history->first_root : &parent->first_child;
	uint32_t *last = is_root ? &history->last_root : &parent->last_child;

	if (*last == LODE_NONE)
		*first = id;
	else
		history->experiments[*last].next_sibling = id;
	*last = id;
}

static uint32_t add_new(struct lode_history *history, enum lode_hypothesis hypothesis,
			const struct lode_focus *focus, uint32_t parent)
{
	uint32_t id = (uint32_t)history->count;
	struct lode_experiment *experiment;

	if (LODE_GROW(history->experiments, history->capacity, history->count + 1) < 0 ||
	    lode_index_insert(&history->index, hash_of(hypothesis, focus), id) < 0)
		return LODE_NONE;
	experiment = &history->experiments[history->count++];
	*experiment = (struct lode_experiment){
		.hypothesis = hypothesis,
		.focus = *focus,
		.parent = parent,
		.links = LODE_NONE,
		.first_child = LODE_NONE,
		.last_child = LODE_NONE,
		.next_sibling = LODE_NONE,
		.cost = -1,
		.confidence = 0.5,
	};
	hang(history, id);
	return id;
}

uint32_t lode_history_add(struct lode_history *history, enum lode_hypothesis hypothesis,
			  const struct lode_focus *focus, uint32_t parent, int *added)
{
	uint32_t id = lode_history_find(history, hypothesis, focus);

	*added = id == LODE_NONE;
	if (*added)
		id = add_new(history, hypothesis, focus, parent);
	if (id == LODE_NONE || link_parent(history, id, parent) < 0)
		return LODE_NONE;
	return id;
}

void lode_history_say(struct lode_history *history, uint32_t experiment, const char *why)
{
	lode_free(history->experiments[experiment].why);
	history->experiments[experiment].why = why ? lode_strdup(why) : NULL;
}

void lode_history_rest_on_samples(struct lode_history *history, uint32_t id, const char *why)
{
	struct lode_experiment *experiment = &history->experiments[id];

	experiment->evidence = LODE_EVIDENCE_SAMPLES;
	lode_free(experiment->not_probed);
	experiment->not_probed = why ? lode_strdup(why) : NULL;
}

const char *lode_experiment_state_name(enum lode_experiment_state state)
{
	static const char *const names[LODE_EXPERIMENT_STATES] = {
		[LODE_EXPERIMENT_NEVER_RUN] = "never-run", [LODE_EXPERIMENT_RUNNING] = "running",
		[LODE_EXPERIMENT_TRUE] = "true",           [LODE_EXPERIMENT_FALSE] = "false",
		[LODE_EXPERIMENT_DEFERRED] = "deferred",   [LODE_EXPERIMENT_IMPOSSIBLE] = "impossible",
	};

	return names[state];
}

const char *lode_experiment_origin_name(enum lode_experiment_origin origin)
{
	static const char *const names[LODE_ORIGINS] = {
		[LODE_ORIGIN_CALL_GRAPH] = "call-graph",
		[LODE_ORIGIN_CONNECT] = "connect",
		[LODE_ORIGIN_DEEP_START] = "deep-start",
	};

	return names[origin];
}

const char *lode_evidence_name(enum lode_evidence evidence)
{
	static const char *const names[LODE_EVIDENCES] = {
		[LODE_EVIDENCE_PROBES] = "probes",
		[LODE_EVIDENCE_SAMPLES] = "samples",
	};

	return names[evidence];
}
