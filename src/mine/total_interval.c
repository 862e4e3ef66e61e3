/*
 * How sure a total over streams is (see pattern_costs.h): a t interval on a logarithmic
 * scale, with its upper end moved out by the skewness of the costs.
 *
 * With T the total, s the deviation of the streams' costs, g their skewness (0 where
 * it is negative) and r = t * s * sqrt(n) / T, t the 97.5 % point of Student's
 * distribution for n - 1 degrees of freedom:
 *
 *	T * exp(-r)   to   T * exp(r * (1 + 0.3 * g / sqrt(n)))
 *
 * Costs of streams are positive and lean to the right: most cost little or nothing,
 * a few much. A bootstrap of few streams cannot draw a stream worse than the worst
 * that it has seen, and its 95 % intervals held the expected total in 68 to 83 of 100
 * cases for 4 streams; t by itself in 81 to 95. This one, by the simulation in the
 * tests: in 92.5 to 97 of 100 for 4 streams and more, down to 90 where the costs are
 * log-normal with a deviation of 1 (docs/mining.md has the table). The factor 0.3 was
 * chosen there: without it exponential costs are at 92.6 for 10 streams, and twice as
 * much makes intervals of few streams half as wide again for 1 in 100 more.
 *
 * Square roots, the four operations and nothing else: the same input gives the same
 * numbers on every machine.
 */
#include "mine/pattern_costs.h"

#include <math.h>

#define SKEWNESS_FACTOR 0.3
#define Z               1.959964 /* 97.5 % point of the normal distribution */
/* Student's points are about Z * (1 + this / degrees of freedom). */
#define STUDENT_TERM ((Z * Z + 1) / 4)

/* 97.5 % points of Student's distribution, by degrees of freedom. */
static const double student[] = {
	0,        12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624,
	2.306004, 2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450,
	2.119905, 2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658,
	2.063899, 2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272,
};

#define STUDENT_KNOWN (sizeof(student) / sizeof(*student))

static double student_point(size_t freedom)
{
	const double z = Z;
	double v = (double)freedom;

	if (freedom < STUDENT_KNOWN)
		return student[freedom];
	/* Cornish and Fisher; off by less than 1e-5 from 30 on. */
	return z + (z * z * z + z) / (4 * v) + (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * v * v);
}

/* e to the power of x: a series for a small part of x, squared often enough. */
static double power_of_e(double x)
{
	double sum = 1, term = 1;
	int squared = 0;

	for (; x > 0x1p-6 || x < -0x1p-6; squared++)
		x /= 2;
	for (int i = 1; i < 10; i++) {
		term *= x / i;
		sum += term;
	}
	for (; squared; squared--)
		sum *= sum;
	return sum;
}

/* Sums of the second and third powers of the differences from the mean; streams that cost nothing count, too. */
static void sum_powers(const uint64_t *costs, size_t nonzero, size_t streams, double mean, double *second,
		       double *third)
{
	double rest = (double)(streams - nonzero);

	*second = rest * mean * mean;
	*third = -rest * mean * mean * mean;
	for (size_t i = 0; i < nonzero; i++) {
		double off = (double)costs[i] - mean;

		*second += off * off;
		*third += off * off * off;
	}
}

int lode_total_interval(const uint64_t *costs, size_t nonzero, size_t streams, struct lode_interval *interval)
{
	double n = (double)streams, total = 0, second, third, reach, skewness = 0;

	for (size_t i = 0; i < nonzero; i++)
		total += (double)costs[i];
	*interval = (struct lode_interval){ total, total };
	if (streams < LODE_INTERVAL_STREAMS)
		return 0;
	if (total <= 0)
		return 1;
	sum_powers(costs, nonzero, streams, total / n, &second, &third);
	reach = student_point(streams - 1) * sqrt(second / (n - 1)) * sqrt(n) / total;
	if (third > 0)
		skewness = third / n / (second / n * sqrt(second / n));
	interval->low = total * power_of_e(-reach);
	interval->high = total * power_of_e(reach * (1 + SKEWNESS_FACTOR * skewness / sqrt(n)));
	return 1;
}

/*
 * Of a sum with the relative variance v one knows as much as of 1 / v equal events: those are the degrees of freedom. The upper end
 * is moved out, since where what costs much was missed the variance comes out too small with the sum. By how much was chosen with
 * recordings of a program that knows its waits (bench/known-waits); both are limited, for sums of two or three events.
 */
struct lode_interval lode_sampling_interval(uint64_t cost, double variance)
{
	double total = (double)cost, square = total > 0 ? variance / (total * total) : 0;
	double known = square < 0.25 ? square : 0.25, reach = Z * sqrt(square) * (1 + STUDENT_TERM * known);

	return (struct lode_interval){ total * power_of_e(-reach),
				       total * power_of_e(reach * (1 + (reach < 1 ? reach : 1) / 2)) };
}
