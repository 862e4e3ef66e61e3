/*
 * An upload: bytes that a sender wants to have in the corpus, what it says about them, and the limits that are set for
 * them. The same for all ways of sending.
 */
#ifndef LODE_COLLECT_UPLOAD_H
#define LODE_COLLECT_UPLOAD_H

#include "base/cursor.h"
#include "base/text_list.h"
#include "store/corpus.h"
#include "symbols/elf.h"

#include <stdint.h>

/* What the body of an upload is. */
enum lode_upload_form {
	LODE_UPLOAD_FILE,      /* a stream file, or a file that `lode import` reads */
	LODE_UPLOAD_OTLP,      /* what OpenTelemetry's exporters send */
	LODE_UPLOAD_PYROSCOPE, /* the message of Pyroscope's push API, with profiles of several series */
	LODE_UPLOAD_MULTIPART, /* what Pyroscope's older agents send: a form with a profile in it */
	LODE_UPLOAD_SYMBOLS,   /* an ELF file, of which the symbols are kept */
	LODE_UPLOAD_FORMS
};

#define LODE_UPLOAD_MAX_LABELS 256

struct lode_upload_options {
	enum lode_upload_form form;
	const char *format;        /* importer's name; NULL: recognized */
	const char *name;          /* of the streams; NULL: from the file */
	const char *host;          /* NULL: from the file */
	const char *source;        /* what the catalogue says about where it came from */
	const char *boundary;      /* of a form */
	const char *const *labels; /* KEY=VALUE, NULL-terminated; or NULL */
	double unit_ns;            /* as with `lode import`; 0: not given */
	int kind_is_wait;
};

/* More than these is refused. */
struct lode_upload_limits {
	uint64_t packed;   /* bytes as they are sent */
	uint64_t unpacked; /* bytes of the content */
	uint64_t memory;   /* bytes that reading it may take */
	unsigned seconds;  /* of CPU time that reading it may take */
	uint64_t events;   /* of a stream */
	uint64_t frames;   /* of a stream: distinct ones */
	uint32_t name;     /* bytes of a name or an attribute */
	uint32_t attributes;
	uint32_t symptoms;
	uint32_t streams; /* of an upload */
};

extern const struct lode_upload_limits lode_upload_limits_default;

/* Why an upload was refused: a status of HTTP and a sentence. */
struct lode_upload_refusal {
	unsigned status;
	unsigned retry_after; /* s; 0: the same upload will not be accepted later either, or nothing is known */
	struct lode_error error;
};

/* Fills in a refusal and returns LODE_BAD_INPUT. */
int lode_upload_refuse(struct lode_upload_refusal *refusal, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A stream that was found in an upload, and where its file is. */
struct lode_upload_stream {
	struct lode_corpus_entry entry; /* texts are of the dictionary */
	int is_upload;                  /* its file is the upload itself */
	uint64_t offset, size;          /* else it is in what was written */
	struct lode_dictionary dictionary;
	struct lode_stream stream; /* all but events */
};

/* Symbols that were found in an upload; their file is what was written. */
struct lode_upload_symbols {
	char build_id[LODE_BUILD_ID_TEXT]; /* "": it was no upload of symbols */
	int has_all;                       /* else only those that the file exports */
};

void lode_upload_stream_release(struct lode_upload_stream *found);

/*
 * How options and streams are sent to another process. What comes from there is checked like a file: reading returns
 * 0 or LODE_BAD_INPUT, or LODE_SYSTEM when memory has run out. Texts of options stay in the message; `words`, the
 * caller's, holds the list of labels.
 */
void lode_upload_options_write(struct lode_buffer *message, const struct lode_upload_options *options);
int lode_upload_options_read(struct lode_cursor *message, struct lode_upload_options *options,
			     struct lode_text_list *labels);
void lode_upload_stream_write(struct lode_buffer *message, const struct lode_upload_stream *found,
			      const struct lode_stream *stream);
int lode_upload_stream_read(struct lode_cursor *message, struct lode_upload_stream *found);

#endif
