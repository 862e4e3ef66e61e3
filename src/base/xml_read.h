/*
 * XML reader: tags and text one after another, in place, without building a tree.
 *
 * It reads what tools write: elements, attributes, text, CDATA, the five named entities and numbered characters.
 * Comments, processing instructions and document types are skipped; entities that a document type declares are not
 * known, so nothing grows. Own code, since expat calls back, copies every text and would be one more dependency.
 * Whether tags match is not checked, only how deep they nest.
 */
#ifndef LODE_BASE_XML_READ_H
#define LODE_BASE_XML_READ_H

#include "base/buffer.h"

/* Elements inside one another. */
#define LODE_XML_DEPTH 256

/* A piece of the text, escapes and all. `at` is NULL for what is not there. */
struct lode_xml_text {
	const char *at;
	size_t length;
};

enum lode_xml_token {
	LODE_XML_END,    /* the text is over */
	LODE_XML_OPEN,   /* <name ...>, also of <name ... /> */
	LODE_XML_CLOSE,  /* </name>, and behind <name ... /> */
	LODE_XML_WORDS,  /* text between tags, if it is not all white space */
	LODE_XML_BROKEN, /* a tag without an end, or too deep; `wrong` says what */
};

struct lode_xml {
	const char *at;
	const char *end;
	const char *start; /* of the text, for line numbers */
	unsigned depth;
	int is_empty; /* the last tag was <name ... />: its close is next */
	int is_raw;   /* the words are CDATA, without escapes */
	const char *wrong;
	struct lode_xml_text name;       /* of the last tag */
	struct lode_xml_text attributes; /* of the last opening tag, all of them */
	struct lode_xml_text words;
};

static inline struct lode_xml lode_xml(const char *text, size_t size)
{
	return (struct lode_xml){ .at = text, .end = text + size, .start = text };
}

enum lode_xml_token lode_xml_next(struct lode_xml *xml);
/* Whether the last tag has this name. */
int lode_xml_is(const struct lode_xml *xml, const char *name);
/* The value of an attribute of the last opening tag. */
struct lode_xml_text lode_xml_attribute(const struct lode_xml *xml, const char *name);
/* Appends a text with its entities resolved; one that is not known stays as it is. */
void lode_xml_append(struct lode_buffer *buffer, struct lode_xml_text text);
/* A whole number in decimal digits, or `otherwise`. */
uint64_t lode_xml_number(struct lode_xml_text text, uint64_t otherwise);
/* The line where the reader is, from 1. */
size_t lode_xml_line(const struct lode_xml *xml);

#endif
