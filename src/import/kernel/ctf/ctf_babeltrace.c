/*
 * The module that reads CTF with libbabeltrace2: see ctf.h and ctf_module.h.
 *
 * A graph of the library's components: source.ctf.fs opens the folder and has a port for each stream of
 * events, filter.utils.muxer puts them in order of time, and a sink of our own takes the messages.
 */
#include "import/kernel/ctf/ctf_module.h"

#include "base/memory.h"
#include "import/kernel/ctf/ctf_field_names.h"
#include "trace/events.h"

#include <babeltrace2/babeltrace.h>
#include <string.h>

#define STACK_LIMIT 1024 /* addresses of a stack that are kept */

struct reading {
	const struct lode_ctf_taker *taker;
	struct lode_error *error;
	struct lode_ctf_event event;
	uint64_t stacks[2][STACK_LIMIT];
	char texts[LODE_CTF_FIELDS + 1][64]; /* of fields that are arrays of characters */
	int code;
	int has_environment; /* it was handed over */
};

/* ---- fields ---- */

static int number_of(const bt_field *field, uint64_t *number)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*number = bt_field_integer_unsigned_get_value(field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*number = (uint64_t)bt_field_integer_signed_get_value(field);
	else
		return 0;
	return 1;
}

/* A text, or a list of numbers that are characters. */
static const char *text_of(const bt_field *field, char *room, size_t size)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	uint64_t count, number;

	if (type == BT_FIELD_CLASS_TYPE_STRING)
		return bt_field_string_get_value(field);
	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return NULL;
	count = bt_field_array_get_length(field);
	if (count >= size)
		count = size - 1;
	for (uint64_t i = 0; i < count; i++) {
		if (!number_of(bt_field_array_borrow_element_field_by_index_const(field, i), &number))
			return NULL;
		room[i] = (char)number;
	}
	room[count] = '\0';
	return room;
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	if (!structure || bt_field_get_class_type(structure) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return bt_field_structure_borrow_member_field_by_name_const(structure, name);
}

static void read_payload(struct reading *reading, const bt_field *payload)
{
	struct lode_ctf_event *event = &reading->event;

	for (int i = 0; i < LODE_CTF_FIELDS; i++) {
		const bt_field *field = member(payload, lode_ctf_field_names[i]);

		event->has[i] = field && number_of(field, &event->number[i]);
		event->text[i] = field && !event->has[i]
					 ? text_of(field, reading->texts[i], sizeof(reading->texts[i]))
					 : NULL;
	}
}

/* Copies a list of addresses; returns how many. */
static size_t read_stack(const bt_field *field, uint64_t *to)
{
	uint64_t count;
	size_t kept = 0;

	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_ARRAY))
		return 0;
	count = bt_field_array_get_length(field);
	for (uint64_t i = 0; i < count && kept < STACK_LIMIT; i++)
		if (number_of(bt_field_array_borrow_element_field_by_index_const(field, i), &to[kept]))
			kept++;
	return kept;
}

static const bt_field *first_member(const bt_field *const *structures, const char *name)
{
	const bt_field *field = member(structures[0], name);

	return field ? field : member(structures[1], name);
}

static uint32_t context_number(const bt_field *const *contexts, const char *name, const char *other)
{
	const bt_field *field = first_member(contexts, name);
	uint64_t number;

	if (!field)
		field = first_member(contexts, other);
	return field && number_of(field, &number) ? (uint32_t)number : UINT32_MAX;
}

static void read_context(struct reading *reading, const bt_event *from)
{
	const bt_field *const contexts[] = { bt_event_borrow_common_context_field_const(from),
					     bt_event_borrow_specific_context_field_const(from) };
	const bt_field *name = first_member(contexts, "procname");
	struct lode_ctf_event *event = &reading->event;

	event->context_tid = context_number(contexts, "tid", "vtid");
	event->context_pid = context_number(contexts, "pid", "vpid");
	event->context_name = name ? text_of(name, reading->texts[LODE_CTF_FIELDS], sizeof(reading->texts[0]))
				   : NULL;
	event->kernel_stack = reading->stacks[0];
	event->user_stack = reading->stacks[1];
	event->kernel_depth = read_stack(first_member(contexts, "callstack_kernel"), reading->stacks[0]);
	event->user_depth = read_stack(first_member(contexts, "callstack_user"), reading->stacks[1]);
}

static void read_cpu(struct reading *reading, const bt_event *from)
{
	const bt_stream *stream = bt_event_borrow_stream_const(from);
	const bt_packet *packet = bt_stream_class_supports_packets(bt_stream_borrow_class_const(stream))
					  ? bt_event_borrow_packet_const(from)
					  : NULL;
	const bt_field *cpu = member(packet ? bt_packet_borrow_context_field_const(packet) : NULL, "cpu_id");
	uint64_t number;

	reading->event.cpu = cpu && number_of(cpu, &number) && number < LODE_NO_CPU ? (uint16_t)number
										    : LODE_NO_CPU;
}

/* ---- messages ---- */

static const char *environment_text(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static void handle_event(struct reading *reading, const bt_message *message)
{
	const bt_event *from = bt_message_event_borrow_event_const(message);
	const bt_stream *stream = bt_event_borrow_stream_const(from);
	int64_t t = 0;

	if (!reading->has_environment) {
		const bt_trace *trace = bt_stream_borrow_trace_const(stream);

		reading->has_environment = 1;
		reading->taker->environment(reading->taker->context, environment_text(trace, "hostname"),
					    environment_text(trace, "kernel_release"));
	}
	if (bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream)) &&
	    bt_clock_snapshot_get_ns_from_origin(bt_message_event_borrow_default_clock_snapshot_const(message),
						 &t) != BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		t = 0;
	reading->event.name = bt_event_class_get_name(bt_event_borrow_class_const(from));
	reading->event.name = reading->event.name ? reading->event.name : "";
	reading->event.t = t > 0 ? (uint64_t)t : 0;
	read_cpu(reading, from);
	read_context(reading, from);
	read_payload(reading, bt_event_borrow_payload_field_const(from));
	reading->code = reading->taker->event(reading->taker->context, &reading->event, reading->error);
}

static void handle_message(struct reading *reading, const bt_message *message)
{
	uint64_t count = 0;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		handle_event(reading, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		if (bt_message_discarded_events_get_count(message, &count) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
			reading->taker->discarded(reading->taker->context, count);
		break;
	default:
		break;
	}
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator, void *context)
{
	struct reading *reading = context;
	bt_message_array_const messages;
	uint64_t count;
	bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages, &count);

	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (bt_graph_simple_sink_component_consume_func_status)status;
	for (uint64_t i = 0; i < count; i++) {
		if (reading->code == 0)
			handle_message(reading, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	return reading->code == 0 ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
				  : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
}

/* ---- the graph ---- */

struct graph {
	bt_graph *graph;
	const bt_plugin *ctf;
	const bt_plugin *utils;
	bt_value *parameters;
	const bt_component_source *source;
	const bt_component_filter *muxer;
	const bt_component_sink *sink;
};

/* Finds the library's plugins. */
static int find_plugins(struct graph *graph)
{
	return bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &graph->ctf) ==
		       BT_PLUGIN_FIND_STATUS_OK &&
	       bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &graph->utils) ==
		       BT_PLUGIN_FIND_STATUS_OK;
}

static int add_components(struct graph *graph, const char *folder, struct reading *reading)
{
	const bt_component_class_source *source =
		bt_plugin_borrow_source_component_class_by_name_const(graph->ctf, "fs");
	const bt_component_class_filter *muxer =
		bt_plugin_borrow_filter_component_class_by_name_const(graph->utils, "muxer");
	bt_value *inputs;

	graph->parameters = bt_value_map_create();
	graph->graph = bt_graph_create(0);
	return source && muxer && graph->parameters && graph->graph &&
	       bt_value_map_insert_empty_array_entry(graph->parameters, "inputs", &inputs) ==
		       BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
	       bt_value_array_append_string_element(inputs, folder) == BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK &&
	       bt_graph_add_source_component(graph->graph, source, "source", graph->parameters,
					     BT_LOGGING_LEVEL_NONE,
					     &graph->source) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	       bt_graph_add_filter_component(graph->graph, muxer, "muxer", NULL, BT_LOGGING_LEVEL_NONE,
					     &graph->muxer) == BT_GRAPH_ADD_COMPONENT_STATUS_OK &&
	       bt_graph_add_simple_sink_component(graph->graph, "sink", NULL, consume, NULL, reading,
						  &graph->sink) == BT_GRAPH_ADD_COMPONENT_STATUS_OK;
}

/* The muxer has one free port at any time: the last one. */
static int connect(struct graph *graph)
{
	uint64_t count = bt_component_source_get_output_port_count(graph->source);

	for (uint64_t i = 0; i < count; i++)
		if (bt_graph_connect_ports(graph->graph,
					   bt_component_source_borrow_output_port_by_index_const(graph->source, i),
					   bt_component_filter_borrow_input_port_by_index_const(graph->muxer, i),
					   NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return 0;
	return count &&
	       bt_graph_connect_ports(graph->graph,
				      bt_component_filter_borrow_output_port_by_index_const(graph->muxer, 0),
				      bt_component_sink_borrow_input_port_by_index_const(graph->sink, 0),
				      NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
}

static void release(struct graph *graph)
{
	bt_graph_put_ref(graph->graph);
	bt_value_put_ref(graph->parameters);
	bt_plugin_put_ref(graph->ctf);
	bt_plugin_put_ref(graph->utils);
}

/* What the library says last of why it failed; the caller frees nothing. */
static int fail(const char *folder, const char *what, struct lode_error *error)
{
	const bt_error *trouble = bt_current_thread_take_error();
	uint64_t count = trouble ? bt_error_get_cause_count(trouble) : 0;
	const char *why = count ? bt_error_cause_get_message(bt_error_borrow_cause_by_index(trouble, 0))
				: "it gives no reason";

	lode_fail(error, LODE_BAD_INPUT, "%s: %s; libbabeltrace2 says: %.500s", folder, what, why);
	if (trouble)
		bt_error_release(trouble);
	return LODE_BAD_INPUT;
}

static int read_trace(const char *folder, const struct lode_ctf_taker *taker, struct lode_error *error)
{
	struct graph graph = { 0 };
	struct reading *reading = lode_calloc(1, sizeof(*reading));
	int code = 0;

	if (!reading)
		return lode_fail_memory(error);
	reading->taker = taker;
	reading->error = error;
	if (!find_plugins(&graph))
		code = fail(folder, "the plugins of libbabeltrace2 (ctf, utils) are missing; install them", error);
	else if (!add_components(&graph, folder, reading) || !connect(&graph))
		code = fail(folder, "is not a CTF trace, or is damaged", error);
	else if (bt_graph_run(graph.graph) != BT_GRAPH_RUN_STATUS_OK && reading->code == 0)
		code = fail(folder, "could not be read to its end", error);
	if (reading->code < 0)
		code = reading->code;
	release(&graph);
	lode_free(reading);
	return code;
}

extern const struct lode_ctf_module lode_ctf_module;
__attribute__((visibility("default"))) const struct lode_ctf_module lode_ctf_module = {
	.version = LODE_CTF_MODULE_VERSION,
	.event_size = sizeof(struct lode_ctf_event),
	.read = read_trace,
};
