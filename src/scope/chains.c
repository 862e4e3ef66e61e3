/* Chains and their rows: see chains.h. */
#include "scope/chains.h"

#include "scope/states.h"

#include <string.h>

void lode_chains_release(struct lode_chains *chains)
{
	lode_free(chains->links);
	lode_free(chains->rows);
	lode_index_release(&chains->link_index);
	lode_index_release(&chains->row_index);
	memset(chains, 0, sizeof(*chains));
}

static uint64_t hash_link(const struct lode_chain_link *link)
{
	uint64_t hash = lode_hash_pair(link->before, link->process);

	hash = lode_hash_more(hash, (uint64_t)link->thread << 32 | link->object);
	hash = lode_hash_more(hash, (uint64_t)link->holder_process << 32 | link->holder);
	return lode_hash_more(hash, (uint64_t)link->place << 32 | link->state);
}

/* Which of the recent links may be this one. */
static size_t recent_place(const struct lode_chain_link *link)
{
	return (link->before * 31 + link->thread * 7 + link->object + link->holder * 3 + link->state) %
	       LODE_RECENT_LINKS;
}

uint32_t lode_chains_link(struct lode_chains *chains, const struct lode_chain_link *link)
{
	uint32_t *recent = &chains->recent[recent_place(link)], found = *recent;
	uint64_t hash;

	if (found < chains->link_count && !memcmp(&chains->links[found], link, sizeof(*link)))
		return found;
	hash = hash_link(link);
	found = LODE_INDEX_FIND(i, &chains->link_index, hash, !memcmp(&chains->links[i], link, sizeof(*link)));
	if (found == LODE_NONE) {
		if (LODE_INDEX_APPEND(&chains->link_index, hash, chains->links, chains->link_count,
				      chains->link_capacity, *link) < 0)
			return LODE_NONE;
		found = (uint32_t)chains->link_count - 1;
	}
	return *recent = found;
}

/* Of what rows are told apart by: all before the longest part and the sums. */
static int is_same_row(const struct lode_chain_row *a, const struct lode_chain_row *b)
{
	return !memcmp(a, b, offsetof(struct lode_chain_row, longest_tid));
}

static int is_longer(const struct lode_chain_row *a, const struct lode_chain_row *b)
{
	return a->longest > b->longest || (a->longest == b->longest && a->longest_t < b->longest_t);
}

int lode_chains_add(struct lode_chains *chains, const struct lode_chain_row *row)
{
	uint64_t hash =
		lode_hash_more(lode_hash_pair(row->chain, row->stack),
			       ((uint64_t)row->stream << 32 | row->symptom) + row->context * 0x9e3779b97f4a7c15u);
	uint32_t found = LODE_INDEX_FIND(i, &chains->row_index, hash, is_same_row(&chains->rows[i], row));
	struct lode_chain_row *known;

	if (found == LODE_NONE)
		return LODE_INDEX_APPEND(&chains->row_index, hash, chains->rows, chains->row_count,
					 chains->row_capacity, *row);
	known = &chains->rows[found];
	known->cost = lode_add_saturating(known->cost, row->cost);
	known->events += row->events;
	if (is_longer(row, known)) {
		known->longest = row->longest;
		known->longest_t = row->longest_t;
		known->longest_tid = row->longest_tid;
	}
	return 0;
}

/* By link of `from`: its number in `to`. A link comes behind the one before it. NULL when memory has run out. */
static uint32_t *merge_links(struct lode_chains *to, const struct lode_chains *from,
			     const struct lode_dictionary_map *map)
{
	uint32_t *numbers = lode_calloc(from->link_count + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && i < from->link_count; i++) {
		struct lode_chain_link link = from->links[i];

		link.before = link.before == LODE_NONE ? LODE_NONE : numbers[link.before];
		link.process = map->strings[link.process];
		link.thread = map->strings[link.thread];
		link.object = map->strings[link.object];
		link.holder_process = map->strings[link.holder_process];
		link.holder = map->strings[link.holder];
		link.place = map->nodes[link.place];
		numbers[i] = lode_chains_link(to, &link);
		if (numbers[i] == LODE_NONE) {
			lode_free(numbers);
			return NULL;
		}
	}
	return numbers;
}

int lode_chains_merge(struct lode_chains *to, const struct lode_chains *from,
		      const struct lode_dictionary_map *map, uint32_t stream)
{
	uint32_t *numbers = merge_links(to, from, map);

	if (!numbers || LODE_GROW(to->rows, to->row_capacity, to->row_count + from->row_count) < 0) {
		lode_free(numbers);
		return LODE_SYSTEM;
	}
	for (size_t i = 0; i < from->row_count; i++) {
		struct lode_chain_row *row = &to->rows[to->row_count++];

		*row = from->rows[i];
		row->chain = numbers[row->chain];
		row->stack = map->nodes[row->stack];
		row->context = map->strings[row->context];
		row->stream += stream;
	}
	lode_free(numbers);
	return 0;
}

/* A link comes behind the one before it, so that chains end. */
static int is_valid_link(const struct lode_chain_link *link, size_t number, size_t strings, size_t nodes)
{
	return (link->before == LODE_NONE || link->before < number) && link->process < strings &&
	       link->thread < strings && link->object < strings && link->holder_process < strings &&
	       link->holder < strings && link->place < nodes && link->state < LODE_STATES;
}

int lode_chains_are_valid(const struct lode_chains *chains, const struct lode_dictionary *dictionary,
			  uint64_t streams)
{
	size_t strings = dictionary->frames.strings.count, nodes = dictionary->tree.count;

	for (size_t i = 0; i < chains->link_count; i++)
		if (!is_valid_link(&chains->links[i], i, strings, nodes))
			return 0;
	for (size_t i = 0; i < chains->row_count; i++)
		if (chains->rows[i].chain >= chains->link_count || chains->rows[i].stack >= nodes ||
		    chains->rows[i].stream >= streams || chains->rows[i].context >= strings)
			return 0;
	return 1;
}
