/* Names in the sentences of findings: see finding_names_text.h and finding_words.h. */
#include "result/finding_names_text.h"

#include "result/finding_words.h"
#include "trace/gpu_threads.h"
#include "trace/script_modules.h"

#include <string.h>

/* Of a process and its thread on another host (scope/host_joins.h) the host is named once. */
static int without_host(const char *process, const char *thread)
{
	const char *host = strrchr(process, '@'), *own = strrchr(thread, '@');

	return (int)(host && own && !strcmp(host, own) ? (size_t)(host - process) : strlen(process));
}

void lode_finding_name(struct lode_buffer *buffer, const char *process, const char *thread, int beside)
{
	/* Threads that nobody gave a name are called as what runs the script. */
	if (*process && lode_program_runs_scripts(thread))
		thread = "";
	if (!*thread && !*process)
		lode_buffer_text(buffer, "a thread");
	else if (!*thread || !strcmp(thread, process))
		lode_buffer_text(buffer, *process ? process : thread);
	else if (beside || !*process)
		lode_buffer_text(buffer, thread);
	else
		lode_buffer_print(buffer, "%.*s/%s", without_host(process, thread), process, thread);
}

void lode_finding_thread(const struct lode_finding_source *source, const struct lode_chain_link *link,
			 const struct lode_chain_link *beside, struct lode_buffer *buffer)
{
	const struct lode_strings *names = &source->findings->names;

	lode_finding_name(buffer, lode_strings_get(names, link->process), lode_strings_get(names, link->thread),
			  beside && beside->process == link->process);
}

void lode_finding_symptom_word(const struct lode_finding_source *source, struct lode_buffer *buffer)
{
	const char *name = lode_strings_get(&source->area->dictionary.frames.strings, source->findings->symptom);

	if (source->area->requests || (!source->area->by_rules && !strncmp(name, "request of ", 11)))
		lode_buffer_text(buffer, "request");
	else if (source->area->by_rules)
		lode_buffer_text(buffer, "symptom");
	else if (!strncmp(name, "run of ", 7))
		lode_buffer_text(buffer, "run");
	else
		lode_buffer_text(buffer, *name && !strchr(name, ' ') ? name : "symptom");
}

int lode_findings_are_of_gpus(const struct lode_finding_source *source, uint64_t *ran)
{
	const struct lode_strings *strings = &source->area->dictionary.frames.strings;
	const struct lode_findings *findings = source->findings;
	const char *symptom = lode_strings_get(strings, findings->symptom);

	*ran = 0;
	for (size_t i = 0; i < findings->process_count; i++)
		if (lode_process_is_gpu(lode_strings_get(&findings->names, findings->processes[i].process)))
			*ran = lode_add_saturating(*ran, findings->processes[i].ns[LODE_STATE_RUNNING]);
	if (*ran > findings->total)
		*ran = findings->total;
	return source->area->gpus || (!source->area->by_rules && !strcmp(symptom, LODE_GPU_SYMPTOM));
}
