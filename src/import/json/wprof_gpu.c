/*
 * GPUs in wprof's traces: see wprof_gpu.h. wprof's description of the format says that these events have the time of their
 * end; what it writes is the start.
 */
#include "import/json/wprof_gpu.h"

#include <stdio.h>
#include <string.h>

enum {
	DURATION,
	NAME,
	KIND,
	SOURCE,
	TARGET,
	DEVICE,
	STREAM,
	CORRELATION,
	MEMBERS,
};

static const char *const keys[MEMBERS] = { "dur",      "name",      "kind",      "src_kind",
					   "dst_kind", "device_id", "stream_id", "corr_id" };

static uint32_t id_of(struct lode_json_value value)
{
	uint64_t number = lode_json_u64_or(value, LODE_NONE);

	return number < LODE_NONE ? (uint32_t)number : LODE_NONE;
}

static uint32_t process_of(const struct lode_json_import *import, const struct lode_wprof_gpu_event *event)
{
	return import->stream.threads[event->thread].pid;
}

static uint32_t activity_frame(struct lode_json_import *import, const struct lode_json_value *values,
			       const char *what)
{
	const char *name = lode_json_string(values[what ? KIND : NAME], &import->text);
	char text[64];

	if (!name)
		return LODE_NONE;
	if (what) {
		snprintf(text, sizeof(text), "%s%s%.40s", what, *name ? " " : "", name);
		name = text;
	}
	return lode_gpu_frame(&import->dictionary.frames, *name ? name : "kernel", strlen(*name ? name : "kernel"));
}

static void add_activity(struct lode_gpu_facts *facts, struct lode_json_import *import,
			 const struct lode_wprof_gpu_event *event, const struct lode_json_value *values,
			 uint64_t t1, const char *what)
{
	struct lode_gpu_activity activity = { .t0 = event->t,
					      .t1 = t1,
					      .correlation = lode_json_u64_or(values[CORRELATION], 0),
					      .process = process_of(import, event),
					      .device = id_of(values[DEVICE]),
					      .stream = id_of(values[STREAM]) };

	if (activity.device >= LODE_GPU_FIRST_ID || activity.stream == LODE_NONE)
		return;
	activity.is_pageable = lode_json_is_text(values[SOURCE], "pageable") ||
			       lode_json_is_text(values[TARGET], "pageable");
	activity.frame = activity_frame(import, values, what);
	import->stream.failed |= activity.frame == LODE_NONE || LODE_PUSH(&facts->activities, activity) < 0;
}

static void add_call(struct lode_gpu_facts *facts, struct lode_json_import *import,
		     const struct lode_wprof_gpu_event *event, const struct lode_json_value *values, uint64_t t1)
{
	const char *name = lode_json_string(values[NAME], &import->text);
	struct lode_gpu_call call = { .t0 = event->t,
				      .t1 = t1,
				      .correlation = lode_json_u64_or(values[CORRELATION], 0),
				      .process = process_of(import, event),
				      .thread = event->thread,
				      .stack = event->stack ? event->stack : LODE_NONE,
				      .device = LODE_NONE,
				      .stream = LODE_NONE,
				      .awaited = LODE_NONE };

	if (!name) {
		import->stream.failed = 1;
		return;
	}
	call.kind = (uint8_t)lode_gpu_call_kind_of(name, strlen(name));
	call.frame = lode_frames_add(&import->dictionary.frames, 0, name, strlen(name));
	import->stream.failed |= call.frame == LODE_NONE || LODE_PUSH(&facts->calls, call) < 0;
}

int lode_wprof_gpu_read(struct lode_gpu_facts *facts, struct lode_json_import *import,
			const struct lode_wprof_gpu_event *event)
{
	struct lode_json_value values[MEMBERS];
	uint64_t ns = 0, t1;

	if (event->thread == LODE_NONE)
		return 0;
	lode_json_get_all(event->object, keys, values, MEMBERS);
	if (lode_json_ns(values[DURATION], 1e9, &ns) < 0)
		return 0;
	t1 = lode_add_saturating(event->t, ns);
	if (lode_json_is_text(event->type, "cuda_api")) {
		add_call(facts, import, event, values, t1);
	} else if (lode_json_is_text(event->type, "cuda_kernel")) {
		add_activity(facts, import, event, values, t1, NULL);
	} else if (lode_json_is_text(event->type, "cuda_memcpy")) {
		add_activity(facts, import, event, values, t1, "Memcpy");
	} else if (lode_json_is_text(event->type, "cuda_memset")) {
		add_activity(facts, import, event, values, t1, "Memset");
	} else if (lode_json_is_text(event->type, "cuda_sync")) {
		struct lode_gpu_detail detail = { .correlation = lode_json_u64_or(values[CORRELATION], 0),
						  .process = process_of(import, event),
						  .device = LODE_NONE,
						  .stream = id_of(values[STREAM]),
						  .awaited = LODE_NONE };

		import->stream.failed |= LODE_PUSH(&facts->details, detail) < 0;
	} else {
		return 0;
	}
	return 1;
}
