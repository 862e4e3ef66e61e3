/* What Windows tools print of their traces: the text of xperf, the XML of PerfView. */
#include "import_fixture.h"

extern const struct lode_importer lode_importer_perfview;
extern const struct lode_importer lode_importer_xperf;

/* ---- xperf ---- */

#define HEADER                                                                                                    \
	"BeginHeader\r\n"                                                                                         \
	"  SampledProfile,  TimeStamp,  Process Name ( PID),   ThreadID,  PrgrmCtr, CPU, "                        \
	"ThreadStartImage!Function,  "                                                                            \
	"Image!Function, Count, SampledProfile type\r\n"                                                          \
	"  CSwitch,  TimeStamp, New Process Name ( PID),    New TID, NPri, Old Process Name ( PID),    Old TID, " \
	"OPri,"                                                                                                   \
	"  OldState,  Wait Reason, CPU, IdealProc\r\n"                                                            \
	"  ReadyThread,  TimeStamp,  Process Name ( PID),  ThreadID, Rdy Process Name ( PID),  Rdy TID, "         \
	"Reason\r\n"                                                                                              \
	"  Stack,  TimeStamp,   ThreadID, No.,  Address,  Image!Function\r\n"                                     \
	"  ProfileFreq-DCStart,  TimeStamp,  Process Name ( PID),  ThreadID, Source, New Interval, Old "          \
	"Interval\r\n"                                                                                            \
	"EndHeader\r\n"                                                                                           \
	"OS Version: 10.0.19043, Trace Size: 20736KB, Events Lost: 0\r\n"

#define LINES                                                                                                     \
	"  ProfileFreq-DCStart,  0,  system (   4),  0, Timer, 20000, 20000\r\n"                                  \
	"  SampledProfile,  36765,  app.exe (  70),  1668, 0x81c3617b,  1,  app.exe!main,  hal.dll!0x81c3617b,  " \
	"1, "                                                                                                     \
	"Unbatched\r\n"                                                                                           \
	"  SampledProfile,  36770,  Idle (   0),  0, 0x81c3617b,  0,  a!b,  hal.dll!0x1,  1, Unbatched\r\n"       \
	"  CSwitch,  40000,  other.exe (  80),  1700,  8,  app.exe (  70),  1668,  8,  Waiting,  UserRequest,  "  \
	"1,  1\r\n"                                                                                               \
	"  Stack,  36765,  1668,  1, 0x81c3617b,  hal.dll!0x81c3617b\r\n"                                         \
	"  Stack,  36765,  1668,  2, 0x81ceec6f,  app.exe!Map<int,0>::find\r\n"                                   \
	"  ReadyThread,  45000,  other.exe (  80),  1700,  app.exe (  70),  1668,  0\r\n"                         \
	"  CSwitch,  45500,  app.exe (  70),  1668,  8,  other.exe (  80),  1700,  8,  Ready,  WrQuantumEnd,  "   \
	"1,  1\r\n"                                                                                               \
	"  Stack,  45500,  1668,  1, 0x81c3617b,  ntoskrnl.exe!KeWaitForSingleObject\r\n"                         \
	"  Stack,  45500,  1668,  2, 0x81c3617b,  app.exe!lock\r\n"                                               \
	"  Stack,  45000,  1700,  1, 0x81c3617b,  other.exe!unlock\r\n"                                           \
	"  SampledProfile,  46000,  app.exe (  70),  1668, 0x81c3617b,  1,  app.exe!main,  app.exe!spin,  1, "    \
	"Unbatched\r\n"

static void text_of_xperf_is_samples_and_waits(void **state)
{
	(void)state;
	assert_chosen(&lode_importer_xperf, HEADER LINES);
	assert_import(&lode_importer_xperf, HEADER LINES, NULL,
		      "stream x \nthread 70/1668 app.exe\nthread 80/1700 other.exe\n"
		      "run 36765000+2000000 70/1668 cpu=1 app.exe!Map<int,0>::find|hal.dll!0x81c3617b\n"
		      "run 46000000+2000000 70/1668 cpu=1 app.exe!spin\n"
		      "wait 40000000+5000000 70/1668 delay=500000 cpu=1 waker=80/1700 "
		      "app.exe!lock|ntoskrnl.exe!KeWaitForSingleObject < "
		      "other.exe!unlock\n"
		      "call 45500000+0 80/1700 cpu=1 name=preempt \n");
}

static void what_text_of_xperf_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_xperf, "x\n", "has no header");
	assert_bad(&lode_importer_xperf, HEADER, "no CPU samples or context switches");
	assert_note(&lode_importer_xperf, HEADER LINES "  SampledProfile,  -1, app.exe ( 70), 5\n",
		    "without a time or a thread", 1);
	assert_note(&lode_importer_xperf, HEADER LINES, "idle processors", 1);
	assert_note(&lode_importer_xperf, HEADER LINES, "without a stack", 1);
}

/* Its last number may be half of what it was: no sample, or a wait that ends too early. */
static void a_last_line_that_is_cut_off_is_left_out(void **state)
{
	const char *cut = HEADER LINES "  SampledProfile,  47000,  app.exe (  70),  16";
	struct imported imported;

	(void)state;
	assert_note(&lode_importer_xperf, cut, "a last line that is cut off, left out", 1);
	assert_note(&lode_importer_xperf, HEADER LINES, "cut off", 0);
	import_bytes(&imported, &lode_importer_xperf, cut, strlen(cut), NULL);
	assert_int_equal(imported.code, 0);
	assert_null(strstr(imported.text.bytes, "47000"));
	release_imported(&imported);
}

/* ---- PerfView ---- */

#define FRAMES                                                                                                    \
	"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<StackWindow>\n <StackSource>\n  <Frames "                   \
	"Count=\"1000000000\">\n"                                                                                 \
	"<Frame ID=\"0\">Process64 Test.x64 (3676) Args:  </Frame><Frame ID=\"1\">Thread (3680) CPU=5128ms "      \
	"(Main)</Frame>"                                                                                          \
	"<Frame ID=\"2\">ntdll!RtlUserThreadStart</Frame><Frame ID=\"3\">c:\\work\\test!Program.Main(class "      \
	"List&lt;int&gt;)</Frame>"                                                                                \
	"<Frame ID=\"4\">BLOCKED_TIME</Frame><Frame ID=\"5\">CPU_TIME</Frame></Frames>\n"
#define STACKS                                                                                                    \
	"<Stacks Count=\"6\"><Stack ID=\"5\" CallerID=\"3\" FrameID=\"5\" /><Stack ID=\"0\" CallerID=\"-1\" "     \
	"FrameID=\"0\" />"                                                                                        \
	"<Stack ID=\"1\" CallerID=\"0\" FrameID=\"1\" /><Stack ID=\"2\" CallerID=\"1\" FrameID=\"2\" />"          \
	"<Stack ID=\"3\" CallerID=\"2\" FrameID=\"3\" /><Stack ID=\"4\" CallerID=\"3\" FrameID=\"4\" "            \
	"/></Stacks>\n"
#define SAMPLES(samples) "<Samples>" samples "</Samples></StackSource></StackWindow>\n"

static void stacks_of_perfview_are_runs_and_waits(void **state)
{
	const char *text =
		FRAMES STACKS SAMPLES("<Sample ID=\"0\" Time=\"12.345\" StackID=\"3\" />"
				      "<Sample ID=\"1\" Time=\"13.000\" StackID=\"5\" Metric=\"2.5\" />"
				      "<Sample ID=\"2\" Time=\"20.000\" StackID=\"4\" Metric=\"100\" />"
				      "<Sample ID=\"3\" Time=\"21.000\" StackID=\"4\" Metric=\"-1\" />");

	(void)state;
	assert_chosen(&lode_importer_perfview, text);
	assert_import(
		&lode_importer_perfview, text, NULL,
		"stream x \nthread 3676/3680 Test.x64\n"
		"run 12345000+1000000 3676/3680 ntdll!RtlUserThreadStart|test!Program.Main(class List<int>)\n"
		"run 13000000+2500000 3676/3680 ntdll!RtlUserThreadStart|test!Program.Main(class List<int>)\n"
		"wait 20000000+100000000 3676/3680 ntdll!RtlUserThreadStart|test!Program.Main(class List<int>)\n");
	assert_note(&lode_importer_perfview, text, "below 0", 1);
}

static void what_stacks_of_perfview_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_perfview, FRAMES STACKS SAMPLES(""), "has no samples");
	assert_bad(&lode_importer_perfview, FRAMES STACKS SAMPLES("<Sample Time=\"1\" StackID=\"77\"/>"),
		   "names the stack 77");
	assert_bad(&lode_importer_perfview,
		   FRAMES "<Stacks><Stack ID=\"0\" CallerID=\"1\" FrameID=\"2\"/><Stack ID=\"1\" CallerID=\"0\" "
			  "FrameID=\"2\"/></Stacks>" SAMPLES("<Sample Time=\"1\" StackID=\"0\"/>"),
		   "is its own caller");
	assert_bad(&lode_importer_perfview,
		   FRAMES "<Stacks><Stack ID=\"999999999\" CallerID=\"-1\" FrameID=\"2\"/></Stacks>" SAMPLES(""),
		   "beyond what a file of this size can hold");
}

/* A chain of 100,000 callers, each defined before its own. */
static void long_chains_of_callers_are_cut(void **state)
{
	struct lode_buffer text = { 0 };
	struct imported imported;

	(void)state;
	lode_buffer_text(&text, FRAMES "<Stacks>");
	for (int i = 0; i < 100000; i++)
		lode_buffer_print(&text, "<Stack ID=\"%d\" CallerID=\"%d\" FrameID=\"2\"/>", i,
				  i == 99999 ? -1 : i + 1);
	lode_buffer_text(&text, "</Stacks>" SAMPLES("<Sample Time=\"1\" StackID=\"0\"/>"));
	import_bytes(&imported, &lode_importer_perfview, text.bytes, text.size, NULL);
	assert_int_equal(imported.code, 0);
	assert_true(note_count(&imported, "deeper than 16384") > 0);
	release_imported(&imported);
	lode_buffer_release(&text);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	const char *xperf = HEADER LINES;
	const char *perfview = FRAMES STACKS SAMPLES(
		"<Sample ID=\"0\" Time=\"12.345\" StackID=\"3\" /><Sample Time=\"1\" StackID=\"4\"/>");

	(void)state;
	try_damaged(&lode_importer_xperf, xperf, strlen(xperf), 3000);
	try_without_memory(&lode_importer_xperf, xperf, strlen(xperf));
	try_damaged(&lode_importer_perfview, perfview, strlen(perfview), 3000);
	try_without_memory(&lode_importer_perfview, perfview, strlen(perfview));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_xperf_is_samples_and_waits),
		cmocka_unit_test(what_text_of_xperf_may_not_be),
		cmocka_unit_test(a_last_line_that_is_cut_off_is_left_out),
		cmocka_unit_test(stacks_of_perfview_are_runs_and_waits),
		cmocka_unit_test(what_stacks_of_perfview_may_not_be),
		cmocka_unit_test(long_chains_of_callers_are_cut),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
