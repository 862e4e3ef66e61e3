/* Control groups in an area: see area_groups.h. */
#include "scope/area_groups.h"

#include "scope/area_objects.h"
#include "scope/where.h"
#include "trace/control_groups.h"

#include <string.h>

void lode_area_groups_release(struct lode_area_groups *groups)
{
	lode_free(groups->fits);
	lode_free(groups->nodes);
	memset(groups, 0, sizeof(*groups));
}

static enum lode_group_part part_of(enum lode_area_by by)
{
	return by == LODE_BY_UNIT        ? LODE_GROUP_UNIT
	       : by == LODE_BY_CONTAINER ? LODE_GROUP_CONTAINER
					 : LODE_GROUP_POD;
}

static int make_nodes(struct lode_area_groups *groups, struct lode_stream *stream, const char *const *paths,
		      enum lode_group_part part)
{
	char name[LODE_GROUP_NAME];

	groups->nodes = lode_calloc(stream->thread_count + 1, sizeof(*groups->nodes));
	for (size_t i = 0; groups->nodes && i < stream->thread_count; i++) {
		groups->nodes[i] = lode_area_named_stack(stream->dictionary, lode_group_part(paths[i], part, name)
										     ? name
										     : LODE_GROUP_NONE_FRAME);
		if (groups->nodes[i] == LODE_NONE)
			return LODE_SYSTEM;
	}
	return groups->nodes ? 0 : LODE_SYSTEM;
}

static int find_fitting(struct lode_area_groups *groups, const struct lode_stream *stream,
			const char *const *paths, const char *const *where)
{
	groups->fits = lode_calloc(stream->thread_count + 1, 1);
	for (size_t i = 0; groups->fits && i < stream->thread_count; i++)
		groups->fits[i] = lode_where_group_fits(where, paths[i]) != 0;
	return groups->fits ? 0 : LODE_SYSTEM;
}

int lode_area_groups_make(struct lode_area_groups *groups, struct lode_stream *stream,
			  const struct lode_area_options *options, struct lode_error *error)
{
	int has_part = options->by >= LODE_BY_UNIT, wants = lode_where_has_groups(options->where), code = 0;
	const char **paths;

	memset(groups, 0, sizeof(*groups));
	if (!has_part && !wants)
		return 0;
	paths = lode_stream_groups(stream);
	if (!paths || (wants && find_fitting(groups, stream, paths, options->where) < 0) ||
	    (has_part && make_nodes(groups, stream, paths, part_of(options->by)) < 0))
		code = lode_fail_memory(error);
	lode_free(paths);
	return code;
}
