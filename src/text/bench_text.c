/* The result of lode bench as text: see bench_text.h. */
#include "text/bench_text.h"

#include "base/safe_text.h"
#include "base/units.h"

#include <string.h>

static enum lode_style style_of(enum lode_bench_verdict verdict)
{
	return verdict == LODE_BENCH_SLOWER ? LODE_RED : verdict == LODE_BENCH_UNSURE ? LODE_YELLOW : LODE_GREEN;
}

static void put_times(const struct lode_bench_input *input, struct lode_buffer *buffer)
{
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], a_cpu[LODE_UNITS_TEXT], b_cpu[LODE_UNITS_TEXT];

	lode_buffer_print(buffer, "          A %s (%s of CPU time), B %s (%s); medians of %llu pair%s of runs\n",
			  lode_duration_text(input->a_ns, a), lode_duration_text(input->a_cpu_ns, a_cpu),
			  lode_duration_text(input->b_ns, b), lode_duration_text(input->b_cpu_ns, b_cpu),
			  (unsigned long long)input->pairs, lode_plural(input->pairs));
}

static void put_input(const struct lode_bench_result *result, const struct lode_bench_input *input,
		      const struct lode_look *look, struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, "B is      ");
	lode_buffer_text(buffer, lode_style(look, style_of(input->verdict)));
	lode_bench_words(result, input, buffer);
	lode_buffer_text(buffer, lode_style(look, LODE_PLAIN));
	if (!strcmp(result->measure, "cpu"))
		lode_buffer_text(buffer, " in CPU time");
	if (input->input) {
		lode_buffer_text(buffer, " with ");
		lode_text_safe(buffer, input->input);
	}
	lode_buffer_byte(buffer, '\n');
	if (input->pairs)
		put_times(input, buffer);
}

static void put_cause(const struct lode_bench_result *result, const struct lode_look *look,
		      struct lode_buffer *buffer)
{
	const struct lode_bench_cause *cause = &result->cause;

	if (!result->has_cause) {
		if (result->no_cause)
			lode_buffer_print(buffer, "cause     none: %s\n", result->no_cause);
		return;
	}
	lode_buffer_print(buffer, "cause     %s", lode_style(look, LODE_BOLD));
	lode_text_safe(buffer, cause->frame);
	lode_buffer_print(buffer, "%s (%s) takes ", lode_style(look, LODE_PLAIN), cause->layer);
	lode_signed_duration((double)cause->delta_ns, buffer);
	lode_buffer_text(buffer, " per run\n");
	if (cause->caller) {
		lode_buffer_text(buffer, cause->new ? "          never before called by " : "          called by ");
		lode_text_safe(buffer, cause->caller);
		lode_buffer_byte(buffer, '\n');
	}
	if (cause->state) {
		lode_buffer_print(buffer, "states    %s ", cause->state);
		lode_signed_duration((double)cause->state_delta_ns, buffer);
		lode_buffer_text(buffer, " per run\n");
	}
}

void lode_bench_text(const struct lode_bench_result *result, const struct lode_look *look,
		     struct lode_buffer *buffer)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_text(buffer, "A         ");
	lode_text_safe(buffer, result->a);
	lode_buffer_text(buffer, "\nB         ");
	lode_text_safe(buffer, result->b);
	lode_buffer_byte(buffer, '\n');
	for (size_t i = 0; i < result->count; i++)
		put_input(result, &result->items[i], look, buffer);
	put_cause(result, look, buffer);
	lode_buffer_print(buffer, "runs      %llu in %s", (unsigned long long)result->runs,
			  lode_duration_text(result->runs_ns, text));
	if (result->cpus)
		lode_buffer_print(buffer, ", pinned to processor %s", result->cpus);
	if (result->recorded)
		lode_buffer_print(buffer, "; %llu of each recorded in %s", (unsigned long long)result->recorded,
				  lode_duration_text(result->took_ns - result->runs_ns, text));
	lode_buffer_print(buffer, "; all intervals together are right in %.0f of 100 experiments\n",
			  100 * (1 - result->level));
}
