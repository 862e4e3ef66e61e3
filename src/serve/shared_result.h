/*
 * A result that several readers have at once: the jobs that keep it, and the answers that are being sent, some of them
 * to slow readers. Its bytes do not change; the last reader frees them. Any thread may hold and release it.
 */
#ifndef LODE_SERVE_SHARED_RESULT_H
#define LODE_SERVE_SHARED_RESULT_H

#include "base/buffer.h"

struct lode_shared_result;

/*
 * Takes ownership of the buffer's bytes and leaves it empty. The caller has the first hold. NULL when the buffer failed
 * or memory has run out.
 */
struct lode_shared_result *lode_shared_result_make(struct lode_buffer *bytes);
struct lode_shared_result *lode_shared_result_hold(struct lode_shared_result *result);
/* NULL is allowed. */
void lode_shared_result_release(struct lode_shared_result *result);

const char *lode_shared_result_bytes(const struct lode_shared_result *result);
size_t lode_shared_result_size(const struct lode_shared_result *result);

#endif
