/* SPDX-License-Identifier: MIT */
/* Any bytes as a packed file. The first byte chooses how they are read. */
#include <stdlib.h>
#include <string.h>

#include "io/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small files can unpack to gigabytes: enough is enough. */
#define MOST ((uint64_t)8 << 20)

static void read_all(tl_source *source)
{
	char *out = malloc(5000);
	uint64_t total = 0;
	int64_t got;

	while (out && total < MOST && (got = tl__source_read(source, out, 5000, NULL)) > 0)
		total += (uint64_t)got;
	free(out);
}

/* Keeps more and more, up to some blocks, and writes to all that may be written to. */
static void next_all(tl_source *source, unsigned step)
{
	size_t keep = 0;
	uint64_t total = 0;
	char *window;
	int64_t got;

	while (total < MOST && (got = tl__source_next(source, keep, &window, NULL, NULL)) > 0) {
		memset(window, 'x', keep + (size_t)got + TL_SOURCE_PAD);
		total += (uint64_t)got;
		keep = (keep + (size_t)got) * step / 64;
		if (keep > MOST / 4)
			keep = 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tl_source_state state;
	tl_error err = TL_ERROR_INIT;
	tl_source *source;
	unsigned how;

	if (!size)
		return 0;
	how = *data;
	tl__source_inject(how & 2 ? 1 + (how >> 4) : 0, how & 4 ? (int64_t)(size / 2) : -1);
	/* the thread is tested elsewhere; here it would only make runs differ */
	if (tl__source_open_memory(&source, data + 1, size - 1, false, &err) == 0) {
		if (how & 1)
			next_all(source, how >> 2);
		else
			read_all(source);
		tl__source_state(source, &state);
		if (memchr(state.note, 0, sizeof state.note) == NULL)
			abort();
		tl__source_close(source);
	} else if (!err.code || !err.message[0]) {
		abort(); /* a failure that says nothing */
	}
	tl__source_inject(0, -1);
	return 0;
}
