/* Words about functions without a name: see unnamed_words.h. */
#include "result/unnamed_words.h"

/* Where names of native functions come from. */
static void put_native(const struct lode_area *area, const struct lode_unnamed_function *unnamed,
		       const char *package, struct lode_buffer *buffer)
{
	const struct lode_frames *frames = &area->dictionary.frames;
	const struct lode_module *module = &frames->modules[frames->items[unnamed->frame].module];
	const char *build_id = lode_strings_get(&frames->strings, module->build_id);

	if (package)
		lode_buffer_print(buffer, "install %s-dbgsym or use --debuginfod, and record again", package);
	else if (*build_id)
		lode_buffer_print(
			buffer, "record with --debuginfod, or beside its debug file (build ID %s), to see its name",
			build_id);
	else
		lode_buffer_text(buffer, "record again with its symbols, or with --debuginfod, to see its name");
}

void lode_unnamed_words(const struct lode_area *area, const struct lode_unnamed_function *unnamed,
			const char *package, struct lode_buffer *buffer)
{
	const struct lode_frames *frames = &area->dictionary.frames;

	if (unnamed->frame == LODE_NONE)
		return;
	lode_buffer_print(buffer, "%s, in %s, ", lode_frames_function(frames, unnamed->frame),
			  lode_frames_module_name(frames, unnamed->frame));
	if (unnamed->after != LODE_NONE)
		lode_buffer_print(buffer, "after %s, ", lode_frames_function(frames, unnamed->after));
	lode_buffer_text(buffer, "has no name: ");
	switch (unnamed->runtime) {
	case LODE_UNNAMED_NATIVE:
		put_native(area, unnamed, package, buffer);
		break;
	case LODE_UNNAMED_JAVA:
		lode_buffer_text(buffer,
				 "run 'jcmd PID Compiler.perfmap' (JDK 17 or later) before the recording "
				 "ends, or start java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit");
		break;
	case LODE_UNNAMED_NODE:
		lode_buffer_text(buffer, "start node with --perf-basic-prof --interpreted-frames-native-stack");
		break;
	case LODE_UNNAMED_JIT:
		lode_buffer_text(buffer, "make its runtime write a perf map, /tmp/perf-PID.map, and record again");
		break;
	}
}
