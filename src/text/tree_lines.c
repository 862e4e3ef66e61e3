/* Trees: see tree_lines.h. */
#include "text/tree_lines.h"

void lode_tree_line(struct lode_buffer *buffer, unsigned depth)
{
	/* Queues for a lock can be deep. */
	if (depth > LODE_TREE_LEVELS) {
		lode_buffer_print(buffer, "[%u] ", depth);
		depth = LODE_TREE_LEVELS;
	}
	lode_buffer_print(buffer, "%*s", (int)depth * 2, "");
}
