/*
 * The perf.data format: what <linux/perf_event.h> does not say, because perf
 * itself writes it, and bits that are younger than the header installed.
 *
 *	file mode	header, then sections that it points to: attributes (one an
 *			event, each pointing to its ids), data (records), and behind
 *			the data a table of feature sections
 *	pipe mode	a header of 16 bytes, then records only; what the sections
 *			would hold comes as records of types 64 and up
 *
 *	file header	0 magic "PERFILE2"	8 size of the header (16: pipe mode)
 *			16 size of an attribute entry (attribute + 16)
 *			24 attributes section	40 data section	56 unused section
 *			72 features, 256 bits
 *	section		0 offset in the file	8 size
 *	record		0 type (u32)	4 misc (u16)	6 size with this header (u16)
 *
 * All numbers are little-endian; recordings of big-endian machines are refused.
 */
#ifndef LODE_IMPORT_PERF_DATA_FORMAT_H
#define LODE_IMPORT_PERF_DATA_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#define PERF_MAGIC_LITTLE "PERFILE2"
#define PERF_MAGIC_BIG    "2ELIFREP"
#define PERF_MAGIC_OLD    "PERFFILE"
#define PERF_HEADER_BYTES 104
#define PERF_PIPE_BYTES   16
#define PERF_FEATURES     256

/* Records of perf itself. */
enum {
	PERF_HEADER_ATTR = 64,
	PERF_HEADER_EVENT_TYPE = 65,
	PERF_HEADER_TRACING_DATA = 66,
	PERF_HEADER_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_ID_INDEX = 69,
	PERF_AUXTRACE_INFO = 70,
	PERF_AUXTRACE = 71,
	PERF_AUXTRACE_ERROR = 72,
	PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_FINISHED_INIT = 82,
	PERF_COMPRESSED2 = 83,
	PERF_LAST_KNOWN = 84,
};

/* Records of the kernel younger than the header. */
#define PERF_CALLCHAIN_DEFERRED 22

/* Feature sections. */
enum {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_AUXTRACE = 18,
	PERF_FEATURE_DIR_FORMAT = 24,
};

#define PERF_MISC_BUILD_ID_SIZE    (1 << 15) /* a build-id entry has its size */
#define PERF_MISC_MMAP_BUILD_ID    (1 << 14)
#define PERF_MISC_FORK_SYNTHESIZED (1 << 13)
#define PERF_BRANCH_HW_INDEX       (1ull << 17)
#define PERF_BRANCH_COUNTERS       (1ull << 19)
#define PERF_READ_LOST             (1u << 4)
#define PERF_DEFERRED_USER         ((uint64_t)-640)
#define PERF_BUILD_ID_BYTES        20
#define PERF_OFF_CPU_TIME          ((uint64_t)UINT32_MAX << 32) /* times from here on are none */

/* Numbers of user registers. */
enum {
	PERF_X86_DI = 5,
	PERF_X86_BP = 6,
	PERF_X86_SP = 7,
	PERF_X86_IP = 8,
	PERF_X86_R10 = 18,
	PERF_AARCH64_FP = 29,
	PERF_AARCH64_LINK_REGISTER = 30,
	PERF_AARCH64_SP = 31,
	PERF_AARCH64_PC = 32,
};

/* Entries of a call chain from here up are markers, not addresses. */
#define PERF_FIRST_MARKER ((uint64_t)-4095)

/* Loads from bytes at any alignment. */
static inline uint64_t perf_u64(const unsigned char *at)
{
	uint64_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

static inline uint32_t perf_u32(const unsigned char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

static inline uint16_t perf_u16(const unsigned char *at)
{
	uint16_t number;

	memcpy(&number, at, sizeof(number));
	return number;
}

#endif
