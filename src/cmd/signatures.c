/*
 * lode signatures: the signatures of a corpus and where they match. A signature
 * that is fixed and matches streams that came in later is pointed out.
 */
#include "mine/signatures.h"

#include "base/json.h"
#include "base/units.h"
#include "cmd/area_options.h"
#include "cmd/progress.h"
#include "cmd/results.h"
#include "cmd/signals.h"

#include <string.h>

#define NAME_WIDTH 40

struct settings {
	const char *state;
	const char *output;
	uint64_t jobs;
	int json;
	int exit_code;
};

static const char *state_choice(size_t i)
{
	return i < LODE_SIGNATURE_STATES ? lode_signature_state_name((enum lode_signature_state)i) : NULL;
}

#define FIELD(field) offsetof(struct settings, field)

static const struct lode_option options[] = {
	LODE_CHOICE("state", 's', FIELD(state), "STATE", "only signatures in this state", state_choice),
	LODE_FLAG("exit-code", 0, FIELD(exit_code),
		  "exit with 1 when a fixed signature matches newer streams"),
	LODE_JOBS_OPTION(FIELD(jobs)),
	LODE_FLAG("json", 0, FIELD(json), "write JSON"),
	LODE_TEXT("output", 'o', FIELD(output), "FILE", "write to FILE instead of standard output"),
	LODE_NO_MORE_OPTIONS,
};

static int is_wanted(const struct settings *settings, const struct lode_signature *signature)
{
	return !settings->state || !strcmp(settings->state, lode_signature_state_name(signature->state));
}

/* It was fixed, and it is there again. */
static int is_back(const struct lode_signature *signature)
{
	return signature->state == LODE_SIGNATURE_FIXED && signature->newer;
}

static uint64_t cost_of(const struct lode_signature *signature)
{
	return lode_add_saturating(signature->cost[LODE_RUN], signature->cost[LODE_WAIT]);
}

static const char *kind_of(const struct lode_signature *signature)
{
	if (signature->kinds == 1u << LODE_RUN)
		return "run";
	return signature->kinds == 1u << LODE_WAIT ? "wait" : "any";
}

/* ---- text ---- */

static size_t name_width(const struct lode_signatures *signatures, const struct settings *settings)
{
	size_t width = strlen("name");

	for (size_t i = 0; i < signatures->count; i++)
		if (is_wanted(settings, &signatures->items[i]) &&
		    lode_text_width(signatures->items[i].name) > width)
			width = lode_text_width(signatures->items[i].name);
	return width < NAME_WIDTH ? width : NAME_WIDTH;
}

static void add_row(struct lode_buffer *buffer, const struct lode_terminal *out,
		    const struct lode_signature *signature, size_t width)
{
	char patterns[LODE_UNITS_TEXT], streams[LODE_UNITS_TEXT], cost[LODE_UNITS_TEXT];
	enum lode_style style = is_back(signature) ? LODE_RED
				: signature->state == LODE_SIGNATURE_OPEN ? LODE_PLAIN
									  : LODE_DIM;

	lode_text_column(buffer, signature->name, width);
	lode_buffer_print(buffer, "  %s%-7s%s  %-4s  %8s  %8s  %8s", lode_style(&out->look, style),
			  lode_signature_state_name(signature->state), lode_style(&out->look, LODE_PLAIN),
			  kind_of(signature), lode_count_text(signature->count, patterns),
			  lode_count_text(signature->streams, streams),
			  lode_duration_text(cost_of(signature), cost));
	if (*signature->bug) {
		lode_buffer_text(buffer, "  ");
		lode_text_safe(buffer, signature->bug);
	}
	lode_buffer_byte(buffer, '\n');
}

static void add_return(struct lode_buffer *buffer, const struct lode_signature *signature)
{
	char newer[LODE_UNITS_TEXT], streams[LODE_UNITS_TEXT];

	lode_buffer_text(buffer, "  \"");
	lode_text_safe(buffer, signature->name);
	lode_buffer_print(
		buffer, "\" is fixed since %.10s, but %s of the %s stream%s it matches came in after that\n",
		signature->since, lode_count_text(signature->newer, newer),
		lode_count_text(signature->streams, streams), signature->streams == 1 ? "" : "s");
}

static void add_returns(struct lode_buffer *buffer, const struct lode_terminal *out,
			const struct settings *settings, const struct lode_signatures *signatures)
{
	int any = 0;

	for (size_t i = 0; i < signatures->count; i++) {
		if (!is_wanted(settings, &signatures->items[i]) || !is_back(&signatures->items[i]))
			continue;
		if (!any++)
			lode_buffer_print(buffer, "\n%sregressions%s\n", lode_style(&out->look, LODE_BOLD),
					  lode_style(&out->look, LODE_PLAIN));
		add_return(buffer, &signatures->items[i]);
	}
}

static void add_text(struct lode_buffer *buffer, const struct lode_terminal *out,
		     const struct settings *settings, const struct lode_signatures *signatures)
{
	size_t width = name_width(signatures, settings), shown = 0;

	for (size_t i = 0; i < signatures->count; i++) {
		if (!is_wanted(settings, &signatures->items[i]))
			continue;
		if (!shown++) {
			lode_buffer_text(buffer, lode_style(&out->look, LODE_BOLD));
			lode_text_column(buffer, "name", width);
			lode_buffer_print(buffer, "  state    kind  patterns   streams      cost  bug%s\n",
					  lode_style(&out->look, LODE_PLAIN));
		}
		add_row(buffer, out, &signatures->items[i], width);
	}
	if (!shown)
		lode_buffer_print(buffer, "no %s%ssignatures\n", settings->state ? settings->state : "",
				  settings->state ? " " : "");
	add_returns(buffer, out, settings, signatures);
}

/* ---- JSON ---- */

static void write_patterns(struct lode_json *json, const struct lode_signatures *signatures,
			   const struct lode_signature *signature)
{
	lode_json_key(json, "patterns");
	lode_json_array(json);
	for (size_t i = signature->first; i < signature->first + signature->count; i++) {
		lode_json_array(json);
		for (uint32_t k = 0; k < signatures->patterns.items[i].length; k++)
			lode_frames_json(&signatures->frames, lode_pattern_frames(&signatures->patterns, i)[k], json);
		lode_json_array_end(json);
	}
	lode_json_array_end(json);
}

static void write_signature(struct lode_json *json, const struct lode_signatures *signatures,
			    const struct lode_signature *signature)
{
	lode_json_object(json);
	lode_json_key_text(json, "name", signature->name);
	lode_json_key_text(json, "state", lode_signature_state_name(signature->state));
	lode_json_key_text(json, "since", signature->since);
	lode_json_key(json, "bug");
	if (*signature->bug)
		lode_json_text(json, signature->bug);
	else
		lode_json_null(json);
	lode_json_key_text(json, "kind", kind_of(signature));
	lode_json_key_text(json, "made", signature->made);
	lode_json_key_u64(json, "streams", signature->streams);
	lode_json_key_u64(json, "newer_streams", signature->newer);
	lode_json_key_u64(json, "events", signature->events);
	lode_json_key_u64(json, "cost_ns", cost_of(signature));
	lode_json_key_u64(json, "run_ns", signature->cost[LODE_RUN]);
	lode_json_key_u64(json, "wait_ns", signature->cost[LODE_WAIT]);
	lode_json_key(json, "regression");
	lode_json_bool(json, is_back(signature));
	write_patterns(json, signatures, signature);
	lode_json_object_end(json);
}

static void add_json(struct lode_buffer *buffer, const struct settings *settings,
		     const struct lode_signatures *signatures)
{
	struct lode_json json;

	lode_json_init(&json, buffer);
	lode_json_object(&json);
	lode_json_key(&json, "signatures");
	lode_json_array(&json);
	for (size_t i = 0; i < signatures->count; i++)
		if (is_wanted(settings, &signatures->items[i]))
			write_signature(&json, signatures, &signatures->items[i]);
	lode_json_array_end(&json);
	lode_json_object_end(&json);
	lode_json_line(&json);
}

/* ---- all of it ---- */

static int show(const struct lode_call *call, const struct lode_signatures *signatures,
		struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_terminal out = call->out;
	struct lode_buffer buffer = { 0 };
	int code, found = 0;

	if (settings->output)
		out.look.colour = 0;
	if (settings->json)
		add_json(&buffer, settings, signatures);
	else
		add_text(&buffer, &out, settings, signatures);
	code = lode_results_write(call, settings->output, &buffer, error);
	lode_buffer_release(&buffer);
	for (size_t i = 0; i < signatures->count; i++)
		found |= is_wanted(settings, &signatures->items[i]) && is_back(&signatures->items[i]);
	return !code && found && settings->exit_code ? LODE_FOUND : code;
}

static int run(struct lode_call *call, struct lode_error *error)
{
	const struct settings *settings = call->settings;
	struct lode_signatures signatures = { 0 };
	struct lode_corpus *corpus;
	struct lode_bar bar;
	int code = lode_corpus_open(&corpus, call->operands[0], LODE_CORPUS_READ, error);

	if (code)
		return code;
	lode_bar_init(&bar, &call->err, call->quiet);
	code = lode_signatures_load(corpus, &signatures, error);
	lode_signals_hold();
	if (!code)
		code = lode_signatures_refresh(corpus, &signatures, (unsigned)settings->jobs, &bar.progress,
					       error);
	lode_bar_wipe(&bar);
	lode_signals_release();
	if (!code)
		code = show(call, &signatures, error);
	if (lode_signals_stop())
		code = LODE_STOPPED(lode_signals_stop());
	lode_signatures_release(&signatures);
	lode_corpus_close(corpus);
	return code;
}

const struct lode_command lode_command_signatures = {
	.name = "signatures",
	.summary = "list signatures and where they match",
	.usage = "[OPTIONS] CORPUS",
	.about = "Lists the signatures of CORPUS with their state, the number of streams they match and what "
		 "the\n"
		 "events cost that they match. Streams are matched when they are imported, or here.",
	.examples = "  lode signatures corpus\n"
		    "  lode signatures corpus --state open --json\n"
		    "  lode signatures corpus --state fixed --exit-code\n",
	.options = options,
	.settings_size = sizeof(struct settings),
	.least_operands = 1,
	.most_operands = 1,
	.operand = "CORPUS",
	.run = run,
};
