/*
 * The own decoder of CTF: four bytes, the length of the metadata; the metadata; one file of events.
 */
#include "fuzz.h"

#include "base/memory.h"
#include "import/kernel/ctf/ctf_metadata.h"
#include "import/kernel/ctf/ctf_packets.h"

#include <string.h>

static void read_events(struct lode_ctf_packets *packets, struct lode_error *error)
{
	struct lode_ctf_event event;
	uint64_t letters = 0;
	int got;

	while ((got = lode_ctf_packets_next(packets, error)) > 0) {
		got = lode_ctf_packets_event(packets, &event, error);
		if (got < 0)
			break;
		for (int i = 0; i < LODE_CTF_FIELDS; i++)
			letters += event.text[i] ? strlen(event.text[i]) : 0;
		letters += event.context_name ? strlen(event.context_name) : 0;
		for (size_t i = 0; i < event.user_depth; i++)
			letters += event.user_stack[i] & 1;
		for (size_t i = 0; i < event.kernel_depth; i++)
			letters += event.kernel_stack[i] & 1;
	}
	fuzz_require_sentence(got, error);
	fuzz_require(letters < UINT64_MAX, "texts of events end");
}

static void read_trace(const struct lode_ctf_description *description, const uint8_t *bytes, size_t size)
{
	struct lode_ctf_packets packets = { .name = "fuzz", .bytes = bytes, .size = size };
	struct lode_ctf_values *values = lode_calloc(1, sizeof(*values));
	uint64_t *slots = lode_calloc((size_t)description->slots + 1, sizeof(*slots));
	struct lode_error error = { 0 };
	int code;

	if (values && slots && size) {
		code = lode_ctf_packets_open(&packets, description, slots, values, &error);
		if (code == 0)
			read_events(&packets, &error);
		else
			fuzz_require_sentence(code, &error);
	}
	if (values)
		lode_ctf_values_release(values);
	lode_free(values);
	lode_free(slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct lode_ctf_description description = { 0 };
	struct lode_buffer text = { 0 };
	struct lode_error why = { 0 };
	uint32_t length;

	if (size < sizeof(length))
		return 0;
	memcpy(&length, bytes, sizeof(length));
	bytes += sizeof(length);
	size -= sizeof(length);
	length = length < size ? length : (uint32_t)size;
	if (lode_ctf_metadata_text(bytes, length, &text) == 0) {
		int code = lode_ctf_describe(&description, text.bytes, text.size, &why);

		fuzz_require(code == 0 || why.text[0], "a description that is not understood comes with a reason");
		if (code == 0)
			read_trace(&description, bytes + length, size - length);
		lode_ctf_description_release(&description);
	}
	lode_buffer_release(&text);
	return 0;
}
