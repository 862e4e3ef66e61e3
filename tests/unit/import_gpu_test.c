/* GPUs in traces of PyTorch's profiler and of XLA: streams are threads, gaps and synchronisations waits with the right waker. */
#include "import_fixture.h"

#include "gpu/gpu_facts.h"

extern const struct lode_importer lode_importer_chrome;
extern const struct lode_importer lode_importer_nsight;

#define KINETO(events) "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":[" events "]}"
#define SLICE(category, name, tid, ts, dur, args)                                                                 \
	"{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts       \
	",\"dur\":" dur ",\"args\":{" args "}}"
#define CALL(name, tid, ts, dur, correlation)                                                                     \
	SLICE("cuda_runtime", name, tid, ts, dur, "\"correlation\":" correlation)
#define KERNEL(name, stream, ts, dur, correlation)                                                                \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":" stream ",\"ts\":" ts          \
	",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":" stream ",\"correlation\":" correlation "}}"
#define COPY(name, stream, ts, dur, correlation)                                                                  \
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"" name "\",\"pid\":0,\"tid\":" stream ",\"ts\":" ts      \
	",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":" stream ",\"correlation\":" correlation "}}"
#define HEAD   "stream x \nattribute command 1073741824=gpu0 0\n"
#define GPU    "1073741824/1073741824"
#define GPU_2  "1073741824/1073741825"
#define STREAM "thread " GPU " gpu0 stream 7\n"

/* The second launch comes late: its thread is the waker when the call returns; then the kernel takes a while to start. */
static void a_late_launch_is_the_waker_of_a_gap(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome,
		      KINETO(SLICE("cpu_op", "step", "2", "0", "100",
				   "") "," CALL("cudaLaunchKernel", "2", "10", "2",
						"1") "," CALL("cudaLaunchKernel", "2", "50", "4",
							      "2") "," KERNEL("a", "7", "15", "20",
									      "1") "," KERNEL("b", "7", "60", "10",
											      "2")),
		      NULL,
		      HEAD STREAM
		      "run 0+10000 1/2 step\nrun 10000+2000 1/2 step|cudaLaunchKernel\nrun 12000+38000 1/2 step\n"
		      "run 15000+20000 " GPU " step|cudaLaunchKernel|[gpu] a\n"
		      "run 50000+4000 1/2 step|cudaLaunchKernel\nrun 54000+46000 1/2 step\n"
		      "run 60000+10000 " GPU " step|cudaLaunchKernel|[gpu] b\n"
		      "wait 35000+19000 " GPU " delay=6000 waker=1/2 object=launch:gpu0 stream 7 "
		      "step|cudaLaunchKernel|[gpu] waits for a launch < step|cudaLaunchKernel\n"
		      "symptom 15000-70000 " GPU " run of a GPU\n");
}

/* Launched long before: the stream was ready, the device slow to begin. Overlapping ones are busy once. */
static void what_is_launched_in_time_is_ready(void **state)
{
	static const char text[] =
		KINETO(CALL("cudaGraphLaunch", "2", "0", "5",
			    "1") "," KERNEL("a", "7", "10", "10", "1") "," KERNEL("b", "7", "22", "8",
										  "1") "," KERNEL("c", "7", "28",
												  "4", "1"));

	(void)state;
	assert_import(&lode_importer_chrome, text, NULL,
		      HEAD STREAM "run 0+5000 1/2 cudaGraphLaunch\n"
				  "run 10000+10000 " GPU " cudaGraphLaunch|[gpu] a\nrun 22000+8000 " GPU
				  " cudaGraphLaunch|[gpu] b\nrun 30000+2000 " GPU " cudaGraphLaunch|[gpu] c\n"
				  "call 20000+0 " GPU " delay=2000 name=preempt cudaGraphLaunch|[gpu] b\n"
				  "symptom 10000-32000 " GPU " run of a GPU\n");
	assert_note(&lode_importer_chrome, text, "before the one before them in their stream had ended", 1);
}

/* A synchronisation is a wait until the last kernel ended that was launched before it; the rest of the call is run time. */
static void a_synchronisation_waits_for_the_stream(void **state)
{
	static const char text[] = KINETO(
		CALL("cudaLaunchKernel", "2", "0", "5",
		     "1") "," CALL("cudaStreamSynchronize", "2", "10", "40",
				   "2") "," KERNEL("a", "7", "6", "40", "1") "," CALL("cudaDeviceSynchronize", "2",
										      "60", "3", "3"));

	(void)state;
	assert_import(&lode_importer_chrome, text, NULL,
		      HEAD STREAM "run 0+5000 1/2 cudaLaunchKernel\nrun 6000+40000 " GPU
				  " cudaLaunchKernel|[gpu] a\nrun 46000+4000 1/2 cudaStreamSynchronize\n"
				  "run 60000+3000 1/2 cudaDeviceSynchronize\n"
				  "wait 10000+36000 1/2 waker=" GPU
				  " object=gpu:0/stream7 cudaStreamSynchronize < "
				  "cudaLaunchKernel|[gpu] a\n"
				  "symptom 6000-46000 " GPU " run of a GPU\n");
	assert_note(&lode_importer_chrome, text, "waited for a GPU", 1);
}

/* A copy from pageable memory blocks its caller, one from pinned memory does not. */
static void a_blocking_copy_is_a_wait(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_chrome,
		KINETO(CALL("cudaMemcpyAsync", "2", "0", "30",
			    "1") "," COPY("Memcpy DtoH (Device -> Pageable)", "7", "12", "10",
					  "1") "," CALL("cudaMemcpyAsync", "2", "40", "30",
							"2") "," COPY("Memcpy HtoD (Pinned -> Device)", "7", "50",
								      "10", "2")),
		NULL,
		HEAD STREAM
		"run 12000+10000 " GPU
		" cudaMemcpyAsync|[gpu] Memcpy DtoH (Device -> Pageable)\nrun 22000+8000 1/2 cudaMemcpyAsync\n"
		"run 40000+30000 1/2 cudaMemcpyAsync\n"
		"run 50000+10000 " GPU " cudaMemcpyAsync|[gpu] Memcpy HtoD (Pinned -> Device)\n"
		"wait 0+22000 1/2 waker=" GPU " object=gpu:0/stream7 cudaMemcpyAsync < "
		"cudaMemcpyAsync|[gpu] Memcpy DtoH (Device -> Pageable)\n"
		"wait 22000+28000 " GPU " waker=1/2 object=launch:gpu0 stream 7 after cudaMemcpyAsync "
		"cudaMemcpyAsync|[gpu] waits for a launch < cudaMemcpyAsync\n"
		"symptom 12000-60000 " GPU " run of a GPU\n");
}

#define ITEM "<built-in method item of Tensor object>"

/* A thread that waits until all is done, and launches then: the gap says in which function it had waited. */
static void a_stream_that_its_launcher_let_run_dry_says_where(void **state)
{
	(void)state;
	assert_import(&lode_importer_chrome,
		      KINETO(SLICE("python_function", "train.py(3): step", "2", "0", "100", "") "," SLICE(
			      "python_function", "<built-in method item of Tensor object at 0x7f00>", "2", "8", "45",
			      "") "," CALL("cudaLaunchKernel", "2", "2", "2",
					   "1") "," CALL("cudaStreamSynchronize", "2", "10", "40",
							 "2") "," CALL("cudaLaunchKernel", "2", "60", "2",
								       "3") "," KERNEL("a", "7", "5", "40",
										       "1") "," KERNEL("b", "7",
												       "65", "5",
												       "3")),
		      NULL,
		      HEAD STREAM
		      "run 0+2000 1/2 train.py!step\nrun 2000+2000 1/2 train.py!step|cudaLaunchKernel\n"
		      "run 4000+4000 1/2 train.py!step\n"
		      "run 5000+40000 " GPU " train.py!step|cudaLaunchKernel|[gpu] a\n"
		      "run 8000+2000 1/2 train.py!step|" ITEM "\n"
		      "run 45000+5000 1/2 train.py!step|" ITEM "|cudaStreamSynchronize\n"
		      "run 50000+3000 1/2 train.py!step|" ITEM "\nrun 53000+7000 1/2 train.py!step\n"
		      "run 60000+2000 1/2 train.py!step|cudaLaunchKernel\nrun 62000+38000 1/2 train.py!step\n"
		      "run 65000+5000 " GPU " train.py!step|cudaLaunchKernel|[gpu] b\n"
		      "wait 10000+35000 1/2 waker=" GPU " object=gpu:0/stream7 train.py!step|" ITEM
		      "|cudaStreamSynchronize < train.py!step|cudaLaunchKernel|[gpu] a\n"
		      "wait 45000+17000 " GPU " delay=3000 waker=1/2 object=launch:gpu0 stream 7 after " ITEM
		      " train.py!step|" ITEM "|cudaStreamSynchronize|[gpu] waits for a launch < "
		      "train.py!step|cudaLaunchKernel\n"
		      "symptom 5000-70000 " GPU " run of a GPU\n");
}

/* Two kernels of stream 9; the second was told to wait for stream 7, with and without a record of which event it was. */
#define TWO_STREAMS                                                                                                \
	CALL("cudaLaunchKernel", "2", "0", "1", "1")                                                               \
	"," CALL("cudaLaunchKernel", "2", "2", "1", "2") "," CALL("cudaEventRecord", "2", "4", "1", "3") "," CALL( \
		"cudaStreamWaitEvent", "2", "6", "1",                                                              \
		"4") "," CALL("cudaLaunchKernel", "2", "8", "1",                                                   \
			      "5") "," KERNEL("a", "7", "5", "45",                                                 \
					      "1") "," KERNEL("b", "9", "5", "5", "2") "," KERNEL("c", "9", "53",  \
												  "7", "5")

static const char awaited[] = "wait 10000+40000 " GPU_2 " delay=3000 waker=" GPU
			      " object=gpu:0/stream7 cudaLaunchKernel|[gpu] waits for an event < "
			      "cudaLaunchKernel|[gpu] a\n";

static void assert_has(const char *text, const char *part)
{
	struct imported imported;

	import_bytes(&imported, &lode_importer_chrome, text, strlen(text), NULL);
	if (imported.code < 0 || !strstr(imported.text.bytes, part))
		fail_msg("%s\nhas not\n%s", imported.text.bytes, part);
	release_imported(&imported);
}

static void an_awaited_stream_is_the_waker(void **state)
{
	(void)state;
	assert_has(KINETO(TWO_STREAMS), awaited);
	assert_has(
		KINETO(TWO_STREAMS
		       ",{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait Event\",\"pid\":0,\"tid\":9,"
		       "\"ts\":6,\"dur\":1,\"args\":{\"stream\":9,\"correlation\":4,\"device\":0,"
		       "\"wait_on_stream\":7,\"wait_on_cuda_event_record_corr_id\":3}}"),
		awaited);
	/* Which stream a call waits for decides, not which was done last. */
	assert_has(KINETO(TWO_STREAMS
			  "," CALL("cudaStreamSynchronize", "2", "20", "35",
				   "6") ",{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Sync\",\"pid\":0,"
					"\"tid\":7,\"ts\":20,\"dur\":35,\"args\":{\"stream\":7,\"correlation\":6,"
					"\"device\":0}}"),
		   "wait 20000+30000 1/2 waker=" GPU " object=gpu:0/stream7");
}

/* Functions of Python in which threads block, and the thread that runs a backward pass. */
static void functions_of_python_that_block_are_waits(void **state)
{
	(void)state;
	assert_has(KINETO(SLICE("python_function", "torch/utils/data.py(12): get", "2", "0", "50",
				"") "," SLICE("python_function",
					      "<built-in method acquire of _thread.lock object at 0x7f00>", "2",
					      "10", "30", "")),
		   "run 0+10000 1/2 data.py!get\nrun 40000+10000 1/2 data.py!get\n"
		   "wait 10000+30000 1/2 object=condition: data.py!get|<built-in method acquire of _thread.lock "
		   "object>\n");
	assert_has(KINETO(SLICE("python_function",
				"<built-in method run_backward of torch._C._EngineBase object at 0x1>", "2", "0",
				"50", "") "," SLICE("cpu_op", "aten::mm", "3", "5", "40",
						    "") "," CALL("cudaLaunchKernel", "3", "20", "5",
								 "1") "," KERNEL("a", "7", "22", "5", "1")),
		   "wait 0+50000 1/2 waker=1/3 object=condition:backward pass");
}

/* XLA: devices are processes, streams threads of theirs, and what else these have repeats the same time. */
static void streams_of_xla_are_threads_by_name(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_chrome,
		"{\"traceEvents\":["
		"{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":14,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream "
		"#7(Compute)\"}},"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":15,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},"
		"{\"ph\":\"X\",\"pid\":701,\"tid\":5,\"name\":\"cuLaunchKernel\",\"ts\":1,\"dur\":2,\"args\":{"
		"\"correlation_id\":\"9\"}},"
		"{\"ph\":\"X\",\"pid\":701,\"tid\":5,\"name\":\"cuStreamSynchronize\",\"ts\":5,\"dur\":20,"
		"\"args\":{}},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":15,\"name\":\"fusion\",\"ts\":4,\"dur\":10,\"args\":{}},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":14,\"name\":\"fusion\",\"ts\":4,\"dur\":10,\"args\":{"
		"\"correlation_id\":9}}]}",
		NULL,
		HEAD STREAM "run 1000+2000 701/5 cuLaunchKernel\nrun 4000+10000 " GPU
			    " cuLaunchKernel|[gpu] fusion\nrun 14000+11000 701/5 cuStreamSynchronize\n"
			    "wait 5000+9000 701/5 waker=" GPU " object=gpu:0/stream7 cuStreamSynchronize < "
			    "cuLaunchKernel|[gpu] fusion\n"
			    "symptom 4000-14000 " GPU " run of a GPU\n");
}

static void calls_are_known_by_their_names(void **state)
{
	static const struct {
		const char *name;
		enum lode_gpu_call_kind kind;
	} known[] = {
		{ "cudaLaunchKernel_v7000", LODE_GPU_LAUNCH },
		{ "cuLaunchKernelEx", LODE_GPU_LAUNCH },
		{ "cuGraphLaunch", LODE_GPU_LAUNCH },
		{ "hipModuleLaunchKernel", LODE_GPU_LAUNCH },
		{ "cudaMemcpy2D", LODE_GPU_COPY },
		{ "cuMemcpyDtoHAsync_v2", LODE_GPU_COPY_ASYNC },
		{ "cudaStreamSynchronize_ptsz", LODE_GPU_SYNC_STREAM },
		{ "cuCtxSynchronize", LODE_GPU_SYNC_DEVICE },
		{ "hipEventSynchronize", LODE_GPU_SYNC_EVENT },
		{ "cudaStreamWaitEvent", LODE_GPU_WAIT_EVENT },
		{ "cudaEventRecordWithFlags", LODE_GPU_RECORD_EVENT },
		{ "cudaFree", LODE_GPU_SYNC_DEVICE },
		{ "cudaFreeAsync", LODE_GPU_OTHER_CALL },
		{ "cudaGetDevice", LODE_GPU_OTHER_CALL },
		{ "StreamSynchronize", LODE_GPU_OTHER_CALL },
		{ "", LODE_GPU_OTHER_CALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_int_equal(lode_gpu_call_kind_of(known[i].name, strlen(known[i].name)), known[i].kind);
}

/* A file may name as many streams as it likes. */
static void streams_are_limited(void **state)
{
	struct lode_buffer text = { 0 };

	(void)state;
	lode_buffer_text(&text, "{\"schemaVersion\":1,\"deviceProperties\":[],\"traceEvents\":[");
	for (int i = 0; i < 1010; i++)
		lode_buffer_print(&text,
				  "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":1,\"ts\":1,"
				  "\"dur\":1,\"args\":{\"device\":0,\"stream\":%d,\"correlation\":1}}",
				  i ? "," : "", i);
	lode_buffer_text(&text, "]}");
	lode_buffer_byte(&text, '\0');
	assert_note(&lode_importer_chrome, text.bytes, "more than a thousand streams", 10);
	lode_buffer_release(&text);
}

/* Databases of other programs, and what only begins like one. */
static void other_databases_are_refused(void **state)
{
	char text[64] = "SQLite format 3";

	(void)state;
	assert_int_equal(lode_importer_nsight.sniff((const unsigned char *)text, sizeof(text), "x"), 60);
	assert_int_equal(lode_importer_nsight.sniff((const unsigned char *)"SQLite 2", 8, "x"), 0);
	assert_bad(&lode_importer_nsight, "SQLite format 3 and no more", "nsys export --type sqlite");
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	static const char text[] = KINETO(
		TWO_STREAMS
		"," CALL("cudaStreamSynchronize", "2", "20", "35",
			 "6") "," SLICE("python_function", "<built-in function sleep>", "2", "60", "5", ""));

	(void)state;
	try_damaged(&lode_importer_chrome, text, strlen(text), 2000);
	try_without_memory(&lode_importer_chrome, text, strlen(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_launch_is_the_waker_of_a_gap),
		cmocka_unit_test(what_is_launched_in_time_is_ready),
		cmocka_unit_test(a_synchronisation_waits_for_the_stream),
		cmocka_unit_test(a_blocking_copy_is_a_wait),
		cmocka_unit_test(a_stream_that_its_launcher_let_run_dry_says_where),
		cmocka_unit_test(an_awaited_stream_is_the_waker),
		cmocka_unit_test(functions_of_python_that_block_are_waits),
		cmocka_unit_test(streams_of_xla_are_threads_by_name),
		cmocka_unit_test(calls_are_known_by_their_names),
		cmocka_unit_test(streams_are_limited),
		cmocka_unit_test(other_databases_are_refused),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
