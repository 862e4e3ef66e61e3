/*
 * File mode: see sections.h, and format.h for the bytes of the header.
 *
 * Sections may be anywhere, overlap and claim a wrong size: each is cut to
 * what the file has, and reading it costs no more than its bytes, or for ids no
 * more than the bytes of the file.
 */
#include "import/kernel/perf_data/sections.h"

#include "base/cursor.h"

struct section {
	uint64_t offset;
	uint64_t size;
};

static struct section read_section(const unsigned char *at)
{
	return (struct section){ perf_u64(at), perf_u64(at + 8) };
}

/* Cuts a section to the file; 1 when something was cut off. */
static int cut(struct section *section, size_t size)
{
	struct section before = *section;

	if (section->offset > size)
		section->offset = size;
	if (section->size > size - section->offset)
		section->size = size - section->offset;
	return before.offset != section->offset || before.size != section->size;
}

/* An entry of the attributes section: the attribute, then the section of its ids. */
static int read_event(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size,
		      const unsigned char *entry, size_t entry_size, size_t *ids_left)
{
	struct section ids = read_section(entry + entry_size - 16);
	int code = lode_perf_facts_add_event(facts, entry, entry_size - 16);

	if (code < 0)
		return code;
	if (cut(&ids, size) || ids.size > *ids_left) {
		lode_notes_add(facts->notes, 1, "damaged sections of the header", NULL);
		return 0;
	}
	*ids_left -= ids.size;
	return lode_perf_facts_add_ids(facts, facts->events.count - 1, bytes + ids.offset, ids.size / 8);
}

static int read_events(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size, const char *name,
		       struct lode_error *error)
{
	uint64_t entry_size = perf_u64(bytes + 16);
	struct section section = read_section(bytes + 24);
	size_t ids_left = size;

	if (cut(&section, size) || entry_size < 64 + 16 || entry_size > 65536)
		return lode_fail(error, LODE_BAD_INPUT, "%s: byte 24: the list of events is damaged; record again",
				 name);
	for (uint64_t at = 0; at + entry_size <= section.size; at += entry_size) {
		int code =
			read_event(facts, bytes, size, bytes + section.offset + at, (size_t)entry_size, &ids_left);

		if (code == LODE_BAD_INPUT)
			return lode_fail(error, code,
					 "%s: byte %llu: there are more than %d events; record fewer at once",
					 name, (unsigned long long)(section.offset + at), LODE_PERF_EVENTS_LIMIT);
		if (code < 0)
			return lode_fail_memory(error);
	}
	return 0;
}

/* After the data there is a section for each feature whose bit is set, in order of the bits. */
static int read_features(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size, uint64_t table,
			 struct lode_error *error)
{
	uint64_t left = size; /* sections that overlap are read no more often than the file is long */

	for (unsigned feature = 0; feature < PERF_FEATURES; feature++) {
		struct section section;

		if (!(bytes[72 + feature / 8] >> feature % 8 & 1))
			continue;
		if (table > size || size - table < 16) {
			lode_notes_add(facts->notes, 1, "sections missing at the end of the file", NULL);
			return 0;
		}
		section = read_section(bytes + table);
		table += 16;
		if (cut(&section, size) || section.size > left) {
			lode_notes_add(facts->notes, 1, "damaged sections of the header", NULL);
			continue;
		}
		left -= section.size;
		if (lode_perf_facts_feature(facts, feature, bytes + section.offset, section.size) < 0)
			return lode_fail_memory(error);
	}
	return 0;
}

int lode_perf_sections_read(struct lode_perf_facts *facts, const unsigned char *bytes, size_t size,
			    const char *name, uint64_t *data_offset, uint64_t *data_size, struct lode_error *error)
{
	struct section data;
	int code;

	if (size < PERF_HEADER_BYTES || perf_u64(bytes + 8) < PERF_HEADER_BYTES)
		return lode_fail(error, LODE_BAD_INPUT, "%s: byte 8: the header is cut off; record again", name);
	code = read_events(facts, bytes, size, name, error);
	if (code < 0)
		return code;
	data = read_section(bytes + 40);
	if (!data.size) {
		/* perf was killed before it could write where the data ends: there is nothing behind it. */
		lode_notes_add(facts->notes, 1,
			       "recordings that were not finished properly, read as far as possible", name);
		data.size = UINT64_MAX - data.offset;
		cut(&data, size);
	} else {
		code = read_features(facts, bytes, size,
				     data.size > size - (data.offset < size ? data.offset : size)
					     ? size
					     : data.offset + data.size,
				     error);
	}
	if (code == 0 && cut(&data, size))
		lode_notes_add(facts->notes, 1, "files shorter than their header says", name);
	*data_offset = data.offset;
	*data_size = data.size;
	return code;
}
