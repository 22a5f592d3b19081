/* SPDX-License-Identifier: MIT */
/** @file triton_cache.c Reading the files of an Inductor cache: any bytes may be in them. */
#include "perf/triton_cache.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "perf/triton.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/format.h"
#include "util/map.h"
#include "util/strings.h"
#include "util/text.h"

enum {
	MAX_FILE = 64 << 20, /* bytes; larger files are no wrappers */
	MAX_FILES = 1000000, /* a directory with more is no cache */
	MAX_PATH = 4096
};

typedef TL_VEC(char *) path_list;

struct tl_triton_cache {
	char *dir;
	bool scanned;
	tl_arena arena;
	tl_strings *names;
	tl_map index; /* id of the name -> kernel */
	TL_VEC(tl_triton_kernel) kernels;
};

int tl__triton_cache_new(tl_triton_cache **out, const char *dir, tl_error *err)
{
	*out = NULL;
	DIR *opened = opendir(dir);
	if (!opened)
		return tl__fail_system(err, errno, "cannot read the Inductor cache '%s'", dir);
	closedir(opened);
	tl_triton_cache *c = tl__calloc(1, sizeof *c);
	if (!c)
		return tl__nomem(err);
	c->dir = tl__strdup(dir);
	c->names = tl__strings_new(NULL);
	if (!c->dir || !c->names) {
		tl__triton_cache_free(c);
		return tl__nomem(err);
	}
	*out = c;
	return 0;
}

void tl__triton_cache_free(tl_triton_cache *c)
{
	if (!c)
		return;
	tl__free(c->dir);
	tl__arena_free(&c->arena);
	tl__strings_unref(c->names);
	tl__map_free(&c->index);
	TL_VEC_FREE(&c->kernels);
	tl__free(c);
}

/* ---- one kernel ---- */

/* A part of a file; the byte behind the file is NUL. */
typedef struct span {
	const char *v, *end;
} span;

static const char *find(span s, const char *text)
{
	return s.v < s.end ? memmem(s.v, (size_t)(s.end - s.v), text, strlen(text)) : NULL;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* A whole number of up to 18 digits; returns the place behind it, or NULL. */
static const char *read_number(const char *p, const char *end, int64_t *out)
{
	const char *start = p;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > start && p - start <= 18 && tl__parse_int(start, (size_t)(p - start), out) ? p : NULL;
}

/* "[64, 128]" or "{'x': 64, 'r0_': 128}" */
static void read_sizes(tl_triton_kernel *kernel, span body)
{
	const char *p = find(body, "size_hints=");
	if (!p)
		return;
	p += strlen("size_hints=");
	const char *close = p < body.end && (*p == '[' || *p == '{') ? strchr(p, *p == '[' ? ']' : '}') : NULL;
	if (!close || close > body.end)
		return;
	bool dict = *p == '{';
	for (size_t i = 0; p < close; i++) {
		char axis = i == 0 ? 'x' : i == 1 ? 'r' : '?';
		int64_t number;
		p = skip_blanks(p + 1, close);
		if (dict) {
			axis = p + 1 < close && *p == '\'' ? p[1] : '?';
			p = memchr(p, ':', (size_t)(close - p));
			if (!p)
				return;
			p = skip_blanks(p + 1, close);
		}
		if (read_number(p, close, &number)) {
			if (axis == 'x')
				kernel->xnumel = number;
			if (axis == 'r')
				kernel->rnumel = number;
		}
		p = memchr(p, ',', (size_t)(close - p));
		if (!p)
			return;
	}
}

/* Bytes of an element of a tensor; types that are not listed count nothing (reference value). */
static int type_bytes(const char *type, size_t n)
{
	static const struct {
		const char *name;
		int bytes;
	} sizes[] = {{"bf16", 2}, {"fp16", 2}, {"f16", 2}, {"fp32", 4}, {"f32", 4},
		     {"i8", 1},   {"u8", 1},   {"i32", 4}, {"i64", 8}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (strlen(sizes[i].name) == n && !memcmp(sizes[i].name, type, n))
			return sizes[i].bytes;
	return 0;
}

/* Start of the name in "'name': '*", whose last quote is at `p`; NULL when it reads otherwise. */
static const char *name_before(const char *start, const char *p)
{
	while (p > start && is_blank(p[-1]))
		p--;
	if (p - start < 3 || p[-1] != ':' || p[-2] != '\'')
		return NULL;
	p -= 2;
	while (p > start && is_word(p[-1]))
		p--;
	return p > start && p[-1] == '\'' ? p : NULL;
}

/* The tensors of the signature: "'in_ptr0': '*fp32'". */
static int read_pointers(tl_triton_cache *c, tl_triton_kernel *kernel, span body)
{
	const char *p;
	for (span rest = body; (p = find(rest, "'*")); rest.v = p + 2) {
		const char *type = p + 2, *end = type, *name = name_before(body.v, p);
		while (end < body.end && is_word(*end))
			end++;
		int bytes = type_bytes(type, (size_t)(end - type));
		if (!name || !bytes || end == body.end || *end != '\'')
			continue;
		kernel->pointers++;
		kernel->bytes += bytes;
		kernel->last_bytes = bytes;
		if (!strncmp(name, "in_out_", 7))
			kernel->in_out_bytes += bytes;
		if (!kernel->precision)
			kernel->precision = tl__arena_strndup(&c->arena, type, (size_t)(end - type));
		if (!kernel->precision)
			return TL_ENOMEM;
	}
	return 0;
}

/* "Original ATen: [aten.add, aten.mul]" in the comment above the kernel. */
static int read_ops(tl_triton_cache *c, tl_triton_kernel *kernel, span above)
{
	static const char mark[] = "Original ATen: [";
	const char *p = find(above, mark);
	const char *close = p ? memchr(p, ']', (size_t)(above.end - p)) : NULL;
	kernel->ops = "";
	if (!close)
		return 0;
	p += sizeof mark - 1;
	char *text = tl__arena_alloc(&c->arena, (size_t)(close - p) * 2 + 1), *to = text;
	if (!text)
		return TL_ENOMEM;
	while (p < close) {
		const char *comma = memchr(p, ',', (size_t)(close - p)), *end = comma ? comma : close;
		p = skip_blanks(p, end);
		const char *last = end;
		while (last > p && is_blank(last[-1]))
			last--;
		if (last > p) {
			size_t n = (size_t)(last - p), prefix = n > 5 && !memcmp(p, "aten.", 5) ? 5 : 0;
			if (to > text) {
				memcpy(to, ", ", 2);
				to += 2;
			}
			memcpy(to, p, n);
			to += n;
			kernel->cost += tl__triton_op_cost(p + prefix, n - prefix);
		}
		p = end + 1;
	}
	*to = '\0';
	kernel->ops = text;
	return 0;
}

/* ---- one file ---- */

/* The name in "NAME = async_compile.triton(" that begins a line, whose call is at `call`. */
static bool name_of(span *out, const char *file, const char *call)
{
	const char *end = call;
	if (end - file < 3 || memcmp(end - 3, " = ", 3) != 0)
		return false;
	end -= 3;
	const char *start = end;
	while (start > file && is_word(start[-1]))
		start--;
	*out = (span){start, end};
	return end - start > 7 && !memcmp(start, "triton_", 7) && (start == file || start[-1] == '\n');
}

static int add_kernel(tl_triton_cache *c, span name, span above, span body)
{
	tl_triton_kernel kernel = {.rnumel = 1};
	tl_str id = tl__intern(c->names, name.v, (size_t)(name.end - name.v));
	if (id == TL_STR_FAIL)
		return TL_ENOMEM;
	if (tl__map_get(&c->index, id) != TL_MAP_NONE)
		return 0; /* known by name only (reference value [03-T6]) */
	read_sizes(&kernel, body);
	TL_TRY(read_pointers(c, &kernel, body));
	TL_TRY(read_ops(c, &kernel, above));
	TL_TRY(tl__map_set(&c->index, id, (uint32_t)c->kernels.n));
	return TL_VEC_PUSH(&c->kernels, kernel);
}

static int read_text(tl_triton_cache *c, const char *text, size_t n)
{
	static const char call[] = "async_compile.triton(";
	const char *end = text + n, *above = text, *p = find((span){text, end}, call);
	while (p) {
		span name;
		const char *next = find((span){p + 1, end}, call);
		const char *close = find((span){p, next ? next : end}, "''', device_str=");
		if (name_of(&name, text, p)) {
			if (close)
				TL_TRY(add_kernel(c, name, (span){above, name.v}, (span){p, close}));
			above = name.v;
		}
		p = next;
	}
	return 0;
}

static int read_file(tl_triton_cache *c, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat info;
	int code = 0;
	if (!file)
		return 0;
	if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size <= MAX_FILE) {
		size_t n = (size_t)info.st_size;
		char *text = tl__malloc(n + 1);
		if (text) {
			n = fread(text, 1, n, file);
			text[n] = '\0';
			code = read_text(c, text, n);
		} else {
			code = TL_ENOMEM;
		}
		tl__free(text);
	}
	fclose(file);
	return code;
}

/* ---- the directory ---- */

static int add_path(path_list *list, const char *path)
{
	char *copy = tl__strdup(path);
	if (!copy || TL_VEC_PUSH(list, copy) < 0) {
		tl__free(copy);
		return TL_ENOMEM;
	}
	return 0;
}

/* Files and directories of one directory; links are not followed, so that there is no way round and round. */
static int list_directory(const char *dir, path_list *files, path_list *dirs)
{
	DIR *opened = opendir(dir);
	const struct dirent *entry;
	int code = 0;
	while (opened && code == 0 && (entry = readdir(opened))) {
		char path[MAX_PATH];
		struct stat info;
		int n = snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || n < 0 || (size_t)n >= sizeof path)
			continue;
		if (files->n + dirs->n >= MAX_FILES || lstat(path, &info) < 0)
			continue;
		if (S_ISDIR(info.st_mode))
			code = add_path(dirs, path);
		else if (S_ISREG(info.st_mode) && tl__ends_with(path, ".py"))
			code = add_path(files, path);
	}
	if (opened)
		closedir(opened);
	return code;
}

static int compare_paths(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int scan(tl_triton_cache *c)
{
	path_list files = {0}, dirs = {0};
	int code = add_path(&dirs, c->dir);
	for (size_t i = 0; i < dirs.n && code == 0; i++)
		code = list_directory(dirs.v[i], &files, &dirs);
	if (code == 0)
		qsort(files.v, files.n, sizeof *files.v, compare_paths);
	for (size_t i = 0; i < files.n && code == 0; i++)
		code = read_file(c, files.v[i]);
	for (size_t i = 0; i < files.n; i++)
		tl__free(files.v[i]);
	for (size_t i = 0; i < dirs.n; i++)
		tl__free(dirs.v[i]);
	TL_VEC_FREE(&files);
	TL_VEC_FREE(&dirs);
	return code;
}

int tl__triton_cache_find(tl_triton_cache *c, const char *name, const tl_triton_kernel **out)
{
	*out = NULL;
	if (strncmp(name, "triton_", 7) != 0)
		return 0;
	if (!c->scanned)
		TL_TRY(scan(c));
	c->scanned = true;
	tl_str id = tl__strings_find(c->names, name, strlen(name));
	uint32_t found = id == TL_STR_NONE ? TL_MAP_NONE : tl__map_get(&c->index, id);
	if (found != TL_MAP_NONE)
		*out = &c->kernels.v[found];
	return 0;
}
