/* Registers by their DWARF numbers, for both kinds of machine. Private to thread_stops.c and stopped_stack.c.
 */
#ifndef LODE_HUNT_METER_LIVE_STOPPED_REGISTERS_H
#define LODE_HUNT_METER_LIVE_STOPPED_REGISTERS_H

#include <stdint.h>
#include <string.h>
#include <sys/user.h>

struct lode_registers {
	uint64_t values[33];
	uint64_t pc;
};

#if defined(__aarch64__)

#define LODE_REGISTERS        32 /* x0 to x30, sp */
#define LODE_REGISTER_FP      29
#define LODE_REGISTER_SP      31
#define LODE_REGISTER_LINK    30
#define LODE_REGISTER_SCRATCH 0 /* none is needed */
/* Bytes between the stack pointer at a function's entry and the one after its return. */
#define LODE_RETURN_SIZE 0

static inline void lode_registers_from_kernel(struct lode_registers *registers,
					      const struct user_regs_struct *kernel)
{
	for (int i = 0; i < 31; i++)
		registers->values[i] = kernel->regs[i];
	registers->values[LODE_REGISTER_SP] = kernel->sp;
	registers->pc = kernel->pc;
}

static inline void lode_registers_from_few(struct lode_registers *registers, uint64_t pc, uint64_t sp, uint64_t fp,
					   uint64_t link)
{
	memset(registers, 0, sizeof(*registers));
	registers->values[LODE_REGISTER_FP] = fp;
	registers->values[30] = link;
	registers->values[LODE_REGISTER_SP] = sp;
	registers->pc = pc;
}

#elif defined(__x86_64__)

#define LODE_REGISTERS        17 /* the last is the return address, which is the program counter */
#define LODE_REGISTER_FP      6
#define LODE_REGISTER_SP      7
#define LODE_REGISTER_LINK    5 /* rdi, in vfork() */
#define LODE_REGISTER_SCRATCH 10
#define LODE_RETURN_SIZE      8

static inline void lode_registers_from_kernel(struct lode_registers *registers,
					      const struct user_regs_struct *kernel)
{
	const uint64_t values[LODE_REGISTERS] = {
		kernel->rax, kernel->rdx, kernel->rcx, kernel->rbx, kernel->rsi, kernel->rdi,
		kernel->rbp, kernel->rsp, kernel->r8,  kernel->r9,  kernel->r10, kernel->r11,
		kernel->r12, kernel->r13, kernel->r14, kernel->r15, kernel->rip,
	};

	memcpy(registers->values, values, sizeof(values));
	registers->pc = kernel->rip;
}

static inline void lode_registers_from_few(struct lode_registers *registers, uint64_t pc, uint64_t sp, uint64_t fp,
					   uint64_t link)
{
	memset(registers, 0, sizeof(*registers));
	registers->values[LODE_REGISTER_LINK] = link;
	registers->values[LODE_REGISTER_FP] = fp;
	registers->values[LODE_REGISTER_SP] = sp;
	registers->values[16] = pc;
	registers->pc = pc;
}

#endif

#endif
