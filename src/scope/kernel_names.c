/* Names of the kernel's functions: see kernel_names.h. */
#include "scope/kernel_names.h"

#include "base/starts_with.h"

void lode_kernel_names_note(const struct lode_frames *frames, struct lode_notes *notes)
{
	uint64_t nameless = 0, named = 0;

	for (size_t i = 0; i < frames->count; i++) {
		const struct lode_frame *frame = &frames->items[i];
		const char *function = lode_frames_function(frames, (uint32_t)i);

		if (frames->modules[frame->module].kind != LODE_KIND_KERNEL)
			continue;
		if (lode_starts_with(function, "0x"))
			nameless++;
		else if (*function != '(') /* what stands for an interrupt has a name without any */
			named++;
	}
	if (nameless > named)
		lode_notes_add(
			notes, nameless,
			"kernel functions without names, by which idle waits and interrupts are recognized: "
			"record as root or with CAP_SYSLOG, and with kernel.kptr_restrict at 0 or 1",
			NULL);
}
