/* Tables that xctrace exports: values by id and reference, stacks, states; the XML reader beneath. */
#include "import_fixture.h"

#include "base/xml_read.h"

extern const struct lode_importer lode_importer_instruments;

#define TABLE(rows)                                                                                               \
	"<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]'><schema "                    \
	"name=\"time-profile\"><col>"                                                                             \
	"<mnemonic>time</mnemonic></col></schema>\n" rows "</node></trace-query-result>\n"

#define FIRST                                                                                                     \
	"<row><sample-time id=\"1\" fmt=\"00:00.300.613\">300613208</sample-time><thread id=\"2\" fmt=\"Main "    \
	"Thread 0x12aa "                                                                                          \
	"(app, pid: 581)\"><tid id=\"3\" fmt=\"0x12aa\">4778</tid><process id=\"4\" fmt=\"app (581)\"><pid "      \
	"id=\"5\">581</pid>"                                                                                      \
	"</process></thread><process ref=\"4\"/><core id=\"6\" fmt=\"CPU 0 (E Core)\">0</core><thread-state "     \
	"id=\"7\">Running"                                                                                        \
	"</thread-state><weight id=\"8\" fmt=\"1.00 ms\">1000000</weight><backtrace id=\"9\"><frame id=\"10\" "   \
	"name=\"std::vector&lt;int&gt;::size() const\" addr=\"0x1a5\"><binary id=\"11\" name=\"libc++.1.dylib\" " \
	"load-addr=\"0x100\" path=\"/usr/lib/libc++.1.dylib\"/></frame><frame id=\"12\" name=\"0x230\" "          \
	"addr=\"0x230\">"                                                                                         \
	"<binary id=\"13\" name=\"app\" load-addr=\"0x200\" "                                                     \
	"path=\"/Applications/app\"/></frame></backtrace></row>\n"

static void rows_are_samples_by_id_and_reference(void **state)
{
	(void)state;
	assert_chosen(&lode_importer_instruments, TABLE(FIRST));
	assert_import(
		&lode_importer_instruments,
		TABLE(FIRST
		      "<row><sample-time id=\"14\">301613208</sample-time><thread ref=\"2\"/><process ref=\"4\"/>"
		      "<core id=\"15\">3</core><thread-state ref=\"7\"/><weight ref=\"8\"/><tagged-backtrace "
		      "id=\"16\">"
		      "<backtrace id=\"17\"><frame ref=\"10\"/><frame id=\"18\" name=\"main\" "
		      "addr=\"0x240\"><binary ref=\"13\"/>"
		      "<source line=\"39\"><path "
		      "id=\"19\">/src/main.c</path></source></frame></backtrace></tagged-backtrace></row>\n"
		      "<row><sample-time id=\"20\">302613208</sample-time><thread ref=\"2\"/><thread-state "
		      "id=\"21\">Blocked"
		      "</thread-state><weight ref=\"8\"/><backtrace ref=\"9\"/></row>\n"
		      "<row><sample-time id=\"22\">303613208</sample-time><thread ref=\"2\"/><weight "
		      "ref=\"8\"/><sentinel/></row>\n"
		      "<row><sample-time id=\"23\">304613208</sample-time><thread ref=\"2\"/><weight ref=\"8\"/>"
		      "<tagged-backtrace ref=\"16\"/></row>\n"),
		NULL,
		"stream x \nthread 581/4778 Main Thread\n"
		"module libc++.1.dylib user /usr/lib/libc++.1.dylib \nmodule app user /Applications/app \n"
		"run 300613208+1000000 581/4778 cpu=0 app!0x30|libc++.1.dylib!std::vector<int>::size() const\n"
		"run 301613208+1000000 581/4778 cpu=3 app!main|libc++.1.dylib!std::vector<int>::size() const\n"
		"run 303613208+1000000 581/4778 \n"
		"run 304613208+1000000 581/4778 app!main|libc++.1.dylib!std::vector<int>::size() const\n"
		"wait 302613208+1000000 581/4778 app!0x30|libc++.1.dylib!std::vector<int>::size() const\n");
}

static void ids_are_those_of_one_node(void **state)
{
	(void)state;
	assert_note(&lode_importer_instruments,
		    TABLE(FIRST "</node><node><row><sample-time>5</sample-time><thread ref=\"2\"/></row>"),
		    "references to ids", 1);
	assert_note(&lode_importer_instruments,
		    TABLE(FIRST "</node><node><row><sample-time>5</sample-time><thread ref=\"2\"/></row>"),
		    "rows without", 1);
}

static void what_is_inside_of_a_reference_changes_nothing(void **state)
{
	(void)state;
	assert_import(
		&lode_importer_instruments,
		TABLE("<row><sample-time>5</sample-time><thread id=\"2\"><tid>7</tid></thread><weight "
		      "id=\"3\">9</weight><backtrace>"
		      "<frame id=\"4\" name=\"f\"/></backtrace></row><row><sample-time>6</sample-time><thread "
		      "ref=\"2\"/><weight ref=\"3\">8"
		      "</weight><backtrace><frame ref=\"4\"><binary name=\"a\"/></frame></backtrace></row>"),
		NULL, "stream x \nrun 5+9 7 f\nrun 6+9 7 f\n");
}

static void cycles_are_no_time(void **state)
{
	const char *text = TABLE("<row><sample-time>5</sample-time><thread "
				 "id=\"2\"><tid>7</tid></thread><cycle-weight>900</cycle-weight></row>");

	(void)state;
	assert_note(&lode_importer_instruments, text, "cycles", 1);
	assert_import(&lode_importer_instruments, text, NULL,
		      "stream x \nattribute cost_unit=cycles 0\nrun 5+900 7 \n");
}

static void what_tables_may_not_be(void **state)
{
	struct lode_buffer deep = { 0 };

	(void)state;
	assert_bad(&lode_importer_instruments, TABLE(""), "time-profile has no samples");
	assert_bad(&lode_importer_instruments, "<trace-query-result><node><row", "a tag without an end");
	assert_bad(&lode_importer_instruments, "<trace-query-result><node><row>",
		   "the end of an element is missing");
	lode_buffer_text(&deep, "<trace-query-result>");
	for (int i = 0; i < 100000; i++)
		lode_buffer_text(&deep, "<frame>");
	lode_buffer_byte(&deep, '\0');
	assert_bad(&lode_importer_instruments, deep.bytes, "nest deeper than 256");
	lode_buffer_release(&deep);
}

static void damage_and_want_of_memory_are_survived(void **state)
{
	const char *text = TABLE(
		FIRST "<row><sample-time id=\"20\">302613208</sample-time><thread ref=\"2\"/><weight ref=\"8\"/>"
		      "<backtrace ref=\"9\"/></row>\n");

	(void)state;
	try_damaged(&lode_importer_instruments, text, strlen(text), 3000);
	try_without_memory(&lode_importer_instruments, text, strlen(text));
}

/* ---- the XML reader ---- */

static void assert_tokens(const char *text, const char *expected)
{
	struct lode_xml xml = lode_xml(text, strlen(text));
	struct lode_buffer reported = { 0 };
	enum lode_xml_token token;

	while ((token = lode_xml_next(&xml)) != LODE_XML_END && token != LODE_XML_BROKEN) {
		lode_buffer_byte(&reported, "x<>w"[token]);
		if (token == LODE_XML_OPEN)
			lode_buffer_add(&reported, xml.name.at, xml.name.length);
		if (token == LODE_XML_WORDS)
			lode_xml_append(&reported, xml.words);
		if (token == LODE_XML_OPEN && lode_xml_attribute(&xml, "a").at) {
			lode_buffer_byte(&reported, '=');
			lode_xml_append(&reported, lode_xml_attribute(&xml, "a"));
		}
		lode_buffer_byte(&reported, ' ');
	}
	if (token == LODE_XML_BROKEN)
		lode_buffer_text(&reported, "broken");
	lode_buffer_byte(&reported, '\0');
	assert_string_equal(reported.bytes, expected);
	lode_buffer_release(&reported);
}

static void tokens_of_xml(void **state)
{
	(void)state;
	assert_tokens("<?xml version='1'?><!DOCTYPE r [<!ENTITY e 'boom'>]><r><!-- <no> --><e b=\"a='1'\" a = "
		      "'&lt;2&gt;'/> t &amp;&#65;&#x20ac;&e;"
		      "</r>",
		      "<r <e=<2> > w t &A\xe2\x82\xac&e; > ");
	assert_tokens("<a>x > y<![CDATA[<&lt;]]></a>", "<a wx > y w<< > ");
	assert_tokens("<a a='>'></a >", "<a=> > ");
	assert_tokens("", "");
	assert_tokens("</a>", "broken");
	assert_tokens("<a", "broken");
	assert_tokens("<a b='>", "broken");
	assert_tokens("<!-- ", "broken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_samples_by_id_and_reference),
		cmocka_unit_test(ids_are_those_of_one_node),
		cmocka_unit_test(what_is_inside_of_a_reference_changes_nothing),
		cmocka_unit_test(cycles_are_no_time),
		cmocka_unit_test(what_tables_may_not_be),
		cmocka_unit_test(damage_and_want_of_memory_are_survived),
		cmocka_unit_test(tokens_of_xml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
