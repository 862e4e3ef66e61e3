/* wprof's JSON: switches, wakings, samples, requests. */
#include "import_fixture.h"

extern const struct lode_importer lode_importer_wprof;

#define HEADER                                                                                                    \
	"{\"version\":\"3.1\",\"dur\":1.0,\"timer_freq_hz\":1000,\"stacks\":[\"timer\",\"offcpu\"],\"stack_"      \
	"cnt\":3,\"pmus\":[]}\n"
#define STACKS                                                                                                    \
	"{\"id\":1,\"frames\":[\"[U] main+0x1a\",\"[U] work (inlined)\",\"[K] schedule+0x8e\"]}\n"                \
	"{\"id\":2,\"frames\":[\"[Py] run\",\"[U] operator+\",\"[U] "                                             \
	"<unknown>\"],\"srcs\":[\"a.py:3\",\"\",\"\"]}\n"                                                         \
	"{\"id\":7,\"frames\":[]}\n"
#define A    "{\"tid\":11,\"pid\":10,\"comm\":\"app\"}"
#define B    "{\"tid\":12,\"pid\":10,\"comm\":\"helper\"}"
#define IDLE "{\"pid\":0,\"comm\":\"swapper/3\"}"

static const char whole[] = HEADER STACKS
	"{\"ts\":0.000000100,\"t\":\"switch\",\"cpu\":3,\"prev\":" IDLE ",\"next\":" A
	",\"prev_state\":\"runnable\"}\n"
	"{\"ts\":0.000001000,\"t\":\"timer\",\"cpu\":3,\"task\":" A ",\"stack_id\":2}\n"
	"{\"ts\":0.000002000,\"t\":\"switch\",\"cpu\":3,\"prev\":" A ",\"next\":" IDLE
	",\"prev_state\":\"interruptible_sleep\"}\n"
	"{\"ts\":0.000005000,\"t\":\"waking\",\"cpu\":1,\"waker\":" B ",\"wakee\":" A ",\"waker_stack_id\":2}\n"
	"{\"ts\":0.000005500,\"t\":\"switch\",\"cpu\":3,\"prev\":" IDLE ",\"next\":" A
	",\"prev_state\":\"runnable\","
	"\"waking_ts\":0.000005000,\"waker\":" B ",\"offcpu_dur\":0.0000035,\"offcpu_stack_id\":1}\n"
	"{\"ts\":0.000006000,\"t\":\"switch\",\"cpu\":3,\"prev\":" A ",\"next\":" B
	",\"prev_state\":\"preempted\"}\n"
	"{\"ts\":0.000007000,\"t\":\"switch\",\"cpu\":3,\"prev\":" B ",\"next\":" A
	",\"prev_state\":\"task_dead\"}\n"
	"{\"ts\":0.000008000,\"t\":\"req_event\",\"cpu\":3,\"task\":" A
	",\"event\":\"end\",\"req_id\":4,\"req_name\":\"GET /\","
	"\"latency\":0.000006000}\n"
	"{\"ts\":0.000009000,\"t\":\"hardirq\",\"cpu\":3,\"task\":" A ",\"dur\":0.1}\n"
	"{\"ts\":0.000009000,\"t\":\"pmu_event\",\"cpu\":3,\"task\":" A
	",\"pmu\":\"cpu-clock\",\"sample_period\":50,\"stack_id\":9}\n"
	"{\"ts\":0.000009000,\"t\":\"pmu_event\",\"cpu\":3,\"task\":" A
	",\"pmu\":\"cpu-cycles\",\"sample_period\":50}\n";

#define EVENTS                                                                                                    \
	"stream x \nthread 10/11 app\nthread 10/12 helper\n"                                                      \
	"run 1000+1000000 10/11 cpu=3 run|operator+|<unknown>\nrun 9000+50 10/11 cpu=3 \n"                        \
	"wait 2000+3000 10/11 delay=500 cpu=3 waker=10/12 main|work|kernel!schedule < run|operator+|<unknown>\n"  \
	"call 6000+0 10/11 delay=1000 cpu=3 name=preempt \n"

static void switches_wakers_and_samples_are_read(void **state)
{
	const char *const markers[] = { "GET*", NULL };
	struct lode_import_options options = { .jobs = 1, .symptom_markers = markers };

	(void)state;
	assert_import(&lode_importer_wprof, whole, NULL, EVENTS);
	assert_import(&lode_importer_wprof, whole, &options, EVENTS "symptom 2000-8000 10/11 GET /\n");
	assert_note(&lode_importer_wprof, whole, "neither switches", 1);
	assert_note(&lode_importer_wprof, whole, "other than clocks", 1);
	assert_note(&lode_importer_wprof, whole, "requests, left out", 1);
	assert_note(&lode_importer_wprof, whole, "does not hold", 1);
}

/* Older versions have no wakings: who woke a thread is reported when it runs. */
static void the_waker_of_a_switch_is_enough(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_wprof,
		HEADER "{\"ts\":0.000001,\"t\":\"switch\",\"cpu\":0,\"prev\":" A ",\"next\":" IDLE
		       ",\"prev_state\":\"S\"}\n"
		       "{\"ts\":0.000009,\"t\":\"switch\",\"cpu\":0,\"prev\":" IDLE ",\"next\":" A
		       ",\"waking_ts\":0.000004,\"waker\":" B "}\n"
		       "{\"ts\":0.00001,\"t\":\"swi",
		NULL, "stream x \nthread 10/11 app\nthread 10/12 helper\nwait 1000+3000 10/11 delay=5000 cpu=0 waker=10/12 \n");
}

static void what_files_of_wprof_may_not_be(void **state)
{
	(void)state;
	assert_bad(&lode_importer_wprof, "{}\n", ":1: the first line is not a header");
	assert_bad(&lode_importer_wprof, HEADER, "no events");
	assert_bad(&lode_importer_wprof, HEADER "{\"x\":1}\n", ":2: neither an event");
	assert_bad(&lode_importer_wprof, HEADER STACKS "{\"t\":}\n", ":5: this is not JSON");
	assert_true(lode_importer_wprof.sniff((const unsigned char *)whole, strlen(whole), "x") > 95);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	(void)state;
	try_damaged(&lode_importer_wprof, whole, strlen(whole), 4000);
	try_without_memory(&lode_importer_wprof, whole, strlen(whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches_wakers_and_samples_are_read),
		cmocka_unit_test(the_waker_of_a_switch_is_enough),
		cmocka_unit_test(what_files_of_wprof_may_not_be),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
