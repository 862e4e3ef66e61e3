/* Pattern files: what was read is written, and reads back the same, group by group and byte by byte. */
#include "fuzz.h"

#include "pattern_group.h"

#include <string.h>

static void write_all(const struct lode_pattern_file *file, const struct lode_frames *frames,
		      struct lode_buffer *buffer)
{
	for (size_t i = 0; i < file->count; i++)
		write_group(&file->groups[i], file->notes, &file->patterns, frames, buffer);
	fuzz_require(!buffer->failed, "memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_buffer written = { 0 }, again = { 0 };
	struct lode_pattern_file file, second;
	struct lode_error error = { "" };
	struct lode_frames frames;
	int code;

	fuzz_require(lode_frames_init(&frames) == 0, "memory");
	code = lode_pattern_file_parse(&file, "FILE", (const char *)bytes, size, &frames, &error);
	fuzz_require_sentence(code, &error);
	if (!code) {
		write_all(&file, &frames, &written);
		fuzz_require(lode_pattern_file_parse(&second, "FILE", written.bytes, written.size, &frames,
						     &error) == 0,
			     "what was written is read");
		write_all(&second, &frames, &again);
		fuzz_require(written.size == again.size && !memcmp(written.bytes ? written.bytes : "",
								   again.bytes ? again.bytes : "", again.size),
			     "what is written reads back the same");
		fuzz_require(file.patterns.frame_count == second.patterns.frame_count &&
				     !memcmp(file.patterns.frames ? (void *)file.patterns.frames : "",
					     second.patterns.frames ? (void *)second.patterns.frames : "",
					     file.patterns.frame_count * sizeof(uint32_t)),
			     "the frames are the same");
		lode_pattern_file_release(&second);
		lode_pattern_file_release(&file);
	}
	lode_buffer_release(&written);
	lode_buffer_release(&again);
	lode_frames_release(&frames);
	return 0;
}
