/*
 * Which methods are inlined at an address of compiled code: HotSpot keeps that for the places where a thread may be stopped, which
 * calls are. For an address between such places the next one is taken.
 */
#ifndef LODE_PROCESS_LANGUAGES_HOTSPOT_SCOPES_H
#define LODE_PROCESS_LANGUAGES_HOTSPOT_SCOPES_H

#include "process/languages/hotspot_process.h"

/* Methods at one address; HotSpot inlines up to 15 deep, through lambdas and the like deeper. */
#define LODE_HOTSPOT_SCOPES 64

struct lode_hotspot_scope {
	uint64_t method;
	int32_t bytecode; /* its number in the method; -1: the method begins */
};

/*
 * Fills `found` with the Methods at address `pc` of the compiled code `blob`, whose code begins at `start`: the innermost first,
 * last the one that was compiled. Returns how many they are; 0: the code does not say.
 */
uint32_t lode_hotspot_scopes(const struct lode_hotspot *hotspot, const struct lode_process_memory *memory,
			     uint64_t blob, uint64_t start, uint64_t pc,
			     struct lode_hotspot_scope found[LODE_HOTSPOT_SCOPES]);

#endif
