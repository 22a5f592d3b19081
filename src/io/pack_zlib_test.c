/* SPDX-License-Identifier: MIT */
/* The tests of packing once more, with zlib even where the build found ISA-L. */
#undef TL_HAVE_ISAL
#define tl__packer_new zlib_packer_new
#define tl__packer_free zlib_packer_free
#define tl__pack zlib_pack
#define tl__pack_end zlib_pack_end
#define tl__packed_join zlib_packed_join
#define tl__zip_begin zlib_zip_begin
#define tl__zip_data zlib_zip_data
#define tl__zip_end zlib_zip_end
#define tl__zip_free zlib_zip_free
#include "io/pack.c"
#include "io/pack_test.c"
