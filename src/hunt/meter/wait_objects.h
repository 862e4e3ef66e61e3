/*
 * Objects that threads wait for, as numbers: the address of a futex, or, with a bit
 * that addresses do not have, what messages go through. Those are two levels, as in
 * Paradyn: a communicator, and in it the messages of one tag, or its collective
 * calls. Compiled into the BPF programs, too. Bits, of which the top one is free for
 * JSON's numbers:
 *
 *	62	message
 *	61..29	communicator: its handle (an int, as in MPICH), or with bit 61 part of its
 *		address (a pointer, as in Open MPI)
 *	28..0	0: all of the communicator; 1: any tag; n: tag n - 2; all ones: collective
 */
#ifndef LODE_HUNT_METER_WAIT_OBJECTS_H
#define LODE_HUNT_METER_WAIT_OBJECTS_H

#include <stdint.h>

#define LODE_OBJECT_MESSAGE       (1ull << 62)
#define LODE_MESSAGE_SHIFT        29
#define LODE_MESSAGE_TAGS         ((1ull << LODE_MESSAGE_SHIFT) - 1)
#define LODE_MESSAGE_ANY_TAG      1u
#define LODE_MESSAGE_FIRST_TAG    2u
#define LODE_MESSAGE_POINTERS     (1ull << 32)
#define LODE_MESSAGE_ADDRESS_BITS 35 /* of a pointer that are kept; the lowest three are zero */

/* Where a function has its communicator and tag among its arguments, in a word: places + 1, 0 for none. */
#define LODE_MESSAGE_PLACES(communicator, tag) ((uint32_t)((communicator) + 1) | (uint32_t)((tag) + 1) << 8)
#define LODE_MESSAGE_COMMUNICATOR(places)      ((places)&0xff)
#define LODE_MESSAGE_TAG(places)               ((places) >> 8 & 0xff)
#define LODE_MESSAGE_BY_POINTER                (1u << 16)

static inline __attribute__((always_inline)) uint64_t lode_message_communicator(uint64_t handle, int by_pointer)
{
	uint64_t number = by_pointer ? (handle >> 3 & 0xffffffffu) | LODE_MESSAGE_POINTERS : handle & 0xffffffffu;

	return LODE_OBJECT_MESSAGE | number << LODE_MESSAGE_SHIFT;
}

/* With the tag of a message; tags that are too large are one. */
static inline __attribute__((always_inline)) uint64_t lode_message_tagged(uint64_t communicator, int32_t tag)
{
	uint64_t code = tag < 0 ? LODE_MESSAGE_ANY_TAG : (uint64_t)tag + LODE_MESSAGE_FIRST_TAG;

	return communicator | (code < LODE_MESSAGE_TAGS ? code : LODE_MESSAGE_TAGS - 1);
}

static inline __attribute__((always_inline)) uint64_t lode_message_collective(uint64_t communicator)
{
	return communicator | LODE_MESSAGE_TAGS;
}

/* The communicator of a message object; of another object itself. */
static inline __attribute__((always_inline)) uint64_t lode_object_whole(uint64_t object)
{
	return object & LODE_OBJECT_MESSAGE ? object & ~LODE_MESSAGE_TAGS : object;
}

/* Whether it has parts: a communicator, of all tags. */
static inline __attribute__((always_inline)) int lode_object_has_parts(uint64_t object)
{
	return object & LODE_OBJECT_MESSAGE && !(object & LODE_MESSAGE_TAGS);
}

/* Whether waiting for `object` is waiting for `wanted`: the same, or the whole that it is part of. */
static inline __attribute__((always_inline)) int lode_object_is_in(uint64_t object, uint64_t wanted)
{
	return object == wanted || (lode_object_has_parts(wanted) && lode_object_whole(object) == wanted);
}

#endif
