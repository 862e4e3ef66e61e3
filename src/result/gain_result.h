/*
 * What fixing something would gain (mine/gain.h), for people and programs. Members have the names of the JSON, which
 * gain_fields.c describes.
 */
#ifndef LODE_RESULT_GAIN_RESULT_H
#define LODE_RESULT_GAIN_RESULT_H

#include "mine/gain.h"
#include "result/fields.h"

/* How the replay was done, and how far it can be trusted. */
struct lode_gain_replay {
	uint64_t symptoms;
	uint64_t symptoms_replayed;
	uint64_t streams;
	uint64_t length_ns;
	uint64_t replayed_ns;
	uint64_t cannot_tell_ns;
	double cannot_tell_share;
	uint64_t streams_sharing_processors;
	char processors[16];
};

struct lode_gain_result_symptom {
	const char *stream;
	const char *id;
	const char *name; /* NULL: it has none */
	uint32_t tid;
	uint64_t t0;
	uint64_t t1;
	uint64_t cost_ns;
	uint64_t replayed_ns;
	uint64_t cannot_tell_ns;
	uint64_t gain_ns;
	uint64_t at_least_ns;
	uint64_t at_most_ns;
};

/* lode scope --without. */
struct lode_gain_report {
	const char *corpus;
	const char *without;
	unsigned percent;
	uint32_t cpus; /* what_if.h */
	const struct lode_gains *gains;
	size_t top; /* symptoms to show; 0: all */
};

struct lode_gain_result {
	const char *without;
	uint32_t percent;
	uint64_t cost_ns;
	struct lode_gain gain;
	struct lode_gain_replay replay;
	uint64_t symptoms_total; /* in the list, unless it is cut */
	struct lode_list each;   /* of struct lode_gain_result_symptom */
};

extern const struct lode_fields lode_gain_value_fields;  /* struct lode_gain */
extern const struct lode_fields lode_gain_replay_fields; /* struct lode_gain_replay */
extern const struct lode_fields lode_gain_fields;        /* struct lode_gain_result */

struct lode_gain_replay lode_gain_replay_of(const struct lode_gains *gains, uint32_t cpus);
void lode_gain_json(const struct lode_gain_report *report, struct lode_buffer *buffer);

/* Symptoms by gain, largest first, then in the order of the catalogue. The caller frees it; NULL: no memory. */
uint32_t *lode_gain_order(const struct lode_gains *gains);

#endif
