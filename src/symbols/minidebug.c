/*
 * .gnu_debugdata: a small ELF file, packed with xz, that some distributions put
 * into their stripped binaries; its .symtab has the functions that .dynsym lacks.
 * It is untrusted, so it may unpack to at most MINIDEBUG_LIMIT bytes.
 */
#include "symbols/elf.h"

#include "base/error.h"

#include <lzma.h>

#define MINIDEBUG_LIMIT  (64u << 20)
#define MINIDEBUG_MEMORY (64u << 20)
#define MINIDEBUG_STEP   (256u << 10)

/* Everything the stream gives, into `bytes`. */
static int unpack(lzma_stream *stream, struct lode_buffer *bytes)
{
	lzma_ret result = LZMA_OK;

	while (result == LZMA_OK) {
		char *room = lode_buffer_room(bytes, MINIDEBUG_STEP);

		if (!room)
			return LODE_SYSTEM;
		if (bytes->size > MINIDEBUG_LIMIT)
			return LODE_BAD_INPUT;
		stream->next_out = (unsigned char *)room;
		stream->avail_out = MINIDEBUG_STEP;
		result = lzma_code(stream, LZMA_FINISH);
		bytes->size += MINIDEBUG_STEP - stream->avail_out;
	}
	return result == LZMA_STREAM_END ? 0 : LODE_BAD_INPUT;
}

int lode_elf_unpack_minidebug(const struct lode_elf *elf, struct lode_buffer *bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	GElf_Shdr header;
	Elf_Scn *section = lode_elf_section(elf, ".gnu_debugdata", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	int code;

	if (!data || !data->d_buf)
		return LODE_BAD_INPUT;
	if (lzma_stream_decoder(&stream, MINIDEBUG_MEMORY, 0) != LZMA_OK)
		return LODE_SYSTEM;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	code = unpack(&stream, bytes);
	lzma_end(&stream);
	return code;
}
