/* Modules by what other tools call them: see module_name.h. */
#include "import/module_name.h"

#include "import/text_span.h"
#include "symbols/mapping_kind.h"

static int drop_end(struct lode_span *span, const char *end)
{
	size_t size = strlen(end);

	if (span->length <= size || memcmp(span->text + span->length - size, end, size) != 0)
		return 0;
	span->length -= size;
	return 1;
}

static struct lode_span base_name(struct lode_span path)
{
	const char *slash = memrchr(path.text, '/', path.length);

	if (!slash || slash + 1 == path.text + path.length)
		return path;
	return (struct lode_span){ slash + 1, path.length - (size_t)(slash + 1 - path.text) };
}

static int is_kernel(struct lode_span name)
{
	return lode_span_starts(name, "[kernel.") || lode_span_starts(name, "[guest.kernel.") ||
	       lode_span_starts(name, "vmlinux") || lode_span_starts(name, "vmlinuz") ||
	       lode_span_is(name, "[kernel]") || lode_span_is(name, "kallsyms") || lode_span_is(name, "kcore");
}

/* Names in brackets that the memory map of a program holds; all others are kernel modules. */
static int is_of_program(struct lode_span name)
{
	static const char *const names[] = { "[vdso",    "[vsyscall", "[vvar",    "[heap", "[stack",  "[anon",
					     "[uprobes", "[vectors",  "[sigpage", "[jit",  "[unknown" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (lode_span_starts(name, names[i]))
			return 1;
	return 0;
}

static int is_module_file(struct lode_span *name)
{
	struct lode_span bare = *name;

	if (!drop_end(&bare, ".gz") && !drop_end(&bare, ".xz"))
		drop_end(&bare, ".zst");
	if (!drop_end(&bare, ".ko"))
		return 0;
	*name = bare;
	return 1;
}

/* The kernel's own name of a module has `_` where its file may have `-`. */
static uint32_t add_kernel_module(struct lode_frames *frames, struct lode_span name)
{
	char own[256];
	size_t length = name.length < sizeof(own) ? name.length : sizeof(own);

	for (size_t i = 0; i < length; i++)
		own[i] = name.text[i] == '-' ? '_' : name.text[i];
	return lode_frames_kernel_module(frames, own, length);
}

static uint32_t add_module(struct lode_frames *frames, struct lode_span file)
{
	struct lode_span name = base_name(file);

	if (lode_mapped_is_jit(name.text, name.length))
		return lode_frames_module(frames, LODE_JIT_MODULE, strlen(LODE_JIT_MODULE));
	if (is_kernel(name))
		return add_kernel_module(frames, (struct lode_span){ "kernel", 6 });
	if (is_module_file(&name))
		return add_kernel_module(frames, name);
	if (name.length > 2 && name.text[0] == '[' && name.text[name.length - 1] == ']' && !is_of_program(name))
		return add_kernel_module(frames, (struct lode_span){ name.text + 1, name.length - 2 });
	return lode_frames_module(frames, name.text, name.length);
}

uint32_t lode_module_from_file(struct lode_frames *frames, const char *file, size_t length)
{
	struct lode_span span = { file, length };
	uint32_t module;

	drop_end(&span, " (deleted)");
	if (!span.length || lode_span_is(span, "[unknown]") || lode_span_is(span, "unknown"))
		return 0;
	module = add_module(frames, span);
	if (module && module != LODE_NONE && span.text[0] == '/' && frames->modules[module].kind != LODE_KIND_JIT &&
	    lode_frames_set_path(frames, module, span.text, span.length) < 0)
		return LODE_NONE;
	return module;
}
