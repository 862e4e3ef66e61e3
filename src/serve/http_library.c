/* The functions of libmicrohttpd: see http_library.h. */
#include "serve/http_library.h"

#include "base/shared_library.h"

int lode_http_library_load(struct lode_http_library *http, struct lode_error *error)
{
	const struct lode_library_function functions[] = {
		{ "MHD_start_daemon", &http->start_daemon },
		{ "MHD_stop_daemon", &http->stop_daemon },
		{ "MHD_get_connection_info", &http->get_connection_info },
		{ "MHD_get_connection_values", &http->get_connection_values },
		{ "MHD_lookup_connection_value", &http->lookup_connection_value },
		{ "MHD_create_response_from_buffer_with_free_callback_cls",
		  &http->create_response_with_free_callback },
		{ "MHD_add_response_header", &http->add_response_header },
		{ "MHD_queue_response", &http->queue_response },
		{ "MHD_destroy_response", &http->destroy_response },
		{ NULL, NULL },
	};
	struct lode_error reason;

	if (lode_library_load(LODE_MICROHTTPD_LIBRARY, functions, &reason) == 0)
		return 0;
	return lode_fail(error, LODE_SYSTEM,
			 "a server needs libmicrohttpd: %s; install it ('libmicrohttpd12' on Debian)", reason.text);
}
