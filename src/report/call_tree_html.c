/*
 * A call tree as a page shows it: see call_tree.h. Lists within lists, which fold away
 * without a script. Beside each item is its edge: as thick as what it takes of all, red
 * for the slow side, blue for the base; the thinner lies on the thicker, so that what
 * differs stands out and what does not looks like the base.
 */
#include "report/call_tree.h"

#include "base/memory.h"
#include "base/units.h"
#include "latency/layer.h"
#include "report/html.h"

#include <stdio.h>
#include <string.h>

#define THICKEST   12.0 /* pixels of an edge that takes all */
#define TRUNK	   8.0	/* where an edge goes down */
#define REST_SHARE 10	/* what is left out is told where it is this part of the least that is shown */
#define OPEN_SHARE 40	/* items that take less than this part of all are folded away at first */

struct page {
	const struct lode_call_tree *tree;
	struct lode_buffer *buffer;
	uint32_t *path; /* by depth: the item that is open */
};

static double thickness(const struct page *page, uint64_t whole)
{
	double share = (double)whole / (double)(lode_call_tree_most(page->tree) + 1) * THICKEST;

	return whole && share < 1 ? 1 : share;
}

static int has_base(const struct page *page)
{
	return page->tree->input->own[LODE_SIDE_BASE] != NULL;
}

/* ---- text ---- */

static void put_text(struct page *page, const char *text)
{
	lode_html_text(page->buffer, text, strlen(text));
}

static void put_function(struct page *page, uint32_t node)
{
	const struct lode_dictionary *dictionary = page->tree->input->dictionary;
	uint32_t frame = dictionary->tree.nodes[node].frame;

	if (dictionary->frames.items[frame].module) {
		lode_buffer_text(page->buffer, "<span class=dim>");
		put_text(page, lode_frames_module_name(&dictionary->frames, frame));
		lode_buffer_text(page->buffer, "!</span>");
	}
	put_text(page, lode_frames_function(&dictionary->frames, frame));
}

/* All functions of an item, a line each, from its caller down. */
static void put_title(struct page *page, const struct lode_call_tree_item *item)
{
	const struct lode_dictionary *dictionary = page->tree->input->dictionary;
	uint32_t *nodes = lode_calloc(item->length, sizeof(*nodes));

	page->buffer->failed |= !nodes;
	for (uint32_t i = item->length, node = item->last; nodes && i-- > 0;
	     node = dictionary->tree.nodes[node].parent)
		nodes[i] = node;
	lode_buffer_text(page->buffer, " title=\"");
	for (uint32_t i = 0; nodes && i < item->length; i++) {
		struct lode_buffer text = {0};

		if (i)
			lode_buffer_text(page->buffer, "&#10;");
		lode_frames_text(&dictionary->frames, dictionary->tree.nodes[nodes[i]].frame, &text);
		if (text.size)
			lode_html_text(page->buffer, text.bytes, text.size);
		page->buffer->failed |= text.failed;
		lode_buffer_release(&text);
	}
	lode_buffer_byte(page->buffer, '"');
	lode_free(nodes);
}

static void put_names(struct page *page, const struct lode_call_tree_item *item)
{
	lode_buffer_text(page->buffer, "<code");
	if (item->length > 1)
		put_title(page, item);
	lode_buffer_byte(page->buffer, '>');
	if (item->length > 1) {
		put_function(page, item->first);
		lode_buffer_text(page->buffer, "<span class=dim> › ");
		if (item->length > 2)
			lode_buffer_print(page->buffer, "%u more › ", item->length - 2);
		lode_buffer_text(page->buffer, "</span>");
	}
	put_function(page, item->last);
	lode_buffer_text(page->buffer, "</code>");
}

/* What the function and all below it take: the difference, or the whole. */
static void put_main_number(struct page *page, const uint64_t whole[LODE_SIDES])
{
	int less = whole[LODE_SIDE_SLOW] < whole[LODE_SIDE_BASE];
	uint64_t number = less ? whole[LODE_SIDE_BASE] - whole[LODE_SIDE_SLOW]
			       : whole[LODE_SIDE_SLOW] - whole[LODE_SIDE_BASE];
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "<b>%s%s</b> ",
			  !has_base(page) ? ""
			  : less	  ? "-"
					  : "+",
			  lode_duration_text(number, text));
}

static void put_other_numbers(struct page *page, const struct lode_call_tree_item *item)
{
	uint64_t base = item->whole[LODE_SIDE_BASE], slow = item->whole[LODE_SIDE_SLOW];
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	lode_buffer_text(page->buffer, " <span class=dim>");
	if (has_base(page)) {
		if (base || !page->tree->input->known || page->tree->input->known[item->first])
			lode_buffer_print(page->buffer, "%s in the base, %s in slow streams",
					  lode_duration_text(base, a), lode_duration_text(slow, b));
	} else {
		lode_buffer_print(page->buffer, "%s",
				  lode_share_text(slow, page->tree->whole[LODE_SIDE_SLOW], a));
		if (item->own[LODE_SIDE_SLOW] && item->own[LODE_SIDE_SLOW] < slow)
			lode_buffer_print(page->buffer, ", %s by itself",
					  lode_duration_text(item->own[LODE_SIDE_SLOW], b));
	}
	lode_buffer_text(page->buffer, "</span>");
}

static void put_item(struct page *page, const struct lode_call_tree_item *item)
{
	const struct lode_call_tree_input *input = page->tree->input;

	put_main_number(page, item->whole);
	put_names(page, item);
	lode_buffer_print(page->buffer, " <span class=badge>%s</span>",
			  lode_layer_name(lode_layer_of_node(input->dictionary, item->last)));
	if (input->known && !input->known[item->first])
		lode_buffer_text(page->buffer, " <span class=\"badge new\">new</span>");
	if (input->cause && item->first == input->cause)
		lode_buffer_text(page->buffer, " <span class=\"badge new\">look here first</span>");
	put_other_numbers(page, item);
}

/* ---- edges ---- */

static void put_stroke(struct page *page, const char *colour, double width)
{
	if (width > 0)
		lode_buffer_print(page->buffer,
				  "<path d=\"M%.0f 0V13H28\" fill=\"none\" stroke=\"var(--%s)\" "
				  "stroke-linejoin=\"round\" stroke-width=\"%.1f\"/>",
				  TRUNK, colour, width);
}

static void put_edge(struct page *page, const struct lode_call_tree_item *item)
{
	double base = thickness(page, item->whole[LODE_SIDE_BASE]);
	double slow = thickness(page, item->whole[LODE_SIDE_SLOW]);

	lode_buffer_text(page->buffer, "<svg width=\"28\" height=\"26\">");
	put_stroke(page, base > slow ? "base" : "slow", base > slow ? base : slow);
	put_stroke(page, base > slow ? "slow" : "base", base > slow ? slow : base);
	lode_buffer_text(page->buffer, "</svg>");
	if (item->is_last)
		return;
	/* What goes on to the next siblings. */
	base = thickness(page, item->next[LODE_SIDE_BASE]);
	slow = thickness(page, item->next[LODE_SIDE_SLOW]);
	lode_buffer_print(page->buffer,
			  "<span class=trunk style=\"left:%.1fpx;width:%.1fpx%s\">"
			  "<i style=\"width:%.1fpx%s\"></i></span>",
			  TRUNK - (base > slow ? base : slow) / 2, base > slow ? base : slow,
			  base > slow ? ";background:var(--base)" : "", base > slow ? slow : base,
			  base > slow ? ";background:var(--slow)" : "");
}

/* ---- lists ---- */

/* Little things that are left out are told in one sum above the tree. */
static int tells_rest(const struct lode_call_tree *tree, const struct lode_call_tree_item *item)
{
	uint64_t least = tree->input->least / REST_SHARE;

	return item->hidden && (item->rest[LODE_SIDE_BASE] > least || item->rest[LODE_SIDE_SLOW] > least);
}

static void put_rest(struct page *page, const struct lode_call_tree_item *item)
{
	char count[LODE_UNITS_TEXT], base[LODE_UNITS_TEXT], slow[LODE_UNITS_TEXT];

	if (!tells_rest(page->tree, item))
		return;
	lode_buffer_print(page->buffer, "<li class=\"call dim\">… %s more, %s",
			  lode_count_text(item->hidden, count),
			  lode_duration_text(item->rest[LODE_SIDE_SLOW], slow));
	if (has_base(page))
		lode_buffer_print(page->buffer, " (base %s)",
				  lode_duration_text(item->rest[LODE_SIDE_BASE], base));
	lode_buffer_byte(page->buffer, '\n');
}

static int has_list(const struct lode_call_tree *tree, size_t i)
{
	return tells_rest(tree, &tree->items[i]) ||
	       (i + 1 < tree->count && tree->items[i + 1].depth > tree->items[i].depth);
}

static void open_item(struct page *page, size_t i)
{
	const struct lode_call_tree_item *item = &page->tree->items[i];
	uint64_t cost = item->whole[LODE_SIDE_BASE] > item->whole[LODE_SIDE_SLOW]
				? item->whole[LODE_SIDE_BASE]
				: item->whole[LODE_SIDE_SLOW];

	lode_buffer_text(page->buffer, "<li>");
	if (item->depth)
		put_edge(page, item);
	if (!has_list(page->tree, i)) {
		lode_buffer_text(page->buffer, "<div class=call>");
		put_item(page, item);
		lode_buffer_text(page->buffer, "</div>\n");
		return;
	}
	lode_buffer_print(page->buffer, "<details%s><summary>",
			  cost > lode_call_tree_most(page->tree) / OPEN_SHARE ? " open" : "");
	put_item(page, item);
	lode_buffer_text(page->buffer, "</summary>\n<ul>\n");
	page->path[item->depth] = (uint32_t)i;
}

/* Ends the lists of all items that are deeper than, or as deep as, `depth`; `from` is how deep it was. */
static void close_items(struct page *page, uint32_t from, uint32_t depth, int last_has_list)
{
	for (uint32_t at = from + 1; at-- > depth;) {
		const struct lode_call_tree_item *item = &page->tree->items[page->path[at]];

		if (at == from && !last_has_list)
			continue;
		put_rest(page, item);
		lode_buffer_text(page->buffer, "</ul></details>\n");
	}
}

static void put_items(struct page *page)
{
	const struct lode_call_tree *tree = page->tree;

	for (size_t i = 0; i < tree->count; i++) {
		uint32_t depth = tree->items[i].depth;
		uint32_t next = i + 1 < tree->count ? tree->items[i + 1].depth : 0;

		open_item(page, i);
		if (next <= depth)
			close_items(page, depth, next, has_list(tree, i));
	}
}

void lode_call_tree_html(const struct lode_call_tree *tree, struct lode_buffer *buffer)
{
	struct page page = {.tree = tree, .buffer = buffer};

	page.path = lode_calloc(tree->count + 1, sizeof(*page.path));
	if (!page.path) {
		buffer->failed = 1;
		return;
	}
	lode_buffer_text(buffer, "<div class=wide><ul class=calls>\n");
	put_items(&page);
	lode_buffer_text(buffer, "</ul></div>\n");
	lode_free(page.path);
}
