/* Student's distribution. */
#ifndef LODE_BASE_STUDENT_H
#define LODE_BASE_STUDENT_H

/* The distribution function of Student's distribution at `t`. */
double lode_student_below(double t, double freedom);
/* The value that such a variable is below with the chance `below`, more than 0 and less than 1. */
double lode_student_point(double below, double freedom);

#endif
