/*
 * Agent protocol: the messages between a hunt and its agent on another host, one JSON
 * object per line, with a descriptor for each direction.
 *
 * The agent begins: {"agent":2,"host":NAME}, or {"error":SENTENCE}. Then each line of
 * the hunt is answered by one of the agent:
 *
 *	{"do":"start","experiments":[{"id","hypothesis","focus"}]}  {"calls":{F:[F…]}}
 *	{"do":"stop","experiments":[ID…]}                           {}
 *	{"do":"look","wait_ns"}    {"ended","now","cost","functions":[[N,F]…],
 *	                            "readings":[{"id","state","why","numbers":[…]}],
 *	                            "samples":[[T,HOST,PROCESS,THREAD,WEIGHT,HYPOTHESIS,FLAGS,N…]…]}
 *	{"do":"predict","hypothesis","focus"}                       {"cost"}
 *	{"do":"below","axis","focus"}                               {"items":[[NUMBER,OBJECT]…]}
 *	{"do":"roots","focus"}                                      {"functions":[F…]}
 *	{"do":"name","axis","number"}                               {"name"}
 *	{"do":"end"}                                                (ends)
 *
 * or {"error":SENTENCE}. A focus is {"code":F,"host","process","thread","object"}, of
 * which only what is narrowed is there. Functions F are `module!function`, for both
 * sides number them as they come; N is the agent's number, defined once in "functions".
 * The end of input ends an agent, and its probes go with it.
 */
#ifndef LODE_HUNT_METER_REMOTE_AGENT_PROTOCOL_H
#define LODE_HUNT_METER_REMOTE_AGENT_PROTOCOL_H

#include "base/buffer.h"
#include "base/json.h"
#include "hunt/meter/meter.h"

#include <yajl/yajl_tree.h>

/* Numbers of a reading, in this order: usable time, time without a CPU, times, operations, bytes, calls, cost. */
#define LODE_WIRE_NUMBERS (LODE_SMALL_IO + 6)
#define LODE_WIRE_VERSION 3
/* Flags of a sample. */
#define LODE_WIRE_CUT   1u
#define LODE_WIRE_DRAWN 2u

struct lode_wire {
	int in;
	int out;
	const char *name; /* of the other end, for messages */
	struct lode_buffer input;
	size_t taken; /* bytes of it that were read as lines */
	struct lode_buffer output;
	struct lode_json json; /* writes into `output` */
};

void lode_wire_init(struct lode_wire *wire, int in, int out, const char *name);
/* Closes nothing. */
void lode_wire_release(struct lode_wire *wire);
/* Begins an object in `output`; lode_wire_send ends and sends it. */
void lode_wire_begin(struct lode_wire *wire);
int lode_wire_send(struct lode_wire *wire, struct lode_error *error);
/* The next line, to be freed with yajl_tree_free. Returns 1, 0 at the end of input, or a negative code. */
int lode_wire_receive(struct lode_wire *wire, yajl_val *value, struct lode_error *error);

/* The value of a key; 0, NULL or nothing where it is missing or of another type. */
uint64_t lode_wire_number(yajl_val value, const char *key);
double lode_wire_double(yajl_val value, const char *key);
const char *lode_wire_text(yajl_val value, const char *key);
yajl_val *lode_wire_array(yajl_val value, const char *key, size_t *count);
/* A value that is a number of 0 or more itself; 0 when it is not. */
uint64_t lode_wire_item(yajl_val value);

void lode_wire_put_focus(struct lode_wire *wire, const struct lode_program *program,
			 const struct lode_focus *focus);
/* Reads a focus; its function is made known by name. LODE_SYSTEM when memory has run out. */
int lode_wire_focus(yajl_val value, struct lode_program *program, struct lode_focus *focus);

#endif
