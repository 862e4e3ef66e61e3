/*
 * The text of metadata: see ctf_metadata.h. A packet:
 *
 *	0	4	magic, 0x75d11d57 in the trace's byte order
 *	4	16	UUID
 *	20	4	checksum
 *	24	4	bits of content, this head among them
 *	28	4	bits of the packet
 *	32	3	compression, encryption, checksum: 0 for none
 *	35	2	version, 1 and 8
 */
#include "import/kernel/ctf/ctf_metadata.h"

#include "base/cursor.h"
#include "base/error.h"

#define HEAD_BYTES 37
#define MAGIC      0x75d11d57u

static uint32_t magic_of(const unsigned char *bytes, size_t size, int swap)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);

	cursor.swap = swap;
	return lode_cursor_u32(&cursor);
}

/* Adds the text of the packet at the cursor and steps over it. */
static int add_packet(struct lode_cursor *cursor, struct lode_buffer *text)
{
	struct lode_cursor head = *cursor;
	const unsigned char *bytes;
	uint32_t magic, content, packet;

	magic = lode_cursor_u32(&head);
	lode_cursor_bytes(&head, 20);
	content = lode_cursor_u32(&head) / 8;
	packet = lode_cursor_u32(&head) / 8;
	bytes = lode_cursor_bytes(&head, 5);
	if (!bytes || magic != MAGIC || bytes[0] || bytes[1] || bytes[3] != 1 || bytes[4] != 8)
		return 1;
	if (content < HEAD_BYTES || packet < content || packet > lode_cursor_left(cursor))
		return 1;
	lode_buffer_add(text, cursor->next + HEAD_BYTES, content - HEAD_BYTES);
	cursor->next += packet;
	return 0;
}

int lode_ctf_metadata_text(const unsigned char *bytes, size_t size, struct lode_buffer *text)
{
	struct lode_cursor cursor = lode_cursor(bytes, size);
	int code = 0;

	if (size < 4)
		return 1;
	cursor.swap = magic_of(bytes, size, 1) == MAGIC;
	if (!cursor.swap && magic_of(bytes, size, 0) != MAGIC) {
		lode_buffer_add(text, bytes, size);
		return text->failed ? LODE_SYSTEM : 0;
	}
	while (code == 0 && cursor.next < cursor.end)
		code = add_packet(&cursor, text);
	return text->failed ? LODE_SYSTEM : code;
}
