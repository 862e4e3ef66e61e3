/* The library that programs which know their own stacks are linked with, or open: see library.c. */
#ifndef TRUTH_LIBRARY_H
#define TRUTH_LIBRARY_H

/* Calls `inside`. */
void truth_library_call(void (*inside)(void));

/* Computes a little. */
unsigned truth_library_step(unsigned number);

#endif
