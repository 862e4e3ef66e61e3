/*
 * What a picture of x against y needs, as fields: the rows as points and the fitted functions as
 * curves; see explain_result.h. Of very many rows some are taken, evenly, and it says how many are left out.
 */
#include "result/explain_result.h"

#define MAX_POINTS  1000
#define PAGE_POINTS 20000
/* Pieces that a curve is drawn with. */
#define PIECES 100

/* The i-th of the rows that are taken. */
static size_t taken_row(const struct lode_explanation *explanation, size_t i, size_t taken)
{
	return (size_t)((double)i * (double)explanation->rows / (double)taken);
}

static size_t table_row(const struct lode_explanation *explanation, size_t i, size_t taken)
{
	return explanation->row_of[taken_row(explanation, i, taken)];
}

/* Of column `first`: a value as the table has it; the explanation scales them. */
static int make_value(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_explain_report *report = list->from;

	*(double *)item = lode_data_column_number(&report->input->table->columns[list->first],
						  table_row(report->explanation, i, list->count));
	return 1;
}

static int make_row(const struct lode_list *list, size_t i, void *item)
{
	*(uint64_t *)item = table_row(list->from, i, list->count);
	return 1;
}

static int make_cluster(const struct lode_list *list, size_t i, void *item)
{
	const struct lode_explanation *explanation = list->from;

	*(uint64_t *)item = explanation->assigned[taken_row(explanation, i, list->count)];
	return 1;
}

struct lode_explain_points lode_explain_points_of(const struct lode_explain_report *report)
{
	const struct lode_explanation *explanation = report->explanation;
	size_t most = report->for_page ? PAGE_POINTS : MAX_POINTS;
	size_t taken = explanation->rows < most ? explanation->rows : most;

	return (struct lode_explain_points){
		.left_out = explanation->rows - taken,
		.x = { taken, report, report->input->x[0], make_value },
		.y = { taken, report, report->input->y, make_value },
		.row = { taken, explanation, 0, make_row },
		.cluster = { taken, explanation, 0, make_cluster },
	};
}

static double place_of(const struct lode_explanation *explanation, size_t i)
{
	struct lode_explain_frame frame;

	lode_explain_frame(explanation, &frame);
	return frame.least_x + (frame.most_x - frame.least_x) * (unsigned)i / PIECES;
}

static int make_place(const struct lode_list *list, size_t i, void *item)
{
	*(double *)item = place_of(list->from, i);
	return 1;
}

static int write_curves(const struct lode_written *self, struct lode_json *json)
{
	const struct lode_explanation *explanation = self->from;
	double x[PIECES + 1];

	for (size_t i = 0; i <= PIECES; i++)
		x[i] = place_of(explanation, i);
	lode_json_array(json);
	for (unsigned k = 0; k < self->count; k++) {
		lode_json_array(json);
		for (unsigned i = 0; i <= PIECES; i++)
			lode_json_double(json,
					 lode_explain_value(explanation, &explanation->cluster[k].function, x[i]));
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
	return 0;
}

struct lode_explain_curves lode_explain_curves_of(const struct lode_explain_report *report)
{
	int is_plane = report->input->inputs == 1;

	return (struct lode_explain_curves){
		.x = { is_plane ? PIECES + 1 : 0, report->explanation, 0, make_place },
		.y = { .write = write_curves,
		       .from = report->explanation,
		       .count = is_plane ? report->explanation->clusters : 0 },
	};
}
