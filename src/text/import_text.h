/* What lode import did, a line each for standard error, without names and line ends. */
#ifndef LODE_TEXT_IMPORT_TEXT_H
#define LODE_TEXT_IMPORT_TEXT_H

#include "result/import_report.h"

/* What became of a stream; with `file`, which it was all of, how long reading that took. */
void lode_imported_stream_text(const struct lode_imported_stream *stream, const struct lode_imported_file *file,
			       struct lode_buffer *buffer);
/* What was read, how long it took, how fast that was. */
void lode_imported_file_text(const struct lode_imported_file *file, struct lode_buffer *buffer);
/* How many new streams a signature matches. */
void lode_import_match_text(const struct lode_signature *signature, struct lode_buffer *buffer);

#endif
