/* A library that pretends to be HotSpot: see java_forged.c. */
#ifndef LODE_TESTS_RECORD_JAVA_FORGED_H
#define LODE_TESTS_RECORD_JAVA_FORGED_H

#include <stdint.h>

void *forged_heap(void);
void forge(const char *mode);
int forged_run(uint64_t milliseconds);

#endif
