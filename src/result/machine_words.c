/* Who had the processors: see machine_words.h. */
#include "result/machine_words.h"

#include "base/units.h"

void lode_finding_neighbours(const struct lode_finding_source *source, const struct lode_finding *finding,
			     int with_recorded, struct lode_neighbours *neighbours)
{
	const struct lode_area *area = source->area;
	const struct lode_strings *strings = &area->dictionary.frames.strings;
	const char *thread = lode_strings_get(strings, area->chains.links[finding->chain].thread);

	for (size_t i = 0; i < area->stream_count; i++)
		lode_neighbours_add(neighbours, thread, with_recorded, area->streams[i].attributes,
				    area->streams[i].attribute_count, strings);
}

void lode_neighbours_words(const struct lode_neighbours *neighbours, uint64_t time, struct lode_buffer *buffer)
{
	for (size_t i = 0; i < neighbours->count && neighbours->times[i] >= time / 10; i++)
		lode_buffer_print(buffer, "%s%s", i ? ", " : "", neighbours->names[i]);
}

static void put_others(const struct lode_neighbours *others, struct lode_buffer *buffer)
{
	uint64_t time = others->total - others->recorded;

	lode_buffer_text(buffer, others->count > 1 && others->times[1] >= time / 10
					 ? "others have the processors: "
					 : "another program has the processors: ");
	lode_neighbours_words(others, time, buffer);
}

/* The threads of the first of these findings, and that there are others. */
static void put_ready_threads(const struct lode_finding_source *source, const struct lode_finding *items,
			      size_t count, struct lode_buffer *buffer)
{
	struct lode_chain_link link =
		lode_finding_link(source->findings, &source->area->chains, &items[0], items[0].chain, 0);

	lode_finding_thread(source, &link, NULL, buffer);
	if (count > 1)
		lode_buffer_print(buffer, " and %zu other%s", count - 1, lode_plural(count - 1));
	lode_buffer_print(buffer, count > 1 ? " are" : " is");
}

void lode_machine_sentence(const struct lode_finding_source *source, uint64_t *cost, struct lode_buffer *buffer)
{
	const struct lode_findings *findings = source->findings;
	const struct lode_finding *items = findings->items + findings->count;
	struct lode_neighbours found = { .count = 0 };
	char share[LODE_UNITS_TEXT];

	*cost = 0;
	if (!findings->machine_count)
		return;
	for (size_t i = 0; i < findings->machine_count; i++) {
		*cost = lode_add_saturating(*cost, items[i].cost);
		lode_finding_neighbours(source, &items[i], 0, &found);
	}
	lode_buffer_text(buffer, "The machine is busy: ");
	put_ready_threads(source, items, findings->machine_count, buffer);
	lode_buffer_print(buffer, " ready but not running for %s of the time, while ",
			  lode_share_text(*cost, findings->total, share));
	put_others(&found, buffer);
}
