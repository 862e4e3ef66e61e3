/*
 * Metrics: see metrics.h. Names end as Prometheus asks for: counters with _total, times in seconds, sizes in bytes.
 */
#include "serve/metrics.h"

#include "serve/metric_text.h"
#include "store/catalogue_signatures.h"

#include <string.h>
#include <sys/statvfs.h>

#define MAX_SIGNATURES 500 /* rows: signatures times versions */

static void write_number(struct lode_buffer *text, const char *name, const char *type, const char *help,
			 uint64_t value)
{
	lode_metric_begin(text, name, type, help);
	lode_buffer_print(text, "%s %llu\n", name, (unsigned long long)value);
}

/* ---- uploads ---- */

static void write_refusals(struct lode_buffer *text, const struct lode_collector_counts *counts)
{
	lode_metric_begin(text, "lode_uploads_refused_total", "counter",
			  "Uploads that were refused, by status of HTTP.");
	for (size_t i = 0; i < LODE_REFUSALS; i++)
		lode_buffer_print(text, "lode_uploads_refused_total{status=\"%u\"} %llu\n",
				  lode_refusal_statuses[i], (unsigned long long)counts->refused[i]);
}

static void write_uploads(struct lode_buffer *text, struct lode_collector *collector)
{
	struct lode_collector_counts counts;

	lode_collector_counts(collector, &counts);
	write_number(text, "lode_uploads_total", "counter", "Uploads that were acknowledged.", counts.uploads);
	write_number(text, "lode_upload_bytes_total", "counter", "Bytes of these, as they were sent.",
		     counts.bytes);
	write_refusals(text, &counts);
	write_number(text, "lode_uploads_vanished_total", "counter", "Uploads whose senders went away.",
		     counts.vanished);
	write_number(text, "lode_uploads_in_progress", "gauge", "Uploads that are being received or stored.",
		     counts.in_progress);
	lode_metric_begin(text, "lode_upload_seconds_total", "counter",
			  "Time from the last byte of uploads to their answers.");
	lode_buffer_print(text, "lode_upload_seconds_total %.6f\n", (double)counts.busy_ns / 1e9);
	write_number(text, "lode_streams_total", "counter", "Streams that were added.", counts.committed.streams);
	write_number(text, "lode_streams_repeated_total", "counter", "Streams that were there already.",
		     counts.committed.repeated);
	write_number(text, "lode_streams_failed_total", "counter", "Streams that could not be stored.",
		     counts.committed.failures);
	write_number(text, "lode_commits_total", "counter", "Commits of the catalogue, of one stream or many.",
		     counts.committed.commits);
	write_number(text, "lode_commit_queue", "gauge", "Streams that wait for a commit.",
		     counts.committed.waiting);
}

/* ---- the corpus ---- */

static void write_disk(struct lode_buffer *text, const char *corpus)
{
	struct statvfs disk;

	if (statvfs(corpus, &disk) == 0)
		write_number(text, "lode_disk_free_bytes", "gauge", "Free bytes of the disk that the corpus is on.",
			     (uint64_t)disk.f_bavail * disk.f_frsize);
}

/* Rows of one metric come together, so each has a buffer. */
enum row_kind { STREAMS, HOSTS, DELAY, FIRST, LAST, ROW_KINDS };

static const struct {
	const char *name, *help;
} rows[ROW_KINDS] = {
	[STREAMS] = { "lode_signature_streams", "Streams in which a known bug was seen." },
	[HOSTS] = { "lode_signature_hosts", "Hosts on which a known bug was seen." },
	[DELAY] = { "lode_signature_delay_seconds", "Time that a known bug has cost, waiting or running." },
	[FIRST] = { "lode_signature_first_seen_seconds", "When the first stream with it was added, since 1970." },
	[LAST] = { "lode_signature_last_seen_seconds", "When the last stream with it was added, since 1970." },
};

static void write_row(struct lode_buffer *text, enum row_kind kind, const struct lode_signature_seen *seen,
		      const char *more, double value)
{
	lode_buffer_print(text, "%s{", rows[kind].name);
	lode_metric_label(text, "signature", seen->name);
	lode_buffer_byte(text, ',');
	lode_metric_label(text, "version", seen->version);
	lode_buffer_byte(text, ',');
	lode_metric_label(text, "state", seen->state);
	lode_buffer_print(text, "%s} %.9g\n", more, value);
}

static void tell_seen(void *context, const struct lode_signature_seen *seen)
{
	struct lode_buffer *texts = context;

	write_row(&texts[STREAMS], STREAMS, seen, "", (double)seen->streams);
	write_row(&texts[HOSTS], HOSTS, seen, "", (double)seen->hosts);
	write_row(&texts[DELAY], DELAY, seen, ",kind=\"run\"", (double)seen->cost[LODE_RUN] / 1e9);
	write_row(&texts[DELAY], DELAY, seen, ",kind=\"wait\"", (double)seen->cost[LODE_WAIT] / 1e9);
	write_row(&texts[FIRST], FIRST, seen, "", (double)seen->first_seen);
	write_row(&texts[LAST], LAST, seen, "", (double)seen->last_seen);
}

static int write_signatures(struct lode_buffer *text, const char *path, struct lode_error *error)
{
	struct lode_buffer texts[ROW_KINDS] = { { 0 } };
	struct lode_corpus *corpus;
	int code = lode_corpus_open(&corpus, path, LODE_CORPUS_READ, error);

	if (code)
		return code;
	code = lode_catalogue_signatures_seen(lode_corpus_catalogue(corpus), MAX_SIGNATURES, tell_seen, texts,
					      error);
	lode_corpus_close(corpus);
	for (int i = 0; i < ROW_KINDS; i++) {
		if (!code && texts[i].size) {
			lode_metric_begin(text, rows[i].name, "gauge", rows[i].help);
			lode_buffer_add(text, texts[i].bytes, texts[i].size);
		}
		text->failed |= texts[i].failed;
		lode_buffer_release(&texts[i]);
	}
	return code;
}

static void write_tokens(struct lode_buffer *text, struct lode_tokens *tokens)
{
	struct lode_tokens_counts counts;

	lode_tokens_count(tokens, &counts);
	write_number(text, "lode_tokens", "gauge", "Tokens in the file of --tokens.", counts.tokens);
	write_number(text, "lode_tokens_wrong_lines", "gauge", "Lines of that file that are no token.",
		     counts.wrong);
}

int lode_metrics_write(struct lode_buffer *text, const char *corpus, struct lode_collector *collector,
		       struct lode_tokens *tokens, struct lode_error *error)
{
	int code;

	if (collector)
		write_uploads(text, collector);
	if (tokens)
		write_tokens(text, tokens);
	write_disk(text, corpus);
	code = write_signatures(text, corpus, error);
	return code < 0 ? code : text->failed ? lode_fail_memory(error) : 0;
}
