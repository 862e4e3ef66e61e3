/*
 * Uploads over HTTP: the addresses that take them, what requests say about them, and the answers.
 *
 *	POST /v1/streams                       a stream file, or any file that `lode import` reads; options as there:
 *	                                       ?name= ?host= ?attr=KEY=VALUE ?format= ?kind=wait ?unit=samples=10ms
 *	POST /v1/symbols                       an ELF file, of which the symbols are kept
 *	POST /v1development/profiles           OpenTelemetry's profiles, protobuf or JSON
 *	POST /push.v1.PusherService/Push       Pyroscope's push API
 *	POST /ingest                           that of its older agents: a profile, or a form with one
 *
 * Bodies may be packed with gzip, zstd or xz, whatever the headers say.
 */
#ifndef LODE_SERVE_UPLOADS_H
#define LODE_SERVE_UPLOADS_H

#include "collect/collector.h"
#include "serve/answers.h"

struct lode_upload_body;

/* Whether an address takes uploads. */
int lode_uploads_has(const char *url);

/*
 * Begins an upload when its headers are there. `sender` is the name of a token. NULL: there is no memory. A refusal
 * is kept for the answer.
 */
struct lode_upload_body *lode_upload_body_begin(struct lode_collector *collector,
						const struct lode_exchange *exchange, const char *url,
						const char *sender);
/* The same for one that was refused before, with a status and a sentence that stays. */
struct lode_upload_body *lode_upload_body_refused(struct lode_collector *collector,
						  const struct lode_exchange *exchange, unsigned status,
						  const char *sentence);
/* The same for a signature that is posted; see signing.h. */
struct lode_upload_body *lode_upload_body_signing(const struct lode_exchange *exchange, const char *corpus);
/* Whether it was accepted so far. What is not has no more time than any request. */
int lode_upload_body_is_accepted(const struct lode_upload_body *body);
/* Whether the answer is known before the body, and the sender listens, or the body is too long to wait for. */
int lode_upload_body_is_answered(const struct lode_upload_body *body);
/* The next bytes. Returns 0, or -1 when the connection should be closed: the sender goes on though it was refused. */
int lode_upload_body_add(struct lode_upload_body *body, const void *bytes, size_t size);
/* Answers when all bytes are there. */
enum MHD_Result lode_upload_body_answer(struct lode_upload_body *body, const struct lode_exchange *exchange);
/* When the request is over, in whatever way; NULL is allowed. */
void lode_upload_body_end(struct lode_upload_body *body);

#endif
