/*
 * A frame in a folded line, `frame;frame;frame value`. A frame can contain any text, but a line cannot: `;` becomes `:`,
 * line ends become spaces, and no name at all is LODE_FOLDED_NO_NAME.
 */
#ifndef LODE_BASE_FOLDED_FRAME_H
#define LODE_BASE_FOLDED_FRAME_H

#include <stddef.h>

#define LODE_FOLDED_NO_NAME "[unknown]"

static inline int lode_folded_is_line_end(char byte)
{
	return byte == '\n' || byte == '\r';
}

/* Makes a frame one that can be written. Returns 1, or 0 where it was already. */
static inline int lode_folded_clean(char *frame, size_t length)
{
	int changed = 0;

	for (size_t i = 0; i < length; i++) {
		if (frame[i] != ';' && !lode_folded_is_line_end(frame[i]))
			continue;
		frame[i] = frame[i] == ';' ? ':' : ' ';
		changed = 1;
	}
	return changed;
}

#endif
