/*
 * A hunt as a page: see hunt_page.h. All experiments as they were in the end, the
 * summary, and the words that the text has for them; web/ shows them.
 */
#include "base/json.h"
#include "base/memory.h"
#include "page/hunt_page.h"
#include "page/page.h"

/* Writes what `text` holds, and clears it. */
static void put_text(struct lode_json *json, const char *key, struct lode_buffer *text)
{
	lode_json_key(json, key);
	lode_json_take(json, text);
}

/* What the text calls each experiment, by number. */
static void put_words(const struct lode_search *search, struct lode_json *json)
{
	const struct lode_history *history = lode_search_history(search);
	struct lode_buffer text = { 0 };

	lode_json_array(json);
	for (uint32_t i = 0; i < history->count; i++) {
		const struct lode_experiment *experiment = &history->experiments[i];

		lode_json_object(json);
		lode_hunt_step(search, i, &text);
		put_text(json, "step", &text);
		lode_hunt_focus(search, &experiment->focus, &text);
		put_text(json, "focus", &text);
		if (experiment->runs)
			lode_hunt_measured(experiment, &text);
		put_text(json, "measured", &text);
		lode_hunt_value(experiment->hypothesis, experiment->threshold, &text);
		put_text(json, "threshold", &text);
		lode_json_object_end(json);
	}
	lode_json_array_end(json);
	lode_buffer_release(&text);
}

/* The bottlenecks in sentences, in the order of the summary. */
static void put_sentences(const struct lode_search *search, struct lode_json *json)
{
	size_t count, specific;
	uint32_t *ids = lode_hunt_bottlenecks(search, &count, &specific);
	struct lode_buffer text = { 0 };

	json->buffer->failed |= !ids;
	lode_json_array(json);
	for (size_t i = 0; ids && i < count; i++) {
		lode_hunt_sentence(search, ids[i], &text);
		lode_json_take(json, &text);
	}
	lode_json_array_end(json);
	lode_buffer_release(&text);
	lode_free(ids);
}

void lode_hunt_page_json(const struct lode_hunt_report *report, struct lode_buffer *buffer)
{
	const struct lode_history *history = lode_search_history(report->search);
	struct lode_json json = { .buffer = buffer };

	lode_buffer_text(buffer, "{\"summary\":");
	lode_hunt_sums(report, &json);
	lode_buffer_text(buffer, ",\"experiments\":[");
	for (uint32_t i = 0; i < history->count; i++) {
		lode_buffer_text(buffer, i ? "," : "");
		lode_hunt_line(report, i, buffer);
	}
	lode_buffer_text(buffer, "],\"words\":");
	put_words(report->search, &json);
	lode_buffer_text(buffer, ",\"sentences\":");
	put_sentences(report->search, &json);
	lode_buffer_text(buffer, "}\n");
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
