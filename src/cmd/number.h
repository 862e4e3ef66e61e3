/*
 * Numbers as text: attributes keep them as they were written.
 */
#ifndef LODE_CMD_NUMBER_H
#define LODE_CMD_NUMBER_H

/* Whether all of `text` is a number as JSON writes it, so that it may stand there unquoted. */
int lode_text_is_number(const char *text);

#endif
