/*
 * Recognition: the streams of a corpus are matched with its signatures in the background whenever either changes, by the
 * command `lode signatures`, which matches those that were not matched yet.
 */
#ifndef LODE_SERVE_RECOGNITION_H
#define LODE_SERVE_RECOGNITION_H

#include "serve/jobs.h"

struct lode_recognition;

/* The jobs must outlive it. NULL: it could not be started, and streams are matched when somebody asks. The caller ends it. */
struct lode_recognition *lode_recognition_start(struct lode_jobs *jobs, const char *corpus);
/* NULL is allowed. */
void lode_recognition_end(struct lode_recognition *recognition);

#endif
