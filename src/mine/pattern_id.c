/* What an id of the last mining means: see pattern_id.h. */
#include "mine/pattern_id.h"

#include "base/output.h"
#include "base/starts_with.h"
#include "store/corpus.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Takes what `id` names if it begins as wanted; LODE_USAGE when another thing was found already. */
static int take(struct lode_pattern_choice *choice, const struct lode_pattern_choice *found, const char *wanted,
		struct lode_error *error)
{
	if (choice->type && strcmp(choice->id, found->id) == 0)
		return 0; /* a cluster of one pattern may be called like it */
	if (choice->type)
		return lode_fail(error, LODE_USAGE,
				 "'%s' is the beginning of more than one id, such as %s and %s; give more of it",
				 wanted, choice->id, found->id);
	*choice = *found;
	return 0;
}

/* The group called just so, or all whose names begin so. */
static int choose_group(const struct lode_pattern_file *file, const char *wanted,
			struct lode_pattern_choice *choice, struct lode_error *error)
{
	int code = 0;

	for (int exact = 1; exact >= 0 && !choice->type; exact--)
		for (size_t i = 0; !code && i < file->count; i++) {
			const struct lode_pattern_group *group = &file->groups[i];
			struct lode_pattern_choice found = { "cluster", "", group, group->first, group->count };

			if (!group->name || !lode_starts_with(group->name, wanted) ||
			    (exact && strcmp(group->name, wanted) != 0))
				continue;
			snprintf(found.id, sizeof(found.id), "%s", group->name);
			code = take(choice, &found, wanted, error);
		}
	return code;
}

static int choose_pattern(const struct lode_pattern_file *file, const struct lode_frames *frames,
			  const char *wanted, struct lode_pattern_choice *choice, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < file->count; i++)
		for (size_t k = 0; !code && k < file->groups[i].count; k++) {
			size_t at = file->groups[i].first + k;
			struct lode_pattern_choice found = { "pattern", "", &file->groups[i], at, 1 };

			if (lode_sequence_id(frames, lode_pattern_frames(&file->patterns, at),
					     file->patterns.items[at].length, found.id) < 0)
				return lode_fail_memory(error);
			if (lode_starts_with(found.id, wanted))
				code = take(choice, &found, wanted, error);
		}
	return code;
}

int lode_pattern_choose(const struct lode_pattern_file *file, const struct lode_frames *frames, const char *path,
			const char *wanted, struct lode_pattern_choice *choice, struct lode_error *error)
{
	int code;

	memset(choice, 0, sizeof(*choice));
	code = choose_group(file, wanted, choice, error);
	if (!code && !(choice->type && strcmp(choice->group->name, wanted) == 0))
		code = choose_pattern(file, frames, wanted, choice, error);
	if (!code && !choice->type)
		return lode_fail(error, LODE_USAGE,
				 "%s: has no cluster or pattern '%s'; run 'lode mine' first to get new ids", path,
				 wanted);
	return code;
}

int lode_mined_file_read(struct lode_pattern_file *file, const char *corpus, struct lode_frames *frames,
			 struct lode_error *error)
{
	char *path = lode_format("%s/%s", corpus, LODE_MINED_FILE);
	int code;

	memset(file, 0, sizeof(*file));
	if (!path)
		return lode_fail_memory(error);
	if (access(path, F_OK) < 0)
		code = lode_fail(error, LODE_USAGE, "%s: has not been mined yet; run 'lode mine %s' first", corpus,
				 corpus);
	else
		code = lode_pattern_file_read_own(file, path, frames, error);
	lode_free(path);
	return code;
}

static void write_clusters(const struct lode_mined *mined, const char *kind, const struct lode_frames *frames,
			   struct lode_buffer *buffer)
{
	lode_buffer_text(buffer, "# What the last 'lode mine' found; 'lode sign --from ID' and "
				 "'lode mine --show ID' look here.\n");
	for (size_t i = 0; i < mined->clusters.count; i++) {
		const struct lode_pattern_cluster *cluster = &mined->clusters.items[i];

		lode_buffer_byte(buffer, '\n');
		lode_pattern_line_write("cluster", mined->cluster_groups[i].id, buffer);
		if (kind)
			lode_pattern_line_write("kind", kind, buffer);
		for (size_t k = 0; k < cluster->count; k++)
			lode_pattern_write(&mined->patterns, mined->clusters.members[cluster->first + k], frames,
					   buffer);
	}
}

int lode_mined_file_write(const char *corpus, const struct lode_mined *mined, const char *kind,
			  const struct lode_frames *frames, struct lode_error *error)
{
	char *path = lode_format("%s/%s", corpus, LODE_MINED_FILE);
	struct lode_output output;
	int code = path ? lode_output_replace(&output, path, error) : lode_fail_memory(error);

	if (!code) {
		write_clusters(mined, kind, frames, &output.buffer);
		code = lode_output_finish(&output, error);
	}
	lode_free(path);
	return code;
}
