/*
 * Takes the place of zlib's when it is preloaded (LD_PRELOAD); planted: deflate waits, then does
 * what zlib's does.
 */
#define _GNU_SOURCE
#include "planted.h"

#include <dlfcn.h>
#include <zlib.h>

PLANTED_FRAME int deflate(z_streamp stream, int flush)
{
	int (*next)(z_streamp, int) = (int (*)(z_streamp, int))dlsym(RTLD_NEXT, "deflate");

	planted_sleep(2000);
	return next(stream, flush);
}
