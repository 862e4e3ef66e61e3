/* Words that all reports of an explanation use; see explain_report.h. */
#include "base/units.h"
#include "base/safe_text.h"
#include "result/explain_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *lode_explain_feature(const struct lode_explain_report *report, uint32_t feature)
{
	const struct lode_feature *item = &report->explanation->features.items[feature];

	return report->input->table->columns[item->columns[0]].name;
}

void lode_explain_number(double number, struct lode_buffer *buffer)
{
	if (fabs(number) >= 10000 && fabs(number) < 1e12)
		lode_buffer_print(buffer, "%.0f", number);
	else
		lode_buffer_print(buffer, "%.4g", number);
}

/* Units that names of columns end in. */
static const char *const units[] = { "ns", "us", "ms", "s", "seconds", "bytes", "kB", "MB" };

/* Whether the name ends in `_unit`, `(unit)`. */
static int names_unit(const char *name, const char *unit)
{
	size_t length = strlen(name), size = strlen(unit);

	if (length > size + 1 && name[length - size - 1] == '_' && !strcmp(name + length - size, unit))
		return 1;
	return length > size + 2 && name[length - 1] == ')' && name[length - size - 2] == '(' &&
	       !strncmp(name + length - size - 1, unit, size);
}

const char *lode_explain_unit(const struct lode_explain_report *report, uint32_t column)
{
	const struct lode_explain_input *input = report->input;

	if (input->unit && input->auxiliary[column])
		return input->unit;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (names_unit(input->table->columns[column].name, units[i]))
			return units[i];
	return "";
}

/* A number and its unit; nanoseconds, which are hard to read, are shown in a larger unit. */
static void put_amount(double amount, const char *unit, struct lode_buffer *buffer)
{
	static const char *const larger[] = { "us", "ms", "s" };

	for (size_t i = 0, scaled = !strcmp(unit, "ns"); scaled && i < 3 && fabs(amount) >= 999.95; i++) {
		amount /= 1000;
		unit = larger[i];
	}
	lode_explain_number(amount, buffer);
	if (unit[0])
		lode_buffer_print(buffer, " %s", unit);
}

void lode_explain_y(const struct lode_explain_report *report, double y, struct lode_buffer *buffer)
{
	const char *unit = lode_explain_unit(report, report->input->y);

	if (!strcmp(unit, "ns"))
		put_amount(y, unit, buffer);
	else
		lode_explain_number(y, buffer);
}

static void category_test(const struct lode_explain_report *report, const struct lode_tree_node *node, int yes,
			  struct lode_buffer *buffer)
{
	const struct lode_feature *feature = &report->explanation->features.items[node->feature];
	const struct lode_strings *values = &report->input->table->columns[feature->columns[0]].values;

	lode_buffer_text(buffer, yes ? " is " : " is not ");
	if (node->code < values->count)
		lode_text_safe(buffer, lode_strings_get(values, node->code));
	else
		lode_buffer_text(buffer, "missing");
}

/* A threshold between two whole numbers is shown as the lower one: more than 0.5 samples are more than 0. */
static double bound_of(const struct lode_explain_report *report, const struct lode_tree_node *node)
{
	return report->input->counts ? floor(node->threshold) : node->threshold;
}

void lode_explain_bound(const struct lode_explain_report *report, const struct lode_tree_node *node, int yes,
			int known, struct lode_buffer *buffer)
{
	const struct lode_feature *feature = &report->explanation->features.items[node->feature];
	const struct lode_data_column *column = &report->input->table->columns[feature->columns[0]];

	lode_text_safe(buffer, column->name);
	if (feature->kind == LODE_FEATURE_CATEGORY) {
		category_test(report, node, yes, buffer);
	} else if (column->kind == LODE_DATA_BINARY) {
		lode_buffer_text(buffer, yes ? " = 1" : " = 0");
	} else if (!isfinite(node->threshold)) {
		lode_buffer_text(buffer, yes ? " is not missing" : " is missing");
	} else {
		lode_buffer_text(buffer, yes ? " > " : " <= ");
		put_amount(bound_of(report, node), lode_explain_unit(report, feature->columns[0]), buffer);
		if (!yes && column->missing && !known)
			lode_buffer_text(buffer, " or missing");
	}
}

void lode_explain_test(const struct lode_explain_report *report, const struct lode_tree_node *node, int yes,
		       struct lode_buffer *buffer)
{
	lode_explain_bound(report, node, yes, 0, buffer);
}

void lode_explain_distribution(const struct lode_tree *tree, uint32_t leaf, struct lode_buffer *buffer)
{
	const size_t *sizes = &tree->sizes[leaf * tree->clusters];
	size_t rows = lode_tree_rows(tree, leaf);
	char text[LODE_UNITS_TEXT];
	int written = 0;

	for (unsigned k = 0; k < tree->clusters; k++)
		if (sizes[k])
			lode_buffer_print(buffer, "%s%s %u", written++ ? ", " : "",
					  lode_percent_text((double)sizes[k] / (double)rows, text), k);
}

void lode_explain_term(const struct lode_explain_report *report, const struct lode_function *function, unsigned k,
		       struct lode_buffer *buffer)
{
	unsigned inputs = report->input->inputs;
	const char *name = report->input->table->columns[report->input->x[(k - 1) % inputs]].name;

	lode_text_safe(buffer, name);
	switch (lode_shape_group(function->shape, (k - 1) / inputs)) {
	case 1:
		lode_buffer_text(buffer, "*log2(");
		lode_text_safe(buffer, name);
		lode_buffer_byte(buffer, ')');
		break;
	case 2:
		lode_buffer_text(buffer, "^2");
		break;
	case 3:
		lode_buffer_text(buffer, "^3");
		break;
	}
}

void lode_explain_function(const struct lode_explain_report *report, const struct lode_function *function,
			   struct lode_buffer *buffer)
{
	const char *unit = lode_explain_unit(report, report->input->y);

	for (unsigned k = 0; k < function->count; k++) {
		double coefficient = lode_function_coefficient(&report->explanation->points, function, k);

		if (k)
			lode_buffer_text(buffer, coefficient < 0 ? " - " : " + ");
		put_amount(k ? fabs(coefficient) : coefficient, unit, buffer);
		if (k) {
			lode_buffer_text(buffer, report->ascii ? "*" : "·");
			lode_explain_term(report, function, k, buffer);
		}
	}
}

/* ---- frames of pictures ---- */

double lode_explain_x(const struct lode_explanation *explanation, size_t row)
{
	const struct lode_points *points = &explanation->points;

	return points->terms[row * points->groups * points->inputs] * points->norm[0][0];
}

void lode_explain_frame(const struct lode_explanation *explanation, struct lode_explain_frame *frame)
{
	*frame = (struct lode_explain_frame){ INFINITY, -INFINITY, INFINITY, -INFINITY, 0 };
	for (size_t row = 0; row < explanation->rows; row++) {
		frame->least_x = fmin(frame->least_x, lode_explain_x(explanation, row));
		frame->most_x = fmax(frame->most_x, lode_explain_x(explanation, row));
		frame->least_y = fmin(frame->least_y, explanation->points.y[row]);
		frame->most_y = fmax(frame->most_y, explanation->points.y[row]);
	}
	frame->logarithmic = frame->least_y > 0 && frame->most_y > 1000 * frame->least_y;
}

double lode_explain_value(const struct lode_explanation *explanation, const struct lode_function *function,
			  double x)
{
	double value = lode_function_coefficient(&explanation->points, function, 0);

	for (unsigned k = 1; k < function->count; k++)
		value += lode_function_coefficient(&explanation->points, function, k) *
			 lode_term(lode_shape_group(function->shape, k - 1), x);
	return value;
}
