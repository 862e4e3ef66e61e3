/*
 * Uprobes: see uprobes.h.
 *
 * The link is made by the system call itself: libbpf knows it only since 1.3, and
 * the kernel's headers of the system that builds may be older than the kernel that
 * runs. So the needed part of the interface is here.
 *
 * The kernel accepts all places or none, and returns only an error number. Whether
 * it supports such links at all is checked afterwards, for the error message.
 */
#include "record/load/uprobes.h"

#include "base/memory.h"
#include "record/load/permissions.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ENOTSUPP: the kernel's own number for what it cannot do, in no header for programs. */
#define NOT_SUPPORTED 524

/* What BPF_LINK_CREATE takes for such a link (union bpf_attr of Linux 6.6 and later). */
struct link_request {
	uint32_t program;
	uint32_t target;
	uint32_t attach_type;
	uint32_t link_flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t reference_counts;
	uint64_t cookies;
	uint32_t count;
	uint32_t flags;
	uint32_t pid;
	uint32_t unused;
};

static int create_link(struct link_request *request)
{
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, request, sizeof(*request));

	return fd < 0 ? -errno : (int)fd;
}

static uint64_t address_of(const void *thing)
{
	return (uint64_t)(uintptr_t)thing;
}

static int fail_privilege(struct lode_error *error)
{
	return lode_permissions_fail(LODE_NEEDS_PROGRAMS | LODE_NEEDS_STACKS, EPERM, error);
}

static int fail_kernel(struct lode_error *error)
{
	struct utsname system;

	return lode_fail(error, LODE_SYSTEM,
			 "probes: Linux %s cannot attach a program to many functions at once; Linux 6.6 or "
			 "newer, with CONFIG_UPROBES, is needed",
			 uname(&system) < 0 ? "?" : system.release);
}

/* The smallest program there is: returns 0. A descriptor, or -errno. */
static int load_nothing(void)
{
	struct bpf_insn instructions[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts options = {
		.sz = sizeof(options),
		.expected_attach_type = LODE_UPROBES_ATTACH_TYPE,
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "lode_nothing", "GPL", instructions,
			       sizeof(instructions) / sizeof(instructions[0]), &options);

	return fd < 0 ? -errno : fd;
}

/* Asks for a probe in a folder: a kernel that can do this understands the request and says EBADF, others fail before that. */
int lode_uprobes_possible(struct lode_error *error)
{
	uint64_t offset = 0;
	struct link_request request = {
		.attach_type = LODE_UPROBES_ATTACH_TYPE,
		.path = address_of("/"),
		.offsets = address_of(&offset),
		.count = 1,
	};
	int program = load_nothing();
	int code;

	if (program == -EPERM || program == -EACCES)
		return fail_privilege(error);
	if (program < 0)
		return fail_kernel(error);
	request.program = (uint32_t)program;
	code = create_link(&request);
	close(program);
	if (code >= 0)
		close(code);
	if (code == -EPERM || code == -EACCES)
		return fail_privilege(error);
	return code == -EBADF ? 0 : fail_kernel(error);
}

static int explain(int number, const char *path, size_t count, uint32_t pid, struct lode_error *error)
{
	if (number == EPERM)
		return fail_privilege(error);
	if (number == ESRCH)
		return lode_fail(error, LODE_SYSTEM, "probes: process %u has ended", pid);
	if (number == ENOENT)
		return lode_fail(error, LODE_SYSTEM,
				 "%s: the file does not exist, so its functions cannot be probed; was it "
				 "replaced while the program runs?",
				 path);
	if (number != EINVAL && number != EOPNOTSUPP && number != NOT_SUPPORTED)
		return lode_fail(error, LODE_SYSTEM, "%s: %zu functions cannot be probed: %s", path, count,
				 strerror(number));
	if (lode_uprobes_possible(error) < 0)
		return LODE_SYSTEM;
	return lode_fail(error, LODE_SYSTEM,
			 "%s: the kernel refuses to probe at least one of %zu places: an instruction there "
			 "cannot be probed",
			 path, count);
}

int lode_uprobes_attach(int program, const char *path, const struct lode_uprobe_place *places, size_t count,
			uint32_t pid, struct lode_error *error)
{
	uint64_t *numbers;
	int code;

	if (!count || count > LODE_UPROBES_LIMIT)
		return lode_fail(error, LODE_SYSTEM, "%s: %zu places cannot be probed at once", path, count);
	numbers = lode_realloc(NULL, 2 * count, sizeof(*numbers));
	if (!numbers)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		numbers[i] = places[i].offset;
		numbers[count + i] = places[i].cookie;
	}
	code = create_link(&(struct link_request){
		.program = (uint32_t)program,
		.attach_type = LODE_UPROBES_ATTACH_TYPE,
		.path = address_of(path),
		.offsets = address_of(numbers),
		.cookies = address_of(numbers + count),
		.count = (uint32_t)count,
		.pid = pid,
	});
	lode_free(numbers);
	return code < 0 ? explain(-code, path, count, pid, error) : code;
}
