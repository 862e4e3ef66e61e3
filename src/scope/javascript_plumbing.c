/*
 * Functions of Node.js programs: see javascript_plumbing.h.
 *
 * JavaScript functions are in modules called like their files, in those of Node itself (node:fs), or, without a file, in
 * `javascript`. Node's internal modules load programs and call them when something happens; what they do for the
 * program (node:fs, node:events) stays.
 */
#include "scope/javascript_plumbing.h"

#include "base/ends_with.h"
#include "base/starts_with.h"

#include <string.h>

#define ENTRIES(list) (sizeof(list) / sizeof(*(list)))

static int starts_with_any(const char *text, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (lode_starts_with(text, starts[i]))
			return 1;
	return 0;
}

int lode_module_is_node(const char *module)
{
	return !strcmp(module, "node") || !strcmp(module, "nodejs") || lode_starts_with(module, "libnode.so");
}

/* V8's built-in functions, without `Builtins_`, that enter, call and interpret, or that have a frame as JavaScript functions, too. */
static int is_calling_builtin(const char *function)
{
	static const char *const starts[] = {
		"InterpreterE", "InterpreterPush", "InterpreterOn", "Baseline",       "JSEntry",
		"JSConstruct",  "JSRun",           "JSBuiltins",    "RunMicrotasks",  "Call",
		"Construct",    "CEntry",          "Compile",       "HandleApi",      "ResumeGen",
		"Async",        "Await",           "Promise",       "FunctionP",      "ReflectApply",
		"Array",        "TypedArray",      "Generator",     "Deoptimization", "Map",
		"Set",
	};

	return lode_ends_with(function, "Handler") || starts_with_any(function, starts, ENTRIES(starts));
}

static int is_calling(const char *function)
{
	static const char builtins[] = "Builtins_";
	static const char *const starts[] = {
		"0x",
		"_start",
		"main",
		"v8::Function::Call",
		"v8::Script::Run",
		"v8::internal::Execution::",
		"v8::internal::(anonymous namespace)::Invoke",
		"v8::internal::(anonymous namespace)::HandleApiCallHelper",
		"v8::internal::Builtin_HandleApiCall",
		"v8::internal::Builtin_Impl_HandleApiCall",
		"v8::internal::FunctionCallbackArguments::Call",
		"v8::internal::MicrotaskQueue::",
		"v8::internal::Builtins::InvokeApiFunction",
		"node::AsyncWrap::MakeCallback",
		"node::Environment::CheckImmediate",
		"node::Environment::RunTimers",
		"node::ExecuteBootstrapper",
		"node::InternalCallbackScope::",
		"node::InternalMakeCallback",
		"node::LoadEnvironment",
		"node::LoadSnapshotDataAndRun",
		"node::MakeCallback",
		"node::NodeMainInstance::",
		"node::Realm::",
		"node::SpinEventLoop",
		"node::Start",
		"node::builtins::BuiltinLoader::",
		"uv_run",
		"uv__run_",
	};

	if (lode_starts_with(function, builtins))
		return is_calling_builtin(function + strlen(builtins));
	return starts_with_any(function, starts, ENTRIES(starts));
}

/* Whether a module is a file of JavaScript, by its name. */
static int is_script(const char *module)
{
	static const char *const ends[] = { ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx" };

	for (size_t i = 0; i < ENTRIES(ends); i++)
		if (lode_ends_with(module, ends[i]))
			return 1;
	return 0;
}

enum lode_javascript_role lode_javascript_role(const char *module, const char *function)
{
	if (lode_starts_with(module, "node:internal/") || !strcmp(module, "[eval]-wrapper"))
		return LODE_JAVASCRIPT_CALLS;
	if (is_script(module) || lode_starts_with(module, "node:") || !strcmp(module, "[eval]"))
		return LODE_JAVASCRIPT_PROGRAM;
	if (!strcmp(module, "javascript"))
		return strcmp(function, "(anonymous)") != 0 ? LODE_JAVASCRIPT_PROGRAM : LODE_JAVASCRIPT_CALLS;
	return lode_module_is_node(module) && is_calling(function) ? LODE_JAVASCRIPT_CALLS : LODE_JAVASCRIPT_NONE;
}

int lode_frames_have_javascript(const struct lode_frames *frames)
{
	for (uint32_t i = 0; i < frames->count; i++)
		if (lode_javascript_role(lode_frames_module_name(frames, i), lode_frames_function(frames, i)) ==
		    LODE_JAVASCRIPT_PROGRAM)
			return 1;
	return 0;
}
