/* Checks of a gate in the forms that continuous integration reads. Each appends a whole document. */
#ifndef LODE_EXPORT_CHECKS_FORMS_H
#define LODE_EXPORT_CHECKS_FORMS_H

#include "result/checks.h"

/* A comment for a pull request, in GitHub's and GitLab's Markdown. */
void lode_checks_markdown(const struct lode_checks *checks, struct lode_buffer *buffer);
/* JUnit's XML: a test case each; what is unsure is skipped, unless that fails. */
void lode_checks_junit(const struct lode_checks *checks, struct lode_buffer *buffer);
/* SARIF 2.1.0: a result for each check that did not simply pass. */
void lode_checks_sarif(const struct lode_checks *checks, struct lode_buffer *buffer);

#endif
