/* Checks of a gate as text for people. */
#ifndef LODE_TEXT_CHECKS_TEXT_H
#define LODE_TEXT_CHECKS_TEXT_H

#include "result/checks.h"
#include "text/look.h"

/* Appends lines that begin with `gate`. */
void lode_checks_lines(const struct lode_checks *checks, const struct lode_look *look, struct lode_buffer *buffer);

#endif
