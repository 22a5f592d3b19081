/* SPDX-License-Identifier: MIT */
/* The tests of the gzip decoder once more, with zlib even where the build found ISA-L. */
#undef TL_HAVE_ISAL
#define tl__inflate_new zlib_inflate_new
#define tl__inflate_reset zlib_inflate_reset
#define tl__inflate_run zlib_inflate_run
#define tl__inflate_free zlib_inflate_free
#define tl__crc32 zlib_crc32
#define tl__decode_gzip zlib_decode_gzip
#include "io/gzip.c"
#include "io/gzip_test.c"
#include "io/inflate.c"
