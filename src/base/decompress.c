/*
 * Unpacker: see decompress.h.
 *
 * Each library has its own idea of where the content ends. gzip: after a member
 * either another one, or zeros up to the end (as on padded tapes), or nothing.
 * zstd: after a frame another one, a skippable one, or nothing. xz: the library
 * itself goes on to the next stream and checks the padding. An end of the
 * packed bytes anywhere else means that the file was cut off, which no library
 * reports by itself when it is fed in pieces: `inside` keeps track of it.
 *
 * zlib and liblzma allocate through base/memory.h, so that the fault tests
 * reach them; the stable interface of libzstd has no such hook.
 */
#include "base/decompress.h"

#include "base/memory.h"

#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct lode_unpacker {
	enum lode_packing packing;
	const char *name;
	int inside; /* a member or frame has begun and not ended */
	int padded; /* gzip: zeros were seen, only zeros may follow */
	int ended;
	z_stream gzip;
	ZSTD_DCtx *zstd;
	lzma_stream xz;
	lzma_allocator xz_memory;
};

enum lode_packing lode_packing_guess(const unsigned char *bytes, size_t size)
{
	if (size >= 3 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0)
		return LODE_PACKING_GZIP;
	if (size >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		return LODE_PACKING_ZSTD;
	/* A skippable zstd frame: pzstd and others put one in front. */
	if (size >= 4 && (bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0)
		return LODE_PACKING_ZSTD;
	if (size >= 6 && memcmp(bytes,
				"\xfd"
				"7zXZ\0",
				6) == 0)
		return LODE_PACKING_XZ;
	return LODE_PACKING_NONE;
}

static const char *packing_name(enum lode_packing packing)
{
	static const char *const names[] = { "plain", "gzip", "zstd", "xz" };

	return names[packing];
}

static voidpf gzip_alloc(voidpf context, uInt count, uInt size)
{
	(void)context;
	return lode_calloc(count, size);
}

static void gzip_free(voidpf context, voidpf memory)
{
	(void)context;
	lode_free(memory);
}

static void *xz_alloc(void *context, size_t count, size_t size)
{
	(void)context;
	return lode_realloc(NULL, count, size);
}

static void xz_free(void *context, void *memory)
{
	(void)context;
	lode_free(memory);
}

static int start_library(struct lode_unpacker *unpacker)
{
	lzma_stream fresh = LZMA_STREAM_INIT;

	switch (unpacker->packing) {
	case LODE_PACKING_GZIP:
		unpacker->gzip.zalloc = gzip_alloc;
		unpacker->gzip.zfree = gzip_free;
		return inflateInit2(&unpacker->gzip, 15 + 32) == Z_OK;
	case LODE_PACKING_ZSTD:
		unpacker->zstd = ZSTD_createDCtx();
		return unpacker->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(unpacker->zstd, ZSTD_d_windowLogMax,
									      LODE_UNPACK_ZSTD_WINDOW_LOG));
	case LODE_PACKING_XZ:
		unpacker->xz = fresh;
		unpacker->xz_memory = (lzma_allocator){ xz_alloc, xz_free, NULL };
		unpacker->xz.allocator = &unpacker->xz_memory;
		return lzma_stream_decoder(&unpacker->xz, LODE_UNPACK_XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
	default:
		return 1;
	}
}

int lode_unpacker_create(struct lode_unpacker **unpacker, enum lode_packing packing, const char *name,
			 struct lode_error *error)
{
	*unpacker = lode_calloc(1, sizeof(**unpacker));
	if (!*unpacker)
		return lode_fail_memory(error);
	(*unpacker)->packing = packing;
	(*unpacker)->name = name;
	if (start_library(*unpacker))
		return 0;
	lode_unpacker_destroy(*unpacker);
	*unpacker = NULL;
	return lode_fail_memory(error);
}

void lode_unpacker_destroy(struct lode_unpacker *unpacker)
{
	if (!unpacker)
		return;
	if (unpacker->packing == LODE_PACKING_GZIP)
		inflateEnd(&unpacker->gzip);
	if (unpacker->packing == LODE_PACKING_ZSTD)
		ZSTD_freeDCtx(unpacker->zstd);
	if (unpacker->packing == LODE_PACKING_XZ)
		lzma_end(&unpacker->xz);
	lode_free(unpacker);
}

static int fail_damaged(const struct lode_unpacker *unpacker, const char *what, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT, "%s: the %s data is damaged (%s); copy or record it again",
			 unpacker->name, packing_name(unpacker->packing), what);
}

static int fail_cut_off(const struct lode_unpacker *unpacker, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT, "%s: the %s data ends in the middle; copy or record it again",
			 unpacker->name, packing_name(unpacker->packing));
}

static int fail_greedy(const struct lode_unpacker *unpacker, unsigned long long limit, struct lode_error *error)
{
	return lode_fail(error, LODE_BAD_INPUT,
			 "%s: the %s data needs more than %llu MiB of memory to unpack; pack it again with a "
			 "lower level",
			 unpacker->name, packing_name(unpacker->packing), limit >> 20);
}

static int copy_plain(struct lode_unpack_step *step)
{
	size_t size = step->in_left < step->out_left ? step->in_left : step->out_left;

	if (size)
		memcpy(step->out, step->in, size);
	step->in += size;
	step->in_left -= size;
	step->out += size;
	step->out_left -= size;
	return !(step->last && !step->in_left);
}

/* Between two gzip members: zeros may pad the end, else the next one begins. */
static int next_member(struct lode_unpacker *unpacker, struct lode_unpack_step *step, struct lode_error *error)
{
	while (step->in_left && *step->in == 0) {
		unpacker->padded = 1;
		step->in++;
		step->in_left--;
	}
	if (!step->in_left)
		return 0;
	if (unpacker->padded || *step->in != 0x1f)
		return fail_damaged(unpacker, "unexpected data follows its end", error);
	inflateReset(&unpacker->gzip);
	return 0;
}

static uInt clamp(size_t size)
{
	return size < 1u << 30 ? (uInt)size : 1u << 30;
}

/* One call of inflate, with what its 32-bit counters can take. */
static int inflate_some(struct lode_unpacker *unpacker, struct lode_unpack_step *step)
{
	z_stream *gzip = &unpacker->gzip;
	uInt in_size = clamp(step->in_left), out_size = clamp(step->out_left);
	int result;

	gzip->next_in = (Bytef *)(uintptr_t)step->in;
	gzip->avail_in = in_size;
	gzip->next_out = step->out;
	gzip->avail_out = out_size;
	result = inflate(gzip, Z_NO_FLUSH);
	step->in += in_size - gzip->avail_in;
	step->in_left -= in_size - gzip->avail_in;
	step->out += out_size - gzip->avail_out;
	step->out_left -= out_size - gzip->avail_out;
	return result;
}

static int unpack_gzip(struct lode_unpacker *unpacker, struct lode_unpack_step *step, struct lode_error *error)
{
	int first = !unpacker->gzip.total_in && !unpacker->gzip.total_out;

	while (step->out_left) {
		int code = unpacker->inside || first ? 0 : next_member(unpacker, step, error);
		size_t in_left = step->in_left, out_left = step->out_left;

		if (code < 0)
			return code;
		if (!step->in_left && !unpacker->inside)
			break;
		unpacker->inside = 1;
		first = 0;
		switch (inflate_some(unpacker, step)) {
		case Z_STREAM_END:
			unpacker->inside = 0;
			break;
		case Z_OK:
		case Z_BUF_ERROR:
			if (in_left == step->in_left && out_left == step->out_left)
				return step->last ? fail_cut_off(unpacker, error) : 1;
			break;
		case Z_MEM_ERROR:
			return lode_fail_memory(error);
		default:
			return fail_damaged(unpacker, unpacker->gzip.msg ? unpacker->gzip.msg : "bad code", error);
		}
	}
	return !(step->last && !step->in_left && !unpacker->inside);
}

static int fail_zstd(const struct lode_unpacker *unpacker, size_t result, struct lode_error *error)
{
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		return fail_greedy(unpacker, 1ull << LODE_UNPACK_ZSTD_WINDOW_LOG, error);
	case ZSTD_error_memory_allocation:
		return lode_fail_memory(error);
	default:
		return fail_damaged(unpacker, ZSTD_getErrorName(result), error);
	}
}

static int unpack_zstd(struct lode_unpacker *unpacker, struct lode_unpack_step *step, struct lode_error *error)
{
	while (step->out_left && (step->in_left || unpacker->inside)) {
		ZSTD_inBuffer in = { step->in, step->in_left, 0 };
		ZSTD_outBuffer out = { step->out, step->out_left, 0 };
		size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);

		if (ZSTD_isError(result))
			return fail_zstd(unpacker, result, error);
		unpacker->inside = result != 0;
		step->in += in.pos;
		step->in_left -= in.pos;
		step->out += out.pos;
		step->out_left -= out.pos;
		if (!in.pos && !out.pos && !step->in_left)
			return step->last && unpacker->inside ? fail_cut_off(unpacker, error) : 1;
	}
	return !(step->last && !step->in_left && !unpacker->inside);
}

static int unpack_xz(struct lode_unpacker *unpacker, struct lode_unpack_step *step, struct lode_error *error)
{
	lzma_stream *xz = &unpacker->xz;
	lzma_ret result;

	xz->next_in = step->in;
	xz->avail_in = step->in_left;
	xz->next_out = step->out;
	xz->avail_out = step->out_left;
	do {
		result = lzma_code(xz, step->last ? LZMA_FINISH : LZMA_RUN);
	} while (result == LZMA_OK && xz->avail_out && (xz->avail_in || step->last));
	step->in = xz->next_in;
	step->in_left = xz->avail_in;
	step->out = xz->next_out;
	step->out_left = xz->avail_out;
	switch (result) {
	case LZMA_OK:
		return 1;
	case LZMA_STREAM_END:
		return 0;
	case LZMA_BUF_ERROR:
		return step->last && step->out_left ? fail_cut_off(unpacker, error) : 1;
	case LZMA_MEM_ERROR:
		return lode_fail_memory(error);
	case LZMA_MEMLIMIT_ERROR:
		return fail_greedy(unpacker, LODE_UNPACK_XZ_MEMORY, error);
	case LZMA_OPTIONS_ERROR:
		return fail_damaged(unpacker, "it uses options that are not known", error);
	default:
		return fail_damaged(unpacker, "its checksums or codes are wrong", error);
	}
}

int lode_unpack(struct lode_unpacker *unpacker, struct lode_unpack_step *step, struct lode_error *error)
{
	int code;

	if (unpacker->ended)
		return 0;
	switch (unpacker->packing) {
	case LODE_PACKING_GZIP:
		code = unpack_gzip(unpacker, step, error);
		break;
	case LODE_PACKING_ZSTD:
		code = unpack_zstd(unpacker, step, error);
		break;
	case LODE_PACKING_XZ:
		code = unpack_xz(unpacker, step, error);
		break;
	default:
		code = copy_plain(step);
	}
	unpacker->ended = code == 0;
	return code;
}
