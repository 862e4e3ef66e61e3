/* Publishes OpenTelemetry's thread context of the calling thread; part of a program, or a library. */
#include <stddef.h>

extern __thread void *otel_thread_ctx_v1;
__attribute__((visibility("default"))) __thread void *otel_thread_ctx_v1;

#ifdef LARGE
/* More than the dynamic linker puts into the static part for libraries that are loaded later. */
static __thread volatile char room[1 << 16];
#endif

void publish(void *record);
__attribute__((visibility("default"))) void publish(void *record)
{
#ifdef LARGE
	room[0] = 1;
#endif
	otel_thread_ctx_v1 = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	otel_thread_ctx_v1 = record;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
