/* SPDX-License-Identifier: MIT */
#include "compare/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_hex(char c)
{
	return isxdigit((unsigned char)c) != 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of ".py(123):" at the text, else 0. */
static size_t line_number(const char *text, size_t n)
{
	size_t i = 4;
	if (n < 7 || memcmp(text, ".py(", 4) != 0)
		return 0;
	while (i < n && is_digit(text[i]))
		i++;
	return i > 4 && i + 1 < n && text[i] == ')' && text[i + 1] == ':' ? i + 2 : 0;
}

static bool ends_in_number(const char *name, size_t *n)
{
	size_t end = *n;
	while (end && is_digit(name[end - 1]))
		end--;
	if (end == *n || end < 2 || name[end - 1] != '_')
		return false;
	*n = end - 1;
	return true;
}

static bool starts_with(const char *name, size_t n, const char *text)
{
	return n > strlen(text) && !memcmp(name, text, strlen(text));
}

/* Length of a name without the number that its writer has counted up to, or the hash it has made up. */
static size_t without_number(const char *name, size_t n)
{
	static const char *const numbered[] = {"Torch-Compiled Region: ", "## Call CompiledFxGraph ", "ProfilerStep#"};
	/* Inductor numbers the kernels that it generates through the whole program, PyTorch the modules of a class. */
	if (starts_with(name, n, "triton_") || starts_with(name, n, "nn.Module: "))
		(void)ends_in_number(name, &n);
	for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
		if (starts_with(name, n, numbered[i]))
			return strlen(numbered[i]);
	return n;
}

/* Appends what of a name counts in a comparison, twins not yet applied. */
static void put_plain_name(tl_buf *out, const char *name, size_t n)
{
	n = without_number(name, n);
	/* A frame is where it is in its package; where that is installed does not matter. */
	const char *suffix = memmem(name, n, ".py(", 4);
	const char *slash = suffix ? memrchr(name, '/', (size_t)(suffix - name)) : NULL;
	if (slash) {
		n -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	for (size_t i = 0; i < n;) {
		size_t skip = name[i] == '.' ? line_number(name + i, n - i) : 0;
		if (skip) {
			tl__buf_puts(out, ".py:");
			i += skip;
		} else if (name[i] == '0' && i + 2 < n && name[i + 1] == 'x' && is_hex(name[i + 2])) {
			tl__buf_puts(out, "0xXXXX");
			for (i += 2; i < n && is_hex(name[i]); i++)
				;
		} else {
			tl__buf_putc(out, name[i++]);
		}
	}
}

/* A hash of bytes that is spread well; never 0. */
static uint64_t hash_text(const char *text, size_t n)
{
	uint64_t h = tl__mix(n, UINT64_C(0x2545f4914f6cdd1d)), word;
	for (; n >= 8; n -= 8, text += 8) {
		memcpy(&word, text, 8);
		h = tl__mix(h, word);
	}
	word = 0;
	memcpy(&word, text, n);
	h = tl__mix(h, word);
	return h ? h : 1;
}

int tl__name_hashes_new(tl_name_hashes *h, const tl_strings *strings, const tl_twins *twins)
{
	*h = (tl_name_hashes){.strings = strings, .twins = twins, .n = tl__strings_count(strings)};
	h->text = tl__calloc(h->n + 1, sizeof *h->text);
	h->plain = tl__calloc(h->n + 1, sizeof *h->plain);
	h->common = tl__calloc(h->n + 1, sizeof *h->common);
	return h->text && h->plain && h->common ? 0 : TL_ENOMEM;
}

void tl__name_hashes_free(tl_name_hashes *h)
{
	tl__free(h->text);
	tl__free(h->plain);
	tl__free(h->common);
	tl__buf_free(&h->buf);
	tl__buf_free(&h->scratch);
}

uint64_t tl__hash_of_text(tl_name_hashes *h, tl_str id)
{
	if (id == TL_STR_NONE || id >= h->n)
		return 0;
	if (!h->text[id])
		h->text[id] = hash_text(tl__str(h->strings, id), tl__str_len(h->strings, id));
	return h->text[id];
}

int tl__hash_name(tl_name_hashes *h, tl_str id, uint64_t *plain, uint64_t *common)
{
	if (id == TL_STR_NONE || id >= h->n) {
		*plain = *common = 0;
		return 0;
	}
	if (!h->common[id]) {
		tl__buf_clear(&h->buf);
		put_plain_name(&h->buf, tl__str(h->strings, id), tl__str_len(h->strings, id));
		if (!tl__buf_text(&h->buf))
			return TL_ENOMEM;
		h->plain[id] = hash_text(h->buf.v, h->buf.n);
		tl__buf_clear(&h->scratch);
		tl__twins_apply(h->twins, &h->scratch, h->buf.v, h->buf.n);
		if (!tl__buf_text(&h->scratch))
			return TL_ENOMEM;
		h->common[id] = hash_text(h->scratch.v, h->scratch.n);
	}
	*plain = h->plain[id];
	*common = h->common[id];
	return 0;
}
