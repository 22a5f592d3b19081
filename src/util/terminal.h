/* SPDX-License-Identifier: MIT */
/** @file terminal.h Text for a terminal: nothing that moves its cursor, and cut to the room there is. */
#ifndef TL_UTIL_TERMINAL_H
#define TL_UTIL_TERMINAL_H

#include "util/buf.h"

/** Appends `n` bytes of text; control characters, bidirectional marks and bytes that are no UTF-8 become U+FFFD. */
void tl__terminal_put(tl_buf *out, const char *text, size_t n);
/** Appends text in at most `room` columns, cut with an ellipsis; returns the columns used. */
size_t tl__terminal_put_cut(tl_buf *out, const char *text, size_t n, size_t room);
/** Appends blanks. */
void tl__terminal_blanks(tl_buf *out, size_t n);

#endif
