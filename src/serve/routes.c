/*
 * Routes: see routes.h. Only options that read nothing but the corpus are here: no
 * address can make a command open another file or write one. Which sources are read is for who starts the server to say.
 */
#include "serve/routes.h"

#include "base/memory.h"

#include <string.h>

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SOURCES   "annotate"
#define AREA      "scope", "symptom", "slow", "match", "exclude", "where", "time", "include-idle"

const struct lode_route lode_routes[] = {
	{ "info", "what is in the corpus: streams, their attributes, threads, symptoms and modules",
	  LIST("info", "@", "--json"), LIST("stream", "brief"), "application/json" },
	{ "findings", "where the time of symptoms or threads went, in sentences",
	  LIST("mine", "@", "--json", "--findings"),
	  LIST("scope", "symptom", "slow", "match", "exclude", "where", "time", "top", LODE_ROUTE_PAGE_DATA),
	  "application/json" },
	{ "mine", "clusters of call-stack patterns that cost the most waiting time",
	  LIST("mine", "@", "--json", "--kind=wait"),
	  LIST(AREA, "threshold", "impact", "similarity", "rank", "top", "new", LODE_ROUTE_PAGE_DATA),
	  "application/json" },
	{ "mine-run", "clusters of call-stack patterns that cost the most CPU time",
	  LIST("mine", "@", "--json", "--kind=run"),
	  LIST(AREA, "threshold", "impact", "similarity", "rank", "top", LODE_ROUTE_PAGE_DATA), "application/json" },
	{ "scope", "the critical path of each symptom, a line of JSON each", LIST("scope", "@", "--json"),
	  LIST("scope", "symptom", "slow", "where", "stream", "top", LODE_ROUTE_PAGE_DATA), "application/x-ndjson" },
	{ "latency", "inferred latencies of functions in their calling contexts", LIST("latency", "@", "--json"),
	  LIST("stream", "where", "match", "include-idle", "top", "mean", "tree-min", LODE_ROUTE_PAGE_DATA),
	  "application/json" },
	{ "diff", "paths that take longer in one part of the corpus than in another (base-where, slow-where)",
	  LIST("diff", "@", "--json"),
	  LIST("base-where", "slow-where", "base-stream", "slow-stream", "where", "match", "include-idle", "top",
	       "tree-min", LODE_ROUTE_PAGE_DATA),
	  "application/json" },
	{ "explain", "why some streams are slow and others not, as a tree over their attributes and functions",
	  LIST("explain", "@", "--json"),
	  LIST("x", "y", "clusters", "functions", "features", "rows", AREA, LODE_ROUTE_PAGE_DATA),
	  "application/json" },
	{ SOURCES,
	  "the source of a function (function: module!function, * and ? stand for anything), or its instructions, "
	  "with "
	  "what each line costs, running and waiting",
	  LIST("annotate", "@", "--json"), LIST("function", "code", AREA), "application/json" },
	{ "coverage", "how much of the delay known signatures explain", LIST("coverage", "@", "--json"),
	  LIST("where"), "application/json" },
	{ "query",
	  "the answer to any question, as SQL (sql: one SELECT; 'SELECT * FROM tables' describes tables and "
	  "columns, times "
	  "are ns), up to 10,000 rows within 10 seconds",
	  LIST("query", "@", "--json", "--max-rows=10000", "--max-time=10s", "--max-memory=500MB"), LIST("sql"),
	  "application/json" },
	{ "profile", "the stack tree with its costs, in columns", LIST("report", "@", "--block=profile"),
	  LIST("where", "match", "exclude", "time"), "application/octet-stream" },
	{ "stream/", "the events of a stream and the critical paths of its symptoms, in columns",
	  LIST("report", "@", "--block=stream/%"), LIST("symptom"), "application/octet-stream" },
	{ NULL, NULL, NULL, NULL, NULL },
};

const struct lode_route *lode_route_find(const char *name, const char **id)
{
	for (const struct lode_route *route = lode_routes; route->name; route++) {
		size_t length = strlen(route->name);

		*id = "";
		if (!strcmp(name, route->name) && route->name[length - 1] != '/')
			return route;
		if (route->name[length - 1] == '/' && !strncmp(name, route->name, length)) {
			*id = name + length;
			return route;
		}
	}
	return NULL;
}

static int is_id(const char *text)
{
	return *text && strspn(text, "0123456789abcdef") == strlen(text) && strlen(text) <= 32;
}

int lode_route_begin(const struct lode_route *route, const char *corpus, const char *id,
		     struct lode_text_list *words, struct lode_error *error)
{
	if (route->name[strlen(route->name) - 1] == '/' && !is_id(id))
		return lode_fail(error, LODE_USAGE, "%s: not an id; /api/info has the ids of all streams", id);
	for (size_t i = 0; route->words[i]; i++) {
		const char *word = route->words[i];
		const char *place = strchr(word, '%');

		lode_text_list_add(words, place ? lode_format("%.*s%s", (int)(place - word), word, id)
						: lode_strdup(strcmp(word, "@") ? word : corpus));
	}
	return words->failed ? lode_fail_memory(error) : 0;
}

int lode_route_sources(const struct lode_route *route, const struct lode_route_sources *sources,
		       struct lode_text_list *words, struct lode_error *error)
{
	if (strcmp(route->name, SOURCES) != 0)
		return 0;
	for (size_t i = 0; sources->folders && sources->folders[i]; i++)
		lode_text_list_add(words, lode_format("--source-path=%s", sources->folders[i]));
	if (sources->folders_only)
		lode_text_list_add(words, lode_strdup("--source-path-only"));
	return words->failed ? lode_fail_memory(error) : 0;
}

int lode_route_option(const struct lode_route *route, const char *key, const char *value,
		      struct lode_text_list *words, struct lode_error *error)
{
	for (size_t i = 0; route->options[i]; i++) {
		if (strcmp(route->options[i], key))
			continue;
		lode_text_list_add(words, value && *value ? lode_format("--%s=%s", key, value)
							  : lode_format("--%s", key));
		return words->failed ? lode_fail_memory(error) : 0;
	}
	return lode_fail(error, LODE_USAGE, "%s: not an option of this analysis; docs/api.md lists them", key);
}
