/* Small pictures made of characters: see picture.h. */
#include "text/picture.h"

uint64_t lode_picture_peak(const uint64_t *values, size_t count)
{
	uint64_t peak = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] > peak)
			peak = values[i];
	return peak;
}

void lode_picture_draw(struct lode_buffer *buffer, const uint64_t *values, size_t count, uint64_t top, int ascii)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };

	for (size_t i = 0; i < count; i++) {
		double share = top ? (double)values[i] / (double)top : 0;
		size_t height = share >= 1 ? 8 : (size_t)(share * 8 + 0.5);

		if (values[i] && !height)
			height = 1;
		lode_buffer_text(buffer, ascii ? letters[height] : blocks[height]);
	}
}
