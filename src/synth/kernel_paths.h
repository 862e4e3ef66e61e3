/* Parts of kernel stacks, as Linux has them, for the tables of paths. */
#ifndef LODE_SYNTH_KERNEL_PATHS_H
#define LODE_SYNTH_KERNEL_PATHS_H

/* In these a frame without a module is in that of the frame before it. */
#define SYSCALL "kernel!entry_SYSCALL_64_after_hwframe;do_syscall_64;"
#define SLEEP   ";kernel!schedule;__schedule"
#define IO      ";kernel!io_schedule;schedule;__schedule"
#define FUTEX   "__x64_sys_futex;do_futex;futex_wait;__futex_wait;futex_wait_queue" SLEEP
#define WAKING  "__x64_sys_futex;do_futex;futex_wake;wake_up_q;try_to_wake_up"
#define FAULT   "kernel!asm_exc_page_fault;exc_page_fault;do_user_addr_fault;handle_mm_fault;"
#define IDLE    "kernel!cpu_startup_entry;do_idle;"

#endif
