/*
 * Compressed records: see compressed_records.h.
 *
 * What is unpacked goes through a window that holds a few of the largest
 * records; what is cut at its end moves to its start.
 */
#include "import/kernel/perf_data/compressed_records.h"

#include "base/memory.h"

#include <string.h>

#define WINDOW (512u << 10)
/* So many bytes may come out of anything; more only from as many bytes by the ratio. */
#define FREE_BYTES (16u << 20)
#define MAX_RATIO  500u

void lode_perf_unpack_release(struct lode_perf_unpack *unpack)
{
	ZSTD_freeDStream(unpack->stream);
	lode_free(unpack->window);
	memset(unpack, 0, sizeof(*unpack));
}

static int prepare(struct lode_perf_unpack *unpack)
{
	if (!unpack->window)
		unpack->window = lode_alloc(WINDOW);
	if (!unpack->stream && unpack->window) {
		unpack->stream = ZSTD_createDStream();
		if (unpack->stream)
			ZSTD_initDStream(unpack->stream);
	}
	return unpack->stream ? 0 : LODE_SYSTEM;
}

/* Gives the window's records away and moves what is left of it to its start. */
static int consume_records(struct lode_perf_unpack *unpack, lode_perf_take *take, void *context,
			   struct lode_error *error)
{
	size_t used = 0;
	int code = take(context, unpack->window, unpack->held, &used, error);

	if (code < 0)
		return code;
	unpack->held -= used;
	memmove(unpack->window, unpack->window + used, unpack->held);
	return 0;
}

static int is_bomb(const struct lode_perf_unpack *unpack)
{
	return unpack->unpacked > FREE_BYTES && unpack->unpacked / MAX_RATIO > unpack->packed;
}

int lode_perf_unpack(struct lode_perf_unpack *unpack, const unsigned char *bytes, size_t size, lode_perf_take *take,
		     void *context, const char *name, uint64_t place, struct lode_error *error)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	int full = 0;

	if (prepare(unpack) < 0)
		return lode_fail_memory(error);
	unpack->packed += size;
	while (in.pos < in.size || full) {
		ZSTD_outBuffer out = { unpack->window, WINDOW, unpack->held };
		size_t before = in.pos;
		size_t result = ZSTD_decompressStream(unpack->stream, &out, &in);
		int code;

		if (ZSTD_isError(result))
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s: byte %llu: a compressed record is damaged (%s); record again", name,
					 (unsigned long long)place, ZSTD_getErrorName(result));
		full = out.pos == out.size;
		if (out.pos == unpack->held && in.pos == before) {
			if (in.pos == in.size)
				break;
			return lode_fail(error, LODE_BAD_INPUT,
					 "%s: byte %llu: the compressed records are damaged; record again", name,
					 (unsigned long long)place);
		}
		unpack->unpacked += out.pos - unpack->held;
		unpack->held = out.pos;
		if (is_bomb(unpack))
			return lode_fail(
				error, LODE_BAD_INPUT,
				"%s: byte %llu: compressed records unpack to more than %u times their size; "
				"this is not a recording",
				name, (unsigned long long)place, MAX_RATIO);
		code = consume_records(unpack, take, context, error);
		if (code < 0)
			return code;
	}
	return 0;
}
