/* The recorder's programs for kernels that cannot cast, before Linux 6.2. */
#ifndef LODE_RECORD_LOAD_PLAIN_PROGRAMS_H
#define LODE_RECORD_LOAD_PLAIN_PROGRAMS_H

struct recorder;

/* As recorder__open() of the generated recorder.skel.h: the same struct. */
struct recorder *lode_recorder_open_plain(void);

#endif
