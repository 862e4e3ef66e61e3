/* What "hardly" and "nobody" mean where threads are called idle (scope/idle_threads.h), in a recording and live. */
#ifndef LODE_TRACE_IDLE_SHARE_H
#define LODE_TRACE_IDLE_SHARE_H

/* A part of the time is small if it is at most one in so many. */
#define LODE_IDLE_SHARE 100

#endif
