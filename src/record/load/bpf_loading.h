/*
 * Loading BPF programs: what libbpf reports of it, and why the kernel refused.
 */
#ifndef LODE_RECORD_LOAD_BPF_LOADING_H
#define LODE_RECORD_LOAD_BPF_LOADING_H

#include "base/error.h"

/*
 * Before programs are opened: libbpf prints nothing from now on; why the verifier refuses a program is kept for this
 * thread. Once they are destroyed, `end`: with the last of them libbpf prints as it did before.
 */
void lode_bpf_loading_begin(void);
void lode_bpf_loading_end(void);

/*
 * Explains that loading failed with errno `number`; `needs` as in permissions.h. Returns LODE_SYSTEM, or 0 when
 * neither the verifier nor missing permissions are the reason.
 */
int lode_bpf_loading_fail(unsigned needs, int number, struct lode_error *error);

#endif
