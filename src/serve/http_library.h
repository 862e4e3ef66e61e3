/* The functions of libmicrohttpd, which is loaded when a server starts (base/shared_library.h). */
#ifndef LODE_SERVE_HTTP_LIBRARY_H
#define LODE_SERVE_HTTP_LIBRARY_H

#include "base/error.h"

#include <microhttpd.h>

struct lode_http_library {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_get_connection_info) *get_connection_info;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_create_response_from_buffer_with_free_callback_cls) *create_response_with_free_callback;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
};

/* Loads it; LODE_SYSTEM and a sentence where that fails. */
int lode_http_library_load(struct lode_http_library *http, struct lode_error *error);

#endif
