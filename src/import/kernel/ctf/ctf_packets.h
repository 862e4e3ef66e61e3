/*
 * The events of one file of a CTF trace, packet after packet. First an event's head is read, which has its time, so that
 * files can be merged by time; then the rest of it.
 */
#ifndef LODE_IMPORT_CTF_PACKETS_H
#define LODE_IMPORT_CTF_PACKETS_H

#include "import/kernel/ctf/ctf_description.h"
#include "import/kernel/ctf/ctf_fields.h"

struct lode_ctf_packets {
	const struct lode_ctf_description *description;
	const char *name; /* of the file, for messages */
	const unsigned char *bytes;
	size_t size;
	size_t packet;      /* where the one that is being read starts */
	size_t next_packet; /* where the next one does */
	struct lode_ctf_place place;
	struct lode_ctf_fields fields;
	struct lode_ctf_values *values; /* room, shared with others */
	const struct lode_ctf_stream_class *stream;
	int is_compact;    /* the events have LTTng's compact header */
	uint64_t instance; /* of the stream; UINT64_MAX: unknown */
	uint64_t begin;    /* the first packet's time, in ticks; UINT64_MAX: unknown */
	uint16_t cpu;      /* of the packet */

	uint64_t discarded;     /* what the packet's count of discarded events says; UINT64_MAX: nothing */
	uint64_t discarded_sum; /* between packets, so far */

	const struct lode_ctf_event_class *event; /* whose head was read */
	uint64_t t;                               /* of it, in nanoseconds */
};

/*
 * Opens the first packet of `size` bytes, one or more, which must outlive this, as `description` and `slots` (one for each
 * of the description's slots) must. Returns 0 or a negative code.
 */
int lode_ctf_packets_open(struct lode_ctf_packets *packets, const struct lode_ctf_description *description,
			  uint64_t *slots, struct lode_ctf_values *values, struct lode_error *error);
/* Reads the head of the next event. Returns 1, 0 behind the last one, or a negative code. */
int lode_ctf_packets_next(struct lode_ctf_packets *packets, struct lode_error *error);
/* Reads the rest of it. What `event` points to is valid until the next call with the same values. */
int lode_ctf_packets_event(struct lode_ctf_packets *packets, struct lode_ctf_event *event,
			   struct lode_error *error);

#endif
