/*
 * A module of Apache httpd that compresses what is sent, to know how small it would be, as
 * mod_deflate does to send it; planted: compress_block burns processor time.
 */
#include "planted.h"

#include <httpd.h>

#include <http_config.h>
#include <http_protocol.h>
#include <util_filter.h>

#include <zlib.h>

static unsigned long bytes_saved;

static PLANTED_FRAME void compress_block(const char *data, size_t length)
{
	static unsigned char out[1 << 17];
	uLongf size = sizeof(out);

	planted_burn(4000000);
	if (compress2(out, &size, (const unsigned char *)data, length, 1) == Z_OK && size < length)
		bytes_saved += length - size;
}

static PLANTED_FRAME apr_status_t deflate_filter(ap_filter_t *filter, apr_bucket_brigade *brigade)
{
	for (apr_bucket *bucket = APR_BRIGADE_FIRST(brigade); bucket != APR_BRIGADE_SENTINEL(brigade);
	     bucket = APR_BUCKET_NEXT(bucket)) {
		const char *data;
		apr_size_t length;

		if (!APR_BUCKET_IS_METADATA(bucket) &&
		    apr_bucket_read(bucket, &data, &length, APR_BLOCK_READ) == APR_SUCCESS && length)
			compress_block(data, length < 1 << 16 ? length : 1 << 16);
	}
	return ap_pass_brigade(filter->next, brigade);
}

static void add_filter(request_rec *request)
{
	ap_add_output_filter("PLANTED_DEFLATE", NULL, request, request->connection);
}

static void register_hooks(apr_pool_t *pool)
{
	(void)pool;
	ap_register_output_filter("PLANTED_DEFLATE", deflate_filter, NULL, AP_FTYPE_CONTENT_SET);
	ap_hook_insert_filter(add_filter, NULL, NULL, APR_HOOK_MIDDLE);
}

module AP_MODULE_DECLARE_DATA planted_deflate_module = {
	STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks,
};
