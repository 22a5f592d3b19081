/* SPDX-License-Identifier: MIT */
#include "io/decode.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/alloc.h"

static uint64_t place(const tl_decoder *decoder)
{
	return decoder->input->position - decoder->input->avail;
}

int64_t tl__decode_cut_off(tl_decoder *decoder, const char *what)
{
	tl_source_state *state = &decoder->state;

	decoder->ended = state->truncated = true;
	if (!state->note[0])
		snprintf(state->note, sizeof state->note,
			 "%s data is cut off: it ends after %" PRIu64 " bytes in the middle", what, place(decoder));
	return 0;
}

void tl__decode_mismatch(tl_decoder *decoder, const char *what, const char *why)
{
	tl_source_state *state = &decoder->state;

	state->damaged = true;
	if (!state->note[0])
		snprintf(state->note, sizeof state->note, "%s data is damaged near byte %" PRIu64 ": %s", what,
			 place(decoder), why);
}

int64_t tl__decode_damaged(tl_decoder *decoder, const char *what, const char *why)
{
	tl__decode_mismatch(decoder, what, why);
	decoder->ended = decoder->state.incomplete = true;
	return 0;
}

int64_t tl__decode_junk(tl_decoder *decoder, const char *what)
{
	tl_source_state *state = &decoder->state;

	decoder->ended = state->trailing_junk = true;
	if (!state->note[0])
		snprintf(state->note, sizeof state->note, "ignored what follows the %s data from byte %" PRIu64 " on",
			 what, place(decoder));
	return 0;
}

int tl__decode_skip_padding(tl_decoder *decoder, size_t n, tl_error *err)
{
	tl_input *input = decoder->input;

	for (;;) {
		int more = tl__input_fill(input, err);
		size_t zeros = 0;
		if (more <= 0)
			return more;
		while (zeros < input->avail && !input->next[zeros])
			zeros++;
		tl__input_skip(input, zeros);
		if (input->avail)
			return tl__input_peek(input, n, err);
	}
}

void tl__decoder_free(tl_decoder *decoder)
{
	if (decoder)
		decoder->free(decoder);
}

/* Plain bytes: straight from the file into the block of the reader. read() costs about as much processor time as mmap
 * (within a tenth, file in the page cache), mostly on the second thread; mapped pages would count as memory of the
 * process, and a file that another process shortens would kill it. */
static int64_t plain_read(tl_decoder *self, uint8_t *out, size_t size, tl_error *err)
{
	int64_t n = self->ended ? 0 : tl__input_read(self->input, out, size, err);

	if (n == 0)
		self->ended = true;
	return n;
}

static void plain_free(tl_decoder *self)
{
	tl__input_free(self->input);
	tl__free(self);
}

int tl__decode_plain(tl_decoder **out, tl_input *input, tl_error *err)
{
	tl_decoder *decoder = tl__calloc(1, sizeof *decoder);

	*out = decoder;
	if (!decoder)
		return tl__nomem(err);
	decoder->read = plain_read;
	decoder->free = plain_free;
	decoder->input = input;
	return 0;
}
