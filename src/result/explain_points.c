/*
 * What a picture of x against y needs, as JSON: the rows as points and the fitted functions as
 * curves; see explain_report.h. Of very many rows some are taken, evenly, and it says how many are left out.
 */
#include "result/explain_report.h"

#define MOST_POINTS 1000
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

/* Values as the table has them; the explanation scales them. */
static void put_column(const struct lode_explain_report *report, const char *key, uint32_t column, size_t taken,
		       struct lode_json *json)
{
	lode_json_key_array(json, key);
	for (size_t i = 0; i < taken; i++)
		lode_json_double(json, lode_data_column_number(&report->input->table->columns[column],
							       table_row(report->explanation, i, taken)));
	lode_json_array_end(json);
}

void lode_explain_points_json(const struct lode_explain_report *report, struct lode_json *json)
{
	const struct lode_explanation *explanation = report->explanation;
	size_t most = report->page ? PAGE_POINTS : MOST_POINTS;
	size_t taken = explanation->rows < most ? explanation->rows : most;

	lode_json_key_object(json, "points");
	lode_json_key_u64(json, "left_out", explanation->rows - taken);
	put_column(report, "x", report->input->x[0], taken, json);
	put_column(report, "y", report->input->y, taken, json);
	lode_json_key_array(json, "row");
	for (size_t i = 0; i < taken; i++)
		lode_json_u64(json, table_row(explanation, i, taken));
	lode_json_array_end(json);
	lode_json_key_array(json, "cluster");
	for (size_t i = 0; i < taken; i++)
		lode_json_u64(json, explanation->assigned[taken_row(explanation, i, taken)]);
	lode_json_array_end(json);
	lode_json_object_end(json);
}

void lode_explain_curves_json(const struct lode_explain_report *report, struct lode_json *json)
{
	const struct lode_explanation *explanation = report->explanation;
	int is_plane = report->input->inputs == 1;
	struct lode_explain_frame frame;
	double x[PIECES + 1];

	lode_explain_frame(explanation, &frame);
	lode_json_key_object(json, "curves");
	lode_json_key_array(json, "x");
	for (unsigned i = 0; is_plane && i <= PIECES; i++) {
		x[i] = frame.least_x + (frame.most_x - frame.least_x) * i / PIECES;
		lode_json_double(json, x[i]);
	}
	lode_json_array_end(json);
	lode_json_key_array(json, "y");
	for (unsigned k = 0; is_plane && k < explanation->clusters; k++) {
		lode_json_array(json);
		for (unsigned i = 0; i <= PIECES; i++)
			lode_json_double(json,
					 lode_explain_value(explanation, &explanation->cluster[k].function, x[i]));
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
	lode_json_object_end(json);
}
