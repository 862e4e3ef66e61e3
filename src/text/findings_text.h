/* Findings for people: the first lines of lode mine. */
#ifndef LODE_TEXT_FINDINGS_TEXT_H
#define LODE_TEXT_FINDINGS_TEXT_H

#include "result/finding_words.h"
#include "text/look.h"

/* Appends the findings, `top` of them at most (0: all), each a sentence; nothing where there are none. */
void lode_findings_text(const struct lode_finding_source *source, size_t top, const struct lode_look *look,
			struct lode_buffer *buffer);
/* Appends finding number `i`. */
void lode_finding_text(const struct lode_finding_source *source, size_t i, const struct lode_look *look,
		       struct lode_buffer *buffer);
/* Appends a hint below them; nothing for NULL. */
void lode_findings_hint_text(const char *hint, const struct lode_look *look, struct lode_buffer *buffer);

#endif
