/* Frames in text for people: see frame_text.h. */
#include "text/frame_text.h"

#include "base/safe_text.h"

void lode_text_frame(struct lode_buffer *buffer, const struct lode_frames *frames, uint32_t frame)
{
	size_t start = buffer->size;

	lode_frames_text(frames, frame, buffer);
	lode_text_escape(buffer, start);
}

void lode_text_frame_within(struct lode_buffer *buffer, const struct lode_frames *frames, uint32_t frame,
			    size_t width)
{
	const char *function = lode_frames_function(frames, frame);
	size_t start = buffer->size, used;

	lode_frames_text(frames, frame, buffer);
	lode_buffer_byte(buffer, '\0');
	if (buffer->failed)
		return;
	used = lode_text_width(buffer->bytes + start);
	buffer->size = used <= width ? buffer->size - 1 : start;
	if (used <= width)
		lode_text_escape(buffer, start);
	else if (lode_text_width(function) <= width)
		lode_text_safe(buffer, function);
	else
		lode_text_column(buffer, function, width);
}
