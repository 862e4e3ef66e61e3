/* Labels of samples: see pprof_labels.h. */
#include "import/protobuf/pprof_labels.h"

#include "import/import_common.h"

#include "base/error.h"

#include <string.h>

enum meaning {
	OTHER,
	PID,
	TID,
	THREAD,
	END,
};

/* What profilers call threads. */
static enum meaning meaning_of(const struct lode_pprof_label *label)
{
	static const struct {
		const char *key;
		enum meaning meaning;
	} keys[] = {
		{ "pid", PID },
		{ "process_id", PID },
		{ "process id", PID },
		{ "process.pid", PID },
		{ "tid", TID },
		{ "thread_id", TID },
		{ "thread id", TID },
		{ "thread.id", TID },
		{ "os_thread_id", TID },
		{ "thread", THREAD },
		{ "thread_name", THREAD },
		{ "thread name", THREAD },
		{ "thread.name", THREAD },
		{ "end_timestamp_ns", END },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (lode_span_is(label->key, keys[i].key))
			return keys[i].meaning;
	return OTHER;
}

void lode_pprof_labels_release(struct lode_pprof_labels *labels)
{
	lode_free(labels->items);
	lode_free(labels->counts);
	lode_free(labels->varies);
	if (labels->has_names)
		lode_strings_release(&labels->names);
	memset(labels, 0, sizeof(*labels));
}

struct lode_pprof_who lode_pprof_nobody(void)
{
	return (struct lode_pprof_who){ .pid = LODE_NO_PID, .name = { "", 0 } };
}

/* ---- taking labels ---- */

/* The number that a label says, as a number or in digits; 1 when it does and a thread's number can be so. */
static int id_of(const struct lode_pprof_label *label, uint32_t *id)
{
	uint64_t number;

	if (!label->text.length) {
		*id = (uint32_t)label->number;
		return label->number >= 0 && label->number < UINT32_MAX;
	}
	if (label->text.length > 10 || !lode_span_number(label->text, UINT32_MAX - 1, &number))
		return 0;
	*id = (uint32_t)number;
	return 1;
}

/* Makes room for all keys that are watched, once. */
static int make_room(struct lode_pprof_labels *labels)
{
	if (labels->items)
		return 0;
	labels->items = lode_calloc(LODE_PPROF_LABEL_KEYS, sizeof(*labels->items));
	labels->counts = lode_calloc(LODE_PPROF_LABEL_KEYS, sizeof(*labels->counts));
	labels->varies = lode_calloc(LODE_PPROF_LABEL_KEYS, 1);
	return labels->items && labels->counts && labels->varies ? 0 : LODE_SYSTEM;
}

static int is_same(struct lode_span a, struct lode_span b)
{
	return a.length == b.length && (!a.length || memcmp(a.text, b.text, a.length) == 0);
}

static int add_other(struct lode_pprof_labels *labels, const struct lode_pprof_label *label)
{
	size_t i = 0;

	if (make_room(labels) < 0)
		return LODE_SYSTEM;
	while (i < labels->count && !is_same(labels->items[i].key, label->key))
		i++;
	if (i == LODE_PPROF_LABEL_KEYS) {
		labels->dropped++;
		return 0;
	}
	if (i == labels->count)
		labels->items[labels->count++] = *label;
	labels->counts[i]++;
	if (!is_same(labels->items[i].text, label->text) || labels->items[i].number != label->number)
		labels->varies[i] = 1;
	return 0;
}

int lode_pprof_labels_add(struct lode_pprof_labels *labels, const struct lode_pprof_label *label,
			  struct lode_pprof_who *who)
{
	switch (meaning_of(label)) {
	case PID:
		if (id_of(label, &who->pid))
			return 0;
		who->pid = LODE_NO_PID;
		break;
	case TID:
		if (id_of(label, &who->tid)) {
			who->has_tid = 1;
			return 0;
		}
		__attribute__((fallthrough)); /* words in place of a number */
	case THREAD:
		if (!label->text.length && id_of(label, &who->tid))
			who->has_tid = 1;
		else if (!who->name.length)
			who->name = label->text;
		return 0;
	case END:
		who->end = label->number > 0 ? (uint64_t)label->number : 0;
		return 0;
	default:
		break;
	}
	who->has_others = 1;
	return add_other(labels, label);
}

/* ---- threads ---- */

/* A thread without a number gets one by its name, from 1 on. */
static int number_name(struct lode_pprof_labels *labels, const struct lode_pprof_who *who, uint32_t *tid)
{
	if (!labels->has_names) {
		if (lode_strings_init(&labels->names) < 0)
			return LODE_SYSTEM;
		labels->has_names = 1;
	}
	*tid = lode_strings_add(&labels->names, who->name.text, who->name.length);
	return *tid == LODE_NONE ? LODE_SYSTEM : 0;
}

uint32_t lode_pprof_labels_thread(struct lode_pprof_labels *labels, struct lode_stream *stream,
				  const struct lode_pprof_who *who)
{
	uint32_t tid = who->has_tid ? who->tid : 0, thread;

	if (!who->has_tid && who->name.length && number_name(labels, who, &tid) < 0)
		return LODE_NONE;
	thread = lode_stream_thread(stream, who->pid, tid);
	if (thread != LODE_NONE && lode_import_name_thread(stream, thread, who->name.text, who->name.length) < 0)
		return LODE_NONE;
	return thread;
}

/* ---- the end ---- */

static int set_attribute(struct lode_stream *stream, const struct lode_pprof_label *label)
{
	char *key = lode_strndup(label->key.text, label->key.length);
	char *value = label->text.length ? lode_strndup(label->text.text, label->text.length)
					 : lode_format("%lld", (long long)label->number);
	int code = LODE_SYSTEM;

	if (key && value)
		code = lode_stream_set_attribute(stream, key, value,
						 label->text.length ? LODE_ATTRIBUTE_TEXT : LODE_ATTRIBUTE_NUMBER);
	lode_free(key);
	lode_free(value);
	return code < 0 ? LODE_SYSTEM : 0;
}

int lode_pprof_labels_finish(const struct lode_pprof_labels *labels, uint64_t samples, struct lode_stream *stream,
			     const struct lode_pprof_label **lost, uint64_t *count)
{
	*lost = NULL;
	*count = labels->dropped;
	for (size_t i = 0; i < labels->count; i++) {
		int is_one = !labels->varies[i] && labels->counts[i] >= samples && labels->items[i].key.length;

		if (is_one && set_attribute(stream, &labels->items[i]) < 0)
			return LODE_SYSTEM;
		if (is_one)
			continue;
		*lost = *lost ? *lost : &labels->items[i];
		*count += labels->counts[i];
	}
	return 0;
}
