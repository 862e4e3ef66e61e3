/*
 * Calls of CUDA and HIP by their names. Versions put suffixes behind them (`_v3020`, `_ptsz`) and each interface its
 * own prefix, so only what stands between is looked at.
 */
#include "gpu/gpu_calls.h"

#include <string.h>

struct known_call {
	const char *begin;
	enum lode_gpu_call_kind kind;
};

/* The first that fits decides. */
static const struct known_call known[] = {
	{ "StreamSynchronize", LODE_GPU_SYNC_STREAM },
	{ "EventSynchronize", LODE_GPU_SYNC_EVENT },
	{ "DeviceSynchronize", LODE_GPU_SYNC_DEVICE },
	{ "CtxSynchronize", LODE_GPU_SYNC_DEVICE },
	{ "ThreadSynchronize", LODE_GPU_SYNC_DEVICE },
	{ "FreeAsync", LODE_GPU_OTHER_CALL },
	{ "Free", LODE_GPU_SYNC_DEVICE },
	{ "MemFreeAsync", LODE_GPU_OTHER_CALL },
	{ "MemFree", LODE_GPU_SYNC_DEVICE },
	{ "StreamWaitEvent", LODE_GPU_WAIT_EVENT },
	{ "EventRecord", LODE_GPU_RECORD_EVENT },
	{ "Memcpy", LODE_GPU_COPY },
	{ "Memset", LODE_GPU_LAUNCH },
	{ "Launch", LODE_GPU_LAUNCH },
	{ "ModuleLaunch", LODE_GPU_LAUNCH },
	{ "ExtLaunch", LODE_GPU_LAUNCH },
	{ "ExtModuleLaunch", LODE_GPU_LAUNCH },
	{ "GraphLaunch", LODE_GPU_LAUNCH },
};

static int begins(const char *text, size_t length, const char *with)
{
	size_t wanted = strlen(with);

	return length >= wanted && memcmp(text, with, wanted) == 0;
}

static int has(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

enum lode_gpu_call_kind lode_gpu_call_kind_of(const char *name, size_t length)
{
	static const char *const prefixes[] = { "cuda", "cu", "hip" };
	size_t prefix = 0;

	for (size_t i = 0; !prefix && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins(name, length, prefixes[i]))
			prefix = strlen(prefixes[i]);
	if (!prefix)
		return LODE_GPU_OTHER_CALL;
	name += prefix;
	length -= prefix;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (begins(name, length, known[i].begin))
			return known[i].kind == LODE_GPU_COPY && has(name, length, "Async") ? LODE_GPU_COPY_ASYNC
											    : known[i].kind;
	return LODE_GPU_OTHER_CALL;
}
