/* SPDX-License-Identifier: MIT */
/** @file terminal.h Text for a terminal: nothing that moves its cursor, and cut to the room there is. */
#ifndef TL_UTIL_TERMINAL_H
#define TL_UTIL_TERMINAL_H

#include "util/buf.h"

/**
 * Columns that a text takes on a terminal: 2 for the characters of East Asia and pictures, none for marks that are put
 * on the character before, 1 for any other and for each byte that is no UTF-8.
 */
size_t tl__terminal_columns(const char *text, size_t n);
/** Bytes of the longest head of a text that takes at most so many columns. */
size_t tl__terminal_head(const char *text, size_t n, size_t columns);
/** Where the longest end of a text begins that takes at most so many columns. */
size_t tl__terminal_end(const char *text, size_t n, size_t columns);

/** Appends `n` bytes of text; control characters, bidirectional marks and bytes that are no UTF-8 become U+FFFD. */
void tl__terminal_put(tl_buf *out, const char *text, size_t n);
/** Appends text in at most `room` columns, cut with an ellipsis; returns the columns used. */
size_t tl__terminal_put_cut(tl_buf *out, const char *text, size_t n, size_t room);
/**
 * The same in two parts: the head of the text, an ellipsis, and what begins at character `from`, as much of it as there
 * is room for. Where that begins too far behind to fill the room, or is SIZE_MAX, the second part is the end of the
 * text.
 */
size_t tl__terminal_put_parts(tl_buf *out, const char *text, size_t n, size_t room, size_t from);
/** Columns that the second part has in tl__terminal_put_parts when the text is longer than `room`. */
size_t tl__terminal_rest(size_t room);
/** Appends blanks. */
void tl__terminal_blanks(tl_buf *out, size_t n);

#endif
