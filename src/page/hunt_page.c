/*
 * A hunt as a page: see hunt_page.h. All experiments as they were in the end, the
 * summary, and the words that the text has for them; web/ shows them.
 */
#include "base/memory.h"
#include "page/hunt_page.h"
#include "page/page.h"
#include "result/hunt_result.h"

/* A text that one of the functions below makes of experiment `first`. */
static int write_words(const struct lode_written *self, struct lode_json *json,
		       void (*make)(const struct lode_search *, uint32_t, struct lode_buffer *))
{
	struct lode_buffer text = { 0 };

	make(self->from, (uint32_t)self->first, &text);
	lode_json_take(json, &text);
	lode_buffer_release(&text);
	return 0;
}

static const struct lode_experiment *experiment_of(const struct lode_search *search, uint32_t id)
{
	return &lode_search_history(search)->experiments[id];
}

static void make_focus(const struct lode_search *search, uint32_t id, struct lode_buffer *text)
{
	lode_hunt_focus(search, &experiment_of(search, id)->focus, text);
}

static void make_measured(const struct lode_search *search, uint32_t id, struct lode_buffer *text)
{
	if (experiment_of(search, id)->runs)
		lode_hunt_measured(experiment_of(search, id), text);
}

static void make_value(const struct lode_search *search, uint32_t id, struct lode_buffer *text)
{
	if (experiment_of(search, id)->runs)
		lode_hunt_value(experiment_of(search, id)->hypothesis, experiment_of(search, id)->value, text);
}

static void make_threshold(const struct lode_search *search, uint32_t id, struct lode_buffer *text)
{
	lode_hunt_value(experiment_of(search, id)->hypothesis, experiment_of(search, id)->threshold, text);
}

static int write_step(const struct lode_written *self, struct lode_json *json)
{
	return write_words(self, json, lode_hunt_step);
}

static int write_focus(const struct lode_written *self, struct lode_json *json)
{
	return write_words(self, json, make_focus);
}

static int write_measured(const struct lode_written *self, struct lode_json *json)
{
	return write_words(self, json, make_measured);
}

static int write_value(const struct lode_written *self, struct lode_json *json)
{
	return write_words(self, json, make_value);
}

static int write_threshold(const struct lode_written *self, struct lode_json *json)
{
	return write_words(self, json, make_threshold);
}

/* What the text calls each experiment, by number. */
static int make_words(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_experiment *experiment = experiment_of(list->from, (uint32_t)i);
	const char *origin = lode_hunt_origin(experiment->origin);

	*(struct lode_hunt_words *)item = (struct lode_hunt_words){
		.step = { .write = write_step, .from = list->from, .first = i },
		.focus = { .write = write_focus, .from = list->from, .first = i },
		.measured = { .write = write_measured, .from = list->from, .first = i },
		.value = { .write = write_value, .from = list->from, .first = i },
		.threshold = { .write = write_threshold, .from = list->from, .first = i },
		.claim = lode_hunt_claim(experiment->hypothesis),
		.origin = origin ? origin : "",
	};
	return 1;
}

/* The bottlenecks in sentences, in the order of the summary. */
static int write_sentences(const struct lode_written *self, struct lode_json *json)
{
	size_t count, specific;
	uint32_t *ids = lode_hunt_bottlenecks(self->from, &count, &specific);
	struct lode_buffer text = { 0 };

	if (!ids)
		return LODE_SYSTEM;
	lode_json_array(json);
	for (size_t i = 0; i < count; i++) {
		lode_hunt_sentence(self->from, ids[i], &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_buffer_release(&text);
	lode_free(ids);
	return 0;
}

static int write_sums(const struct lode_written *self, struct lode_json *json)
{
	lode_hunt_sums(self->from, json);
	return 0;
}

/* As in the lines of --json. */
static int write_experiments(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_hunt_report *report = self->from;

	lode_json_array(json);
	for (uint32_t i = 0; i < lode_search_history(report->search)->count; i++) {
		lode_buffer_text(json->buffer, i ? "," : "");
		lode_hunt_line(report, i, json->buffer);
	}
	lode_json_array_end(json);
	return 0;
}

void lode_hunt_page_json(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	struct lode_hunt_state state = {
		.summary = { .write = write_sums, .from = report },
		.experiments = { .write = write_experiments, .from = report },
		.words = { lode_search_history(report->search)->count, report->search, 0, make_words },
		.sentences = { .write = write_sentences, .from = report->search },
	};

	lode_fields_line(&lode_hunt_state_fields, &state, buffer);
}

void lode_hunt_html(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	struct lode_buffer json = { 0 }, title = { 0 };

	lode_hunt_page_json(report, &json);
	lode_buffer_print(&title, "lode hunt %s", report->target);
	if (title.failed)
		buffer->failed = 1;
	else
		lode_page_write(buffer, title.bytes, "hunt", &json);
	lode_buffer_release(&title);
	lode_buffer_release(&json);
}
