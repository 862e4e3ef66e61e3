/*
 * Student's distribution: see student.h. It is an incomplete beta function; its points are found by bisection.
 */
#include "base/student.h"

#include <math.h>

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m < 300; m++) {
		double change = 1;

		for (int odd = 0; odd < 2; odd++) {
			double term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
					  : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));

			d = 1 + term * d;
			c = 1 + term / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			change = c * d;
			result *= change;
		}
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return result;
}

/* The incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
	int sign;
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double lode_student_below(double t, double freedom)
{
	double tail;

	if (isinf(t))
		return t > 0 ? 1 : 0;
	tail = 0.5 * incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
	return t > 0 ? 1 - tail : tail;
}

double lode_student_point(double below, double freedom)
{
	double low = -1, high = 1;

	while (lode_student_below(low, freedom) > below && low > -1e12)
		low *= 2;
	while (lode_student_below(high, freedom) < below && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100 && high - low > 1e-12 * (fabs(low) + fabs(high)); i++) {
		double middle = (low + high) / 2;

		if (lode_student_below(middle, freedom) < below)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
